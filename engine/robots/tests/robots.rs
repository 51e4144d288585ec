//! What robot files say is what moves: against the same machine built by hand, and against kinematics written out here.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use glam::{DMat3, DQuat, DVec3};
use moreau::{
    Collider, Joint, JointAxis, JointForce, JointKind, Mass, Pose, RigidBody, Scene, Settings,
    Simulation,
};
use moreau_robots::{Base, Options, Reason, Robot, from_text, load};

fn file(name: &str) -> String {
    format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn read(text: &str) -> Robot {
    from_text(text, "robot.xml", &Options::default()).unwrap()
}

fn refused(text: &str) -> String {
    let error = from_text(text, "robot.xml", &Options::default());
    error.err().unwrap().to_string()
}

#[test]
fn a_pendulum_moves_as_the_one_built_by_hand() {
    let robot = load(file("pendulum.urdf"), &Options::default()).unwrap();
    assert_eq!(robot.not_understood, Vec::new());
    let mut run = robot.scene.start().unwrap();
    let bob = run.body("bob").unwrap();

    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let mass = Mass::given(2.0, DVec3::new(0.01, 0.02, 0.02));
    let own = (
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.05, 0.05),
        mass,
        Pose::at(0.75, 0.0, 2.0),
    );
    let own = simulation.spawn(own).unwrap();
    let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::Y);
    let frames = [
        Pose::at(0.0, 0.0, 2.0).with_orientation(turn),
        Pose::at(-0.75, 0.0, 0.0).with_orientation(turn),
    ];
    let hinge = Joint::to_world(own, JointKind::Revolute).with_frames(frames);
    simulation.spawn_joint(hinge, ()).unwrap();
    for _ in 0..600 {
        run.step().unwrap();
        simulation.step().unwrap();
        assert_eq!(run.simulation.pose(bob), simulation.pose(own));
        assert_eq!(run.simulation.twist(bob), simulation.twist(own));
    }
}

#[test]
fn products_of_inertia_and_their_frame_are_diagonalised() {
    let robot = read(
        r#"<robot name="r"><link name="a"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="3"/>
        <inertia ixx="0.5" ixy="0.02" ixz="-0.03" iyy="0.6" iyz="0.04" izz="0.7"/></inertial></link></robot>"#,
    );
    let body = &robot.scene.bodies[0];
    assert_eq!(body.position, DVec3::new(0.1, 0.2, 0.3));
    let axes = DMat3::from_quat(body.mass.principal_frame());
    let found = axes * DMat3::from_diagonal(body.mass.principal_inertia()) * axes.transpose();
    let turn =
        DMat3::from_rotation_z(0.6) * DMat3::from_rotation_y(-0.5) * DMat3::from_rotation_x(0.4);
    let given = DMat3::from_cols_array(&[0.5, 0.02, -0.03, 0.02, 0.6, 0.04, -0.03, 0.04, 0.7]);
    let expected = turn * given * turn.transpose();
    assert!(
        (found - expected).abs_diff_eq(DMat3::ZERO, 1e-15),
        "{found}"
    );
}

/// Links that are welded are one body, with the sum of masses and the inertia of Huygens and Steiner.
#[test]
fn welded_links_are_one_body() {
    let ball = r#"<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>"#;
    let robot = read(&format!(
        r#"<robot name="r"><link name="a">{ball}</link><link name="b">{ball}</link>
        <joint name="j" type="fixed"><origin xyz="0 0 1"/><parent link="a"/><child link="b"/></joint></robot>"#
    ));
    assert_eq!(robot.scene.bodies.len(), 1);
    let body = &robot.scene.bodies[0];
    assert_eq!(body.mass.mass().to_bits(), 4.0_f64.to_bits());
    assert_eq!(body.position, DVec3::Z * 0.5);
    let moments = body.mass.principal_inertia() - DVec3::new(1.2, 1.2, 0.2);
    assert!(moments.length() < 1e-15, "{moments}");
    let b = &robot.links[1];
    assert_eq!(b.body.as_deref(), Some("a"));
    assert_eq!(b.pose.position, DVec3::Z * 0.5);
}

