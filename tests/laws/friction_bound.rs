//! **Law.** Up to the largest friction coefficient that is accepted contacts carry bodies and make no energy; beyond it none is accepted.

use crate::support::*;

/// Bodies of several shapes thrown into a box, without restitution. Largest gain of energy in a step that was solved, and in one that was not, over the energy at
/// the start, deepest overlap (m), steps that were not solved.
fn thrown(friction: f64, settings: Settings) -> ([f64; 2], f64, usize) {
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material::with_friction(friction);
    closed_box(&mut simulation, 0.8, material);
    let mut random = Lcg::new(5);
    for i in 0..27 {
        let cell = DVec3::new((i % 3) as f64, (i / 3 % 3) as f64, (i / 9) as f64) - 1.0;
        let shape = match i % 3 {
            0 => Collider::sphere(0.15),
            1 => Collider::cuboid(0.12, 0.15, 0.1),
            _ => Collider::capsule(0.1, 0.08),
        };
        let body = (
            RigidBody::Dynamic,
            shape,
            material,
            Pose::from_position(cell * 0.48).with_orientation(random.rotation()),
            Twist {
                linear: random.symmetric_vector() * 3.0,
                angular: random.symmetric_vector() * 5.0,
            },
        );
        simulation.spawn(body).unwrap();
    }
    let (mut gain, mut deepest, mut missed) = ([0.0_f64; 2], 0.0_f64, 0);
    let mut first = 0.0;
    for step in 0..300 {
        let report = simulation.step().unwrap();
        let energy = &report.energy;
        if step == 0 {
            first = energy.kinetic;
        }
        let of = &mut gain[usize::from(!report.converged)];
        *of = of.max((energy.work_friction + energy.work_impact) / first);
        deepest = deepest.max(report.max_penetration);
        missed += usize::from(!report.converged);
    }
    (gain, deepest, missed)
}

/// One per cent of the energy at the start is far below what coefficients beyond the bound make (6 % at 1e4, 15 % at 1e6, 4000 times at 1e8).
const GAIN: f64 = 1e-2;

/// Impulses do negative work on a closed world without restitution, up to what the tolerance leaves: 1e-4 of the energies that
/// the impulses of a step move, in some hundred contacts.
#[test]
fn friction_up_to_the_bound_makes_no_energy() {
    for friction in [1.0, 1e2, 3e2, 7e2, Material::MOST_FRICTION] {
        let ([solved, other], deepest, missed) = thrown(friction, Settings::default());
        println!(
            "μ = {friction:e}: gain {solved:e}, {other:e} in {missed} steps missed, {deepest:e} m deep"
        );
        assert!(solved <= 0.1 * GAIN, "μ = {friction:e}: {solved:e}");
        assert!(other <= GAIN, "μ = {friction:e}: {other:e}");
        // What bodies of this size may overlap while they fly about and some steps miss their tolerance.
        assert!(deepest <= 2e-3, "μ = {friction:e}: {deepest:e} m");
    }
}
