//! The benchmark scenes are what their specification says, body by body.
#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "tests fail by panicking, and compare exact values"
)]

use glam::{DQuat, DVec3};
use moreau::geometry::Shape;
use moreau::prelude::*;

/// `(kind, shape, pose, friction)` of all bodies in the order of their ids, before the first step.
fn bodies(spec: &str) -> Vec<(RigidBody, Shape, Pose, Material)> {
    let mut run = moreau_demos::built_in(spec).unwrap().start().unwrap();
    let world = run.simulation.world_mut();
    let mut query = world.query::<(&BodyId, &RigidBody, &Collider, &Pose, &Material, &Twist)>();
    let mut all: Vec<_> = query.iter(world).collect();
    all.sort_by_key(|(id, ..)| **id);
    for (.., twist) in &all {
        assert_eq!(**twist, Twist::default());
    }
    all.into_iter()
        .map(|(_, kind, collider, pose, material, _)| {
            // Specifications do not name materials.
            let material = Material {
                name: None,
                ..*material
            };
            (*kind, collider.shape().clone(), *pose, material)
        })
        .collect()
}

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::Cuboid {
        half_extents: DVec3::new(x, y, z),
    }
}

#[track_caller]
fn assert_body(
    body: &(RigidBody, Shape, Pose, Material),
    kind: RigidBody,
    shape: &Shape,
    position: [f64; 3],
    friction: f64,
) {
    assert_eq!((body.0, &body.1), (kind, shape));
    let error = (body.2.position - DVec3::from(position)).length();
    assert!(
        error < 1e-14 * (1.0 + body.2.position.length()),
        "{error:e}"
    );
    let material = Material::with_friction(friction);
    assert_eq!(body.3, material, "density 1000, restitution 0");
}

fn assert_floor(body: &(RigidBody, Shape, Pose, Material), friction: f64) {
    let shape = cuboid(50.0, 50.0, 0.5);
    assert_body(body, RigidBody::Static, &shape, [0.0, 0.0, -0.5], friction);
}

#[test]
fn every_benchmark_has_the_common_settings() {
    for (spec, duration) in [
        ("sphere_pour:n=1000", 3.0),
        ("box_pyramid:n=20", 3.0),
        ("wall_20x20", 3.0),
        ("incline:f=0.99", 2.0),
    ] {
        let scene = moreau_demos::built_in(spec).unwrap();
        assert_eq!(scene.seed, 12345);
        assert_eq!(scene.settings.time_step, 1.0 / 200.0);
        assert_eq!(scene.settings.gravity, DVec3::new(0.0, 0.0, -9.81));
        assert_eq!(scene.duration, duration, "{spec}");
    }
}

#[test]
fn sphere_pour_has_its_lattice_jitter_and_container() {
    for (spec, [nx, ny, nz]) in [
        ("sphere_pour", [10, 10, 10]),
        ("sphere_pour:n=8000", [20, 20, 20]),
        ("sphere_pour:n=32000", [40, 40, 20]),
        // Beyond the specification, by its formulas.
        ("sphere_pour:n=100000", [50, 50, 40]),
    ] {
        let all = bodies(spec);
        assert_eq!(all.len(), 5 + nx * ny * nz);
        let (r, d, z0) = (0.1, 0.21, 0.5);
        let w = d * nx as f64 / 2.0 + 0.01;
        let height = z0 + d * nz as f64 + 1.0;
        let walls = [
            (cuboid(w + 1.0, w + 1.0, 0.5), [0.0, 0.0, -0.5]),
            (
                cuboid(0.5, w + 1.0, height / 2.0),
                [-(w + 0.5), 0.0, height / 2.0],
            ),
            (
                cuboid(0.5, w + 1.0, height / 2.0),
                [w + 0.5, 0.0, height / 2.0],
            ),
            (
                cuboid(w, 0.5, height / 2.0),
                [0.0, -(w + 0.5), height / 2.0],
            ),
            (cuboid(w, 0.5, height / 2.0), [0.0, w + 0.5, height / 2.0]),
        ];
        for (body, (shape, position)) in all.iter().zip(&walls) {
            assert_body(body, RigidBody::Static, shape, *position, 0.5);
        }
        let mut x = 12345_u64;
        let mut jitter = || {
            x = x
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            0.004 * (2.0 * ((x >> 11) as f64 / (1_u64 << 53) as f64) - 1.0)
        };
        let sphere = Shape::Sphere { radius: r };
        let mut spheres = all[5..].iter();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let (jx, jy, jz) = (jitter(), jitter(), jitter());
                    let position = [
                        (i as f64 - (nx as f64 - 1.0) / 2.0) * d + jx,
                        (j as f64 - (ny as f64 - 1.0) / 2.0) * d + jy,
                        z0 + k as f64 * d + jz,
                    ];
                    let body = spheres.next().unwrap();
                    assert_body(body, RigidBody::Dynamic, &sphere, position, 0.5);
                }
            }
        }
    }
}

