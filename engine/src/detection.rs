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
//! The set is a pure function of the state: the broad phase's memory only saves time.

use crate::bodies::Bodies;
use crate::motion::Motion;
use crate::settings::Settings;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::{Aabb, BroadPhase, ContactPoint, contacts};
use rayon::prelude::*;

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

/// Pairs per unit of parallel work.
const CHUNK: usize = 64;

/// What one chunk of pairs found, and its scratch space.
#[derive(Default)]
struct Found {
    points: Vec<ContactPoint>,
    candidates: Vec<Candidate>,
}

/// How far from its surface a body may meet another one in a step.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Margin and travel of its points, m.
    distance: f64,
    /// Angle turned by a body without bounds, rad: its points travel the farther the farther out
    /// they are. Zero for bounded bodies.
    angle: f64,
}

/// Broad phase and the buffers of detection.
#[derive(Resource, Default)]
pub(crate) struct Detection {
    broad_phase: BroadPhase,
    boxes: Vec<Aabb>,
    movable: Vec<bool>,
    /// Reach of each body in this step.
    reach: Vec<Reach>,
    pairs: Vec<[u32; 2]>,
    found: Vec<Found>,
    /// `I₀`, ordered by pair.
    pub(crate) candidates: Vec<Candidate>,
    /// Deepest overlap at the poses of `t_k`, m, ≥ 0.
    pub(crate) deepest_found: f64,
}

impl Detection {
    /// Finds `I₀` at the poses of `t_k`.
    pub(crate) fn detect(&mut self, bodies: &Bodies, motion: &Motion, settings: &Settings) {
        self.reach.clear();
        self.boxes.clear();
        self.movable.clear();
        for (slot, body) in bodies.constants.iter().enumerate() {
            let (speed, spin) = motion.speeds(slot);
            let bounded = body.radius.is_finite();
            let turn = if bounded { spin * body.radius } else { 0.0 };
            let reach = Reach {
                distance: settings.margin * body.size + settings.time_step * (speed + turn),
                angle: if bounded {
                    0.0
                } else {
                    settings.time_step * spin
                },
            };
            let shape_pose = body.shape_pose(&bodies.pose[slot]);
            self.reach.push(reach);
            self.movable.push(body.is_dynamic());
            self.boxes.push(match &body.geometry {
                Some(_) if reach.angle > 0.0 => Aabb::EVERYTHING,
                Some(geometry) => geometry.aabb(&shape_pose).inflated(reach.distance),
                None => Aabb {
                    min: DVec3::INFINITY,
                    max: DVec3::NEG_INFINITY,
                },
            });
        }
        let accept = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|slot| &bodies.constants[slot as usize]);
            a.geometry.is_some() && b.geometry.is_some() && a.groups.meets(b.groups)
        };
        self.broad_phase
            .update(&self.boxes, &self.movable, &accept, &mut self.pairs);
        self.narrow_phase(
            |pair, points, out| {
                keep_within_margin(pair, points, bodies, motion, settings, out);
            },
            bodies,
        );
        self.deepest_found = self.max_penetration();
    }

    /// Runs the narrow phase on the step's pairs at the bodies' present poses and keeps every
    /// contact within the reach: the gaps after an update.
    pub(crate) fn refresh(&mut self, bodies: &Bodies) {
        self.narrow_phase(
            |pair, points, out| {
                out.extend(points.iter().map(|point| candidate(pair, point)));
            },
            bodies,
        );
    }

    fn narrow_phase(
        &mut self,
        keep: impl Fn([u32; 2], &[ContactPoint], &mut Vec<Candidate>) + Sync,
        bodies: &Bodies,
    ) {
        let chunks = self.pairs.len().div_ceil(CHUNK);
        if self.found.len() < chunks {
            self.found.resize_with(chunks, Found::default);
        }
        let reach = &self.reach;
        let work = |(pairs, found): (&[[u32; 2]], &mut Found)| {
            found.candidates.clear();
            for pair in pairs {
                let [a, b] = pair.map(|slot| slot as usize);
                let (body_a, body_b) = (&bodies.constants[a], &bodies.constants[b]);
                let (Some(shape_a), Some(shape_b)) = (&body_a.geometry, &body_b.geometry) else {
                    continue;
                };
                let centres = bodies.pose[a].position - bodies.pose[b].position;
                let mut margin = reach[a].distance + reach[b].distance;
                for (turning, other) in [(reach[a], body_b), (reach[b], body_a)] {
                    if turning.angle > 0.0 {
                        margin += turning.angle * (centres.length() + other.radius);
                    }
                }
                let pose_a = body_a.shape_pose(&bodies.pose[a]);
                let pose_b = body_b.shape_pose(&bodies.pose[b]);
                found.points.clear();
                contacts(
                    shape_a,
                    &pose_a,
                    shape_b,
                    &pose_b,
                    margin,
                    &mut found.points,
                );
                keep(*pair, &found.points, &mut found.candidates);
            }
        };
        // Within a pool of several threads, not on a thread of nobody's.
        if rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1 {
            self.pairs
                .par_chunks(CHUNK)
                .zip(&mut self.found[..chunks])
                .for_each(work);
        } else {
            self.pairs
                .chunks(CHUNK)
                .zip(&mut self.found[..chunks])
                .for_each(work);
        }
        self.candidates.clear();
        for found in &self.found[..chunks] {
            self.candidates.extend_from_slice(&found.candidates);
        }
    }

    /// Deepest overlap among the candidates, m, ≥ 0.
    pub(crate) fn max_penetration(&self) -> f64 {
        self.candidates
            .iter()
            .fold(0.0, |deepest, c| deepest.max(-c.gap))
    }
}

fn candidate(bodies: [u32; 2], point: &ContactPoint) -> Candidate {
    Candidate {
        bodies,
        point: point.point,
        normal: point.normal,
        gap: point.gap,
        feature: point.feature,
    }
}

/// The margin of the module doc, with velocities at the contact before and after the free motion.
fn keep_within_margin(
    pair: [u32; 2],
    points: &[ContactPoint],
    bodies: &Bodies,
    motion: &Motion,
    settings: &Settings,
    out: &mut Vec<Candidate>,
) {
    let slots = pair.map(|slot| slot as usize);
    let margin: f64 = slots
        .iter()
        .map(|slot| settings.margin * bodies.constants[*slot].size)
        .sum();
    for point in points {
        let arms = slots.map(|slot| point.point - bodies.pose[slot].position);
        let mut speed: f64 = 0.0;
        for twists in [&motion.begin, &motion.free] {
            let a = point.normal.dot(twists[slots[0]].at(arms[0]));
            let b = point.normal.dot(twists[slots[1]].at(arms[1]));
            speed = speed.max(a.abs()).max(b.abs()).max(b - a);
        }
        if point.gap <= margin + settings.time_step * speed {
            out.push(candidate(pair, point));
        }
    }
}
