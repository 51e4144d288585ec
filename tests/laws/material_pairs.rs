//! **Law.** A material may say how its coefficients combine: of two rules the later one in the order mean, geometric mean, min, max holds. Where the table
//! of pairs says something of two materials, that holds instead. The contact obeys what comes out: a block on an incline slides with
//! `g (sin a − μ cos a)`, a ball leaves a wall with `e` times its speed, and slower than its threshold not at all.
//!
//! Velocities of the scheme are exact here. Tolerances are those of the laws of the incline (1e-8 of `g t`) and of a bounce (1e-12).

use crate::support::*;
use moreau::{PairError, SceneError};

fn name(name: &str) -> Option<MaterialName> {
    Some(MaterialName::new(name).unwrap())
}

fn pair(one: &str, other: &str) -> MaterialPair {
    MaterialPair::between(name(one).unwrap(), name(other).unwrap())
}

const SLOPE: f64 = 0.6;

/// A block on a plane of slope 0.6, made of these materials, with a table of pairs.
fn block_on_plane([block, plane]: [Material; 2], pairs: &[MaterialPair]) -> (Simulation, Entity) {
    let tilt = turn(DVec3::Y, libm::atan(SLOPE));
    let mut simulation = Simulation::new(reference()).unwrap();
    simulation
        .set_material_pairs(MaterialPairs(pairs.to_vec()))
        .unwrap();
    let plane = (
        RigidBody::Static,
        Collider::half_space(tilt * DVec3::Z),
        plane,
    );
    simulation.spawn(plane).unwrap();
    let block = (
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.1, 0.1),
        block,
        Pose::from_position(tilt * DVec3::Z * 0.1).with_orientation(tilt),
    );
    let block = simulation.spawn(block).unwrap();
    (simulation, block)
}

/// The block slides as `mu` has it, or sticks if that holds it.
fn slides_by(mu: f64, simulation: &mut Simulation, block: Entity) {
    for _ in 0..50 {
        assert!(simulation.step().unwrap().converged);
    }
    let (sin, cos) = libm::sincos(libm::atan(SLOPE));
    let expected = G * (sin - mu * cos).max(0.0) * simulation.time();
    let speed = simulation.twist(block).unwrap().linear.length();
    assert!(
        (speed - expected).abs() <= 1e-8 * G,
        "{speed} m/s instead of {expected} with {mu}"
    );
}

fn by(friction: f64, rule: Option<Combine>) -> Material {
    Material {
        combine_friction: rule,
        ..Material::with_friction(friction)
    }
}

#[test]
fn the_later_rule_of_two_materials_holds() {
    use Combine::{GeometricMean, Max, Mean, Min};
    let rules = [None, Some(Mean), Some(GeometricMean), Some(Min), Some(Max)];
    for (i, one) in rules.into_iter().enumerate() {
        for (k, other) in rules.into_iter().enumerate() {
            // The rule of the settings is the geometric mean.
            let mu = match rules[i.max(k)] {
                None | Some(GeometricMean) => 0.4,
                Some(Mean) => 0.5,
                Some(Min) => 0.2,
                Some(Max) => 0.8,
            };
            let materials = [by(0.2, one), by(0.8, other)];
            let (mut simulation, block) = block_on_plane(materials, &[]);
            slides_by(mu, &mut simulation, block);
        }
    }
}

#[test]
fn a_pair_of_the_table_holds_in_either_order() {
    let [ice, rubber] = ["ice", "rubber"].map(|of| Material {
        name: name(of),
        ..Material::with_friction(0.5)
    });
    let slick = MaterialPair {
        friction: Some(0.03),
        ..pair("rubber", "ice")
    };
    let others = [
        MaterialPair {
            friction: Some(0.9),
            ..pair("ice", "ice")
        },
        MaterialPair {
            restitution: Some(0.0),
            ..pair("rubber", "rubber")
        },
    ];
    let table = [slick, others[0], others[1]];
    for (materials, mu) in [
        ([ice, rubber], 0.03),
        ([rubber, ice], 0.03),
        ([ice, ice], 0.9),
        // Of two of rubber the table says nothing about friction, of a stranger nothing at all.
        ([rubber, rubber], 0.5),
        ([rubber, Material::with_friction(0.125)], 0.25),
    ] {
        let (mut simulation, block) = block_on_plane(materials, &table);
        slides_by(mu, &mut simulation, block);
    }
    // Also against a rule, and where one of them is frictionless.
    let smooth = Material {
        frictionless: true,
        combine_friction: Some(Combine::Min),
        ..ice
    };
    let (mut simulation, block) = block_on_plane([smooth, rubber], &table);
    slides_by(0.03, &mut simulation, block);
    let (mut simulation, block) = block_on_plane([smooth, Material::default()], &table);
    slides_by(0.0, &mut simulation, block);
}

