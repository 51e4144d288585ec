//! Phase 2: the index set `I₀`, all contacts that may matter in this step.
//!
//! A pair's contacts are kept if their gap is below a margin that grows with the speed of **each**
//! body, not only with the approach of the pair: a body that is stopped by another within the
//! step must already know its neighbours.
//!
//! ```text
//! g_N ≤ m_A + m_B + h max( |n·v_A|, |n·v_B|, −u_N ),     m = margin · half-thickness
//! ```
//!
//! The set is a pure function of the state: the broad phase's memory only saves time, since the
//! narrow phase filters its candidates by the extents of this step.
//!
//! Only bodies that move are looked at in every step. What is known of the others is kept until
//! the epoch of the bodies changes; then all are compared with what is known of them, and the
//! pairs of those that differ are found anew.

mod narrow_phase;
mod outline;
mod reach;

use crate::bodies::Bodies;
use crate::chunks::is_shared;
use crate::motion::Motion;
use crate::settings::Settings;
use bevy_ecs::prelude::*;
use glam::{BVec3, DVec3};
use moreau_geometry::{BroadPhase, Extent};
use narrow_phase::{Found, Rule};
use outline::Outline;
use reach::{Extents, Source};

/// A contact found by the narrow phase. Bodies are dense slots, `A < B` in the order of ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) bodies: [u32; 2],
    /// Midpoint between the surfaces, inertial frame, m.
    pub(crate) point: DVec3,
    /// Unit normal from B to A.
    pub(crate) normal: DVec3,
    /// `g_N`, m, negative in overlap.
    pub(crate) gap: f64,
    /// Names the point among those of its pair, from step to step.
    pub(crate) feature: u64,
}

impl Candidate {
    // Calls would return these through memory: 15 to 25 ns a contact.
    /// `ρ_A`, `ρ_B`: the point from the centres of its bodies, m.
    #[inline(always)]
    pub(crate) fn arms(&self, centres: Centres) -> [DVec3; 2] {
        let [a, b] = self.bodies.map(|slot| slot as usize);
        [
            self.arm(-1.0, centres.balls[a], centres.positions[a]),
            self.arm(1.0, centres.balls[b], centres.positions[b]),
        ]
    }

    /// The point from the centre of one body. The normal points to A: it is on the side −1 of A and 1 of B.
    /// A difference of coordinates has their rounding; the arm of a ball, of this radius, is known without.
    #[inline(always)]
    pub(crate) fn arm(&self, side: f64, ball: f64, centre: DVec3) -> DVec3 {
        let along = self.normal * (side * (ball + 0.5 * self.gap));
        DVec3::select(BVec3::splat(ball > 0.0), along, self.point - centre)
    }
}

/// What the arms of contacts are measured from, by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Centres<'a> {
    /// Centres of mass, m.
    pub(crate) positions: &'a [DVec3],
    /// Radii of balls about them, m; 0 for all other bodies.
    pub(crate) balls: &'a [f64],
}

/// Broad phase and the buffers of detection.
#[derive(Resource, Default)]
pub(crate) struct Detection {
    broad_phase: BroadPhase,
    /// Epoch of the bodies and margin that the extents of bodies at rest are of.
    known: Option<(u64, f64)>,
    outlines: Vec<Outline>,
    extents: Extents,
    /// Bodies that left what the broad phase knows of them, by slot; only those of moving bodies are read.
    loose: Vec<bool>,
    found: Vec<Found>,
    /// `I₀`, ordered by pair.
    pub(crate) candidates: Vec<Candidate>,
    /// Deepest overlap at the poses of `t_k`, m, ≥ 0.
    pub(crate) deepest_found: f64,
}

impl Detection {
    /// Finds `I₀` at the poses of `t_k`.
    pub(crate) fn detect(&mut self, bodies: &Bodies, motion: &Motion, settings: &Settings) {
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
        let outlines = &self.outlines;
        self.broad_phase
            .find(&|a, b| outlines[a as usize].meets(&outlines[b as usize]));
        self.deepest_found = narrow_phase::run(
            self.broad_phase.candidates(),
            &narrow_phase::Scene {
                bodies,
                extents: &self.extents,
                rule: Rule::Margin {
                    motion,
                    time_step: settings.time_step,
                },
            },
            &mut self.found,
            &mut self.candidates,
        );
    }

    /// Pairs that may have contacts in this step, in their order, and some more that depend on the history.
    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        self.broad_phase.candidates()
    }

    /// Runs the narrow phase on some of the step's pairs at the bodies' present poses, and keeps every
    /// contact within the reach: the gaps after an update. Returns the deepest overlap, m, ≥ 0.
    pub(crate) fn measure(
        &mut self,
        pairs: &[[u32; 2]],
        bodies: &Bodies,
        contacts: &mut Vec<Candidate>,
    ) -> f64 {
        let scene = narrow_phase::Scene {
            bodies,
            extents: &self.extents,
            rule: Rule::Reach,
        };
        narrow_phase::run(pairs, &scene, &mut self.found, contacts)
    }

    /// Compares all bodies with what is known of them.
    fn outline(&mut self, source: &Source) {
        let bodies = source.bodies;
        let count = bodies.len();
        self.broad_phase.resize(count);
        self.outlines.resize_with(count, Outline::default);
        self.extents.resize(count);
        let mut moving = bodies.moving.iter().peekable();
        for (slot, body) in bodies.constants.iter().enumerate() {
            if !self.outlines[slot].is_of(body) {
                self.outlines[slot] = Outline::of(body);
                self.broad_phase.touch(slot);
            }
            let moves = moving.next_if(|next| **next as usize == slot).is_some();
            self.broad_phase.set_moving(slot, moves);
            self.extents.set(slot, source);
            self.follow(slot);
        }
    }

    /// Works out how far the moving bodies may get in this step.
    fn follow_moving(&mut self, source: &Source) {
        let moving = &source.bodies.moving;
        if !is_shared() {
            for slot in moving {
                self.extents.set(*slot as usize, source);
                self.follow(*slot as usize);
            }
            return;
        }
        let known = &self.broad_phase;
        let held = |slot: usize, extent: Option<&Extent>| match extent {
            Some(extent) => known.holds(slot, extent),
            None => false,
        };
        self.loose.resize(source.bodies.len(), false);
        self.extents.set_all(moving, source, &mut self.loose, held);
        for slot in moving.iter().map(|slot| *slot as usize) {
            if self.loose[slot] {
                match self.extents.of(slot) {
                    Some(extent) => self.broad_phase.renew(slot, &extent),
                    None => self.broad_phase.forget(slot),
                }
            }
        }
    }

    fn follow(&mut self, slot: usize) {
        match self.extents.of(slot) {
            Some(extent) => self.broad_phase.follow(slot, &extent),
            None => self.broad_phase.forget(slot),
        }
    }
}
