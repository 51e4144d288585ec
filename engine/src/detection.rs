//! The index set `I₀`, all contacts that may matter in this step.
//!
//! A pair's contacts are kept if their gap is below a margin that grows with the speed of **each**
//! body, not only with the approach of the pair: a body that is stopped by another within the
//! step must already know its neighbours.
//!
//! ```text
//! g_N ≤ m_A + m_B + h max( |n·v_A|, |n·v_B|, −u_N ),     m = margin · half-thickness
//! ```
//!
//! The velocities leave out that of a surface of revolution about its axis: it turns in itself. Points of its rims
//! that are not where it comes closest are kept within the margin alone where it turns fast. A pair that keeps no contact so, and of which parts that
//! no point stands for may yet meet as the bodies turn, is listed besides ([`swing`]).
//!
//! The set is a pure function of the state: the broad phase's memory only saves time, since the
//! narrow phase filters its candidates by the extents of this step.
//!
//! Only bodies that move are looked at in every step. What is known of the others is kept until
//! the epoch of the bodies changes; then all are compared with what is known of them, and the
//! pairs of those that differ are found anew.

mod covered;
mod narrow_phase;
mod outline;
pub(crate) mod path;
mod reach;
mod swing;

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::error::StepError;
use crate::interactions::detected::Detected;
use crate::math::chunks::is_shared;
use crate::motion::Motion;
use crate::settings::Settings;
use glam::DVec3;
use moreau_geometry::{BroadPhase, Extent};
use moreau_solvers::WorldTwist;
use narrow_phase::{Found, Rule};
use outline::Outline;
use reach::{Extents, Source};

/// A pair of the broad phase: the slots of two bodies.
pub(crate) type Pair = [u32; 2];

/// A pair, and the unit normal of a plane between its bodies, from B to A.
type PlaneBetween = ([Slot; 2], DVec3);

/// Broad phase and the buffers of detection.
#[derive(Default)]
pub(crate) struct Detection {
    broad_phase: BroadPhase,
    /// Epoch of the bodies and margin that the extents of bodies at rest are of.
    known: Option<(u64, f64)>,
    outlines: Vec<Outline>,
    extents: Extents,
    /// Bodies that left what the broad phase knows of them, by slot; only those of moving bodies are read.
    loose: Vec<bool>,
    chunks: Vec<Found>,
    /// Nearest points of pairs without a contact in `I₀` that may meet as they turn, ordered by pair.
    pub(crate) swings: Vec<Detected>,
    /// Planes between polytopes without a contact, ordered by pair: only what is tried first depends on them.
    planes: Vec<PlaneBetween>,
    /// Of a measurement, which has none.
    none: Vec<Detected>,
    /// Deepest overlap at the poses of `t_k`, m, ≥ 0.
    pub(crate) deepest_found: f64,
}

impl Detection {
    /// Finds `I₀` at the poses of `t_k`, ordered by pair.
    ///
    /// # Errors
    /// [`StepError::Crowd`], and [`StepError::Contacts`] if there are more contacts than pairs of bodies are allowed: a contact takes about 1 kB.
    pub(crate) fn detect(
        &mut self,
        bodies: &Bodies,
        motion: &Motion,
        settings: &Settings,
        found: &mut Vec<Detected>,
    ) -> Result<(), StepError> {
        let source = Source {
            bodies,
            motion,
            settings,
        };
        if self.known == Some((bodies.epoch, settings.margin)) {
            self.follow_moving(&source);
        } else {
            self.outline(&source);
            self.known = Some((bodies.epoch, settings.margin));
        }
        self.find_pairs(bodies)?;
        self.deepest_found = narrow_phase::run(
            self.broad_phase.candidates(),
            &narrow_phase::Scene {
                bodies,
                extents: &self.extents,
                rule: Rule::Margin { motion, settings },
                planes: &self.planes,
            },
            &mut self.chunks,
            (found, &mut self.swings),
        );
        narrow_phase::take_planes(&mut self.chunks, &mut self.planes);
        let most = BroadPhase::most_pairs(bodies.len());
        if found.len() > most {
            return Err(StepError::Contacts {
                contacts: found.len(),
                most,
            });
        }
        Ok(())
    }

    fn find_pairs(&mut self, bodies: &Bodies) -> Result<(), StepError> {
        let outlines = &self.outlines;
        let meet = |a: u32, b: u32| outlines[a as usize].meets(&outlines[b as usize]);
        let found = self.broad_phase.find(&meet);
        found.map_err(|crowd| StepError::Crowd {
            id: bodies.ids[Slot(crowd.slot as u32)],
            crowd,
        })
    }

    /// Pairs that may have contacts in this step, in their order, and some more that depend on the history.
    pub(crate) fn pairs(&self) -> &[Pair] {
        self.broad_phase.candidates()
    }

