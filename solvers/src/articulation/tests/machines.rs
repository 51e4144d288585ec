//! Machines for the tests: bodies in one posture, with joints, contacts, limits and motors, at one step of 5 ms under gravity.

use crate::random::Random;
use crate::{Contact, FactoredProblem, Interaction, InverseMass, Law, WorldTwist};
use glam::{DMat3, DVec3};

/// Step, s, and gravity, m/s².
pub(super) const STEP: f64 = 5e-3;
pub(super) const GRAVITY: f64 = 9.81;

/// A problem under construction. Body 0 is the fixed world.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) inverse_mass: Vec<InverseMass>,
    pub(super) free_twist: Vec<WorldTwist>,
    pub(super) contacts: Vec<Contact>,
    pub(super) interactions: Vec<Interaction>,
    pub(super) pull: Vec<f64>,
    pub(super) at: Vec<DVec3>,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self {
            inverse_mass: vec![InverseMass::FIXED],
            free_twist: vec![WorldTwist::default()],
            contacts: Vec::new(),
            interactions: Vec::new(),
            pull: Vec::new(),
            at: vec![DVec3::ZERO],
        }
    }

    pub(super) fn view(&self) -> FactoredProblem<'_> {
        FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &self.interactions,
            positions: &[],
            pull: &self.pull,
        }
    }

    /// A box of half extents `half`, at rest before the step.
    pub(super) fn body(&mut self, at: DVec3, mass: f64, half: DVec3) -> u32 {
        let square = half * half;
        let moments = DVec3::new(
            square.y + square.z,
            square.x + square.z,
            square.x + square.y,
        );
        let inverse = DVec3::ONE / (moments * (mass / 3.0));
        self.inverse_mass.push(InverseMass {
            linear: 1.0 / mass,
            angular: DMat3::from_diagonal(inverse),
        });
        self.free_twist.push(WorldTwist {
            linear: -DVec3::Z * (GRAVITY * STEP),
            angular: DVec3::ZERO,
        });
        self.at.push(at);
        self.at.len() as u32 - 1
    }

    /// Rows that keep a point of two bodies together along axes, or turns about axes.
    pub(super) fn joint(
        &mut self,
        [a, b]: [u32; 2],
        point: DVec3,
        along: &[DVec3],
        about: &[DVec3],
    ) -> usize {
        let law = Law::equality(along.len() + about.len());
        let mut joint = Interaction::new([a, b], law);
        let arms = [a, b].map(|j| point - self.at[j as usize]);
        for (row, axis) in along.iter().enumerate() {
            let parts = [*axis, arms[0].cross(*axis), -*axis, -arms[1].cross(*axis)];
            joint.rows[row].copy_from_slice(parts.map(|part| part.to_array()).as_flattened());
        }
        for (row, axis) in about.iter().enumerate() {
            let parts = [DVec3::ZERO, *axis, DVec3::ZERO, -*axis];
            let row = along.len() + row;
            joint.rows[row].copy_from_slice(parts.map(|part| part.to_array()).as_flattened());
        }
        self.interactions.push(joint);
        self.interactions.len() - 1
    }

    pub(super) fn ball(&mut self, bodies: [u32; 2], point: DVec3) -> usize {
        self.joint(bodies, point, &DVec3::AXES, &[])
    }

    pub(super) fn hinge(&mut self, bodies: [u32; 2], point: DVec3, axis: DVec3) -> usize {
        let [t, s] = normals(axis);
        self.joint(bodies, point, &DVec3::AXES, &[t, s])
    }

    pub(super) fn weld(&mut self, bodies: [u32; 2], point: DVec3) -> usize {
        self.joint(bodies, point, &DVec3::AXES, &DVec3::AXES)
    }

    /// A row about an axis with any law.
    pub(super) fn about(
        &mut self,
        bodies: [u32; 2],
        axis: DVec3,
        law: Law,
        offset: f64,
        compliance: f64,
    ) -> usize {
        let index = self.joint(bodies, DVec3::ZERO, &[], &[axis]);
        let row = &mut self.interactions[index];
        row.law = law;
        row.offset[0] = offset;
        row.compliance[0] = compliance;
        index
    }

    /// A contact on the ground below a point of a body.
    pub(super) fn ground(&mut self, body: u32, point: DVec3, friction: f64) {
        self.touch([body, 0], point, DVec3::Z, friction);
    }

    pub(super) fn touch(&mut self, bodies: [u32; 2], point: DVec3, normal: DVec3, friction: f64) {
        let [t, s] = normals(normal);
        self.contacts.push(Contact {
            bodies,
            frame: DMat3::from_cols(normal, t, s),
            arms: bodies.map(|j| point - self.at[j as usize]),
            offset: DVec3::ZERO,
            friction,
        });
    }

    /// Adhesion at each contact, N·s, as forces in the free motion.
    pub(super) fn hold(&mut self, pull: &[f64]) {
        for (contact, a) in self.contacts.iter().zip(pull) {
            let p = contact.frame.x_axis * -a;
            for (side, p) in [(0, p), (1, -p)] {
                let body = contact.bodies[side] as usize;
                let mass = &self.inverse_mass[body];
                self.free_twist[body].linear += p * mass.linear;
                self.free_twist[body].angular += mass.angular * contact.arms[side].cross(p);
            }
        }
        self.pull.clear();
        self.pull.extend_from_slice(pull);
        self.pull
            .resize(self.contacts.len() + self.interactions.len(), 0.0);
    }

    /// Small random velocities on top of the free ones.
    pub(super) fn stir(&mut self, seed: u64, speed: f64) {
        let mut random = Random::new(seed);
        for (twist, mass) in self.free_twist.iter_mut().zip(&self.inverse_mass) {
            if !mass.is_fixed() {
                twist.linear += random.vector() * speed;
                twist.angular += random.vector() * speed;
            }
        }
    }
}