#[test]
fn a_new_table_holds_from_the_next_step_on_and_wakes() {
    let [ice, rubber] = ["ice", "rubber"].map(|of| Material {
        name: name(of),
        ..Material::with_friction(0.9)
    });
    let (mut simulation, block) = block_on_plane([ice, rubber], &[]);
    simulation
        .set_settings(Settings {
            sleeping: SleepSettings::default(),
            ..Settings::default()
        })
        .unwrap();
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(block));
    let slick = MaterialPair {
        friction: Some(0.0),
        ..pair("ice", "rubber")
    };
    let before = simulation.material_pairs();
    let table = MaterialPairs(vec![slick]);
    simulation.set_material_pairs(table.clone()).unwrap();
    let report = simulation.step().unwrap();
    let expected = G * libm::sin(libm::atan(SLOPE)) * simulation.settings().time_step;
    let speed = simulation.twist(block).unwrap().linear.length();
    assert!(
        (speed - expected).abs() <= 1e-3 * expected,
        "{speed}, {report:?}"
    );
    // Refused tables change nothing.
    for (wrong, says) in [
        (vec![slick, slick], "twice"),
        (
            vec![MaterialPair {
                friction: Some(-1.0),
                ..slick
            }],
            "in [0, 1e3]",
        ),
    ] {
        let error = simulation
            .set_material_pairs(MaterialPairs(wrong))
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains(says) && text.contains("ice"), "{text}");
        assert_eq!(simulation.material_pairs(), table);
    }
    assert_eq!(before, MaterialPairs::default());
    assert!(matches!(
        MaterialName::new(&"x".repeat(32)),
        Err(PairError::Name { bytes: 32, .. })
    ));
}

#[test]
fn parts_meet_by_the_table() {
    let runner = Shape::Cuboid {
        half_extents: DVec3::new(0.5, 0.02, 0.02),
    };
    let runners = [0.3, -0.3].map(|y| (Pose::at(0.0, y, 0.0), runner.clone()));
    let of = |of: &str| Material {
        name: name(of),
        ..Material::default()
    };
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, of("floor"));
    let table = ["ice", "rubber"].map(|of| MaterialPair {
        friction: Some(if of == "ice" { 0.03 } else { 0.7 }),
        ..pair(of, "floor")
    });
    simulation
        .set_material_pairs(MaterialPairs(table.to_vec()))
        .unwrap();
    simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::compound(runners.to_vec()),
            PartMaterials(vec![of("ice"), of("rubber")]),
            Pose::at(0.0, 0.0, 0.02),
        ))
        .unwrap();
    simulation.step().unwrap();
    assert_eq!(simulation.contacts().len(), 8);
    for contact in simulation.contacts() {
        let right: f64 = if contact.point.y > 0.0 { 0.03 } else { 0.7 };
        assert_eq!(contact.friction.to_bits(), right.to_bits());
    }
}

/// A ball that meets a wall at this speed: what is left of it.
fn bounce(of_ball: Material, pairs: &[MaterialPair], speed: f64) -> f64 {
    let mut simulation = Simulation::new(weightless()).unwrap();
    simulation
        .set_material_pairs(MaterialPairs(pairs.to_vec()))
        .unwrap();
    let wall = Material {
        name: name("wall"),
        restitution: 0.8,
        ..Material::default()
    };
    ground(&mut simulation, wall);
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.1),
        of_ball,
        Pose::at(0.0, 0.0, 0.1 + 0.3 * 0.005 * speed),
        Twist::linear(0.0, 0.0, -speed),
    );
    let ball = simulation.spawn(ball).unwrap();
    for _ in 0..5 {
        simulation.step().unwrap();
    }
    simulation.twist(ball).unwrap().linear.z
}

#[test]
fn a_material_does_not_bounce_below_its_own_threshold() {
    let of = |threshold| Material {
        name: name("ball"),
        bounce_threshold: threshold,
        ..Material::default()
    };
    let given = |threshold| MaterialPair {
        bounce_threshold: Some(threshold),
        ..pair("ball", "wall")
    };
    for (material, pairs, speed, bounces) in [
        (of(Some(0.5)), vec![], 0.49, false),
        (of(Some(0.5)), vec![], 0.51, true),
        // The pair knows better.
        (of(Some(0.5)), vec![given(0.0)], 1e-3, true),
        (of(Some(0.5)), vec![given(2.0)], 1.9, false),
        (of(None), vec![given(2.0)], 2.1, true),
        (of(None), vec![], 1e-3, true),
    ] {
        let v = bounce(material, &pairs, speed);
        let expected = if bounces { 0.8 * speed } else { 0.0 };
        assert!((v - expected).abs() <= 1e-12, "{speed} m/s become {v}");
    }
    let elastic = Material {
        combine_restitution: Some(Combine::Min),
        restitution: 0.3,
        ..of(None)
    };
    assert!((bounce(elastic, &[], 1.0) - 0.3).abs() <= 1e-12);
    let table = MaterialPair {
        restitution: Some(1.0),
        ..pair("wall", "ball")
    };
    assert!((bounce(elastic, &[table], 1.0) - 1.0).abs() <= 1e-12);
}

