//! Bodies that [`Simulation::spawn`] refuses.

use crate::support::*;

const DYNAMIC: RigidBody = RigidBody::Dynamic;

fn ball() -> Collider {
    Collider::sphere(0.5)
}

/// A vector with one bad component.
fn spoiled(value: f64, axis: usize) -> DVec3 {
    let mut v = DVec3::ONE;
    v[axis] = value;
    v
}

#[test]
fn poses_and_twists_that_are_not_finite() {
    for value in NOT_FINITE {
        let shown = value.to_string();
        for axis in 0..3 {
            let v = spoiled(value, axis);
            let pose = Pose::from_position(v);
            refused((DYNAMIC, ball(), pose), &["position", &shown, "finite"]);
            let twist = Twist {
                linear: v,
                ..Twist::default()
            };
            refused(
                (DYNAMIC, ball(), twist),
                &["linear velocity", &shown, "finite"],
            );
            let twist = Twist {
                angular: v,
                ..Twist::default()
            };
            refused(
                (DYNAMIC, ball(), twist),
                &["angular velocity", &shown, "finite"],
            );
        }
    }
}

#[test]
fn orientations_that_are_not_unit_quaternions() {
    for q in [
        DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0),
        DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0),
        DQuat::from_xyzw(f64::INFINITY, 0.0, 0.0, 1.0),
    ] {
        let pose = Pose::default().with_orientation(q);
        let norm = q.length().to_string();
        refused((DYNAMIC, ball(), pose), &["orientation", &norm, "1 ± 1e-6"]);
    }
}

#[test]
fn wrenches_that_are_not_finite() {
    for value in NOT_FINITE {
        let v = spoiled(value, 1);
        let shown = value.to_string();
        let wrenches = [
            (
                "force",
                Wrench {
                    force: v,
                    ..Wrench::default()
                },
            ),
            (
                "moment",
                Wrench {
                    moment: v,
                    ..Wrench::default()
                },
            ),
            (
                "body moment",
                Wrench {
                    body_moment: v,
                    ..Wrench::default()
                },
            ),
        ];
        for (field, wrench) in wrenches {
            refused((DYNAMIC, ball(), wrench), &[field, &shown, "finite"]);
        }
    }
}

#[test]
fn masses_that_are_not_positive() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mass = Mass::given(value, DVec3::ONE);
        refused(
            (DYNAMIC, ball(), mass),
            &["mass", &value.to_string(), "> 0"],
        );
    }
}

#[test]
fn inertias_that_no_body_has() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for axis in 0..3 {
            let mass = Mass::given(1.0, spoiled(value, axis));
            refused(
                (DYNAMIC, ball(), mass),
                &["inertia", &value.to_string(), "> 0"],
            );
        }
    }
    let mass = Mass::given(1.0, DVec3::new(1.0, 1.0, 2.5));
    refused((DYNAMIC, ball(), mass), &["inertia", "2.5", "2"]);
    // Their inverses overflow.
    let mass = Mass::given(1.0, DVec3::splat(1e-310));
    refused((DYNAMIC, ball(), mass), &["inertia", "finite inverse"]);
    let mass = Mass::given(1e-310, DVec3::ONE);
    refused((DYNAMIC, ball(), mass), &["mass", "finite inverse"]);
    let frame = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    let mass = Mass::given(1.0, DVec3::ONE).with_principal_frame(frame);
    refused((DYNAMIC, ball(), mass), &["frame", "2", "1"]);
    refused(DYNAMIC, &["mass"]);
}

#[test]
fn materials_out_of_range() {
    let base = Material::default();
    for value in [-0.1, 1e3 + 1e-9, f64::NAN, f64::INFINITY] {
        let material = Material {
            friction: value,
            ..base
        };
        refused(
            (DYNAMIC, ball(), material),
            &["friction", &value.to_string(), "in [0, 1e3]"],
        );
    }
    for value in [-0.1, 1.0 + 1e-12, f64::NAN, f64::INFINITY] {
        let material = Material {
            restitution: value,
            ..base
        };
        let shown = value.to_string();
        refused(
            (DYNAMIC, ball(), material),
            &["restitution", &shown, "[0, 1]"],
        );
        // Also on bodies that do not move: they take part in the law.
        refused(
            (RigidBody::Static, ball(), material),
            &["restitution", &shown],
        );
    }
    for value in [-0.1, f64::NAN, f64::INFINITY] {
        let material = Material {
            bounce_threshold: Some(value),
            ..base
        };
        refused(
            (DYNAMIC, ball(), material),
            &["bounce threshold", &value.to_string(), "≥ 0"],
        );
        let of = |cohesion, rolling_resistance, spinning_resistance| Material {
            cohesion,
            rolling_resistance,
            spinning_resistance,
            ..base
        };
        for (field, material, bound) in [
            ("cohesion", of(value, 0.0, 0.0), "in [0, 1e12]"),
            ("rolling resistance", of(0.0, value, 0.0), "in [0, 1e6]"),
            ("spinning resistance", of(0.0, 0.0, value), "in [0, 1e6]"),
        ] {
            refused(
                (DYNAMIC, ball(), material),
                &[field, &value.to_string(), bound],
            );
        }
        let grain = Grain {
            along: DVec3::X,
            across: value,
        };
        let material = Material {
            grain: Some(grain),
            ..base
        };
        refused(
            (DYNAMIC, ball(), material),
            &["friction across the grain", &value.to_string(), "[0, 1e3]"],
        );
    }
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let material = Material {
            density: value,
            ..base
        };
        refused(
            (DYNAMIC, ball(), material),
            &["density", &value.to_string(), "> 0"],
        );
    }
}