/// Two unit vectors normal to a unit vector and each other.
pub(super) fn normals(axis: DVec3) -> [DVec3; 2] {
    let other = if axis.x.abs() < 0.7 {
        DVec3::X
    } else {
        DVec3::Y
    };
    let t = axis.cross(other).normalize();
    [t, axis.cross(t)]
}

/// A hanging or lying chain of balls-jointed rods along x, the last one `ratio` times as heavy.
pub(super) fn chain(links: usize, ratio: f64, hangs: bool) -> Machine {
    let mut machine = Machine::new();
    let half = DVec3::new(0.05, 0.01, 0.01);
    let mut last = 0;
    for k in 0..links {
        let at = DVec3::new(0.1 * k as f64 + 0.05, 0.0, 0.01);
        let mass = if k + 1 == links { ratio } else { 1.0 };
        let body = machine.body(at, mass, half);
        if hangs || k > 0 {
            machine.ball([last, body], DVec3::new(0.1 * k as f64, 0.0, 0.01));
        }
        if !hangs {
            machine.ground(body, at - 0.01 * DVec3::Z + 0.04 * DVec3::X, 0.5);
            machine.ground(body, at - 0.01 * DVec3::Z - 0.04 * DVec3::X, 0.5);
        }
        last = body;
    }
    machine
}

/// A body on four legs of three links with motors, standing on four points.
pub(super) fn quadruped(machine: &mut Machine, at: DVec3, bound: f64) {
    let trunk = machine.body(at + 0.5 * DVec3::Z, 20.0, DVec3::new(0.3, 0.15, 0.1));
    let soft = 1.0 / (STEP * (2.0 + STEP * 80.0));
    for (x, y) in [(0.3, 0.15), (0.3, -0.15), (-0.3, 0.15), (-0.3, -0.15)] {
        let hip = at + DVec3::new(x, y, 0.5);
        let inner = machine.body(hip + 0.04 * DVec3::Y * y.signum(), 1.5, DVec3::splat(0.04));
        let upper = machine.body(hip - 0.12 * DVec3::Z, 1.0, DVec3::new(0.02, 0.02, 0.12));
        let lower = machine.body(hip - 0.37 * DVec3::Z, 0.5, DVec3::new(0.015, 0.015, 0.13));
        for (bodies, point, axis) in [
            ([trunk, inner], hip, DVec3::X),
            ([inner, upper], hip, DVec3::Y),
            ([upper, lower], hip - 0.24 * DVec3::Z, DVec3::Y),
        ] {
            machine.hinge(bodies, point, axis);
            machine.about(bodies, axis, Law::interval(-bound, bound), 0.0, soft);
        }
        machine.ground(lower, hip - 0.5 * DVec3::Z, 0.6);
    }
}