#[test]
fn the_largest_pour_has_a_million_spheres_by_the_same_formulas() {
    let scene = moreau_demos::built_in("sphere_pour:n=1000000").unwrap();
    assert_eq!(scene.bodies.len(), 5);
    let [lattice] = &scene.lattices[..] else {
        unreachable!("one lattice");
    };
    assert_eq!(lattice.count, [100, 100, 100]);
    assert_eq!(lattice.spacing, DVec3::splat(0.21));
    assert_eq!(lattice.origin, DVec3::new(0.0, 0.0, 0.5));
    assert_eq!(lattice.jitter, 0.004);
    let wall = scene.bodies[2].position.x;
    assert!((wall - (0.21 * 50.0 + 0.01 + 0.5)).abs() < 1e-12, "{wall}");
}

#[test]
fn box_pyramid_has_its_rows() {
    for (spec, n) in [("box_pyramid", 20), ("box_pyramid:n=40", 40)] {
        let all = bodies(spec);
        assert_eq!(all.len(), 1 + n * (n + 1) / 2);
        assert_floor(&all[0], 0.6);
        let cube = cuboid(0.25, 0.25, 0.25);
        let mut cubes = all[1..].iter();
        for k in 0..n {
            let m = n - k;
            for j in 0..m {
                let x = (j as f64 - (m as f64 - 1.0) / 2.0) * 0.55;
                let position = [x, 0.0, 0.25 + 0.5 * k as f64];
                let body = cubes.next().unwrap();
                assert_body(body, RigidBody::Dynamic, &cube, position, 0.6);
            }
        }
    }
}

#[test]
fn wall_20x20_has_its_bond() {
    let all = bodies("wall_20x20");
    assert_eq!(all.len(), 1 + 10 * 20 + 10 * 21);
    assert_floor(&all[0], 0.6);
    let (brick, half_brick, p) = (cuboid(0.2, 0.1, 0.1), cuboid(0.095, 0.1, 0.1), 0.41);
    let mut bricks = all[1..].iter();
    let mut expect = |shape: &Shape, x: f64, z: f64| {
        let body = bricks.next().unwrap();
        assert_body(body, RigidBody::Dynamic, shape, [x, 0.0, z], 0.6);
    };
    for k in 0..20 {
        let z = 0.1 + 0.2 * f64::from(k);
        if k % 2 == 0 {
            (0..20).for_each(|j| expect(&brick, (f64::from(j) - 9.5) * p, z));
        } else {
            expect(&half_brick, -9.5 * p - 0.105, z);
            (0..19).for_each(|j| expect(&brick, (f64::from(j) - 9.0) * p, z));
            expect(&half_brick, 9.5 * p + 0.105, z);
        }
    }
}

#[test]
fn incline_is_tilted_by_the_friction_angle_times_f() {
    for f in [0.99, 1.01, 1.5] {
        let all = bodies(&format!("incline:f={f}"));
        assert_eq!(all.len(), 2);
        let a = libm::atan(f * 0.5);
        let (sin, cos) = libm::sincos(a);
        let (half_sin, half_cos) = libm::sincos(a / 2.0);
        let q = DQuat::from_xyzw(0.0, half_sin, 0.0, half_cos);
        let slope = cuboid(50.0, 5.0, 0.5);
        let cube = cuboid(0.25, 0.25, 0.25);
        let at = |distance: f64| [distance * sin, 0.0, distance * cos];
        assert_body(&all[0], RigidBody::Static, &slope, at(-0.5), 0.5);
        assert_body(&all[1], RigidBody::Dynamic, &cube, at(0.25), 0.5);
        for body in &all {
            assert_eq!(body.2.orientation, q);
        }
    }
}
