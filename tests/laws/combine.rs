//! **Law.** The coefficient of a contact follows from those of its two bodies by the rule of the settings, and the
//! contact obeys the combined coefficient: friction on an incline, restitution at a wall.
//!
//! A rule is symmetric in the two bodies and gives equal coefficients back to the last bit. Accelerations are
//! compared to 1e-8 and velocities to 1e-12, as in the laws of the incline and of free flight.

use crate::support::*;

const RULES: [Combine; 4] = [
    Combine::Mean,
    Combine::GeometricMean,
    Combine::Min,
    Combine::Max,
];

#[test]
fn rules_have_their_values() {
    // √(0.2 · 0.8) = 0.4; two roots and a product round to 2 ε.
    let expected = [0.5, 0.4, 0.2, 0.8];
    for (rule, value) in RULES.into_iter().zip(expected) {
        let combined = rule.of(0.2, 0.8);
        assert!(
            (combined - value).abs() <= 2.0 * f64::EPSILON * value,
            "{rule:?}: {combined} instead of {value}"
        );
    }
    for rule in [Combine::GeometricMean, Combine::Min] {
        assert_eq!(rule.of(0.0, 0.7).to_bits(), 0.0_f64.to_bits(), "{rule:?}");
    }
}

#[test]
fn rules_are_symmetric_and_keep_equal_coefficients() {
    let mut random = Lcg::new(11);
    // Normal numbers: half of an odd subnormal is not one.
    let special = [0.0, f64::MIN_POSITIVE, 1e-170, 1.0, 1e170, f64::MAX];
    let mut values: Vec<f64> = (0..100).map(|_| 2.0 * random.uniform()).collect();
    values.extend((0..100).map(|_| libm::exp(20.0 * random.symmetric())));
    values.extend(special);
    for rule in RULES {
        for a in &values {
            assert_eq!(rule.of(*a, *a).to_bits(), a.to_bits(), "{rule:?} of {a}");
            for b in &values {
                let (ab, ba) = (rule.of(*a, *b), rule.of(*b, *a));
                assert_eq!(ab.to_bits(), ba.to_bits(), "{rule:?} of {a} and {b}");
                // Between the two, to the rounding of the roots.
                let (low, high) = (a.min(*b), a.max(*b));
                let slack = 4.0 * f64::EPSILON;
                assert!(
                    ab >= low * (1.0 - slack) && ab * (1.0 - slack) <= high,
                    "{rule:?} of {a} and {b} is {ab}"
                );
            }
        }
    }
}

/// Velocity down the slope of a block with `of_block` on a plane with `of_plane`, `tan a = slope`, after `steps`.
fn slide(rule: Combine, of_block: Material, of_plane: Material, slope: f64) -> (f64, f64) {
    let tilt = turn(DVec3::Y, libm::atan(slope));
    let mut simulation = Simulation::new(Settings {
        combine_friction: rule,
        ..reference()
    })
    .unwrap();
    simulation
        .spawn((
            RigidBody::Static,
            Collider::half_space(tilt * DVec3::Z),
            of_plane,
        ))
        .unwrap();
    let block = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            of_block,
            Pose::from_position(tilt * DVec3::Z * 0.1).with_orientation(tilt),
        ))
        .unwrap();
    for _ in 0..50 {
        simulation.step().unwrap();
    }
    let v = simulation.twist(block).unwrap().linear;
    (v.dot(tilt * DVec3::X), simulation.time())
}

#[test]
fn a_block_sticks_or_slides_by_the_combined_friction() {
    let (a, b, slope) = (0.2, 1.25, 0.6);
    // Means 0.725 and 0.5: two rules hold the block on a slope of 0.6, two do not.
    for (rule, mu, sticks) in [
        (Combine::Mean, 0.725, true),
        (Combine::GeometricMean, 0.5, false),
        (Combine::Min, 0.2, false),
        (Combine::Max, 1.25, true),
    ] {
        for (block, plane) in [(a, b), (b, a)] {
            let materials = [block, plane].map(Material::with_friction);
            let (speed, t) = slide(rule, materials[0], materials[1], slope);
            let (sin, cos) = libm::sincos(libm::atan(slope));
            let expected = if sticks {
                0.0
            } else {
                G * (sin - mu * cos) * t
            };
            assert!(
                (speed - expected).abs() <= 1e-8 * G * t,
                "{rule:?}: {speed} m/s instead of {expected}"
            );
        }
    }
}

#[test]
fn a_frictionless_body_slides_whatever_the_rule() {
    for rule in RULES {
        let materials = [Material::frictionless(0.0), Material::with_friction(1.25)];
        for [block, plane] in [materials, [materials[1], materials[0]]] {
            let (speed, t) = slide(rule, block, plane, 0.6);
            let expected = G * libm::sin(libm::atan(0.6)) * t;
            assert!(
                (speed - expected).abs() <= 1e-8 * G * t,
                "{rule:?}: {speed}"
            );
        }
    }
}

#[test]
fn a_ball_bounces_by_the_combined_restitution() {
    let of = |restitution| Material {
        restitution,
        ..Material::default()
    };
    for (rule, e) in RULES.into_iter().zip([0.5, 0.4, 0.2, 0.8]) {
        for (ball, wall) in [(0.2, 0.8), (0.8, 0.2)] {
            let mut simulation = Simulation::new(Settings {
                combine_restitution: rule,
                ..weightless()
            })
            .unwrap();
            ground(&mut simulation, of(wall));
            let ball = simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::sphere(0.1),
                    of(ball),
                    Pose::at(0.0, 0.0, 0.1203),
                    Twist::linear(0.0, 0.0, -1.0),
                ))
                .unwrap();
            for _ in 0..20 {
                simulation.step().unwrap();
            }
            let v = simulation.twist(ball).unwrap().linear.z;
            assert!((v - e).abs() <= 1e-12, "{rule:?}: {v} instead of {e}");
        }
    }
}