/// A tree of fifteen bodies with balls and hinges, limits at the knees and eight contacts.
pub(super) fn humanoid(bound: f64) -> Machine {
    let mut machine = Machine::new();
    let z = |z: f64| DVec3::Z * z;
    let pelvis = machine.body(z(1.0), 10.0, DVec3::new(0.1, 0.15, 0.08));
    let belly = machine.body(z(1.2), 8.0, DVec3::new(0.08, 0.12, 0.1));
    let chest = machine.body(z(1.45), 14.0, DVec3::new(0.1, 0.15, 0.14));
    let head = machine.body(z(1.75), 4.0, DVec3::splat(0.1));
    let soft = 1.0 / (STEP * (5.0 + STEP * 300.0));
    let motor = Law::interval(-bound, bound);
    for (bodies, at) in [
        ([pelvis, belly], 1.1),
        ([belly, chest], 1.3),
        ([chest, head], 1.6),
    ] {
        machine.ball(bodies, z(at));
        for axis in DVec3::AXES {
            machine.about(bodies, axis, motor, 0.0, soft);
        }
    }
    for side in [1.0, -1.0] {
        let y = DVec3::Y * side;
        let shoulder = 0.2 * y + z(1.5);
        let upper = machine.body(shoulder - z(0.15), 2.0, DVec3::new(0.04, 0.04, 0.15));
        let fore = machine.body(shoulder - z(0.43), 1.5, DVec3::new(0.03, 0.03, 0.13));
        let hip = 0.1 * y + z(0.95);
        let thigh = machine.body(hip - z(0.2), 7.0, DVec3::new(0.07, 0.07, 0.2));
        let shank = machine.body(hip - z(0.62), 3.5, DVec3::new(0.05, 0.05, 0.2));
        let foot = machine.body(
            hip - z(0.9) + 0.05 * DVec3::X,
            1.0,
            DVec3::new(0.12, 0.05, 0.04),
        );
        machine.ball([chest, upper], shoulder);
        machine.ball([pelvis, thigh], hip);
        for (bodies, point) in [
            ([upper, fore], shoulder - z(0.3)),
            ([thigh, shank], hip - z(0.42)),
            ([shank, foot], hip - z(0.84)),
        ] {
            machine.hinge(bodies, point, DVec3::Y);
        }
        for bodies in [[chest, upper], [pelvis, thigh]] {
            for axis in DVec3::AXES {
                machine.about(bodies, axis, motor, 0.0, soft);
            }
        }
        for bodies in [[upper, fore], [thigh, shank], [shank, foot]] {
            machine.about(bodies, DVec3::Y, motor, 0.0, soft);
        }
        machine.about([thigh, shank], DVec3::Y, Law::Complementarity, 0.0, 0.0);
        for (dx, dy) in [(0.12, 0.05), (0.12, -0.05), (-0.12, 0.05), (-0.12, -0.05)] {
            let sole = machine.at[foot as usize] + DVec3::new(dx, dy, -0.04);
            machine.ground(foot, sole, 0.7);
        }
    }
    machine
}

/// Three links and the ground, hinges about one axis: three rows too many.
pub(super) fn four_bar() -> Machine {
    let mut machine = Machine::new();
    let points = [
        DVec3::ZERO,
        DVec3::new(0.0, 0.0, 1.0),
        DVec3::new(2.0, 0.0, 1.2),
        DVec3::new(2.0, 0.0, 0.0),
    ];
    let half = DVec3::new(0.05, 0.05, 0.5);
    let links =
        [0, 1, 2].map(|k| machine.body(0.5 * (points[k] + points[k + 1]), 1.0 + k as f64, half));
    for (k, bodies) in [
        [0, links[0]],
        [links[0], links[1]],
        [links[1], links[2]],
        [links[2], 0],
    ]
    .into_iter()
    .enumerate()
    {
        machine.hinge(bodies, points[k], DVec3::Y);
    }
    machine
}

/// A plate on six legs of two halves each, universal joints below and balls above, with loads pressed on it.
pub(super) fn stewart() -> Machine {
    let mut machine = Machine::new();
    let plate = machine.body(DVec3::Z, 20.0, DVec3::new(0.5, 0.5, 0.05));
    let circle = |k: usize, radius: f64, shift: f64| {
        let [c, s] = crate::random::direction(((k as f64 + shift) / 6.0).fract());
        DVec3::new(radius * c, radius * s, 0.0)
    };
    for k in 0..6 {
        let foot = circle(k, 1.0, if k % 2 == 0 { 0.3 } else { -0.3 });
        let top = circle(k, 0.5, if k % 2 == 0 { -0.2 } else { 0.2 }) + DVec3::Z;
        let axis = (top - foot).normalize();
        let low = machine.body(foot + 0.25 * (top - foot), 1.0, DVec3::new(0.03, 0.03, 0.3));
        let high = machine.body(foot + 0.75 * (top - foot), 1.0, DVec3::new(0.03, 0.03, 0.3));
        machine.joint([0, low], foot, &DVec3::AXES, &[axis]);
        let [t, s] = normals(axis);
        // A cylinder that is held: five rows, and its drive as the sixth.
        machine.joint([low, high], 0.5 * (foot + top), &[t, s], &[axis, t, s]);
        let drive = machine.joint([low, high], 0.5 * (foot + top), &[axis], &[]);
        machine.interactions[drive].offset[0] = 1e-3 * k as f64;
        machine.ball([high, plate], top);
    }
    let load = machine.body(DVec3::Z * 1.15, 10.0, DVec3::splat(0.1));
    for (x, y) in [(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)] {
        machine.touch([load, plate], DVec3::new(x, y, 1.05), DVec3::Z, 0.5);
    }
    machine
}

