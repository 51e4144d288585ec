//! Groups of the formats as those of the engine.
//!
//! A format's pair meets if either side looks for the other; the engine's if both do. Every kind of body gets a bit, and looks for the bits of those that
//! it meets, which is the same both ways round.

use super::bodies::{Part, geoms_of};
use crate::model::{Groups, Model};
use crate::reading::Reading;
use crate::report::{NotUnderstood, Reason};
use moreau::CollisionGroups;

/// The kinds that there are.
pub(super) struct Found {
    kinds: Vec<Groups>,
    /// Of every link that is the first of a body.
    own: Vec<Option<Groups>>,
}

pub(super) fn groups(model: &Model, parts: &[Part], reading: &mut Reading) -> Found {
    let mut found = Found {
        kinds: Vec::new(),
        own: vec![None; model.links.len()],
    };
    for (index, link) in model.links.iter().enumerate() {
        if parts[parts[index].first].stands {
            link.geoms.iter().for_each(|geom| found.add(geom.groups));
            continue;
        }
        if parts[index].first != index {
            continue;
        }
        let geoms = geoms_of(model, parts, index);
        let all = geoms.iter().map(|(_, geom)| geom.groups);
        let Some(whole) = all.reduce(|a, b| Groups {
            kind: a.kind | b.kind,
            affinity: a.affinity | b.affinity,
        }) else {
            continue;
        };
        for (_, geom) in geoms.iter().filter(|(_, geom)| geom.groups != whole) {
            reading.note(NotUnderstood {
                place: geom.place.clone(),
                attribute: Some("contype".to_owned()),
                reason: Reason::Replaced("its body has the groups of all its shapes".to_owned()),
            });
        }
        found.add(whole);
        found.own[index] = Some(whole);
    }
    if found.kinds.len() > 32 {
        reading.note(NotUnderstood {
            place: model.links[0].place.clone(),
            attribute: Some("contype".to_owned()),
            reason: Reason::LeftOut("more than 32 kinds of groups: all meet".to_owned()),
        });
        found.kinds.clear();
    }
    found
}

impl Found {
    fn add(&mut self, of: Groups) {
        if !self.kinds.contains(&of) {
            self.kinds.push(of);
        }
    }

    pub(super) fn of(&self, first: usize) -> CollisionGroups {
        self.own[first].map_or_else(CollisionGroups::default, |own| self.of_standing(own))
    }

    pub(super) fn of_standing(&self, own: Groups) -> CollisionGroups {
        let all = self
            .kinds
            .iter()
            .all(|a| self.kinds.iter().all(|b| a.meets(*b)));
        let Some(bit) = self
            .kinds
            .iter()
            .position(|kind| *kind == own)
            .filter(|_| !all)
        else {
            return CollisionGroups::default();
        };
        let met = self
            .kinds
            .iter()
            .enumerate()
            .filter(|(_, kind)| kind.meets(own));
        CollisionGroups {
            memberships: 1 << bit,
            mask: met.fold(0, |mask, (bit, _)| mask | 1 << bit),
        }
    }
}