fn arm(key: &str) -> String {
    format!(
        r#"<mujoco><compiler angle="radian"/><default><geom type="sphere" size="0.05"/></default><worldbody>
        <body name="one" pos="0.1 0 0.5" euler="0.3 0 0"><joint name="a" axis="0 0 1"/><geom/>
          <body name="two" pos="0 0.4 0"><joint name="b" type="slide" axis="1 0 0"/><geom pos="0.1 0 0"/>
            <body name="three" pos="0 0.3 0.1" euler="0 0.2 0"><joint name="c" axis="0 1 0" pos="0 -0.1 0.05"/><geom/></body></body></body>
        </worldbody><keyframe><key name="k" qpos="{key}"/></keyframe></mujoco>"#
    )
}

#[test]
fn links_are_where_forward_kinematics_puts_them() {
    let options = Options {
        keyframe: Some("k".to_owned()),
        ..Options::default()
    };
    let robot = from_text(&arm("0.7 0.25 -0.4"), "arm.xml", &options).unwrap();
    let turn = DMat3::from_rotation_x(0.3) * DMat3::from_rotation_z(0.7);
    let one = DVec3::new(0.1, 0.0, 0.5);
    let two = one + turn * DVec3::new(0.25, 0.4, 0.0);
    let third = turn * DMat3::from_rotation_y(0.2);
    // The anchor stays where it is.
    let anchor = DVec3::new(0.0, -0.1, 0.05);
    let turned = third * DMat3::from_rotation_y(-0.4);
    let three = two + turn * DVec3::new(0.0, 0.3, 0.1) + third * anchor - turned * anchor;
    let place = |name: &str| {
        robot
            .scene
            .bodies
            .iter()
            .find(|of| of.name.as_deref() == Some(name))
    };
    for (name, position, axes) in [
        ("one", one, turn),
        ("two", two + turn * DVec3::X * 0.1, turn),
        ("three", three, turned),
    ] {
        let body = place(name).unwrap();
        assert!((body.position - position).length() < 1e-15, "{name}");
        let found = DMat3::from_quat(body.orientation);
        assert!((found - axes).abs_diff_eq(DMat3::ZERO, 1e-15), "{name}");
    }
    // Its joints are closed there, and it moves.
    let mut run = robot.scene.start().unwrap();
    let report = run.step().unwrap();
    assert!(report.joint_error < 1e-13, "{}", report.joint_error);
}

#[test]
fn a_quadruped_with_servos_stands_on_its_weight() {
    let options = Options {
        keyframe: Some("crouch".to_owned()),
        ..Options::default()
    };
    let robot = load(file("quadruped.xml"), &options).unwrap();
    assert!(
        !robot
            .not_understood
            .iter()
            .any(moreau_robots::NotUnderstood::matters)
    );
    let mut scene = robot.scene;
    scene.settings.sleeping = moreau::SleepSettings::OFF;
    let mut run = scene.start().unwrap();
    for _ in 0..1500 {
        run.step().unwrap();
    }
    let mut up = 0.0;
    let contacts = run.simulation.contacts();
    assert_eq!(contacts.len(), 4);
    for contact in contacts {
        up += contact.impulse.x / 0.002;
    }
    let mass: f64 = scene
        .bodies
        .iter()
        .skip(1)
        .map(|body| body.mass.mass())
        .sum();
    assert!((up / (mass * 9.81) - 1.0).abs() < 1e-4, "{up}");
}

#[test]
fn a_converted_robot_moves_to_the_same_bits() {
    let robot = load(file("quadruped.xml"), &Options::default()).unwrap();
    let again = Scene::from_toml(&robot.scene.to_toml().unwrap(), "").unwrap();
    let end = |scene: &Scene| {
        let mut run = scene.start().unwrap();
        for _ in 0..300 {
            run.step().unwrap();
        }
        run.simulation.state_hash()
    };
    assert_eq!(end(&again), end(&robot.scene));
}

fn joints_of(joints: &str) -> Robot {
    read(&format!(
        r#"<mujoco><worldbody><body name="b">{joints}<geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"#
    ))
}

