//! **Law.** What slides or rolls over flush seams feels nothing of them: on tiles, on a compound of them, on hulls and where seams end
//! at others it moves as on one sheet, with friction and without, at any speed and turned anyhow.
//!
//! A plane is found wrong if it foretells 1e-3 of the overlap at which bodies meet, 1e-4 of the half-thickness, here at most 0.1 m. What is
//! less gives a velocity by h, once more when it is given back, and of two seams at once at a corner: `4e-8 m/h` for each seam. To
//! this the solver adds 1e-9 of the speed.
//!
//! With friction the motion is the same only where the loads are: what lies on a line has no loads of its own once it turns about the
//! vertical, and rolls across its line here.

use crate::lying::lying;
use crate::meeting::{fixed, flying, position, velocity};
use crate::support::*;

/// Seams lie at ±0.25 m, ±0.75 m … along x and y.
const TILE: f64 = 0.5;

fn floors() -> Vec<(&'static str, Vec<Body>)> {
    let half = 0.5 * TILE;
    let place = |i: i32, j: i32| DVec3::new(TILE * f64::from(i), TILE * f64::from(j), -half);
    let places = || (-4..=4).flat_map(move |i| (-3..=3).map(move |j| place(i, j)));
    let tile = Collider::cuboid(half, half, half);
    let corner =
        |i: i32| DVec3::from_array([0, 1, 2].map(|bit| half - TILE * f64::from(i >> bit & 1)));
    let hull = Collider::convex_hull((0..8).map(corner).collect());
    let of = |collider: &Collider| {
        let tiles = (0..).zip(places());
        tiles
            .map(|(id, at)| fixed(id, collider.clone(), at))
            .collect::<Vec<_>>()
    };
    let parts = places().map(|at| {
        let half_extents = DVec3::splat(half);
        (Pose::from_position(at), Shape::Cuboid { half_extents })
    });
    let compound = Collider::compound(parts.collect());
    let center = compound.center_of_mass().unwrap();
    // One seam along y at x = 0.25 m, and beyond it seams along x.
    let mut ends = vec![fixed(
        0,
        Collider::cuboid(2.0, 2.0, half),
        DVec3::new(-1.75, 0.0, -half),
    )];
    for j in -4..=4_i32 {
        let at = DVec3::new(2.25, 0.27 * f64::from(2 * j + 1), -half);
        ends.push(fixed(
            ends.len() as u64,
            Collider::cuboid(2.0, 0.27, half),
            at,
        ));
    }
    vec![
        ("tiles", of(&tile)),
        ("hulls", of(&hull)),
        ("compound", vec![fixed(0, compound, center)]),
        ("ends of seams", ends),
    ]
}

/// Position, velocity and spin.
type State = (DVec3, DVec3, DVec3);

/// Where a body is after each step.
fn slide(floor: &[Body], body: &Body, mu: f64, h: f64, steps: usize) -> Vec<State> {
    let mut bodies = floor.to_vec();
    bodies.push(body.clone());
    for body in &mut bodies {
        body.material = Material::with_friction(mu);
    }
    let settings = Settings {
        time_step: h,
        ..reference()
    };
    let mut state = StepState::default();
    state.set_bodies(&bodies).unwrap();
    let id = body.id.0;
    (0..steps)
        .map(|_| {
            state.step(&settings).unwrap();
            let spin = state.twist(BodyId(id)).unwrap().angular;
            (position(&state, id), velocity(&state, id), spin)
        })
        .collect()
}

/// Shapes that lie on a line; their axis is horizontal.
const LINES: [&str; 3] = ["cylinder on its side", "long cylinder", "capsule"];

fn shapes() -> Vec<(&'static str, Collider, DQuat, f64)> {
    let mut shapes = lying();
    shapes.push(("ball", Collider::sphere(0.1), DQuat::IDENTITY, 0.1));
    shapes
}

