//! The interactions of a step, open to changes between detection and solve.

use super::detected::{Centres, Detected, Late};
use super::law::{InteractionLaw, of_materials};
use super::record::{GivenArms, OwnArms};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{BodyId, Material};
use crate::error::InteractionError;
use crate::settings::Settings;
use bevy_ecs::entity::Entity;
use glam::DVec3;

/// The law that a user gave to a contact of this pair.
type OfPair = Option<([Slot; 2], InteractionLaw)>;
type Lists<'a> = (&'a mut Vec<Detected>, &'a mut Vec<Option<u32>>);

/// Place of an interaction among those of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InteractionIndex(pub(crate) u32);

/// An interaction as detection found it, or as it was added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interaction {
    /// Bodies A and B, `A < B`.
    pub bodies: [BodyId; 2],
    /// Their entities; placeholders where there is no ECS.
    pub entities: [Entity; 2],
    /// Names the interaction among those of its pair, from step to step.
    pub feature: u64,
    /// Contact point, inertial frame, m.
    pub point: DVec3,
    /// Unit normal from B to A, inertial frame.
    pub normal: DVec3,
    /// `g_N`, m, negative in overlap.
    pub gap: f64,
}

impl Interaction {
    /// The surface velocity of the law if the surface of `body` runs at `velocity` (inertial frame, m/s) over a body that
    /// does not, as the belt of a conveyor does.
    #[must_use]
    pub fn carried_by(&self, body: BodyId, velocity: DVec3) -> DVec3 {
        match self.bodies {
            [a, _] if a == body => -velocity,
            [_, b] if b == body => velocity,
            _ => DVec3::ZERO,
        }
    }
}

/// What users changed about the interactions of a step. Empty in most.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// Interactions with a law of their own, by their places in `I₀`, ascending.
    laws: Vec<(InteractionIndex, InteractionLaw)>,
    /// Interactions that detection did not find, ascending; with their arms, if these are not those to their points.
    added: Vec<(InteractionIndex, Option<OwnArms>)>,
    /// Pairs that lost an interaction, ascending.
    dropped: Vec<[Slot; 2]>,
    /// Detection is done, and the solve has not begun.
    pub(crate) open: bool,
}

impl Edits {
    /// Detection begins anew.
    pub(crate) fn clear(&mut self) {
        self.laws.clear();
        self.added.clear();
        self.dropped.clear();
        self.open = false;
    }

    /// The law that a user gave the interaction at this place.
    #[inline]
    pub(crate) fn law(&self, index: usize) -> Option<&InteractionLaw> {
        if self.laws.is_empty() {
            return None;
        }
        let at = |(at, _): &(InteractionIndex, _)| at.0 as usize;
        let found = self.laws.binary_search_by_key(&index, at);
        found.ok().map(|at| &self.laws[at].1)
    }

    /// No contact was given a law of its own.
    pub(crate) fn are_laws_of_materials(&self) -> bool {
        self.laws.is_empty()
    }

    /// Some law that a user gave holds bodies together.
    pub(crate) fn some_cohere(&self) -> bool {
        self.laws.iter().any(|(_, law)| law.cohesion > 0.0)
    }

    /// Some law that a user gave is another one than Coulomb's.
    pub(crate) fn some_have_other_laws(&self) -> bool {
        let other = |of: &InteractionLaw| {
            of.rolling_resistance > 0.0 || of.spinning_resistance > 0.0 || of.grain.is_some()
        };
        self.laws.iter().any(|(_, law)| other(law))
    }

