//! **Law.** What lies along a face is held on all of it: a body that comes to lie on a flat one, or is pushed by it, along a face or an
//! edge over which its centre is, gets no spin, and without friction keeps its velocity along it.
//!
//! The impulses that hold it are within reach of its support, so rigid bodies without rotation are the solution. What is solved
//! to `Accuracy::Reference` leaves spins of 1e-12 rad/s; they are held to 1e-8 of the speed over the size.

use crate::meeting::{fixed, flying, position, velocity, weightless};
use crate::support::*;
use moreau::geometry::contacts;

const SIZE: f64 = 0.1;

/// Bodies that lie on z = 0, with the height of their centre.
pub(crate) fn lying() -> Vec<(&'static str, Collider, DQuat, f64)> {
    let ring = |count: u32, radius: f64, z: f64| {
        let angle = move |i: u32| std::f64::consts::TAU * f64::from(i) / f64::from(count);
        (0..count).map(move |i| {
            DVec3::new(
                radius * libm::cos(angle(i)),
                radius * libm::sin(angle(i)),
                z,
            )
        })
    };
    let prism = |count: u32, radius: f64, half: f64| {
        Collider::convex_hull(
            ring(count, radius, -half)
                .chain(ring(count, radius, half))
                .collect(),
        )
    };
    // Wider above its foot than on it.
    let bevelled = ring(6, 0.06, -0.03)
        .chain(ring(8, SIZE, -0.01))
        .chain(ring(8, SIZE, 0.02));
    let to_side = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let on_side = DQuat::from_rotation_arc(DVec3::new(0.2, 0.0, 0.06).normalize(), DVec3::NEG_Z);
    let yaw = DQuat::from_rotation_z(0.4);
    let flat = DQuat::IDENTITY;
    let all = [
        ("box", Collider::cuboid(0.1, 0.08, 0.06), flat),
        ("flat box", Collider::cuboid(0.1, 0.08, 0.005), flat),
        ("die", Collider::cuboid(0.05, 0.05, 0.05), flat),
        ("prism", prism(6, SIZE, 0.05), flat),
        ("flat prism", prism(8, SIZE, 0.005), flat),
        ("bevelled", Collider::convex_hull(bevelled.collect()), flat),
        ("disc", Collider::cylinder(0.05, SIZE), flat),
        ("flat disc", Collider::cylinder(0.005, SIZE), flat),
        (
            "cylinder on its side",
            Collider::cylinder(SIZE, SIZE),
            to_side,
        ),
        ("long cylinder", Collider::cylinder(0.2, 0.02), to_side),
        ("cone", Collider::cone(0.1, 0.06), flat),
        ("flat cone", Collider::cone(0.005, 0.06), flat),
        ("cone on its side", Collider::cone(0.1, 0.06), on_side),
        ("capsule", Collider::capsule(SIZE, 0.05), to_side),
    ];
    let height = |collider: &Collider, orientation: DQuat| {
        let (shape, center) = (
            collider.geometry().unwrap(),
            collider.center_of_mass().unwrap(),
        );
        let floor = Collider::half_space(DVec3::Z).geometry().unwrap();
        let at = Pose {
            position: DVec3::Z,
            orientation,
        }
        .of_shape(center);
        let mut found = Vec::new();
        contacts(
            &floor,
            &Pose::default().into(),
            &shape,
            &at.into(),
            2.0,
            &mut found,
        );
        1.0 - found
            .iter()
            .map(|point| point.gap)
            .fold(f64::INFINITY, f64::min)
    };
    all.map(|(name, collider, orientation)| {
        let z = height(&collider, orientation);
        (name, collider, yaw * orientation, z)
    })
    .into()
}

fn floors() -> Vec<(&'static str, Body)> {
    let place = DVec3::new(0.0, 0.0, -0.5);
    let corner = |i: i32| {
        let sign = |bit: i32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        DVec3::new(10.0 * sign(0), 10.0 * sign(1), 0.5 * sign(2))
    };
    vec![
        (
            "half-space",
            fixed(0, Collider::half_space(DVec3::Z), DVec3::ZERO),
        ),
        ("box", fixed(0, Collider::cuboid(10.0, 10.0, 0.5), place)),
        (
            "hull",
            fixed(
                0,
                Collider::convex_hull((0..8).map(corner).collect()),
                place,
            ),
        ),
        ("disc", fixed(0, Collider::cylinder(0.5, 20.0), place)),
    ]
}