    /// Runs the narrow phase on some of the step's pairs at the bodies' present poses, and keeps every
    /// contact within their [`reach`](Self::reach) and up to this gap (m): the gaps after an update. Returns the deepest overlap, m, ≥ 0.
    pub(crate) fn measure(
        &mut self,
        (pairs, within): (&[Pair], f64),
        bodies: &Bodies,
        contacts: &mut Vec<Detected>,
    ) -> f64 {
        let scene = narrow_phase::Scene {
            bodies,
            extents: &self.extents,
            rule: Rule::Within(within),
            planes: &self.planes,
        };
        let into = (contacts, &mut self.none);
        let deepest = narrow_phase::run(pairs, &scene, &mut self.chunks, into);
        narrow_phase::forget_planes(&mut self.chunks);
        deepest
    }

    /// The largest gap of contacts of a pair that are measured, m.
    pub(crate) fn reach(&self, pair: Pair, bodies: &Bodies) -> f64 {
        self.extents.distance(pair.map(Slot), bodies)
    }

    /// With this twist the body gets farther than the extents of the step allow for, and it may get farther than its half-thickness.
    #[inline]
    pub(crate) fn goes_far(&self, slot: Slot, end: &WorldTwist, h: f64) -> [bool; 2] {
        self.extents.are_passed(slot, end, h)
    }

    /// The body is a ball about its centre of mass.
    #[inline]
    pub(crate) fn is_ball(&self, slot: Slot) -> bool {
        self.extents.balls[slot].is_ball()
    }

    /// Pairs of bodies that were `struck`, ascending, and get on with these velocities: all that they may meet in this step, in their order.
    ///
    /// # Errors
    /// [`StepError::Crowd`].
    pub(crate) fn pairs_of_struck(
        &mut self,
        struck: &[(Slot, WorldTwist)],
        bodies: &Bodies,
        motion: &Motion,
        settings: &Settings,
    ) -> Result<Vec<[Slot; 2]>, StepError> {
        let source = Source {
            bodies,
            motion,
            settings,
        };
        for (slot, twist) in struck {
            self.extents.widen(*slot, twist, &source);
            self.follow(*slot, &source);
        }
        self.find_pairs(bodies)?;
        let struck = struck.iter().map(|(slot, _)| *slot);
        Ok(self.pairs_of(struck, bodies))
    }

    /// Pairs of some bodies, ascending, with all that they may meet in this step, in their order.
    pub(crate) fn pairs_of(
        &self,
        bodies: impl Iterator<Item = Slot>,
        known: &Bodies,
    ) -> Vec<[Slot; 2]> {
        let mut bodies = bodies.peekable();
        if bodies.peek().is_none() {
            return Vec::new();
        }
        let boxes = &self.extents.boxes;
        let pairs = self.broad_phase.candidates().iter();
        let pairs = pairs.map(|pair| pair.map(Slot));
        let mut is_listed = vec![false; known.len()];
        for slot in bodies {
            is_listed[slot.index()] = true;
        }
        let is_of = |pair: &[Slot; 2]| {
            let has = pair.iter().any(|slot| is_listed[slot.index()]);
            // What the broad phase holds besides depends on history.
            has && boxes[pair[0]].intersects(&boxes[pair[1]]) && !known.are_apart(pair)
        };
        pairs.filter(is_of).collect()
    }

    /// Compares all bodies with what is known of them.
    fn outline(&mut self, source: &Source) {
        let bodies = source.bodies;
        let count = bodies.len();
        self.broad_phase.resize(count);
        self.outlines.resize_with(count, Outline::default);
        self.extents.resize(count);
        let mut moving = bodies.moving.iter().peekable();
        for (slot, body) in bodies.slots().zip(&bodies.constants) {
            if !self.outlines[slot].is_of(body) {
                self.outlines[slot] = Outline::of(body);
                self.broad_phase.touch(slot.index());
            }
            let moves = moving.next_if_eq(&&slot).is_some();
            self.broad_phase.set_moving(slot.index(), moves);
            self.extents.set(slot, source);
            self.follow(slot, source);
        }
    }

    /// Works out how far the moving bodies may get in this step.
    fn follow_moving(&mut self, source: &Source) {
        let moving = &source.bodies.moving;
        if !is_shared() {
            for slot in moving {
                self.extents.set(*slot, source);
                self.follow(*slot, source);
            }
            return;
        }
        let known = &self.broad_phase;
        let held = |slot: Slot, extent: Option<&Extent>| match extent {
            Some(extent) => known.holds(slot.index(), extent),
            None => false,
        };
        self.loose.resize(source.bodies.len(), false);
        self.extents.set_all(moving, source, &mut self.loose, held);
        for slot in moving {
            if self.loose[*slot] {
                self.follow(*slot, source);
            }
        }
    }

    fn follow(&mut self, slot: Slot, source: &Source) {
        let number = slot.index();
        match self.extents.of(slot) {
            Some(extent) if self.broad_phase.holds(number, &extent) => {}
            Some(extent) => {
                let ahead = reach::ahead(slot, source);
                self.broad_phase.renew(number, &extent, ahead);
            }
            None => self.broad_phase.forget(number),
        }
    }
}
