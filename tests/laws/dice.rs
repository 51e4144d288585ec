//! **Law.** A body that falls flat on a floor keeps its corners, however far it moves in a step: without friction it neither spins nor
//! veers, though `v h` is more than it is thick. On an edge below its centre it stands, as its impulses are all vertical and balanced.
//!
//! By symmetry the solution has no rotation. What is solved to `Accuracy::Reference` leaves 1e-12 rad/s; velocities are held to 1e-8 of the
//! speed, spins to that over the size.

use crate::meeting::{fixed, flying, frictionless, position};
use crate::support::*;

/// Half the height of a die, m.
const HALF: f64 = 8e-3;

/// The convex hull of a die with its edges and corners cut.
fn rounded() -> Collider {
    let mut points = Vec::new();
    for i in 0..8 {
        let sign = [0, 1, 2].map(|bit| if i >> bit & 1 == 1 { 1.0 } else { -1.0 });
        for axis in 0..3 {
            // Flat within 6 mm of the middle, then 45° and the corner.
            let mut inner = DVec3::splat(6e-3);
            inner[axis] = HALF;
            points.push(inner * DVec3::from_array(sign));
            let mut round = DVec3::splat(7.2e-3);
            round[axis] = 6.5e-3;
            points.push(round * DVec3::from_array(sign));
        }
    }
    Collider::convex_hull(points)
}

/// Bodies with the height of their centre; on a face, and on an edge.
fn bodies() -> Vec<(&'static str, Collider, DQuat, f64)> {
    let die = Collider::cuboid(HALF, HALF, HALF);
    let plate = Collider::cuboid(HALF, HALF, 1e-3);
    let wide = Collider::cuboid(0.03, 0.02, 1e-3);
    let edge = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    let side = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let flat = DQuat::IDENTITY;
    let diagonal = std::f64::consts::SQRT_2;
    vec![
        ("die", die.clone(), flat, HALF),
        ("die on an edge", die, edge, HALF * diagonal),
        ("plate", plate.clone(), flat, 1e-3),
        ("plate on its side", plate, side, HALF),
        ("wide plate", wide, flat, 1e-3),
        ("rounded die", rounded(), flat, HALF),
    ]
}

fn floors() -> Vec<(&'static str, Body)> {
    let at = |i: u32| {
        DVec3::new(
            0.05 * f64::from(i % 21) - 0.5,
            0.05 * f64::from(i / 21) - 0.5,
            0.0,
        )
    };
    let cell = |i: u32| {
        let a = i % 20 + 21 * (i / 20);
        [[a, a + 1, a + 22], [a, a + 22, a + 21]]
    };
    let fine = Collider::triangle_mesh(
        (0..441).map(at).collect(),
        (0..400).flat_map(cell).collect(),
    );
    let corners = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
    let coarse = Collider::triangle_mesh(
        corners.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let field = Collider::new(Shape::HeightField {
        x_size: 1.0,
        y_size: 1.0,
        columns: 21,
        heights: vec![0.0; 441],
    });
    vec![
        (
            "half-space",
            fixed(0, Collider::half_space(DVec3::Z), DVec3::ZERO),
        ),
        (
            "cuboid",
            fixed(0, Collider::cuboid(2.0, 2.0, 0.5), DVec3::Z * -0.5),
        ),
        ("fine mesh", fixed(0, fine, DVec3::ZERO)),
        ("coarse mesh", fixed(0, coarse, DVec3::ZERO)),
        ("height field", fixed(0, field, DVec3::ZERO)),
    ]
}

#[test]
fn what_falls_flat_neither_spins_nor_veers() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (floor_name, floor) in floors() {
        for (name, collider, orientation, height) in bodies() {
            for h in [1.0 / 60.0, 1.0 / 200.0] {
                for speed in [2.5, 0.7, 10.0] {
                    let (mut worst, mut bad) = (0.0_f64, 0);
                    for number in 0..30 {
                        let settings = Settings {
                            time_step: h,
                            ..reference()
                        };
                        let v = DVec3::Z * -speed;
                        let way = speed * h * (0.1 + 0.07 * f64::from(number));
                        let at = DVec3::new(0.0113, -0.0171, height + way);
                        let mut body = flying(1, collider.clone(), at, v);
                        body.pose.orientation =
                            DQuat::from_rotation_z(f64::from(number) * 0.2094) * orientation;
                        body.material = frictionless();
                        let mut state = StepState::default();
                        state.set_bodies(&[floor.clone(), body]).unwrap();
                        let mut off = 0.0_f64;
                        for _ in 0..8 {
                            state.step(&settings).unwrap();
                            let twist = state.twist(BodyId(1)).unwrap();
                            let veer = twist.linear.truncate().length();
                            off = off.max((HALF * twist.angular.length()).max(veer));
                        }
                        let deep = height - position(&state, 1).z;
                        // The overlap at which bodies meet is 1e-4 of the half-thickness.
                        if off > 1e-8 * speed || deep.abs() > 1e-4 * HALF {
                            bad += 1;
                        }
                        worst = worst.max(off);
                        count += 1;
                    }
                    if bad > 0 {
                        wrong.push(format!(
                            "{name} on {floor_name}, h {h:.4} speed {speed}: {bad} of 30, {worst:.1e} m/s off"
                        ));
                    }
                }
            }
        }
    }
    let report = wrong.join("\n");
    assert!(wrong.is_empty(), "of {count}:\n{report}");
}

/// The floor acts along the vertical alone: what falls on it, turned anyhow, gets no velocity along it.
#[test]
fn what_falls_anyhow_does_not_veer() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (floor_name, floor) in floors() {
        for (name, collider, ..) in bodies() {
            for h in [1.0 / 60.0, 1.0 / 200.0] {
                for speed in [2.5, 10.0] {
                    let mut rng = Lcg::new(17);
                    let (mut worst, mut bad) = (0.0_f64, 0);
                    for number in 0..12 {
                        let settings = Settings {
                            time_step: h,
                            ..reference()
                        };
                        let v = DVec3::Z * -speed;
                        let way = speed * h * (0.1 + 0.07 * f64::from(number));
                        let at = DVec3::new(0.0113, -0.0171, 0.04 + way);
                        let mut body = flying(1, collider.clone(), at, v);
                        body.pose.orientation = rng.rotation();
                        body.material = frictionless();
                        let mut state = StepState::default();
                        state.set_bodies(&[floor.clone(), body]).unwrap();
                        let mut off = 0.0_f64;
                        for _ in 0..12 {
                            state.step(&settings).unwrap();
                            let twist = state.twist(BodyId(1)).unwrap();
                            let veer = twist.linear.truncate().length();
                            off = off.max(veer);
                        }
                        if off > 1e-8 * speed {
                            bad += 1;
                        }
                        worst = worst.max(off);
                        count += 1;
                    }
                    if bad > 0 {
                        wrong.push(format!(
                            "{name} on {floor_name}, h {h:.4} speed {speed}: {bad} of 12, {worst:.1e} m/s off"
                        ));
                    }
                }
            }
        }
    }
    let report = wrong.join("\n");
    assert!(wrong.is_empty(), "of {count}:\n{report}");
}