/// Spin (rad/s) and change of the velocity along the floor (m/s) of what comes down on it, the most of some phases and steps; and where
/// that was.
fn landing(floor: &Body, body: &Body, height: f64, h: f64) -> (f64, f64, String) {
    let mut worst = (0.0_f64, 0.0_f64, String::new());
    let v = body.twist.linear;
    for phase in 0..5 {
        let mut body = body.clone();
        body.pose.position = DVec3::Z * (height - v.z * h * (0.3 + f64::from(phase) / 5.0));
        let settings = weightless(h);
        let mut state = StepState::default();
        state.set_bodies(&[floor.clone(), body]).unwrap();
        for step in 0..5 {
            state.step(&settings).unwrap();
            let twist = state.twist(BodyId(1)).unwrap();
            let spin = twist.angular.length();
            let drift = (twist.linear - v).truncate().length();
            if spin > worst.0 || drift > worst.1 {
                worst = (
                    worst.0.max(spin),
                    worst.1.max(drift),
                    format!("phase {phase} step {step}"),
                );
            }
        }
        let end = velocity(&state, 1);
        let stopped = end.z.abs() <= 1e-8 * v.length();
        assert!(stopped, "phase {phase}: {end} at {}", position(&state, 1));
    }
    worst
}

#[test]
fn what_comes_to_lie_on_a_face_does_not_spin() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (floor_name, floor) in floors() {
        for (name, collider, orientation, height) in lying() {
            for (down, along) in [
                (0.5, 0.5),
                (2.5, 0.0),
                (5.0, 1.0),
                (0.1, 20.0),
                (30.0, 30.0),
            ] {
                for h in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
                    let v = DVec3::new(along, 0.0, -down);
                    let mut body = flying(1, collider.clone(), DVec3::ZERO, v);
                    body.pose.orientation = orientation;
                    let (spin, drift, place) = landing(&floor, &body, height, h);
                    let most = 1e-8 * v.length();
                    count += 1;
                    if spin * SIZE > most || drift > most {
                        wrong.push(format!("{name} on {floor_name} v {v} h {h:.4}: spin {spin:.1e} drift {drift:.1e} {place}"));
                    }
                }
            }
        }
    }
    none_of(count, &wrong);
}

/// A bat at constant speed, with a face across its way.
#[test]
fn what_a_bat_pushes_along_its_face_does_not_spin() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, collider, orientation, height) in lying() {
        for speed in [0.5, 5.0, 20.0] {
            for h in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
                for phase in 0..5 {
                    let mut bat = fixed(0, Collider::cuboid(1.0, 1.0, 0.1), DVec3::ZERO);
                    bat.kind = RigidBody::Kinematic;
                    bat.twist.linear = DVec3::Z * speed;
                    let ahead = speed * h * (1.0 + f64::from(phase) / 5.0);
                    let at = DVec3::Z * (0.1 + height + ahead);
                    let mut body = flying(1, collider.clone(), at, DVec3::ZERO);
                    body.pose.orientation = orientation;
                    let mut state = StepState::default();
                    state.set_bodies(&[bat, body]).unwrap();
                    for _ in 0..6 {
                        state.step(&weightless(h)).unwrap();
                    }
                    let twist = state.twist(BodyId(1)).unwrap();
                    let spin = twist.angular.length();
                    let off = (twist.linear - DVec3::Z * speed).length();
                    count += 1;
                    if (spin * SIZE).max(off) > 1e-8 * speed {
                        wrong.push(format!("{name} speed {speed} h {h:.4} phase {phase}: spin {spin:.1e} off {off:.1e}"));
                    }
                }
            }
        }
    }
    none_of(count, &wrong);
}

/// Under gravity, without friction, let down by a centimetre on what is long enough.
#[test]
fn what_slides_on_a_face_does_not_spin() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let floor = fixed(0, Collider::cuboid(50.0, 3.0, 1.0), DVec3::Z * -1.0);
    for (name, collider, orientation, height) in lying() {
        for speed in [0.0, 1.0, 5.0, 20.0] {
            for h in [1.0 / 60.0, 1.0 / 200.0] {
                let settings = Settings {
                    time_step: h,
                    ..reference()
                };
                let v = DVec3::X * speed;
                let mut body = flying(1, collider.clone(), DVec3::Z * (height + 0.01), v);
                body.pose.orientation = orientation;
                let mut state = StepState::default();
                state.set_bodies(&[floor.clone(), body]).unwrap();
                let mut spin = 0.0_f64;
                for _ in 0..(0.5 / h) as usize {
                    state.step(&settings).unwrap();
                    spin = spin.max(state.twist(BodyId(1)).unwrap().angular.length());
                }
                let drift = (velocity(&state, 1) - v).length();
                count += 1;
                if (spin * SIZE).max(drift) > 1e-8 * speed.max(1.0) {
                    wrong.push(format!(
                        "{name} speed {speed} h {h:.4}: spin {spin:.1e} drift {drift:.1e}"
                    ));
                }
            }
        }
    }
    none_of(count, &wrong);
}
