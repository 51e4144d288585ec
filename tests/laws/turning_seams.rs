//! **Law.** Where a compound of flush parts turns, or what lies on it does, nothing of its seams is felt: a ball that rolls on a turntable of two halves
//! goes where it goes on one of a piece, and what slides without friction keeps its velocity and its spin.
//!
//! A plane is found wrong if it foretells 1e-3 of the overlap at which bodies meet, 1e-4 of the half-thickness: `1e-7 d/h` for each seam, four times for what bounces or is given
//! back. To this the solver adds 1e-9 of the speed.

use crate::support::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, TAU};

/// Flush boxes in a square of `2n` by `2n` half widths about the origin, their upper faces at `z = 0`.
fn flush(n: i32, half: f64, thickness: f64) -> Collider {
    let place = move |i: i32| half * f64::from(2 * i + 1 - n);
    let parts = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let parts = parts.map(|(i, j)| {
        let half_extents = DVec3::new(half, half, thickness);
        let at = DVec3::new(place(i), place(j), -thickness);
        (Pose::from_position(at), Shape::Cuboid { half_extents })
    });
    Collider::compound(parts.collect())
}

/// Where a ball is on a turntable after each step; it rolls from the start.
fn rolls(table: &Collider, turning: f64, h: f64, steps: usize) -> Vec<DVec3> {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        sleeping: SleepSettings::OFF,
        ..reference()
    })
    .unwrap();
    let material = Material::with_friction(1.0);
    let centre = table.center_of_mass().unwrap();
    let turns = Twist::from_inertial_frame(DVec3::ZERO, DVec3::Z * turning, DQuat::IDENTITY);
    let pose = Pose::from_position(centre);
    let floor = (RigidBody::Kinematic, table.clone(), material, pose, turns);
    simulation.spawn(floor).unwrap();
    let (radius, out, speed) = (0.1, 1.0, 0.5 * turning.max(1.0));
    // The table moves with Ω × r below it.
    let spin = DVec3::new(turning * out, speed, 0.0) / radius;
    let twist = Twist::from_inertial_frame(DVec3::X * speed, spin, DQuat::IDENTITY);
    let pose = Pose::at(out, 0.0, radius);
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(radius),
        material,
        pose,
        twist,
    );
    let ball = simulation.spawn(ball).unwrap();
    let mut step = || {
        simulation.step().unwrap();
        simulation.pose(ball).unwrap().position
    };
    (0..steps).map(|_| step()).collect()
}

