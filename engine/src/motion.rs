//! Dense per-body arrays of one step, between the state at `t_k` and the state at `t_{k+1}`.

pub(crate) mod free_motion;
pub(crate) mod overflow;
pub(crate) mod scheme;

use crate::bodies::Bodies;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::{Slot, Slots};
use crate::components::{RigidBody, Wrench};
use crate::interactions::detected::Centres;
use crate::math::{chunks, rotation};
use crate::settings::Settings;
use free_motion::prescribed_motion;
use glam::{DMat3, DQuat, DVec3};
use moreau_solvers::{InverseMass, WorldTwist};
use overflow::overflows;
use scheme::{BodyAtStart, FreeMotion, Scheme};

/// Free motion and inverse masses of all bodies.
#[derive(Debug, Default)]
pub(crate) struct Motion {
    /// `v_k`, inertial frame: what restitution is of.
    pub(crate) begin: Vec<WorldTwist>,
    /// Free drift of each body: `v_free`, `p_free`.
    pub(crate) drift: Vec<FreeMotion>,
    /// `v_free`, inertial frame, before the free rotation.
    pub(crate) free: Vec<WorldTwist>,
    /// `Ŵ`, inertial frame, at the orientation of `t_k`, like the arms of the contacts: a force whose line meets an axis does not turn about it.
    pub(crate) inverse_mass: Vec<InverseMass>,
    /// Centres of mass at `t_k`, m: the solver lays bodies out by them.
    pub(crate) position: Vec<DVec3>,
    /// Radii of balls about their centres of mass, m; 0 for all other bodies.
    pub(crate) balls: Vec<f64>,
    /// `1/m`, 1/kg; 0 for what no impulse moves.
    scalar_inverse_mass: Vec<f64>,
    /// Some body is one of revolution.
    pub(crate) round: bool,
    /// Of [`Bodies`], when the entries of the bodies at rest were written.
    epoch: u64,
    /// The lowest slot of a body at rest whose state is too large to compute with.
    pub(crate) overflow_at_rest: Option<Slot>,
}

