//! Which contacts may overlap at the end of the step, from how their bodies moved.

use super::carried::Displacement;
use super::contacts::{self, Limits};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::{Centres, Detected};
use glam::DVec3;

/// How far a body got in the step. The surface of a ball does not turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// At most of a point of its surface, m.
    most: f64,
    /// Angle that it turned by, rad.
    angle: f64,
    /// Distance of its farthest point from its centre, m.
    radius: f64,
    /// Its radius if it is a ball, m, or 0.
    ball: f64,
}

impl Way {
    /// Of a body. `balls`: radii, m, 0 for all that are none.
    pub(super) fn of(bodies: &Bodies, slot: Slot, balls: &[f64], moved: &Displacement) -> Self {
        Self::new(bodies.constants[slot].radius, balls[slot], moved)
    }

    fn new(radius: f64, ball: f64, moved: &Displacement) -> Self {
        let angle = if ball > 0.0 { 0.0 } else { moved.angle };
        let turned = if angle > 0.0 { angle * radius } else { 0.0 };
        Self {
            most: one_norm(moved.linear) + turned,
            angle,
            radius,
            ball,
        }
    }

    /// What the bodies went is too little for [`may_overlap`], where a contact has this much room (m): its gap and what may be left of an
    /// overlap.
    ///
    /// A contact point is at most the gap off the surface, so that it moved by `most + φ g` at most, and the terms there are bounded by
    /// `D + φ (2R + 2g + ³⁄₂ D)` with the sums `D` and `φ` of both bodies, and `R` the radius of the smaller one, or of the ball.
    pub(super) fn is_short(&self, other: &Self, room: f64) -> bool {
        self.is_short_by(other, self.most + other.most, room)
    }

    /// The same of bodies whose centres came closer by no more than these displacements of them differ: what moves both alike leaves them as far
    /// apart as they were.
    pub(super) fn is_short_apart(&self, other: &Self, centres: [DVec3; 2], room: f64) -> bool {
        let [a, b] = centres;
        let alike = one_norm(a) + one_norm(b) - one_norm(a - b);
        self.is_short_by(other, self.most + other.most - alike, room)
    }

    fn is_short_by(&self, other: &Self, most: f64, room: f64) -> bool {
        let (angle, g) = (self.angle + other.angle, larger(room, 0.0));
        let smaller = if self.radius < other.radius {
            self.radius
        } else {
            other.radius
        };
        let radius = larger(smaller, larger(self.ball, other.ball));
        let way = most + angle * g;
        // Without bounds, neither has the product: that is for the other one to say.
        way + angle * (2.0 * (radius + g) + 1.5 * way) <= room
    }
}

/// Of two numbers, in one instruction.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The sum of the components: no less than the length, and without a root.
fn one_norm(v: DVec3) -> f64 {
    v.abs().element_sum()
}