#[test]
fn a_ball_rolls_on_a_turntable_of_parts_as_on_one_of_a_piece() {
    let half = |x: f64| {
        let half_extents = DVec3::new(2.5, 5.0, 0.1);
        let at = DVec3::new(x, 0.0, -0.1);
        (Pose::from_position(at), Shape::Cuboid { half_extents })
    };
    let whole = Collider::compound(vec![(
        Pose::from_position(DVec3::Z * -0.1),
        Shape::Cuboid {
            half_extents: DVec3::new(5.0, 5.0, 0.1),
        },
    )]);
    let halves = Collider::compound(vec![half(2.5), half(-2.5)]);
    let mut wrong = Vec::new();
    for (turning, h) in [
        (3.0, 5e-3),
        (1.0, 5e-3),
        (0.3, 5e-3),
        (1.0, 1.0 / 60.0),
        (0.3, 1.0 / 60.0),
    ] {
        let steps = (4.0 / h) as usize;
        let [one, two] = [&whole, &halves].map(|table| rolls(table, turning, h, steps));
        let off = one.iter().zip(&two).map(|(a, b)| (*a - *b).length());
        let off = off.fold(0.0, f64::max);
        // Eight hundred steps round places of up to 5 m: no seam gives anything else.
        if off > 1e-12 {
            wrong.push(format!("Ω {turning} h {h:.4}: {off:.2e} m"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn sliders() -> [(&'static str, Collider, DQuat); 5] {
    let corner = |i: u32| {
        let angle = FRAC_PI_3 * f64::from(i / 2);
        let z = if i.is_multiple_of(2) { 0.1 } else { -0.1 };
        DVec3::new(0.2 * libm::cos(angle), 0.2 * libm::sin(angle), z)
    };
    let lies = DQuat::from_rotation_x(FRAC_PI_2);
    [
        ("ball", Collider::sphere(0.1), DQuat::IDENTITY),
        ("box", Collider::cuboid(0.2, 0.15, 0.1), DQuat::IDENTITY),
        ("cylinder", Collider::cylinder(0.1, 0.2), DQuat::IDENTITY),
        (
            "prism",
            Collider::convex_hull((0..12).map(corner).collect()),
            DQuat::IDENTITY,
        ),
        ("capsule", Collider::capsule(0.1, 0.1), lies),
    ]
}

#[test]
fn what_slides_on_a_compound_that_turns_keeps_its_velocity() {
    let floor = flush(4, 1.0, 0.2);
    let centre = floor.center_of_mass().unwrap();
    let unit = G.sqrt();
    let mut random = Lcg::new(7);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, collider, lies) in sliders() {
        for motion in ["rests", "turns", "turns slowly", "slides", "lifts"] {
            for _ in 0..30 {
                let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
                let h = [1.0 / 60.0, 5e-3, 1e-3][number(0.0, 3.0) as usize];
                let turning = match motion {
                    "turns" => unit * number(0.5, 3.0),
                    "turns slowly" => unit * number(0.01, 0.3),
                    _ => 0.0,
                };
                let along = match motion {
                    "slides" => DVec3::new(number(-1.0, 1.0), number(-1.0, 1.0), 0.0) * unit,
                    "lifts" => DVec3::Z * (unit * number(0.05, 1.0)),
                    _ => DVec3::ZERO,
                };
                let (angle, yaw) = (number(0.0, TAU), number(0.0, TAU));
                let ahead = DVec3::new(libm::cos(angle), libm::sin(angle), 0.0);
                let speed = unit * number(0.2, 2.0);
                let velocity = ahead * speed + along;
                let spin = DVec3::Z * (unit * number(-7.5, 7.5));
                let side = DVec3::new(-ahead.y, ahead.x, 0.0) * number(-1.0, 1.0);
                let mut simulation = Simulation::new(Settings {
                    time_step: h,
                    sleeping: SleepSettings::OFF,
                    ..reference()
                })
                .unwrap();
                let material = Material::frictionless(0.0);
                let (id, upright) = (DQuat::IDENTITY, DQuat::from_rotation_z(yaw) * lies);
                let twist = Twist::from_inertial_frame(along, DVec3::Z * turning, id);
                let pose = Pose::from_position(centre);
                let of_floor = (RigidBody::Kinematic, floor.clone(), material, pose, twist);
                simulation.spawn(of_floor).unwrap();
                let twist = Twist::from_inertial_frame(velocity, spin, upright);
                let at = side - ahead * 1.5 + DVec3::Z * 0.1;
                let pose = Pose::from_position(at).with_orientation(upright);
                let of_slider = (RigidBody::Dynamic, collider.clone(), material, pose, twist);
                let slider = simulation.spawn(of_slider).unwrap();
                let steps = ((3.0 / speed / h) as usize).clamp(3, 600);
                count += 1;
                // Eight seams at most on the way.
                let most = 8.0 * 4.0 * 1e-7 * 0.1 / h + 1e-9 * speed;
                for step in 0..steps {
                    simulation.step().unwrap();
                    let off = (simulation.twist(slider).unwrap().linear - velocity).length();
                    let (pose, twist) = (simulation.pose(slider), simulation.twist(slider));
                    let turns = pose.unwrap().orientation * twist.unwrap().angular;
                    let of_spin = (turns - spin).length() * 0.2;
                    if off.max(of_spin) > most {
                        wrong.push(format!("{name}, floor {motion}, h {h:.4} speed {speed:.2} turning {turning:.2} spin {:.2}, step {step} of {steps}: {off:.2e} {of_spin:.2e} of {most:.1e}", spin.z));
                        break;
                    }
                }
            }
        }
    }
    none_of(count, &wrong);
}

/// Where a body is along a bar that pushes it, after each step: the bar turns about its middle and is without friction, and nothing else acts.
fn pushed(bar: &Collider, collider: &Collider, turning: f64, h: f64) -> Vec<f64> {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        gravity: DVec3::ZERO,
        sleeping: SleepSettings::OFF,
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    let material = Material::frictionless(0.0);
    let (spin, id) = (DVec3::Z * turning, DQuat::IDENTITY);
    let turns = Twist::from_inertial_frame(DVec3::ZERO, spin, id);
    let of_bar = (RigidBody::Kinematic, bar.clone(), material, turns);
    let bar = simulation.spawn(of_bar).unwrap();
    let (along, beside) = (0.4, 0.15);
    let at = DVec3::new(along, beside, 0.0);
    let twist = Twist::from_inertial_frame(spin.cross(at), spin, id);
    let pose = Pose::from_position(at);
    let body = (RigidBody::Dynamic, collider.clone(), material, pose, twist);
    let body = simulation.spawn(body).unwrap();
    let mut step = || {
        assert!(simulation.step().unwrap().converged);
        let back = simulation.pose(bar).unwrap().orientation.inverse();
        (back * simulation.pose(body).unwrap().position).x
    };
    // It goes out as cosh Ωt, to four times its distance.
    (0..(2.1 / turning / h) as usize).map(|_| step()).collect()
}

/// What is pushed stays as deep in the bar as the projection leaves alone, a thousandth of half its thickness. The side of the part ahead is not in its way.
///
/// The scheme is of first order: which step a push falls into changes the velocity by what the bar turns in one, and that grows as the way does, to
/// `Ωh ρ cosh Ωt`. The bar moves by less than its thickness in a step. What is round, of radius `R`, and as deep as `δ` meets the edge of the part ahead under
/// `√(2δ/R)`, and loses `2δ/R` of its speed there.
#[test]
fn a_bar_of_parts_pushes_as_one_of_a_piece() {
    let bar = |parts: i32| {
        let half = 5.0 / f64::from(parts);
        let part = |i: i32| {
            let at = Pose::at(half * f64::from(2 * i + 1 - parts), 0.0, 0.0);
            let half_extents = DVec3::new(half, 0.05, 0.3);
            (at, Shape::Cuboid { half_extents })
        };
        Collider::compound((0..parts).map(part).collect())
    };
    let halves = [-0.05, 0.05].map(|x| {
        let half_extents = DVec3::new(0.05, 0.1, 0.1);
        (Pose::at(x, 0.0, 0.0), Shape::Cuboid { half_extents })
    });
    let shapes = [
        ("box", Collider::cuboid(0.1, 0.1, 0.1)),
        ("flat box", Collider::cuboid(0.2, 0.1, 0.05)),
        ("two halves", Collider::compound(halves.to_vec())),
        ("ball", Collider::sphere(0.1)),
        ("cylinder", Collider::cylinder(0.1, 0.1)),
    ];
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, collider) in &shapes {
        for (turning, h) in [
            (0.5, 1.0 / 60.0),
            (2.0, 1.0 / 60.0),
            (0.5, 5e-3),
            (2.0, 5e-3),
            (5.0, 5e-3),
        ] {
            let one = pushed(&bar(1), collider, turning, h);
            for parts in [20, 40, 80] {
                count += 1;
                let of_parts = pushed(&bar(parts), collider, turning, h);
                let off = one.iter().zip(&of_parts).map(|(a, b)| (a - b).abs());
                let off = off.fold(0.0, f64::max);
                let out = one[one.len() - 1];
                let seams = (out - one[0]) * f64::from(parts) / 10.0;
                let is_round = *name == "ball" || *name == "cylinder";
                let lost = if is_round {
                    2.0 * 5e-5 / 0.1 * seams
                } else {
                    0.0
                };
                if off > turning * h * out + lost * (out - one[0]) {
                    wrong.push(format!(
                        "{name}, Ω {turning} h {h:.4}, {parts} parts: {off:.1e} m off"
                    ));
                }
            }
        }
    }
    none_of(count, &wrong);
}