#[test]
fn what_slides_over_flush_seams_does_not_feel_them() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let floors = floors();
    let sheet = [fixed(0, Collider::cuboid(20.0, 20.0, 1.0), DVec3::NEG_Z)];
    for (name, collider, orientation, height) in shapes() {
        for (mu, h) in [0.0, 0.3]
            .into_iter()
            .flat_map(|mu| [1.0 / 60.0, 1.0 / 200.0, 1e-3].map(|h| (mu, h)))
        {
            if mu > 0.0 && name == "cone on its side" {
                continue;
            }
            for speed in [0.05, 0.5, 3.0, 20.0] {
                for slant in [0.0, 0.37, std::f64::consts::FRAC_PI_4] {
                    for before in [0.0, 0.1] {
                        let v = DVec3::new(libm::cos(slant), libm::sin(slant), 0.0) * speed;
                        let start = -0.5 * TILE - before - 4.3 * speed * h;
                        let at = DVec3::new(start.max(-0.6), -0.26 + 0.02 * slant, height);
                        let mut body = flying(1000, collider.clone(), at, v);
                        body.pose.orientation = if mu > 0.0 && LINES.contains(&name) {
                            let across = DQuat::from_rotation_z(slant);
                            across * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2)
                        } else {
                            orientation
                        };
                        let steps = ((1.0 / (speed * h)) as usize).clamp(3, 30);
                        let alone = slide(&sheet, &body, mu, h, steps);
                        let seams = 2.0 + 2.0 * speed * h * steps as f64 / TILE;
                        let most = 4e-8 / h * seams + 1e-9 * speed;
                        for (floor_name, floor) in &floors {
                            let tiled = slide(floor, &body, mu, h, steps);
                            count += 1;
                            // What rolls by a radian a step is not resolved.
                            let resolved = |(x, y): &(&State, &State)| {
                                x.2.length().max(y.2.length()) * h <= 0.9
                            };
                            let mut steps = tiled.iter().zip(&alone).take_while(resolved);
                            let off = steps.position(|(x, y)| {
                                let turn = 0.1 * (x.2 - y.2).length();
                                (x.0.z - y.0.z).abs() > 1e-5
                                    || (x.1 - y.1).length().max(turn) > most
                            });
                            if let Some(step) = off {
                                let (x, y) = (tiled[step], alone[step]);
                                wrong.push(format!(
                                    "{name} on {floor_name}, μ {mu} h {h:.4} speed {speed} slant {slant:.2} before {before}, step {step}: v {:.2e} spin {:.2e} z {:.1e} off, of {most:.1e}",
                                    (x.1 - y.1).length(), (x.2 - y.2).length(), x.0.z - y.0.z
                                ));
                            }
                        }
                    }
                }
            }
        }
    }
    none_of(count, &wrong);
}

/// Bodies that stand on corners of their own, which come over one seam at a time, and what bounces: balls and capsules are pushed by the edge ahead as they lean on the box behind.
#[test]
fn corners_and_what_bounces_feel_no_seams_either() {
    let tiles =
        (-1..9).flat_map(|i| (-1..1).map(move |j| DVec3::new(f64::from(i), f64::from(j), 0.0)));
    let tiles: Vec<Body> = (0..)
        .zip(tiles)
        .map(|(id, at)| {
            let centre = at + DVec3::new(0.5, 0.5, -0.2);
            fixed(id, Collider::cuboid(0.5, 0.5, 0.2), centre)
        })
        .collect();
    let square = [(0.2, 0.2), (-0.2, 0.2), (0.2, -0.2), (-0.2, -0.2)];
    let triangle = [(0.2, 0.0), (-0.1, 0.17), (-0.1, -0.17)];
    let over = |base: &[(f64, f64)]| {
        let base = base.iter().map(|(x, y)| DVec3::new(*x, *y, 0.0));
        Collider::convex_hull(base.chain([DVec3::Z * 0.3]).collect())
    };
    let flat = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let shapes = [
        ("pyramid", over(&square), DQuat::IDENTITY, 0.0),
        ("tetrahedron", over(&triangle), DQuat::IDENTITY, 0.0),
        ("ball", Collider::sphere(0.2), DQuat::IDENTITY, 0.2),
        ("capsule", Collider::capsule(0.1, 0.1), flat, 0.1),
    ];
    let mut random = Lcg::new(19);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, collider, lies, height) in shapes {
        let corners = name == "pyramid" || name == "tetrahedron";
        for (h, e) in [1.0 / 60.0, 5e-3]
            .into_iter()
            .flat_map(|h| [0.0, 0.2, 1.0].map(|e| (h, e)))
        {
            // Corners that bounce are left out: what rounding makes of their four supports is an impact each.
            if corners && e > 0.0 {
                continue;
            }
            for speed in [0.3, 1.0, 3.0, 10.0] {
                for _ in 0..8 {
                    let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
                    let (x, y, yaw) = (number(-0.5, 0.5), number(-0.45, 0.45), number(0.0, 6.3));
                    let turned = DQuat::from_rotation_z(yaw) * lies;
                    let centre = turned * collider.center_of_mass().unwrap();
                    let at = DVec3::new(x, y, height) + centre;
                    let mut body = flying(1000, collider.clone(), at, DVec3::X * speed);
                    body.pose.orientation = turned;
                    let mut bodies = tiles.clone();
                    bodies.push(body);
                    for body in &mut bodies {
                        body.material = Material {
                            friction: 0.0,
                            restitution: e,
                            ..Material::default()
                        };
                    }
                    let settings = Settings {
                        time_step: h,
                        ..reference()
                    };
                    let mut state = StepState::default();
                    state.set_bodies(&bodies).unwrap();
                    count += 1;
                    let steps = ((4.0 / (speed * h)) as usize).min(400);
                    let seams = 2.0 + 2.0 * speed * h * steps as f64;
                    let most = 4e-8 / h * seams + 1e-9 * speed;
                    for step in 0..steps {
                        state.step(&settings).unwrap();
                        let off = (velocity(&state, 1000) - DVec3::X * speed).length();
                        if off > most {
                            wrong.push(format!("{name} h {h:.4} e {e} speed {speed} at {x} {y} turned {yaw}, step {step}: {off:.2e} of {most:.1e}"));
                            break;
                        }
                    }
                }
            }
        }
    }
    none_of(count, &wrong);
}