/// Largest overlap that the motion of the step can have made of the gap at its start, m.
///
/// To first order a gap is carried along by the displacements of the two contact points. Beyond
/// that a body that turned by `φ` leaves its tangent plane by at most `½ φ² ρ`, and a tangential
/// displacement `δ` meets a surface that turned by `φ`: `δ φ`. On a ball the contact goes to where the plane of the other
/// body turns, by the same `½ φ² ρ` with the turn of that one.
pub(super) fn may_overlap(
    candidate: &Detected,
    centres: Centres,
    moved: &[Displacement],
    limits: &[Limits],
) -> bool {
    let tolerance = contacts::tolerance(limits, candidate);
    let [a, b] = candidate.bodies.map(|slot| {
        if centres.balls[slot] > 0.0 {
            moved[slot].without_turn()
        } else {
            moved[slot]
        }
    });
    let [arm_a, arm_b] = candidate.arms(centres);
    let point_a = a.linear + a.angular.cross(arm_a);
    let point_b = b.linear + b.angular.cross(arm_b);
    let relative = point_a - point_b;
    let normal = candidate.normal.dot(relative);
    let [of_a, of_b] = candidate.bodies.map(|slot| centres.balls[slot] > 0.0);
    let leaves_a = if of_a { b.angle } else { a.angle };
    let leaves_b = if of_b { a.angle } else { b.angle };
    let depth = |arms: [f64; 2], turn: f64, tangential: f64| {
        let unlisted = contacts::unlisted(limits, candidate, arms, turn);
        let turns = 0.5 * (leaves_a * leaves_a * arms[0] + leaves_b * leaves_b * arms[1]);
        turns + unlisted + tangential * (a.angle + b.angle) - candidate.gap - normal
    };
    let arms = [arm_a, arm_b];
    if depth(arms.map(one_norm), a.angle + b.angle, one_norm(relative)) <= tolerance {
        return false;
    }
    let tangential = (relative - candidate.normal * normal).length();
    let turn = (a.angular - b.angular).length();
    depth(arms.map(DVec3::length), turn, tangential) > tolerance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Lcg;
    use moreau_solvers::WorldTwist;

    /// A contact of two bodies, a ball or not, and what happened to them.
    struct Case {
        candidate: Detected,
        positions: [DVec3; 2],
        balls: [f64; 2],
        moved: [Displacement; 2],
        limits: [Limits; 2],
        radii: [f64; 2],
    }

    impl Case {
        fn random(random: &mut Lcg) -> Self {
            let vectors = [(); 7].map(|()| random.symmetric_vector());
            let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
            let [up, common, across, go_a, turn_a, go_b, turn_b] = vectors;
            let normal = (up + 2.0 * DVec3::Z).normalize();
            // Some turn far, and have room for it.
            let far = if number(0.0, 1.0) < 0.3 { 20.0 } else { 1.0 };
            let moved = [(go_a, turn_a), (go_b, turn_b)].map(|(go, turn)| {
                Displacement::by(&WorldTwist {
                    linear: 0.3 * common + 0.01 * go,
                    angular: 0.05 * far * turn,
                })
            });
            let gap = number(-1e-4, 0.1) * far;
            // From a die to a hill.
            let radii = [0, 1].map(|_| 0.05 / (1.0 - number(0.0, 0.9999)));
            let is_ball = [0, 1].map(|_| number(0.0, 1.0) < 0.5);
            let point = DVec3::new(1.0, 2.0, 3.0);
            // Contact points are on the surface.
            let centres = [0, 1].map(|side| {
                let out = if side == 0 { normal } else { -normal };
                let along = if is_ball[side] {
                    out
                } else {
                    (out + 0.5 * across.normalize_or_zero()).normalize()
                };
                point + out * (0.5 * gap) + along * radii[side]
            });
            let limit = |side: usize| Limits {
                tolerance: 1e-4,
                lever: if is_ball[side] { 0.0 } else { radii[side] },
                curvature: f64::INFINITY,
                parts: false,
            };
            Self {
                candidate: Detected {
                    bodies: [Slot(0), Slot(1)],
                    point,
                    normal,
                    gap,
                    feature: 0,
                },
                positions: centres,
                balls: [0, 1].map(|side| if is_ball[side] { radii[side] } else { 0.0 }),
                moved,
                limits: [limit(0), limit(1)],
                radii,
            }
        }

        fn may_overlap(&self) -> bool {
            let centres = Centres {
                positions: &self.positions,
                balls: &self.balls,
                inverse_mass: &[1.0; 2],
            };
            may_overlap(&self.candidate, centres, &self.moved, &self.limits)
        }

        fn way(&self, side: usize) -> Way {
            Way::new(self.radii[side], self.balls[side], &self.moved[side])
        }
    }

    #[test]
    fn ways_that_are_short_leave_nothing_to_doubt() {
        let mut random = Lcg::new(7);
        let mut short = [0; 2];
        for _ in 0..200_000 {
            let case = Case::random(&mut random);
            let (a, b) = (case.way(0), case.way(1));
            let room = case.candidate.gap + 1e-4;
            let went = case.moved.map(|moved| moved.linear);
            let told = [a.is_short(&b, room), a.is_short_apart(&b, went, room)];
            for (count, told) in short.iter_mut().zip(told) {
                *count += usize::from(told);
            }
            assert!(!(told[0] || told[1]) || !case.may_overlap());
        }
        // What both went together tells nothing of them.
        assert!(short[0] < short[1] / 3 && short[0] > 1_000, "{short:?}");
    }

    /// Two balls overlap where their centres are too close.
    #[test]
    fn no_overlap_of_balls_is_missed() {
        let mut random = Lcg::new(8);
        let mut seen = [0; 2];
        for _ in 0..400_000 {
            let case = Case::random(&mut random);
            if case.balls.contains(&0.0) {
                continue;
            }
            let [a, b] = [0, 1].map(|side| case.positions[side] + case.moved[side].linear);
            let gap = a.distance(b) - case.radii[0] - case.radii[1];
            let may = case.may_overlap();
            assert!(may || gap >= -1e-4 - 1e-12, "{gap}");
            seen[usize::from(may)] += 1;
            // To second order it is exact.
            let along = (a - b - (case.positions[0] - case.positions[1])).length();
            let bend = along * along / (2.0 * (case.radii[0] + case.radii[1]));
            assert!(!may || gap <= -1e-4 + bend + 1e-12, "{gap}");
        }
        assert!(seen.iter().all(|count| *count > 1_000), "{seen:?}");
    }
}
