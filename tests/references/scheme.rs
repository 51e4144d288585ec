//! The scheme of the references with joints, as a program of its own: Moreau–Jean with θ = 1, joints as equalities on velocities whose rows are taken at a
//! predicted state, and, where it is said, a projection of positions. The engine does none of this; only its solver is under test here.
//!
//! ```text
//! v_free = v_k + h M⁻¹F,   rows at x_k + h v_free, q_k ∘ exp(h Ω_free)
//! rows·v = 0,   0 ≤ ẏ + e ẏ_k ⊥ p ≥ 0 if the contact is active,   then x + h v, q ∘ exp(h Ω)
//! ```
//!
//! *Active* is a contact with `y_k + (h/2) ẏ_k ≤ 0`; with projection, one that is overlapped at the free state or at the end of the step without it, which
//! then is taken again with it. The *projection* makes `y(q) = 0` for joints and active contacts, in the metric of the seven coordinates as they are:
//! `δ = −Jᵀ(J Jᵀ)⁻¹ y` on position and quaternion, normalised after it, until every `|y| ≤ 1e-8`.
//! Angular velocities are those of the body frame, no moments act and none is gyroscopic, since the motions are plane.

use crate::mixed::{Mixed, Six, UNIT};
use glam::{DMat3, DQuat, DVec3};
use moreau::rotation::exp;
use moreau_solvers::{Auto, InverseMass, Law};

/// What rows are solved to.
const GOAL: f64 = 1e-12;
/// What positions are projected to, m.
const CLOSED: f64 = 1e-8;

/// A body of mass 1 kg and its state.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub(crate) inverse_inertia: DMat3,
    pub(crate) position: DVec3,
    pub(crate) orientation: DQuat,
    /// In the world.
    pub(crate) velocity: DVec3,
    /// In the body.
    pub(crate) spin: DVec3,
}