/// What drops on flush tiles lands on all of them at once, and goes on along them. On its way without their contacts it would fall into the
/// first, and then against the sides of the next ones.
///
/// A plane is that of a meeting up to an angle whose cosine is 0.998, 0.063 rad: an impact turns that part of the velocity of the fall.
#[test]
fn what_drops_on_flush_tiles_goes_on_along_them() {
    let part =
        |at: DVec3, half_extents: DVec3| (Pose::from_position(at), Shape::Cuboid { half_extents });
    let foot = part(DVec3::ZERO, DVec3::new(0.1, 0.1, 0.02));
    let side = |x: f64| part(DVec3::new(x, 0.0, 0.1), DVec3::new(0.02, 0.1, 0.08));
    let halves = [-0.05, 0.05].map(|x| part(DVec3::X * x, DVec3::new(0.05, 0.1, 0.1)));
    let mut shapes = shapes();
    for (name, parts, foot) in [
        ("channel", vec![foot, side(-0.08), side(0.08)], 0.02),
        ("two halves", halves.to_vec(), 0.1),
    ] {
        let collider = Collider::compound(parts);
        let height = foot + collider.center_of_mass().unwrap().z;
        shapes.push((name, collider, DQuat::IDENTITY, height));
    }
    let mut random = Lcg::new(21);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (floor_name, floor) in floors() {
        for (name, collider, orientation, height) in &shapes {
            for _ in 0..12 {
                let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
                let (speed, drop) = (number(1.0, 8.0), 0.3 * number(0.0, 1.0) * number(0.0, 1.0));
                let h = [1.0 / 60.0, 0.01, 0.005][number(0.0, 3.0) as usize];
                let (y, yaw) = (number(-0.2, 0.2), number(0.0, 6.3));
                let v = DVec3::X * speed;
                let at = DVec3::new(-1.7, y, height + drop);
                let mut body = flying(1000, collider.clone(), at, v);
                body.pose.orientation = DQuat::from_rotation_z(yaw) * *orientation;
                let fall = (2.0 * 9.81 * drop).sqrt() + 9.81 * h;
                let steps = (3.4 / (speed * h)) as usize;
                count += 1;
                let states = slide(&floor, &body, 0.0, h, steps);
                let off = |state: &State| {
                    let aside = (state.1 - v).with_z(0.0).length();
                    (aside, aside > 0.063 * fall || state.0.z > at.z + 1e-9)
                };
                if let Some((step, (aside, _))) =
                    states.iter().map(off).enumerate().find(|(_, off)| off.1)
                {
                    wrong.push(format!("{name} on {floor_name}, h {h:.4} speed {speed:.2} drop {drop:.3} y {y:.3} yaw {yaw:.2}, step {step}: {aside:.2e} off"));
                }
            }
        }
    }
    none_of(count, &wrong);
}