/// The second of three balls in a row is struck within the step: whether the third bounces off goes by the threshold of the pair.
#[test]
fn impacts_within_the_step_know_the_thresholds() {
    for (threshold, bounces) in [(0.1, true), (5.0, false)] {
        let mut simulation = Simulation::new(weightless()).unwrap();
        let ball = |x: f64, v: f64, threshold| {
            (
                RigidBody::Dynamic,
                Collider::sphere(0.1),
                Material {
                    bounce_threshold: threshold,
                    ..Material::frictionless(1.0)
                },
                Pose::at(x, 0.0, 0.0),
                Twist::linear(v, 0.0, 0.0),
            )
        };
        simulation.spawn(ball(0.0, 1.0, None)).unwrap();
        simulation.spawn(ball(0.201, 0.0, None)).unwrap();
        let third = simulation.spawn(ball(0.402, 0.0, Some(threshold)));
        let third = third.unwrap();
        for _ in 0..4 {
            simulation.step().unwrap();
        }
        let v = simulation.twist(third).unwrap().linear.x;
        let passed_on = (v - 1.0).abs() <= 1e-9;
        assert!(passed_on == bounces && v > 0.4, "{v} m/s with {threshold}");
    }
}

fn scene(between: &str, more: &str) -> String {
    format!(
        r#"
[materials.ice]
friction = 0.5
combine_friction = "min"
[materials.rubber]
friction = 0.9
bounce_threshold = 0.2
[[pairs]]
between = {between}
friction = 0.03
{more}
[[bodies]]
kind = "static"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
material = "ice"
[[bodies]]
shape = {{ sphere = {{ radius = 0.1 }} }}
position = [0, 0, 0.1]
material = "rubber"
"#
    )
}

#[test]
fn scenes_have_pairs() {
    let text = scene(r#"["ice", "rubber"]"#, "");
    let of = Scene::from_toml(&text, "").unwrap();
    assert_eq!(Scene::from_toml(&of.to_toml().unwrap(), "").unwrap(), of);
    let mut run = of.start().unwrap();
    run.step().unwrap();
    let right = 0.03_f64.to_bits();
    assert_eq!(run.simulation.contacts()[0].friction.to_bits(), right);
    // A snapshot has the table.
    let bytes = run.snapshot().unwrap().to_bytes().unwrap();
    let mut again = SceneRun::from_snapshot(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    again.step().unwrap();
    run.step().unwrap();
    assert_eq!(again.simulation.contacts()[0].friction.to_bits(), right);
    assert_eq!(
        again.simulation.material_pairs(),
        run.simulation.material_pairs()
    );
    assert_eq!(again.scene().pairs, of.pairs);
    assert_eq!(again.simulation.state_hash(), run.simulation.state_hash());
    let unknown = Scene::from_toml(&scene(r#"["ice", "ruber"]"#, ""), "").unwrap();
    let error = unknown.start().err().unwrap().to_string();
    assert!(
        error.contains("pairs[0]") && error.contains("did you mean \"rubber\""),
        "{error}"
    );
    let wrong = scene(r#"["ice", "rubber"]"#, "restitution = 1.5");
    let error = Scene::from_toml(&wrong, "").unwrap().start().err().unwrap();
    assert!(matches!(error, SceneError::Refused { .. }));
    let text = error.to_string();
    assert!(
        text.contains("pair of ice and rubber: restitution is 1.5, expected in [0, 1]"),
        "{text}"
    );
    let misspelt = scene(r#"["ice", "rubber"]"#, "fricton = 1.5");
    let error = Scene::from_toml(&misspelt, "").unwrap_err().to_string();
    assert!(error.contains("did you mean `friction`?"), "{error}");
}

#[test]
fn a_table_put_in_by_hand_is_refused_by_the_step() {
    let (mut simulation, block) = block_on_plane([Material::default(); 2], &[]);
    let before = simulation.state_hash();
    let wrong = MaterialPair {
        restitution: Some(f64::NAN),
        ..pair("ice", "ice")
    };
    let world = simulation.world_mut();
    world.insert_resource(MaterialPairs(vec![wrong]));
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::Pairs(PairError::Field { .. })));
    assert_eq!(simulation.state_hash(), before);
    let world = simulation.world_mut();
    world.insert_resource(MaterialPairs::default());
    simulation.step().unwrap();
    assert!(simulation.pose(block).is_some());
}
