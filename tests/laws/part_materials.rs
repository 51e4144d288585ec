//! **Law.** A contact has the law of the materials that meet in it: those of the parts, where a compound has materials by part.
//!
//! A sledge of mass `m` on two level runners that slides along them with `μ₁ ≠ μ₂`, each bearing half of the weight: `m a = ½ (μ₁ + μ₂) m g`, and the
//! moment `½ (μ₁ − μ₂) m g b/2` about the vertical axis, `b` between the runners, turns it while that acts.

use crate::support::*;
use moreau::scene::SceneError;
use moreau::{BodyError, MoreauJean};

fn friction(mu: f64) -> Material {
    Material::with_friction(mu)
}

fn bounces(e: f64) -> Material {
    Material {
        restitution: e,
        friction: 0.0,
        ..Material::default()
    }
}

/// Half the distance of the runners, m.
const HALF_TRACK: f64 = 0.3;
const RADIUS: f64 = 0.02;

/// Two round runners along x, which touch in a line each: their loads are known. The first is at positive y.
fn runners() -> Collider {
    let shape = Shape::Capsule {
        half_height: 0.5,
        radius: RADIUS,
    };
    let at = |y| {
        let pose = Pose {
            position: DVec3::Y * y,
            orientation: turn(DVec3::Y, 0.5 * std::f64::consts::PI),
        };
        (pose, shape.clone())
    };
    Collider::compound(vec![at(HALF_TRACK), at(-HALF_TRACK)])
}

/// A sledge with this law on ground whose friction is that of the runners: the rule is the smaller one.
fn sledge(parts: [f64; 2], turns: bool) -> (Simulation, Entity) {
    let settings = Settings {
        combine_friction: Combine::Min,
        time_step: 1e-3,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, friction(10.0));
    let body = (
        RigidBody::Dynamic,
        runners(),
        PartMaterials(parts.map(friction).to_vec()),
        Pose::at(0.0, 0.0, RADIUS),
        Twist::linear(3.0, 0.0, 0.0),
    );
    let body = simulation.spawn(body).unwrap();
    if !turns {
        let level = JointKind::Generic {
            translation: [false; 3],
            rotation: [false, false, true],
        };
        let guide = Joint::to_world(body, level).at(DVec3::ZERO, DVec3::Z);
        simulation.spawn_joint(guide, ()).unwrap();
    }
    (simulation, body)
}

#[test]
fn a_sledge_on_a_smooth_and_a_rough_runner_slows_down_by_their_mean() {
    for parts in [[0.1, 0.5], [0.5, 0.1], [0.0, 0.4], [0.3, 0.3]] {
        let (mut simulation, sledge) = sledge(parts, false);
        let slows = 0.5 * (parts[0] + parts[1]) * G;
        for _ in 0..200 {
            assert!(simulation.step().unwrap().converged);
            let v = simulation.twist(sledge).unwrap().linear;
            let right = 3.0 - slows * simulation.time();
            // The goal of the solves is 1e-11 of the impulses.
            assert!((v.x - right).abs() < 1e-9, "{parts:?}: {v} {right}");
            let friction_of_contacts = simulation.contacts().iter().map(|contact| {
                let on_left = contact.point.y > 0.0;
                contact.friction - if on_left { parts[0] } else { parts[1] }
            });
            assert!(friction_of_contacts.map(f64::abs).sum::<f64>() < 1e-15);
        }
    }
}

#[test]
fn a_sledge_turns_towards_its_rough_runner() {
    for (parts, sign) in [([0.1, 0.5], -1.0), ([0.5, 0.1], 1.0)] {
        let (mut simulation, sledge) = sledge(parts, true);
        let mass = mass(&simulation, sledge).unwrap();
        // All points slide nearly along x for the first steps: they turn by less than 1e-3 of that.
        let moment = 0.5 * 0.4 * mass.mass() * G * HALF_TRACK;
        let frame = mass.principal_frame();
        let about_z = (frame * (mass.principal_inertia() * (frame.conjugate() * DVec3::Z))).z;
        let gains = sign * moment / about_z;
        for _ in 0..5 {
            simulation.step().unwrap();
        }
        let spin = simulation.twist(sledge).unwrap().angular.z;
        let right = gains * simulation.time();
        assert!(
            (spin / right - 1.0).abs() < 0.01,
            "{parts:?}: {spin} {right}"
        );
    }
}