    /// The pairs with surfaces that run, ascending; one for each such interaction of `found`.
    pub(crate) fn belts<'a>(
        &'a self,
        found: &'a [Detected],
    ) -> impl Iterator<Item = [Slot; 2]> + 'a {
        let runs = |law: &InteractionLaw| law.surface_velocity != DVec3::ZERO;
        let laws = self.laws.iter().filter(move |(_, law)| runs(law));
        laws.filter_map(|(index, _)| Some(found.get(index.0 as usize)?.bodies))
    }

    /// What was added, by its place in `I₀`, ascending, with its arms.
    pub(crate) fn added(
        &self,
        found: &[Detected],
        centres: Centres,
    ) -> impl Iterator<Item = GivenArms> {
        self.added.iter().map(move |(index, arms)| GivenArms {
            row: index.0,
            own: arms.unwrap_or_else(|| {
                OwnArms::as_found(found[index.0 as usize].arms_to_point(centres))
            }),
        })
    }

    /// Takes the contacts out of `found` that are not to `stay`, and puts in those of bodies that have moved, ordered by pair. A law
    /// that a user gave to a contact of a pair holds for those that are put in. `origin` receives for each contact its place before.
    pub(crate) fn exchange(
        &mut self,
        found: &mut Vec<Detected>,
        stay: &[bool],
        late: &[Late],
        origin: &mut Vec<Option<u32>>,
    ) {
        let before = std::mem::take(self);
        let old = std::mem::take(found);
        origin.clear();
        let mut late = late.iter().peekable();
        let mut law_of_pair: OfPair = None;
        let put = |next: &Late, edits: &mut Self, (found, origin): Lists, law: OfPair| {
            let index = InteractionIndex(found.len() as u32);
            found.push(next.contact);
            origin.push(None);
            edits.added.push((index, Some(next.own)));
            let of_pair = law.filter(|(pair, _)| *pair == next.contact.bodies);
            if let Some(law) = next.law.or(of_pair.map(|(_, law)| law)) {
                edits.laws.push((index, law));
            }
        };
        for (row, contact) in old.iter().enumerate() {
            while let Some(next) = late.next_if(|late| late.contact.bodies < contact.bodies) {
                put(next, self, (found, origin), law_of_pair);
            }
            if let Some(law) = before.law(row) {
                law_of_pair = Some((contact.bodies, *law));
            }
            if !stay[row] {
                continue;
            }
            let (index, place) = (
                InteractionIndex(found.len() as u32),
                InteractionIndex(row as u32),
            );
            if let Some(law) = before.law(row) {
                self.laws.push((index, *law));
            }
            if let Ok(at) = before.added.binary_search_by_key(&place, |(at, _)| *at) {
                self.added.push((index, before.added[at].1));
            }
            found.push(*contact);
            origin.push(Some(place.0));
        }
        for next in late {
            put(next, self, (found, origin), law_of_pair);
        }
        self.dropped = before.dropped;
    }

    /// The pair lost an interaction: nothing pushes its bodies apart in this step.
    #[inline]
    pub(crate) fn lets_pass(&self, pair: &[Slot; 2]) -> bool {
        !self.dropped.is_empty() && self.dropped.binary_search(pair).is_ok()
    }

    /// Some pair lost an interaction.
    pub(crate) fn drops(&self) -> bool {
        !self.dropped.is_empty()
    }
}

/// The interactions of a step between detection and solve (`I₀`), ordered by the ids of their bodies.
///
/// They may be given another law, dropped, and added; what is not changed keeps its bits. Bodies that sleep have no
/// interactions: wake those whose interactions are to change. What bodies meet only because they are struck within the step comes in after the
/// edits, with the law of the materials (that of its pair, if that has one): to let two bodies pass each other at any speed, use
/// [`CollisionGroups`](crate::CollisionGroups). From the step's [`StepState`](crate::StepState), in a system
/// within [`StepPhase::Edit`](crate::StepPhase::Edit):
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// let (mut world, mut schedule) = (World::new(), Schedule::default());
/// moreau::install(&mut world, &mut schedule, Settings::default())?;
/// schedule.add_systems(ice.in_set(StepPhase::Edit));
/// fn ice(mut step: ResMut<StepState>) -> Result<(), BevyError> {
///     step.interactions().retain(|interaction, law| {
///         if interaction.point.x > 2.0 {
///             law.friction = 0.0;
///         }
///         true
///     })?;
///     Ok(())
/// }
/// # schedule.run(&mut world);
/// # Ok::<(), StepError>(())
/// ```
pub struct Interactions<'a> {
    pub(crate) found: &'a mut Vec<Detected>,
    pub(crate) edits: &'a mut Edits,
    pub(crate) bodies: &'a Bodies,
    pub(crate) settings: &'a Settings,
}

