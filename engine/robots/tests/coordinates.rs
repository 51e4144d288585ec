//! Joints that follow others, rotors, and joints of the formats that are no hinges and slides.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use glam::{DQuat, DVec3};
use moreau::scene::SceneRun;
use moreau::{JointAxis, JointForce, JointKind};
use moreau_robots::{Options, Robot, from_text};
use std::f64::consts::FRAC_PI_2;

const G: f64 = 9.81;

fn read(text: &str) -> Robot {
    from_text(text, "robot.xml", &Options::default()).unwrap()
}

fn lines(robot: &Robot) -> Vec<String> {
    let list = robot.not_understood.iter();
    list.map(ToString::to_string).collect()
}

fn place(run: &mut SceneRun, name: &str) -> (DVec3, DQuat) {
    let body = run.body(name).unwrap();
    let pose = run.simulation.pose(body).unwrap();
    (pose.position, pose.orientation)
}

fn velocity(run: &mut SceneRun, name: &str) -> DVec3 {
    let body = run.body(name).unwrap();
    run.simulation.twist(body).unwrap().linear
}

/// A slide of mass `m` with armature `I` falls with `g m/(m + I)`.
#[test]
fn armature_of_a_slide_and_of_a_hinge_is_inertia_without_weight() {
    let robot = read(
        r#"<mujoco><default><joint armature="3"/></default><worldbody>
        <body name="a"><joint name="s" type="slide" axis="0 0 1"/><geom type="sphere" size="0.1" mass="2"/></body>
        <body name="b" pos="1 0 0"><joint name="h" axis="0 1 0"/><geom type="sphere" size="0.1" mass="2"/></body>
        <body name="c" pos="2 0 0"><joint name="t" type="ball"/><geom type="sphere" size="0.1" mass="2"/></body>
        </worldbody></mujoco>"#,
    );
    let forces = |index: usize| robot.scene.joints[index].forces.clone();
    let rotor = |axis| JointForce::Armature { axis, inertia: 3.0 };
    assert_eq!(forces(0), [rotor(JointAxis::Z)]);
    assert_eq!(forces(1), [rotor(JointAxis::RotationZ)]);
    assert_eq!(forces(2), []);
    let expected =
        ["robot.xml:4: joint \"t\": armature: left out: no armature of balls".to_owned()];
    assert_eq!(lines(&robot), expected);
    let mut run = robot.scene.start().unwrap();
    while run.simulation.time() < 0.5 {
        run.step().unwrap();
    }
    let fallen = -velocity(&mut run, "a").z / run.simulation.time();
    assert!((fallen - G * 2.0 / 5.0).abs() < 1e-9, "{fallen}");
}

fn sliders(mimic: &str) -> String {
    let link = |name: &str, mass: f64| {
        format!(
            r#"<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>"#
        )
    };
    let joint = |name: &str, x: f64, rest: &str| {
        format!(
            r#"<joint name="{name} joint" type="prismatic"><origin xyz="{x} 0 0"/><parent link="base"/><child link="{name}"/>
            <axis xyz="0 0 1"/><limit lower="-100" upper="100" velocity="1"/>{rest}</joint>"#
        )
    };
    format!(
        r#"<robot name="r"><link name="base"/>{}{}{}{}{}{}</robot>"#,
        link("one", 1.0),
        link("two", 2.0),
        link("three", 3.0),
        joint(
            "three",
            3.0,
            r#"<mimic joint="two joint" multiplier="0.5" offset="0.1"/>"#
        ),
        joint("two", 2.0, mimic),
        joint("one", 1.0, ""),
    )
}

/// `z₂ = −2 z₁ + 0.3` and `z₃ = z₂/2 + 0.1 = −z₁ + 0.25`: with `n = (1, −2, −1)` the leader falls with `g Σ m n / Σ m n²`.
#[test]
fn what_mimics_a_joint_follows_it_and_starts_where_it_does() {
    let robot = read(&sliders(
        r#"<mimic joint="one joint" multiplier="-2" offset="0.3"/>"#,
    ));
    assert_eq!(robot.scene.couplers.len(), 2);
    let mut run = robot.scene.start().unwrap();
    for step in 0..200 {
        let [one, two, three] = ["one", "two", "three"].map(|name| place(&mut run, name).0.z);
        assert!((two + 2.0 * one - 0.3).abs() < 1e-12, "{step}: {two}");
        assert!((three + one - 0.25).abs() < 1e-12, "{step}: {three}");
        let report = run.step().unwrap();
        assert!(report.joint_error < 1e-12, "{}", report.joint_error);
        assert!(report.joint_velocity < 1e-12, "{}", report.joint_velocity);
    }
    let falls = -velocity(&mut run, "one").z / run.simulation.time();
    let expected = G * (1.0 - 4.0 - 3.0) / (1.0 + 8.0 + 3.0);
    assert!((falls - expected).abs() < 1e-9, "{falls}");
}