/// A stick with a ball at either end, upright, falls on one of them.
fn stick(parts: [Material; 3], falls_on: usize) -> (Simulation, Entity) {
    let ball = Shape::Sphere { radius: 0.1 };
    let rod = Shape::Cylinder {
        half_height: 0.5,
        radius: 0.03,
    };
    let shape = Collider::compound(vec![
        (Pose::at(0.0, 0.0, -0.5), ball.clone()),
        (Pose::default(), rod),
        (Pose::at(0.0, 0.0, 0.5), ball),
    ]);
    let orientation = match falls_on {
        0 => DQuat::IDENTITY,
        _ => turn(DVec3::X, std::f64::consts::PI),
    };
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, bounces(0.0));
    let pose = Pose {
        position: DVec3::Z * 0.7,
        orientation,
    };
    let body = (
        RigidBody::Dynamic,
        shape,
        PartMaterials(parts.to_vec()),
        Mass::scaled_to(1.0),
        pose,
        Twist::linear(0.0, 0.0, -2.0),
    );
    let body = simulation.spawn(body).unwrap();
    (simulation, body)
}

#[test]
fn a_stick_bounces_on_one_end_and_not_on_the_other() {
    let parts = [bounces(0.8), bounces(0.0), bounces(0.0)];
    for (falls_on, e) in [(0, 0.8), (2, 0.0)] {
        let (mut simulation, stick) = stick(parts, falls_on);
        let mut fastest = f64::NEG_INFINITY;
        let mut strikes = 0.0;
        for _ in 0..200 {
            let before = simulation.twist(stick).unwrap().linear.z;
            simulation.step().unwrap();
            let after = simulation.twist(stick).unwrap().linear.z;
            if after > fastest {
                (fastest, strikes) = (after, before);
            }
        }
        // Newton's law with the velocity at the beginning of the step of the impact.
        assert!(
            (fastest + e * strikes).abs() < 1e-9 || e == 0.0,
            "{fastest} {strikes}"
        );
        assert!(e > 0.0 || fastest < 1e-9, "{fastest}");
        assert!(e == 0.0 || fastest > 1.0, "{fastest}");
    }
}

#[test]
fn a_material_given_for_every_part_is_that_of_the_body_to_the_bit() {
    let material = Material {
        restitution: 0.4,
        density: 700.0,
        ..friction(0.3)
    };
    let run = |parts: Option<PartMaterials>| {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        ground(&mut simulation, friction(0.5));
        for k in 0..6 {
            let x = f64::from(k);
            let pose = Pose {
                position: DVec3::new(0.1 * x, 0.05 * x, 0.5 + 0.4 * x),
                orientation: turn(DVec3::new(1.0, 0.3 * x, 0.2).normalize(), 0.4 * x),
            };
            let body = (RigidBody::Dynamic, runners(), material, pose);
            let body = simulation.spawn(body).unwrap();
            if let Some(parts) = &parts {
                simulation.set(body, parts.clone());
            }
        }
        for _ in 0..400 {
            simulation.step().unwrap();
        }
        simulation.state_hash()
    };
    let plain = run(None);
    assert_eq!(run(Some(PartMaterials(vec![material; 2]))), plain);
    assert_eq!(run(Some(PartMaterials(Vec::new()))), plain);
    assert_ne!(
        run(Some(PartMaterials(vec![material, friction(0.3)]))),
        plain
    );
}

#[test]
fn parts_have_their_own_densities() {
    let cube = |x: f64| {
        let half_extents = DVec3::splat(0.5);
        (Pose::at(x, 0.0, 0.0), Shape::Cuboid { half_extents })
    };
    let dense = |density| Material {
        density,
        ..Material::default()
    };
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let parts = PartMaterials(vec![dense(100.0), dense(300.0)]);
    let shape = Collider::compound(vec![cube(-0.5), cube(0.5)]);
    let body = (RigidBody::Dynamic, shape, parts);
    let body = simulation.spawn(body).unwrap();
    let found = mass(&simulation, body).unwrap();
    assert!((found.mass() - 400.0).abs() < 1e-10);
    // Steiner: 100 kg at 0.75 m and 300 kg at 0.25 m from the centre, and 1/6 of the mass for each cube.
    let across = 400.0 / 6.0 + 100.0 * 0.5625 + 300.0 * 0.0625;
    let expected = DVec3::new(400.0 / 6.0, across, across);
    let error = found.principal_inertia() - expected;
    assert!(error.abs().max_element() < 1e-10, "{error}");
}