impl Motion {
    /// Free motion of every body, and its inverse mass in the inertial frame. Returns the lowest slot whose free
    /// twist overflows.
    pub(crate) fn predict(
        &mut self,
        bodies: &Bodies,
        scheme: &impl Scheme,
        settings: &Settings,
    ) -> Option<Slot> {
        if self.epoch != bodies.epoch {
            self.fill(bodies, settings.time_step);
        }
        let columns = (
            &mut self.begin[..],
            &mut self.drift[..],
            &mut self.free[..],
            &mut self.inverse_mass[..],
            &mut self.position[..],
        );
        let work = |part: Slots<'_, (&mut [_], &mut [_], &mut [_], &mut [_], &mut [_])>| {
            let rows = part.each();
            let (begin, drift, free, inverse_mass, position) = part.columns;
            let mut overflow = None;
            for (slot, row) in rows {
                let acting = bodies.acting(slot);
                let fallen = fall(bodies, (slot, &acting), scheme, settings);
                let (pose, twist) = (&bodies.pose[slot], &bodies.twist[slot]);
                position[row] = pose.position;
                free[row] = WorldTwist {
                    linear: fallen.twist.linear,
                    angular: pose.orientation * fallen.twist.angular,
                };
                begin[row] = WorldTwist {
                    linear: twist.linear,
                    angular: if fallen.twist.angular == twist.angular {
                        free[row].angular
                    } else {
                        pose.orientation * twist.angular
                    },
                };
                let body = &bodies.constants[slot];
                let h = settings.time_step;
                if !body.inertia.spherical || body.response.has_drag() {
                    inverse_mass[row] = turned_inverse_mass(bodies, slot, pose.orientation, h);
                }
                drift[row] = fallen;
                let WorldTwist { linear, angular } = free[row];
                if overflow.is_none() && overflows([linear, angular]) {
                    overflow = Some(slot);
                }
            }
            overflow
        };
        chunks::fold(Slots::of(&bodies.moving, columns), &work, &Option::or)
    }

    /// Other forces act on a dynamic body than were predicted.
    pub(crate) fn fall_again(
        &mut self,
        bodies: &Bodies,
        slot: Slot,
        scheme: &impl Scheme,
        settings: &Settings,
    ) {
        let fallen = fall(bodies, (slot, &bodies.acting(slot)), scheme, settings);
        self.free[slot] = WorldTwist {
            linear: fallen.twist.linear,
            angular: bodies.pose[slot].orientation * fallen.twist.angular,
        };
        self.drift[slot] = fallen;
    }

    /// The entries of all bodies at rest, and what turning does not change.
    fn fill(&mut self, bodies: &Bodies, h: f64) {
        self.epoch = bodies.epoch;
        self.overflow_at_rest = None;
        self.begin.clear();
        self.free.clear();
        self.drift.clear();
        self.inverse_mass.clear();
        self.begin.resize(bodies.len(), WorldTwist::default());
        self.free.resize(bodies.len(), WorldTwist::default());
        self.inverse_mass.resize(bodies.len(), InverseMass::FIXED);
        for slot in bodies.moving.iter().copied() {
            let orientation = bodies.pose[slot].orientation;
            self.inverse_mass[slot] = turned_inverse_mass(bodies, slot, orientation, h);
        }
        self.position.clear();
        self.position
            .extend(bodies.pose.iter().map(|pose| pose.position));
        self.round = bodies.constants.iter().any(BodyConstants::is_round);
        self.balls.clear();
        let radius = |body: &BodyConstants| body.ball_radius().unwrap_or(0.0);
        self.balls.extend(bodies.constants.iter().map(radius));
        self.scalar_inverse_mass.clear();
        let inverse_mass = bodies.constants.iter().map(BodyConstants::inverse_mass);
        self.scalar_inverse_mass.extend(inverse_mass);
        for (slot, pose) in bodies.slots().zip(&bodies.pose) {
            self.drift.push(FreeMotion {
                orientation: pose.orientation,
                ..FreeMotion::default()
            });
            let twist = &bodies.twist[slot];
            let state = [pose.position, twist.linear, twist.angular];
            if !bodies.moves(slot) && self.overflow_at_rest.is_none() && overflows(state) {
                self.overflow_at_rest = Some(slot);
            }
        }
    }

    /// Speed at which the forces of a step drive two bodies against each other where they have these arms, m/s. A body that a
    /// contact `held` may not have followed them: they count if they drive it, and not if they draw it away.
    pub(crate) fn driven(
        &self,
        [a, b]: [Slot; 2],
        normal: DVec3,
        arms: &[DVec3; 2],
        held: [bool; 2],
    ) -> f64 {
        let change = |slot: Slot, arm: DVec3| {
            let (begin, free) = (&self.begin[slot], &self.free[slot]);
            normal.dot(free.at(arm) - begin.at(arm))
        };
        let part = |towards: f64, held: bool| if held { towards.max(0.0) } else { towards };
        part(-change(a, arms[0]), held[0]) + part(change(b, arms[1]), held[1])
    }

    /// Some kinematic body turns.
    pub(crate) fn turns_something(&self, bodies: &Bodies) -> bool {
        let turns = |slot: &Slot| {
            self.begin[*slot].angular != DVec3::ZERO
                && bodies.constants[*slot].kind == RigidBody::Kinematic
        };
        bodies.kinematic > 0 && bodies.moving.iter().any(turns)
    }

    pub(crate) fn centres(&self) -> Centres<'_> {
        Centres {
            positions: &self.position,
            balls: &self.balls,
            inverse_mass: &self.scalar_inverse_mass,
        }
    }

    /// Largest speed of the centre (m/s) and angular speed (rad/s) of body `slot`, before or after
    /// the free motion.
    pub(crate) fn speeds(&self, slot: Slot) -> (f64, f64) {
        let (begin, free) = (&self.begin[slot], &self.free[slot]);
        let linear = begin.linear.length().max(free.linear.length());
        (linear, begin.angular.length().max(free.angular.length()))
    }
}

/// Free motion of a moving body under a wrench.
#[inline]
pub(crate) fn fall(
    bodies: &Bodies,
    (slot, wrench): (Slot, &Wrench),
    scheme: &impl Scheme,
    settings: &Settings,
) -> FreeMotion {
    let (pose, twist) = (&bodies.pose[slot], &bodies.twist[slot]);
    let body = &bodies.constants[slot];
    match body.kind {
        RigidBody::Dynamic => {
            let start = BodyAtStart {
                id: bodies.ids[slot],
                pose,
                twist,
                wrench,
                inertia: &body.inertia,
                response: &body.response,
            };
            scheme.predict(&start, settings)
        }
        RigidBody::Kinematic | RigidBody::Static => {
            prescribed_motion(pose, twist, settings.time_step)
        }
    }
}

/// `Ŵ` of a moving body at an orientation, with its drag over a step of `h`.
fn turned_inverse_mass(bodies: &Bodies, slot: Slot, orientation: DQuat, h: f64) -> InverseMass {
    let body = &bodies.constants[slot];
    if !body.is_dynamic() {
        return InverseMass::FIXED;
    }
    let inertia = &body.inertia;
    let angular = if inertia.spherical {
        DMat3::from_diagonal(inertia.inverse_moments)
    } else {
        let axes = DMat3::from_quat(orientation * inertia.frame);
        rotation::conjugate_diagonal(&axes, inertia.inverse_moments)
    };
    let mut inverse = InverseMass {
        linear: inertia.inverse_mass,
        angular,
    };
    if body.response.has_drag() {
        let [linear, angular] = body.response.heavier(h);
        inverse.linear /= linear;
        inverse.angular *= 1.0 / angular;
    }
    inverse
}