/// A plate on four legs, each of two hinges that are doubled: many rows too many.
pub(super) fn table() -> Machine {
    let mut machine = Machine::new();
    let plate = machine.body(DVec3::Z, 10.0, DVec3::new(0.5, 0.5, 0.02));
    for (x, y) in [(0.4, 0.4), (0.4, -0.4), (-0.4, 0.4), (-0.4, -0.4)] {
        let top = DVec3::new(x, y, 0.98);
        let leg = machine.body(DVec3::new(x, y, 0.5), 1.0, DVec3::new(0.03, 0.03, 0.45));
        for offset in [0.02, -0.02, 0.01, -0.01] {
            machine.hinge([plate, leg], top + offset * DVec3::Y, DVec3::Y);
        }
        for (dx, dy) in [(0.03, 0.03), (0.03, -0.03), (-0.03, 0.03), (-0.03, -0.03)] {
            machine.ground(leg, DVec3::new(x + dx, y + dy, 0.0), 0.4);
        }
    }
    machine
}

/// A net of small masses with balls and rods between them, lying on spheres.
pub(super) fn net(edge: usize) -> Machine {
    let mut machine = Machine::new();
    let at = |i: usize, j: usize| DVec3::new(0.1 * i as f64, 0.1 * j as f64, 1.0);
    let half = DVec3::new(0.05, 0.01, 0.01);
    let mut knots = vec![0; edge * edge];
    for i in 0..edge {
        for j in 0..edge {
            let corner = (i == 0 || i + 1 == edge) && (j == 0 || j + 1 == edge);
            knots[i * edge + j] = if corner {
                0
            } else {
                machine.body(at(i, j), 0.05, DVec3::splat(0.01))
            };
        }
    }
    for i in 0..edge {
        for j in 0..edge {
            for (k, l) in [(i + 1, j), (i, j + 1)] {
                if k < edge && l < edge {
                    let rod = machine.body(0.5 * (at(i, j) + at(k, l)), 0.02, half);
                    machine.ball([knots[i * edge + j], rod], at(i, j));
                    machine.ball([rod, knots[k * edge + l]], at(k, l));
                }
            }
            if (i + j) % 2 == 0 && knots[i * edge + j] != 0 {
                let under = at(i, j) - 0.06 * DVec3::Z;
                let sphere = machine.body(under, 0.2, DVec3::splat(0.05));
                machine.touch(
                    [knots[i * edge + j], sphere],
                    under + 0.05 * DVec3::Z,
                    DVec3::Z,
                    0.4,
                );
            }
        }
    }
    machine
}

/// A tree of random joints, with as many more joints between bodies that are there (loops) and doubled ones.
pub(super) fn random(
    seed: u64,
    bodies: usize,
    [loops, doubled]: [usize; 2],
    decades: f64,
) -> Machine {
    let mut random = Random::new(seed);
    let mut machine = Machine::new();
    for k in 0..bodies {
        let mass = random.power_of_ten(-0.5 * decades, 0.5 * decades);
        let body = machine.body(
            random.vector() * 2.0,
            mass,
            DVec3::splat(0.1) + 0.05 * random.vector(),
        );
        if k > 0 || random.below(2) == 0 {
            let parent = random.below(k + 1) as u32;
            random_joint(&mut machine, &mut random, [parent, body]);
        }
    }
    for _ in 0..loops {
        let a = random.below(bodies + 1) as u32;
        let b = (a + 1 + random.below(bodies) as u32) % (bodies as u32 + 1);
        // Soft or few rows: a rigid loop may leave nothing to move.
        let point = random.vector() * 2.0;
        let axis = random.vector().normalize();
        machine.joint([a, b], point, &[axis], &[]);
    }
    for _ in 0..doubled {
        let copy = machine.interactions[random.below(machine.interactions.len())];
        machine.interactions.push(copy);
    }
    machine.stir(seed, 1.0);
    machine
}

fn random_joint(machine: &mut Machine, random: &mut Random, bodies: [u32; 2]) {
    let point = machine.at[bodies[1] as usize] + 0.3 * random.vector();
    let axis = random.vector().normalize();
    match random.below(4) {
        0 => machine.ball(bodies, point),
        1 => machine.hinge(bodies, point, axis),
        2 => machine.weld(bodies, point),
        _ => {
            let [t, s] = normals(axis);
            machine.joint(bodies, point, &[t, s], &DVec3::AXES)
        }
    };
}