impl Interactions<'_> {
    /// How many there are; none outside of the time between detection and solve.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.edits.open { self.found.len() } else { 0 }
    }

    /// True without interactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All interactions with their laws, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Interaction, InteractionLaw)> + '_ {
        (0..self.len()).map(|index| (self.view(index), self.law(index)))
    }

    /// Looks at every interaction, and keeps those for which `keep` is true, with the law as it leaves it. A pair
    /// that loses an interaction is not pushed out of overlap in this step either.
    ///
    /// # Errors
    /// [`InteractionError`] names the first law out of range, and outside of the time between detection and
    /// solve. Nothing is changed then.
    pub fn retain(
        &mut self,
        mut keep: impl FnMut(&Interaction, &mut InteractionLaw) -> bool,
    ) -> Result<(), InteractionError> {
        self.check_open()?;
        let (mut laws, mut stays) = (Vec::new(), Vec::with_capacity(self.found.len()));
        let (mut kept, mut added) = (0, Vec::new());
        for (index, (interaction, given)) in self.iter().enumerate() {
            let mut law = given;
            let keeps = keep(&interaction, &mut law);
            stays.push(keeps);
            if !keeps {
                continue;
            }
            if law != given {
                check_law(interaction.bodies, interaction.normal, &law)?;
            }
            if law != given || self.edits.law(index).is_some() {
                laws.push((InteractionIndex(kept), law));
            }
            let place = InteractionIndex(index as u32);
            if let Ok(at) = self.edits.added.binary_search_by_key(&place, |(at, _)| *at) {
                added.push((InteractionIndex(kept), self.edits.added[at].1));
            }
            kept += 1;
        }
        let mut row = stays.iter();
        let dropped = &mut self.edits.dropped;
        self.found.retain(|contact| {
            let stays = row.next() != Some(&false);
            if !stays {
                dropped.push(contact.bodies);
            }
            stays
        });
        dropped.sort_unstable();
        dropped.dedup();
        (self.edits.laws, self.edits.added) = (laws, added);
        Ok(())
    }

    /// Adds an interaction between two bodies that detection knows nothing of, for this step alone. `interaction.bodies` may
    /// be in any order; the normal points from the second to the first. Only the solve sees it: projection does not.
    ///
    /// # Errors
    /// [`InteractionError`] names what is unknown or out of range, and the time outside of detection and solve.
    pub fn add(
        &mut self,
        interaction: &Interaction,
        law: InteractionLaw,
    ) -> Result<InteractionIndex, InteractionError> {
        self.check_open()?;
        let ids = interaction.bodies;
        check_place(interaction)?;
        check_law(ids, interaction.normal, &law)?;
        let slot = |id| {
            let slot = self.bodies.slot_of(id);
            slot.ok_or(InteractionError::UnknownBody { id })
        };
        let (mut pair, mut normal) = ([slot(ids[0])?, slot(ids[1])?], interaction.normal);
        let mut law = law;
        if pair[0] > pair[1] {
            pair.reverse();
            normal = -normal;
            law.surface_velocity = -law.surface_velocity;
        }
        // Asked first: a sleeper is no body to push either.
        if let Some(slot) = pair.into_iter().find(|slot| self.bodies.is_asleep(*slot)) {
            let id = self.bodies.ids[slot];
            return Err(InteractionError::Asleep { id });
        }
        if pair[0] == pair[1] || !self.bodies.may_push(pair) {
            return Err(InteractionError::NothingToPush { bodies: ids });
        }
        let at = self.found.partition_point(|other| other.bodies <= pair);
        self.found.insert(
            at,
            Detected {
                bodies: pair,
                point: interaction.point,
                normal,
                gap: interaction.gap,
                feature: interaction.feature,
            },
        );
        let index = InteractionIndex(at as u32);
        let laws = &mut self.edits.laws;
        let place = laws.partition_point(|(other, _)| *other < index);
        for (other, _) in &mut laws[place..] {
            other.0 += 1;
        }
        laws.insert(place, (index, law));
        let added = &mut self.edits.added;
        let place = added.partition_point(|(other, _)| *other < index);
        added[place..]
            .iter_mut()
            .for_each(|(other, _)| other.0 += 1);
        added.insert(place, (index, None));
        Ok(index)
    }

    fn check_open(&self) -> Result<(), InteractionError> {
        if self.edits.open {
            Ok(())
        } else {
            Err(InteractionError::NotOpen)
        }
    }

    fn view(&self, index: usize) -> Interaction {
        let contact = &self.found[index];
        Interaction {
            bodies: contact.bodies.map(|slot| self.bodies.ids[slot]),
            entities: contact.bodies.map(|slot| self.bodies.entities[slot]),
            feature: contact.feature,
            point: contact.point,
            normal: contact.normal,
            gap: contact.gap,
        }
    }

    fn law(&self, index: usize) -> InteractionLaw {
        let given = self.edits.law(index).copied();
        given.unwrap_or_else(|| of_materials(&self.found[index], self.bodies, self.settings))
    }
}