#[test]
fn two_compounds_meet_with_the_parts_that_touch() {
    // A plank of two halves lies on two blocks of one body, half on half.
    let settings = Settings {
        combine_friction: Combine::Mean,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let block = |x: f64| {
        let half_extents = DVec3::new(0.2, 0.2, 0.1);
        (Pose::at(x, 0.0, 0.0), Shape::Cuboid { half_extents })
    };
    let pair = || Collider::compound(vec![block(-0.5), block(0.5)]);
    let of = |mu: [f64; 2]| PartMaterials(mu.map(friction).to_vec());
    let low = (RigidBody::Static, pair(), of([0.1, 0.2]));
    simulation.spawn(low).unwrap();
    let high = (
        RigidBody::Dynamic,
        pair(),
        of([0.5, 0.9]),
        Pose {
            position: DVec3::Z * 0.2,
            // Its first part over the second one.
            orientation: turn(DVec3::Z, std::f64::consts::PI),
        },
    );
    simulation.spawn(high).unwrap();
    simulation.step().unwrap();
    assert_eq!(simulation.contacts().len(), 8);
    for contact in simulation.contacts() {
        let right = if contact.point.x > 0.0 { 0.35 } else { 0.5 };
        assert!((contact.friction - right).abs() < 1e-15, "{contact:?}");
    }
}

#[test]
fn parts_of_other_materials_wake_a_sleeping_body() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let normal = DVec3::new(libm::sin(0.2), 0.0, libm::cos(0.2));
    let slope = (
        RigidBody::Static,
        Collider::half_space(normal),
        friction(0.5),
    );
    simulation.spawn(slope).unwrap();
    let pose = Pose {
        position: normal * RADIUS,
        orientation: turn(DVec3::Y, 0.2),
    };
    let materials = |mu: f64| PartMaterials(vec![friction(mu); 2]);
    let body = (RigidBody::Dynamic, runners(), materials(0.5), pose);
    let body = simulation.spawn(body).unwrap();
    for _ in 0..400 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(body));
    simulation.set(body, materials(0.0));
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let fast = simulation.twist(body).unwrap().linear.length();
    assert!((fast - 0.5 * G * libm::sin(0.2)).abs() < 0.01, "{fast}");
    // Without them it is made of its material again.
    simulation
        .world_mut()
        .entity_mut(body)
        .remove::<PartMaterials>();
    for _ in 0..400 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(body));
}