#[test]
fn several_joints_are_one_where_the_engine_has_it() {
    let kind = |robot: &Robot| robot.scene.joints[0].kind;
    let two = r#"<joint axis="1 0 0"/><joint axis="0 0 1" range="-30 60"/>"#;
    let robot = joints_of(two);
    assert_eq!(kind(&robot), JointKind::Universal);
    let JointForce::Limit { axis, low, .. } = robot.scene.joints[0].forces[0] else {
        unreachable!("a limit")
    };
    assert_eq!(axis, JointAxis::RotationY);
    assert!((low + std::f64::consts::FRAC_PI_6).abs() < 1e-15);
    let plane = r#"<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>"#;
    assert_eq!(kind(&joints_of(plane)), JointKind::Planar);
    // Slides: two, three, and three of which the last one points the other way.
    let slide = |axes: &[&str]| {
        let joints = axes
            .iter()
            .map(|axis| format!(r#"<joint type="slide" axis="{axis}" stiffness="5"/>"#));
        joints_of(&joints.collect::<String>())
    };
    for (axes, free, joints) in [
        (&["1 0 0", "0 0 1"][..], [true, true, false], 1),
        (&["1 0 0", "0 0 -1", "0 1 0"][..], [true; 3], 1),
        (&["1 0 0", "0 1 0", "0 0 -1"][..], [true, true, false], 2),
    ] {
        let robot = slide(axes);
        assert_eq!(robot.scene.joints.len(), joints);
        let JointKind::Generic {
            translation,
            rotation,
        } = kind(&robot)
        else {
            unreachable!("slides: {:?}", kind(&robot))
        };
        assert_eq!(
            (translation.map(|locked| !locked), rotation),
            (free, [true; 3])
        );
        let mut run = robot.scene.start().unwrap();
        for _ in 0..100 {
            assert!(run.step().unwrap().joint_error < 1e-9);
        }
    }
    // Three hinges: one body between them, which is told.
    let three = r#"<joint axis="1 0 0"/><joint axis="0 1 0"/><joint axis="0 0 1"/>"#;
    let robot = joints_of(three);
    assert_eq!((robot.scene.bodies.len(), robot.scene.joints.len()), (2, 2));
    let told = robot
        .not_understood
        .iter()
        .any(|of| matches!(of.reason, Reason::Replaced(_)));
    assert!(told);
    let mass: f64 = robot.scene.bodies.iter().map(|body| body.mass.mass()).sum();
    assert!((mass - 48.0).abs() < 1e-12, "{mass}");
    let mut run = robot.scene.start().unwrap();
    for _ in 0..100 {
        assert!(run.step().unwrap().joint_error < 1e-9);
    }
}

/// Springs and dampers that are strong for what is between the joints of a shoulder.
#[test]
fn a_limb_on_three_stiff_hinges_stays_whole() {
    let three = r#"<joint axis="0 0 1"/><joint axis="0 1 0"/><joint axis="1 0 0"/>"#;
    let robot = from_text(
        &format!(
            r#"<mujoco><compiler angle="radian"/><option timestep="0.004"/><default><joint stiffness="30" damping="10"/><geom type="capsule" size="0.03"/></default>
            <worldbody><body name="chest"><freejoint/><geom size="0.1" fromto="0 -0.1 0 0 0.1 0"/>
            <body name="arm" pos="0 0.2 0">{three}<geom fromto="0 0 0 0 0.3 0"/><body name="hand" pos="0 0.3 0">{three}<geom fromto="0 0 0 0 0.1 0" size="0.01"/></body></body></body>
            </worldbody><keyframe><key name="k" qpos="0 0 1 1 0 0 0 0.3 -0.4 0.5 0.4 0.3 -0.5" qvel="0.5 0 0 1 -1 2 1 2 -1 2 -2 1"/></keyframe></mujoco>"#
        ),
        "robot.xml",
        &Options {
            keyframe: Some("k".to_owned()),
            ..Options::default()
        },
    );
    let mut run = robot.unwrap().scene.start().unwrap();
    for _ in 0..50 {
        let report = run.step().unwrap();
        assert!(
            report.converged && report.joint_error < 1e-12,
            "{}",
            report.joint_error
        );
        assert!(report.energy.kinetic < 100.0, "{:?}", report.energy);
    }
}

#[test]
fn groups_meet_if_either_side_looks_for_the_other() {
    let robot = read(
        r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" contype="1" conaffinity="0"/>
        <body name="on"><freejoint/><geom size="0.1" contype="0" conaffinity="1"/></body>
        <body name="off"><freejoint/><geom size="0.1" contype="2" conaffinity="2"/></body></worldbody></mujoco>"#,
    );
    let [floor, on, off] = [0, 1, 2].map(|index| robot.scene.bodies[index].groups);
    assert!(floor.meets(on) && !floor.meets(off) && !on.meets(off) && off.meets(off));
    assert!(!on.meets(on) && !floor.meets(floor));
}

#[test]
fn nothing_that_is_not_read_is_silent() {
    let robot = read(
        r#"<robot name="r" colour="red">
        <link name="a"><visual><geometry/></visual><wings/></link>
        <gazebo/>
        <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" iab="2"/></inertial></link>
        <joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="0" upper="1" velocity="3"/><mimic joint="k" multiplier="0" speed="1"/></joint>
        <joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint><link name="c"/></robot>"#,
    );
    let list: Vec<String> = robot
        .not_understood
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "robot.xml:1: robot \"r\": colour: not known, left out",
        "robot.xml:2: visual: changes no motion",
        "robot.xml:2: wings: not known, left out",
        "robot.xml:3: gazebo: left out: what another simulator is told",
        "robot.xml:4: inertia: iab: not known, left out",
        "robot.xml:5: limit: velocity: left out: no bounds of velocities",
        "robot.xml:5: mimic: left out: no joints that are held in a place",
        "robot.xml:5: mimic: speed: not known, left out",
    ];
    for line in expected {
        assert!(list.iter().any(|of| of == line), "{line}\n{list:#?}");
    }
    assert_eq!(list.len(), expected.len(), "{list:#?}");
}

fn hinged(joint: &str) -> String {
    format!(
        r#"<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
        <joint name="j" {joint}</joint></robot>"#
    )
}

#[test]
fn bad_files_are_refused_with_place_value_and_bound() {
    let sides = r#"<parent link="a"/><child link="b"/>"#;
    let inertia = r#"<inertia ixx="1" iyy="1" izz="1"/>"#;
    let link = |mass: &str, rest: &str| {
        format!(
            r#"<robot name="r"><link name="a"><inertial><mass value="{mass}"/>{inertia}</inertial>{rest}</link></robot>"#
        )
    };
    for (text, message) in [
        ("<robot name='r'>".to_owned(), "robot.xml:1:"),
        ("".to_owned(), "robot.xml:1:1:"),
        ("<robot name='r'/>".to_owned(), "there is no link"),
        (
            "<sdf/>".to_owned(),
            "expected robot (URDF) or mujoco (MJCF)",
        ),
        (link("-1", ""), "mass: value is -1, expected > 0"),
        (
            link("nan", ""),
            "mass: value is \"nan\", expected finite numbers",
        ),
        (
            link(
                "1",
                r#"<collision><geometry><mesh filename="none.stl"/></geometry></collision>"#,
            ),
            "mesh none.stl: No such file",
        ),
        (
            link(
                "1",
                r#"<collision><geometry><box size="1 1"/></geometry></collision>"#,
            ),
            "size is 2 numbers, expected 3 of them",
        ),
        (
            hinged(&format!(
                r#"type="revolute">{sides}<limit lower="2" upper="1"/>"#
            )),
            "limit: lower is 2, expected ≤ upper, which is 1",
        ),
        (
            hinged(&format!(r#"type="continuous">{sides}<axis xyz="0 0 0"/>"#)),
            "axis: xyz is [0, 0, 0], expected not zero",
        ),
        (
            hinged(&format!(r#"type="hover">{sides}"#)),
            "type is \"hover\", expected one of revolute, continuous",
        ),
        (
            hinged(r#"type="fixed"><parent link="a"/><child link="c"/>"#),
            "there is no link \"c\"",
        ),
        (
            hinged(r#"type="fixed"><parent link="b"/><child link="b"/>"#),
            "it joins a link to itself",
        ),
        (
            "<robot name='r'><link name='a'/><link name='b'/></robot>".to_owned(),
            "two roots",
        ),
        (
            "<robot name='r'><link name='a'/><link name='b'/>\
             <joint name='i' type='fixed'><parent link='a'/><child link='b'/></joint>\
             <joint name='j' type='fixed'><parent link='b'/><child link='a'/></joint></robot>"
                .to_owned(),
            "the joints make a loop",
        ),
        (
            "<!DOCTYPE r [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><robot name='&b;'/>".to_owned(),
            "robot.xml:1:",
        ),
        (
            "<mujoco><include file='gone.xml'/></mujoco>".to_owned(),
            "file is gone.xml, expected a file that can be read",
        ),
        (
            "<mujoco><worldbody><body name='x'><joint/></body></worldbody></mujoco>".to_owned(),
            "it moves and has no mass",
        ),
        (
            "<mujoco><worldbody><geom size='0'/></worldbody></mujoco>".to_owned(),
            "size is 0, expected > 0",
        ),
    ] {
        let found = refused(&text);
        assert!(found.contains(message), "{found}\nexpected {message}");
    }
    let deep = format!(
        "<mujoco>{}{}</mujoco>",
        "<worldbody>".repeat(100_000),
        "</worldbody>".repeat(100_000)
    );
    assert!(refused(&deep).contains("elements deep, expected at most 300"));
}

/// A cut or mangled file is an error or a robot, never a panic.
#[test]
fn mangled_files_end_in_errors() {
    for name in ["quadruped.xml", "pendulum.urdf"] {
        let text = std::fs::read_to_string(file(name)).unwrap();
        for place in (0..text.len()).step_by(7) {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = b"\"<>09-e x"[place % 9];
            let mangled = String::from_utf8_lossy(&bytes);
            for text in [&mangled[..], &text[..place]] {
                if let Ok(robot) = from_text(text, name, &Options::default()) {
                    let _ = robot.scene.start();
                }
            }
        }
    }
}

#[test]
fn the_base_is_held_as_asked() {
    let text = r#"<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>"#;
    let count = |base| {
        let options = Options {
            base,
            ..Options::default()
        };
        from_text(text, "r.urdf", &options)
            .unwrap()
            .scene
            .bodies
            .len()
    };
    assert_eq!(
        [Base::AsGiven, Base::Free, Base::Fixed].map(count),
        [1, 1, 0]
    );
}

/// A body that is excluded from the world falls through its floor, another one does not.
#[test]
fn what_is_excluded_from_the_world_passes_its_shapes() {
    let model = |exclude: &str| {
        format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
            <body name="ball" pos="0 0 0.2"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody>
            <contact>{exclude}</contact></mujoco>"#
        )
    };
    for (exclude, height) in [
        (r#"<exclude body1="world" body2="ball"/>"#, -3.0),
        (r#"<exclude body1="ball" body2="world"/>"#, -3.0),
        ("", 0.1),
    ] {
        let robot = moreau_robots::from_text(&model(exclude), "model.xml", &Default::default());
        let mut run = robot.unwrap().scene.start().unwrap();
        while run.simulation.time() < 1.0 {
            run.step().unwrap();
        }
        let ball = run.body("ball").unwrap();
        let z = run.simulation.pose(ball).unwrap().position.z;
        let passes = height < 0.0;
        assert!(
            if passes {
                z < height
            } else {
                (z - height).abs() < 1e-3
            },
            "{exclude}: {z}"
        );
    }
}

/// A foot with a rough toe: both meet the floor with their own friction.
#[test]
fn shapes_of_a_body_have_their_own_friction() {
    let text = r#"<mujoco><worldbody>
        <geom type="plane" size="1 1 1" friction="0.1"/>
        <body name="foot" pos="0 0 0.1"><freejoint/>
        <geom type="sphere" pos="-0.5 0 0" size="0.1" friction="0.3"/>
        <geom type="sphere" pos="0.5 0 0" size="0.1" friction="0.9"/>
        <geom type="sphere" pos="0 0.5 0" size="0.1" friction="0.3"/></body></worldbody></mujoco>"#;
    let robot = from_text(text, "robot.xml", &Options::default()).unwrap();
    assert_eq!(robot.not_understood, []);
    let mut run = robot.scene.start().unwrap();
    run.step().unwrap();
    assert_eq!(run.simulation.contacts().len(), 3);
    for contact in run.simulation.contacts() {
        let right = if contact.point.x > 0.4 { 0.9 } else { 0.3 };
        assert!((contact.friction - right).abs() < 1e-15, "{contact:?}");
    }
}