#[test]
fn grains_without_direction() {
    for (along, shown) in [
        (DVec3::ZERO, ["length of the grain", "0", "> 0"]),
        (DVec3::new(1.0, f64::NAN, 0.0), ["grain", "NaN", "finite"]),
    ] {
        let material = Material {
            grain: Some(Grain { along, across: 0.5 }),
            ..Material::default()
        };
        refused((DYNAMIC, ball(), material), &shown);
    }
}

#[test]
fn shapes_without_extent() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let shown = value.to_string();
        let shapes = [
            (Collider::sphere(value), "radius"),
            (Collider::cuboid(1.0, value, 1.0), "half_extents"),
            (Collider::capsule(value, 1.0), "half_height"),
            (Collider::capsule(1.0, value), "radius"),
            (Collider::cylinder(value, 1.0), "half_height"),
            (Collider::cylinder(1.0, value), "radius"),
            (Collider::cone(value, 1.0), "half_height"),
            (Collider::cone(1.0, value), "radius"),
        ];
        for (shape, field) in shapes {
            refused((DYNAMIC, shape), &[field, &shown, "> 0"]);
        }
    }
}

#[test]
fn degenerate_hulls() {
    let flat: Vec<DVec3> = (0..6)
        .map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3), 0.0))
        .collect();
    refused((DYNAMIC, Collider::convex_hull(Vec::new())), &["0", "4"]);
    refused(
        (DYNAMIC, Collider::convex_hull(vec![DVec3::ZERO; 3])),
        &["points", "3", "4"],
    );
    refused(
        (DYNAMIC, Collider::convex_hull(vec![DVec3::ONE; 8])),
        &["hull"],
    );
    refused((DYNAMIC, Collider::convex_hull(flat)), &["thickness", "0"]);
    let mut points: Vec<DVec3> = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].into();
    points[2].y = f64::NAN;
    refused(
        (DYNAMIC, Collider::convex_hull(points)),
        &["points", "NaN", "finite"],
    );
}

#[test]
fn degenerate_surfaces() {
    let fixed = RigidBody::Static;
    let corners = || vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    refused(
        (fixed, Collider::triangle_mesh(corners(), Vec::new())),
        &["triangles", "0", "1"],
    );
    refused(
        (fixed, Collider::triangle_mesh(corners(), vec![[0, 1, 3]])),
        &["triangle 0", "vertex 3", "3"],
    );
    refused(
        (fixed, Collider::triangle_mesh(corners(), vec![[0, 1, 1]])),
        &["triangle 0", "area 0", "> 0"],
    );
    let mut bad = corners();
    bad[1].x = f64::INFINITY;
    refused(
        (fixed, Collider::triangle_mesh(bad, vec![[0, 1, 2]])),
        &["vertices", "inf", "finite"],
    );
    for normal in [DVec3::ZERO, DVec3::new(0.0, 0.0, 2.0), DVec3::NAN] {
        refused((fixed, Collider::half_space(normal)), &["normal"]);
    }
    let terrain = |x_size, columns, heights| {
        Collider::new(Shape::HeightField {
            x_size,
            y_size: 1.0,
            columns,
            heights,
        })
    };
    refused(
        (fixed, terrain(1.0, 1, vec![0.0; 4])),
        &["columns", "1", "2"],
    );
    refused((fixed, terrain(1.0, 2, vec![0.0; 2])), &["rows", "1", "2"]);
    refused(
        (fixed, terrain(1.0, 2, vec![0.0; 5])),
        &["heights", "5", "2"],
    );
    refused(
        (fixed, terrain(-1.0, 2, vec![0.0; 4])),
        &["x_size", "-1", "> 0"],
    );
    refused(
        (fixed, terrain(1.0, 2, vec![0.0, f64::NAN, 0.0, 0.0])),
        &["heights", "NaN", "finite"],
    );
}

#[test]
fn compounds_of_nothing_or_of_surfaces() {
    refused(
        (DYNAMIC, Collider::compound(Vec::new())),
        &["parts", "0", "1"],
    );
    let parts = vec![(
        Pose {
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
        },
        Shape::HalfSpace { normal: DVec3::Z },
    )];
    refused((DYNAMIC, Collider::compound(parts)), &["part 0"]);
}

#[test]
fn dynamic_bodies_cannot_be_surfaces() {
    refused(
        (DYNAMIC, Collider::half_space(DVec3::Z)),
        &["solid", "half-space"],
    );
    let given = Mass::given(1.0, DVec3::ONE);
    refused((DYNAMIC, Collider::half_space(DVec3::Z), given), &["solid"]);
}

#[test]
fn a_resistance_beyond_its_bound_is_refused() {
    let material = Material {
        rolling_resistance: 1.1e6,
        ..Material::default()
    };
    refused(
        (DYNAMIC, ball(), material),
        &["rolling resistance", "1100000", "in [0, 1e6]"],
    );
}

/// Beyond its bound rounding alone would move what is held.
#[test]
fn cohesions_that_doubles_do_not_resolve() {
    let sticky = |cohesion| Material {
        cohesion,
        ..Material::default()
    };
    refused(
        (DYNAMIC, ball(), sticky(1.1e12)),
        &["cohesion", "in [0, 1e12]"],
    );
}