#[test]
fn what_cannot_be_followed_is_refused_or_listed() {
    for (mimic, message) in [
        (
            r#"<mimic joint="one joy"/>"#,
            "there is no joint \"one joy\"; did you mean \"one joint\"?",
        ),
        (r#"<mimic joint="two joint"/>"#, "it follows itself"),
        (r#"<mimic/>"#, "there is no joint"),
        (
            r#"<mimic joint="one joint" multiplier="x"/>"#,
            "multiplier is \"x\", expected finite numbers",
        ),
    ] {
        let error = from_text(&sliders(mimic), "robot.urdf", &Options::default());
        let error = error.err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
    let robot = read(&sliders(
        r#"<mimic joint="one joint" multiplier="0" offset="1"/>"#,
    ));
    let told = "mimic: left out: no joints that are held in a place";
    assert!(lines(&robot).iter().any(|line| line.ends_with(told)));
    assert_eq!(robot.scene.couplers.len(), 1);
    // In a round: no place to begin, and the engine's word on it.
    let robot = read(&sliders(r#"<mimic joint="three joint" offset="0.3"/>"#));
    assert_eq!(robot.scene.couplers.len(), 2);
    if let Ok(mut run) = robot.scene.start() {
        let _ = run.step();
    }
}

/// The format counts from the reference coordinates, whatever these are called, and the second hinge of a universal joint is its y.
#[test]
fn equalities_of_joints_hold_between_pieces_of_joints() {
    let text = r#"<mujoco><compiler angle="radian"/><option gravity="3 2 -9"/><default><equality solref="0.1 1"/></default><worldbody>
        <body name="arm"><joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0" ref="0.7"/>
          <geom type="box" size="0.1 0.2 0.3" pos="0.2 0.1 0.1" mass="1"/></body>
        <body name="sled" pos="2 0 0"><joint name="s" type="slide" axis="0 0 1" ref="-0.4"/><geom type="sphere" size="0.1" mass="1"/></body>
        <body name="x y" pos="5 0 0"><joint name="x y" type="ball"/><geom type="sphere" size="0.1" mass="1"/></body>
        </worldbody>
        <equality><joint name="e" joint1="s" joint2="y" polycoef="0.2 1.5"/><joint joint1="y" joint2="s" active="false"/>
          <joint joint1="y"/><joint joint1="x" joint2="s" polycoef="0 1 2"/><joint joint1="x y" joint2="s"/>
          <weld body1="arm" body2="sled" active="false"/></equality>
        <keyframe><key name="k" qpos="0 0.7 -0.2 1 0 0 0"/></keyframe></mujoco>"#;
    let options = Options {
        keyframe: Some("k".to_owned()),
        ..Options::default()
    };
    let robot = from_text(text, "robot.xml", &options).unwrap();
    let [coupler] = &robot.scene.couplers[..] else {
        unreachable!("one of them: {:?}", robot.scene.couplers)
    };
    assert_eq!(coupler.name.as_deref(), Some("e"));
    assert_eq!(coupler.terms[1].joint, "x y");
    assert_eq!(coupler.terms[1].axis, JointAxis::RotationY);
    let told = [
        "robot.xml:1: equality: solref: left out: contacts, limits and friction are exact",
        "robot.xml:7: joint: left out: it is not active",
        "robot.xml:8: joint: left out: no joints that are held in a place",
        "robot.xml:8: joint: polycoef: left out: no relations that are not linear",
        "robot.xml:8: joint: left out: hinges and slides alone",
        "robot.xml:9: weld: left out: it is not active",
    ];
    let found = lines(&robot);
    for line in told {
        assert!(found.iter().any(|of| of == line), "{line}\n{found:#?}");
    }
    let mut run = robot.scene.start().unwrap();
    let mut most: f64 = 0.0;
    for _ in 0..200 {
        let report = run.step().unwrap();
        assert!(report.joint_error < 1e-12, "{}", report.joint_error);
        let turn = place(&mut run, "arm").1;
        // Turned about x, then about y of the arm: z of the arm is (sin b, −sin a cos b, cos a cos b).
        let z = turn * DVec3::Z;
        let b = libm::asin(z.x);
        let way = place(&mut run, "sled").0.z;
        assert!((way - 0.2 - 1.5 * b).abs() < 1e-10, "{way} {b}");
        most = most.max(b.abs());
    }
    assert!(most > 0.05, "{most}");
    let text = text.replace("joint2=\"y\"", "joint2=\"z\"");
    let error = from_text(&text, "robot.xml", &options).err().unwrap();
    assert!(
        error.to_string().contains("there is no joint \"z\""),
        "{error}"
    );
}

fn on(joint: &str) -> String {
    format!(
        r#"<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
        <joint name="j" {joint}<origin xyz="0 0 1" rpy="0 0 0.5"/><parent link="a"/><child link="b"/></joint></robot>"#
    )
}

/// Two slides and a hinge: along the plane it falls, across it it cannot.
#[test]
fn a_planar_joint_leaves_its_plane_alone() {
    let robot = read(&on(r#"type="planar"><axis xyz="0 1 0"/>"#));
    assert_eq!(robot.scene.joints[0].kind, JointKind::Planar);
    let start = robot.scene.bodies[0].position;
    let normal = DQuat::from_rotation_z(0.5) * DVec3::Y;
    let mut scene = robot.scene;
    scene.settings.gravity = DVec3::new(0.0, 3.0, -G);
    let mut run = scene.start().unwrap();
    while run.simulation.time() < 0.5 {
        run.step().unwrap();
    }
    let t = run.simulation.time();
    let moved = place(&mut run, "b").0 - start;
    assert!(moved.dot(normal).abs() < 1e-12, "{moved}");
    let free = DVec3::new(0.0, 3.0, -G) * (0.5 * t * t);
    let expected = free - normal * free.dot(normal);
    assert!((moved - expected).length() < 1e-9, "{moved} {expected}");
    let damped = read(&on(
        r#"type="planar"><axis xyz="0 1 0"/><dynamics damping="2" friction="1"/>"#,
    ));
    assert_eq!(damped.scene.joints[0].forces.len(), 2);
    let told = "dynamics: friction: left out: no friction of planar joints";
    assert!(lines(&damped).iter().any(|line| line.ends_with(told)));
}

#[test]
fn a_floating_joint_holds_nothing() {
    let robot = read(&on(r#"type="floating">"#));
    assert!(robot.scene.joints.is_empty());
    let start = DVec3::Z + DQuat::from_rotation_z(0.5) * DVec3::X * 0.2;
    let mut run = robot.scene.start().unwrap();
    let (position, orientation) = place(&mut run, "b");
    assert!((position - start).length() < 1e-15);
    assert!(
        (orientation * DVec3::X - DQuat::from_rotation_z(0.5) * DVec3::X).length() < 1e-15,
        "{orientation}"
    );
    while run.simulation.time() < 0.5 {
        run.step().unwrap();
    }
    let t = run.simulation.time();
    let fallen = place(&mut run, "b").0 - start;
    assert!(
        (fallen + DVec3::Z * (0.5 * G * t * t)).length() < 1e-9,
        "{fallen}"
    );
}

/// Joints without names, and those whose names together are another's, have names of their own.
#[test]
fn every_joint_has_its_own_name() {
    let robot = read(
        r#"<mujoco><worldbody>
        <body name="p"><joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/><geom type="sphere" size="0.1"/></body>
        <body name="q" pos="1 0 0"><joint name="a b"/><geom type="sphere" size="0.1"/></body>
        <body name="r" pos="2 0 0"><joint/><geom type="sphere" size="0.1"/></body>
        <body name="s" pos="3 0 0" euler="0 0 90"><joint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"#,
    );
    let joints = robot.scene.joints.iter();
    let names: Vec<_> = joints.filter_map(|joint| joint.name.as_deref()).collect();
    assert_eq!(names, ["a b", "a b 2", "joint of r", "joint of s"]);
    let turned = DQuat::from_rotation_z(FRAC_PI_2) * DVec3::X;
    let axis = robot.scene.bodies[3].orientation * DVec3::X;
    assert!((axis - turned).length() < 1e-15);
}