#[test]
fn materials_of_parts_that_do_not_fit_are_refused() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let mut refused = |shape: Option<Collider>, parts: Vec<Material>| {
        let own = (
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::ONE),
            PartMaterials(parts),
        );
        let spawned = match shape {
            Some(shape) => simulation.spawn((own, shape)),
            None => simulation.spawn(own),
        };
        match spawned {
            Err(StepError::Body { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    };
    let good = friction(0.5);
    for (shape, given, parts) in [
        (Some(runners()), 1, 2),
        (Some(runners()), 3, 2),
        (Some(Collider::sphere(0.5)), 1, 0),
        (None, 1, 0),
    ] {
        let found = refused(shape, vec![good; given]);
        assert_eq!(found, BodyError::PartMaterials { given, parts });
    }
    let bad = [
        ("friction", friction(-0.1)),
        ("friction", friction(f64::NAN)),
        ("restitution", bounces(1.5)),
        (
            "density",
            Material {
                density: 0.0,
                ..good
            },
        ),
    ];
    for (name, material) in bad {
        let found = refused(Some(runners()), vec![good, material]);
        assert!(
            matches!(found, BodyError::Field { field, .. } if field == name),
            "{found}"
        );
    }
    // Between steps the world stays as it is.
    let body = (RigidBody::Dynamic, runners());
    let body = simulation.spawn(body).unwrap();
    simulation.step().unwrap();
    let before = simulation.pose(body).unwrap();
    simulation.set(body, PartMaterials(vec![good]));
    assert!(simulation.step().is_err());
    assert_eq!(simulation.pose(body).unwrap(), before);
}

#[test]
fn plain_bodies_have_them_too() {
    let of = |parts: Vec<Material>| Body {
        id: BodyId(1),
        collider: Some(runners()),
        pose: Pose::at(0.0, 0.0, RADIUS),
        part_materials: parts,
        ..Body::default()
    };
    let floor = Body {
        id: BodyId(0),
        kind: RigidBody::Static,
        collider: Some(Collider::half_space(DVec3::Z)),
        material: friction(0.5),
        ..Body::default()
    };
    let mut state = StepState::default();
    let parts = vec![friction(0.0), friction(0.5)];
    state.set_bodies(&[floor.clone(), of(parts)]).unwrap();
    state.step(&Settings::default()).unwrap();
    let of_left = state
        .contacts()
        .iter()
        .filter(|contact| contact.point.y > 0.0);
    assert!(
        of_left
            .map(|contact| contact.friction)
            .all(|mu| mu.abs() < 1e-15)
    );
    // Those who change interactions see the law of the part, and what they put in its place holds.
    let mut seen = Vec::new();
    let step = state.step_by(&MoreauJean, &Settings::default(), |interactions| {
        seen.extend(interactions.iter().map(|(at, law)| (at.point.y, law)));
        interactions.retain(|_, law| {
            law.friction += 0.1;
            true
        })
    });
    step.unwrap();
    assert_eq!(seen.len(), 4);
    for (y, law) in seen {
        let own = if y > 0.0 { 0.0 } else { 0.5 };
        assert!((law.friction - own).abs() < 1e-15, "{law:?}");
        let mut contacts = state.contacts().iter();
        let changed = contacts.find(|contact| contact.point.y * y > 0.0).unwrap();
        assert!((changed.friction - own - 0.1).abs() < 1e-15, "{changed:?}");
    }
    let wrong = of(vec![friction(0.0)]);
    assert!(state.set_bodies(&[floor, wrong]).is_err());
}

fn scene(parts: &str) -> Scene {
    let text = format!(
        r#"
[materials.ice]
friction = 0.02

[materials.rubber]
friction = 0.9

[[bodies]]
kind = "static"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
material = "rubber"

[[bodies]]
name = "sledge"
position = [0, 0, 0.02]
part_materials = {parts}
shape = {{ compound = {{ parts = [
    [{{ position = [0, 0.3, 0], orientation = [0, 0, 0, 1] }}, {{ cuboid = {{ half_extents = [0.5, 0.02, 0.02] }} }}],
    [{{ position = [0, -0.3, 0], orientation = [0, 0, 0, 1] }}, {{ cuboid = {{ half_extents = [0.5, 0.02, 0.02] }} }}],
] }} }}
"#
    );
    Scene::from_toml(&text, "").unwrap()
}

#[test]
fn scenes_have_materials_by_part() {
    let of = scene(r#"["ice", "rubber"]"#);
    assert_eq!(Scene::from_toml(&of.to_toml().unwrap(), "").unwrap(), of);
    let mut run = of.start().unwrap();
    run.step().unwrap();
    assert_eq!(run.simulation.contacts().len(), 8);
    for contact in run.simulation.contacts() {
        let own: f64 = if contact.point.y > 0.0 { 0.02 } else { 0.9 };
        let right = (0.9 * own).sqrt();
        assert!((contact.friction - right).abs() < 1e-15, "{contact:?}");
    }
    let unknown = scene(r#"["ice", "ruber"]"#).start();
    assert!(matches!(unknown, Err(SceneError::UnknownMaterial { .. })));
    let few = scene(r#"["ice"]"#).start();
    assert!(matches!(few, Err(SceneError::Refused { .. })));
}

/// A dumb-bell of a heavy and a light ball: the frame of the shape is where the balls are met.
#[test]
fn the_pose_of_a_shape_is_that_of_its_parts() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let ball = Shape::Sphere { radius: 0.1 };
    let parts = [-0.5, 0.5].map(|x| (Pose::at(x, 0.0, 0.0), ball.clone()));
    let density = |density| Material {
        density,
        ..Material::default()
    };
    let made = PartMaterials(vec![density(3000.0), density(1000.0)]);
    let body = (RigidBody::Dynamic, Collider::compound(parts.to_vec()), made);
    let body = simulation.spawn(body).unwrap();
    // The centre of mass is at 0, a quarter of a metre from the middle.
    let frame = simulation.shape_pose(body).unwrap();
    assert!(
        (frame.position - DVec3::X * 0.25).length() < 1e-15,
        "{frame:?}"
    );
    let ray = Ray::new(DVec3::new(0.75, 0.0, 1.0), DVec3::NEG_Z).unwrap();
    let hit = simulation.queries().unwrap().ray(&ray, &QueryFilter::new());
    assert!(hit.is_some_and(|hit| (hit.at.distance - 0.9).abs() < 1e-12));
}
