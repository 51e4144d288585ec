//! A two-link arm that falls to the ground, as in the references.

use moreau_systems::*;

/// A two-link arm above the ground, links of 0.5 m and 1 kg.
struct Arm;

const LINK: f64 = 0.5;
const G: f64 = 9.81;

impl LagrangianModel for Arm {
    fn size(&self) -> usize {
        2
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        let (c, inertia) = (libm::cos(q[1]), 1.0 / 48.0);
        let square = LINK * LINK;
        mass[(0, 0)] = square / 4.0 + 2.0 * inertia + (square + square / 4.0 + square * c);
        mass[(0, 1)] = inertia + square / 4.0 + square * c / 2.0;
        mass[(1, 0)] = mass[(0, 1)];
        mass[(1, 1)] = inertia + square / 4.0;
    }

    fn force(&self, _t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        let s = LINK * LINK * libm::sin(q[1]);
        let [first, both] = [libm::cos(q[0]), libm::cos(q[0] + q[1])];
        force[0] = s * (v[0] * v[1] + v[1] * v[1] / 2.0) - G * LINK * (1.5 * first + both / 2.0);
        force[1] = -s * v[0] * v[0] / 2.0 - G * LINK * both / 2.0;
    }

    fn force_by_position(&self, _t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        let c = LINK * LINK * libm::cos(q[1]);
        let [first, both] = [libm::sin(q[0]), libm::sin(q[0] + q[1])];
        slope[(0, 0)] = G * LINK * (1.5 * first + both / 2.0);
        slope[(0, 1)] = c * (v[0] * v[1] + v[1] * v[1] / 2.0) + G * LINK * both / 2.0;
        slope[(1, 0)] = G * LINK * both / 2.0;
        slope[(1, 1)] = -c * v[0] * v[0] / 2.0 + G * LINK * both / 2.0;
    }

    fn force_by_velocity(&self, _t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        let s = LINK * LINK * libm::sin(q[1]);
        slope[(0, 0)] = s * v[1];
        slope[(0, 1)] = s * (v[0] + v[1]);
        slope[(1, 0)] = -s * v[0];
    }
}

/// Height of the elbow, or of the tip.
struct Height {
    of_tip: bool,
}

impl LagrangianRelation for Height {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = 0.3 + LINK * libm::sin(q[0][0]);
        if self.of_tip {
            y[0] += LINK * libm::sin(q[0][0] + q[0][1]);
        }
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = LINK * libm::cos(q[0][0]);
        if self.of_tip {
            h[0][(0, 1)] = LINK * libm::cos(q[0][0] + q[0][1]);
            h[0][(0, 0)] += h[0][(0, 1)];
        }
    }
}

/// The arm under Moreau–Jean with its two contacts, e = 0.7.
pub fn arm() -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-4)).unwrap();
    let state = State::lagrangian([1.0, -0.8], [0.0, 0.0]);
    let integrator = Integrator::moreau_jean(0.5);
    let arm = simulation
        .spawn_system(System::lagrangian(Arm), state, integrator)
        .unwrap();
    for of_tip in [false, true] {
        let relation = Relation::lagrangian(Height { of_tip });
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.7 };
        simulation
            .spawn_interaction(Joins::one(arm), relation, law)
            .unwrap();
    }
    simulation
}