impl Body {
    pub(crate) fn at_rest(moments: DVec3, position: DVec3, orientation: DQuat) -> Self {
        Self {
            inverse_inertia: DMat3::from_diagonal(moments.recip()),
            position,
            orientation,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// After `h` with its velocities.
    pub(crate) fn moved(&self, h: f64) -> Self {
        Self {
            position: self.position + self.velocity * h,
            orientation: self.orientation * exp(self.spin * h),
            ..*self
        }
    }

    /// Position and quaternion with w first, as the files have them.
    pub(crate) fn pose(&self) -> [f64; 7] {
        let (x, q) = (self.position, self.orientation);
        [x.x, x.y, x.z, q.w, q.x, q.y, q.z]
    }
}

/// A joint of the references.
#[derive(Clone, Copy)]
pub(crate) enum Hold {
    /// A point of a body on a point of another, or on the origin.
    Ball([(usize, DVec3); 2]),
    /// A point of a body on the origin.
    Pin(usize, DVec3),
    /// The attitude as it is here, and the centre on a line through `from` along `axis` in the world.
    Slide {
        body: usize,
        from: DVec3,
        axis: DVec3,
        attitude: DQuat,
    },
    /// The rate about the body's y axis.
    Drive(usize),
}

/// A row over the seven coordinates of bodies: body, position, quaternion (w first).
type Sevens = Vec<(usize, DVec3, [f64; 4])>;

/// A row over twists, and a row over coordinates with what is to vanish.
struct Rows {
    twist: Vec<Vec<(usize, Six)>>,
    place: Vec<(Sevens, f64)>,
}

fn six(v: DVec3, w: DVec3) -> Six {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// Derivatives of `(q p q̄)·e` with respect to w, x, y, z: `2 (w p + u × p, u·p + …)` sorted by `e`.
fn turned_by(q: DQuat, p: DVec3, e: DVec3) -> [f64; 4] {
    let (w, u) = (q.w, q.xyz());
    // q p q̄ = (w² − u·u) p + 2 (u·p) u + 2 w u × p
    let of_w = 2.0 * (w * p + u.cross(p)).dot(e);
    let of_u = 2.0 * (u.dot(p) * e + u.dot(e) * p - p.dot(e) * u + w * p.cross(e));
    [of_w, of_u.x, of_u.y, of_u.z]
}

const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];

impl Hold {
    fn rows(&self, bodies: &[Body], into: &mut Rows) {
        match *self {
            Self::Ball(ends) => {
                let at = ends.map(|(b, p)| bodies[b].position + bodies[b].orientation * p);
                for e in AXES {
                    let sides = [(ends[0], 1.0), (ends[1], -1.0)];
                    let twist = sides.map(|((b, p), sign)| (b, point(&bodies[b], p, e * sign)));
                    into.twist.push(twist.to_vec());
                    let place = sides.map(|((b, p), sign)| {
                        (b, e * sign, turned_by(bodies[b].orientation, p, e * sign))
                    });
                    into.place.push((place.to_vec(), (at[0] - at[1]).dot(e)));
                }
            }
            Self::Pin(b, p) => {
                let body = &bodies[b];
                let at = body.position + body.orientation * p;
                for e in AXES {
                    into.twist.push(vec![(b, point(body, p, e))]);
                    let place = vec![(b, e, turned_by(body.orientation, p, e))];
                    into.place.push((place, at.dot(e)));
                }
            }
            Self::Slide {
                body: b,
                from,
                axis,
                attitude,
            } => {
                let body = &bodies[b];
                let (t, s) = axis.any_orthonormal_pair();
                for e in [t, s] {
                    into.twist.push(vec![(b, six(e, DVec3::ZERO))]);
                    let place = vec![(b, e, [0.0; 4])];
                    into.place.push((place, (body.position - from).dot(e)));
                }
                let off = body.orientation * attitude.conjugate();
                for (e, value) in AXES.into_iter().zip(off.xyz().to_array()) {
                    into.twist.push(vec![(b, six(DVec3::ZERO, e))]);
                    // The vector of q q̄₀ along e: w₀ u − w u₀ − u × u₀.
                    let u = attitude.w * e - attitude.xyz().cross(e);
                    let own = [-attitude.xyz().dot(e), u.x, u.y, u.z];
                    into.place.push((vec![(b, DVec3::ZERO, own)], value));
                }
            }
            Self::Drive(b) => into.twist.push(vec![(b, six(DVec3::ZERO, DVec3::Y))]),
        }
    }
}

/// What the velocity of a point of a body along `e` takes of its twist.
fn point(body: &Body, p: DVec3, e: DVec3) -> Six {
    six(e, p.cross(body.orientation.conjugate() * e))
}

/// A body above a floor, without friction: the height of its centre over where it touches.
#[derive(Clone, Copy)]
pub(crate) struct Floor {
    pub(crate) body: usize,
    pub(crate) level: f64,
    pub(crate) restitution: f64,
}

impl Floor {
    fn gap(&self, bodies: &[Body]) -> f64 {
        bodies[self.body].position.z - self.level
    }
}

/// Bodies, joints and perhaps a floor.
pub(crate) struct Machine {
    pub(crate) h: f64,
    pub(crate) gravity: f64,
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Hold>,
    pub(crate) floor: Option<Floor>,
    pub(crate) projects: bool,
    /// Rate of [`Hold::Drive`], rad/s.
    pub(crate) rate: f64,
    /// The floor pushed in the last step, or was near.
    pub(crate) touched: bool,
    auto: Auto,
}

impl Machine {
    pub(crate) fn new(h: f64, bodies: Vec<Body>, joints: Vec<Hold>) -> Self {
        Self {
            h,
            gravity: 9.81,
            bodies,
            joints,
            floor: None,
            projects: false,
            rate: 0.0,
            touched: false,
            auto: Auto::default(),
        }
    }

    /// Three bars on three balls, the last on a vertical slide as well.
    pub(crate) fn chain() -> Self {
        let c = std::f64::consts::FRAC_1_SQRT_2;
        let moments = DVec3::new(0.1, 1.0, 1.0);
        let turn = |angle: f64| exp(DVec3::Y * angle * std::f64::consts::FRAC_PI_4);
        let at = [
            (DVec3::new(0.5 * c, 0.0, -0.5 * c), turn(1.0)),
            (DVec3::new(0.5 * c, 0.0, -1.5 * c), turn(-1.0)),
            (DVec3::new(0.0, 0.0, -2.0 * c - 0.5), turn(2.0)),
        ];
        let end = DVec3::X * 0.5;
        let slide = Hold::Slide {
            body: 2,
            from: at[2].0,
            axis: DVec3::Z,
            attitude: at[2].1,
        };
        let joints = vec![
            Hold::Pin(0, -end),
            Hold::Ball([(1, end), (0, end)]),
            Hold::Ball([(2, -end), (1, -end)]),
            slide,
        ];
        let bodies = at.map(|(x, q)| Body::at_rest(moments, x, q));
        Self::new(0.01, bodies.to_vec(), joints)
    }

    fn rows(&self, bodies: &[Body]) -> Rows {
        let mut rows = Rows {
            twist: Vec::new(),
            place: Vec::new(),
        };
        self.joints
            .iter()
            .for_each(|joint| joint.rows(bodies, &mut rows));
        rows
    }

    /// The velocities at the end of the step, from those without joints, rows at `at`.
    fn solve(&mut self, free: &[Body], at: &[Body], floor: Option<Floor>) -> Vec<Body> {
        let of = |b: &Body| {
            let mass = InverseMass {
                linear: 1.0,
                angular: b.inverse_inertia,
            };
            (mass, six(b.velocity, b.spin))
        };
        let mut problem = Mixed::new(free.iter().map(of));
        let drive = matches!(self.joints.last(), Some(Hold::Drive(_)));
        let rows = self.rows(at).twist;
        for (k, row) in rows.iter().enumerate() {
            let d = if drive && k + 1 == rows.len() {
                -self.rate
            } else {
                0.0
            };
            problem.equality(row, d);
        }
        if let Some(floor) = floor {
            let d = floor.restitution * self.bodies[floor.body].velocity.z;
            let row = six(DVec3::Z, DVec3::ZERO);
            problem.contact(floor.body, Law::Complementarity, &[row], &[d]);
        }
        let answer = problem.solve(&mut self.auto, GOAL);
        assert!(answer.report.converged(), "{:?}", answer.report);
        let mut ends = self.bodies.clone();
        for (body, v) in ends.iter_mut().zip(&answer.velocity) {
            body.velocity = DVec3::from_slice(&v[..3]);
            body.spin = DVec3::from_slice(&v[3..]);
        }
        ends
    }

    /// Positions on joints and, if `touches`, on the floor.
    fn project(&mut self, bodies: &mut [Body], touches: bool) {
        for _ in 0..1000 {
            let mut rows = self.rows(bodies).place;
            if let Some(floor) = self.floor.filter(|_| touches) {
                let row = (floor.body, DVec3::Z, [0.0; 4]);
                rows.push((vec![row], floor.gap(bodies)));
            }
            if rows.iter().all(|(_, y)| y.abs() <= CLOSED) {
                return;
            }
            // Position and quaternion of a body are two sixes.
            let mut problem = Mixed::new(bodies.iter().flat_map(|_| [(UNIT, [0.0; 6]); 2]));
            for (row, y) in &rows {
                let parts: Vec<(usize, Six)> = row
                    .iter()
                    .flat_map(|(b, x, q)| {
                        let place = six(*x, DVec3::ZERO);
                        [
                            (2 * b, place),
                            (2 * b + 1, [q[0], q[1], q[2], q[3], 0.0, 0.0]),
                        ]
                    })
                    .collect();
                problem.equality(&parts, *y);
            }
            let answer = problem.solve(&mut self.auto, GOAL);
            assert!(answer.report.converged(), "{:?}", answer.report);
            for (body, change) in bodies.iter_mut().zip(answer.velocity.chunks(2)) {
                body.position += DVec3::from_slice(&change[0][..3]);
                let [w, x, y, z, ..] = change[1];
                body.orientation = (body.orientation + DQuat::from_xyzw(x, y, z, w)).normalize();
            }
        }
        panic!("joints do not close");
    }

    pub(crate) fn step(&mut self) {
        let h = self.h;
        let mut free = self.bodies.clone();
        for body in &mut free {
            body.velocity.z -= h * self.gravity;
        }
        let at: Vec<Body> = free.iter().map(|body| body.moved(h)).collect();
        let mut active = self.floor.filter(|floor| {
            if self.projects {
                floor.gap(&at) <= 0.0
            } else {
                let rate = self.bodies[floor.body].velocity.z;
                floor.gap(&self.bodies) + 0.5 * h * rate <= 0.0
            }
        });
        loop {
            let ends = self.solve(&free, &at, active);
            let mut ends: Vec<Body> = ends.iter().map(|body| body.moved(h)).collect();
            if self.projects {
                self.project(&mut ends, active.is_some());
                let overlaps = self.floor.filter(|floor| floor.gap(&ends) <= 0.0);
                if active.is_none() && overlaps.is_some() {
                    active = overlaps;
                    continue;
                }
            }
            self.bodies = ends;
            self.touched = active.is_some();
            return;
        }
    }
}