fn check_law(
    bodies: [BodyId; 2],
    normal: DVec3,
    law: &InteractionLaw,
) -> Result<(), InteractionError> {
    let (mu, e) = (law.friction, law.restitution);
    let threshold = law.bounce_threshold.unwrap_or(0.0);
    let (rolling, spinning) = (law.rolling_resistance, law.spinning_resistance);
    let across = law.grain.map_or(0.0, |grain| grain.across);
    let in_plane = law.grain.map_or(1.0, |grain| {
        let direction = grain.along.normalize_or_zero();
        direction.reject_from_normalized(normal).length()
    });
    let beside = law.grain.map_or(0.0, |_| rolling.max(spinning));
    let checks = [
        (
            "friction",
            mu,
            (0.0..=Material::MOST_FRICTION).contains(&mu),
            "in [0, 1e3]",
        ),
        ("restitution", e, (0.0..=1.0).contains(&e), "in [0, 1]"),
        (
            "bounce threshold",
            threshold,
            threshold.is_finite() && threshold >= 0.0,
            "finite and ≥ 0",
        ),
        (
            "cohesion",
            law.cohesion,
            law.cohesion.is_finite() && law.cohesion >= 0.0,
            "finite and ≥ 0",
        ),
        (
            "rolling resistance",
            rolling,
            (0.0..=Material::MOST_RESISTANCE).contains(&rolling),
            "in [0, 1e6]",
        ),
        (
            "spinning resistance",
            spinning,
            (0.0..=Material::MOST_RESISTANCE).contains(&spinning),
            "in [0, 1e6]",
        ),
        (
            "friction across the grain",
            across,
            (0.0..=Material::MOST_FRICTION).contains(&across),
            "in [0, 1e3]",
        ),
        (
            "length of the grain in the plane of the contact",
            in_plane,
            in_plane > 1e-6,
            "> 1e-6 of its own",
        ),
        (
            "resistance beside grain",
            beside,
            beside <= 0.0,
            "0: there is no law for both",
        ),
    ];
    for (field, value, sound, bound) in checks {
        if !sound {
            return Err(InteractionError::Field {
                bodies,
                field,
                value,
                bound,
            });
        }
    }
    check_finite(bodies, "surface velocity", law.surface_velocity)
}

fn check_place(interaction: &Interaction) -> Result<(), InteractionError> {
    let Interaction { bodies, normal, .. } = *interaction;
    check_finite(bodies, "point", interaction.point)?;
    check_finite(bodies, "gap", DVec3::splat(interaction.gap))?;
    let length = normal.length();
    if (length - 1.0).abs() <= 1e-9 {
        Ok(())
    } else {
        Err(InteractionError::Field {
            bodies,
            field: "normal length",
            value: length,
            bound: "1 ± 1e-9",
        })
    }
}

fn check_finite(
    bodies: [BodyId; 2],
    field: &'static str,
    vector: DVec3,
) -> Result<(), InteractionError> {
    let wrong = vector.to_array().into_iter().find(|x| !x.is_finite());
    wrong.map_or(Ok(()), |value| {
        Err(InteractionError::Field {
            bodies,
            field,
            value,
            bound: "finite",
        })
    })
}
