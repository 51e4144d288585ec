//! What an MJCF says beside its bodies: classes, flags, bounds of masses, actuators, velocities of keyframes.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use glam::{DQuat, DVec3};
use moreau::scene::BodySpec;
use moreau::{GravityScale, JointForce};
use moreau_robots::{NotUnderstood, Options, Robot, from_text};

fn read(text: &str) -> Robot {
    from_text(text, "robot.xml", &Options::default()).unwrap()
}

fn at_key(text: &str) -> Robot {
    let options = Options {
        keyframe: Some("0".to_owned()),
        ..Options::default()
    };
    from_text(text, "robot.xml", &options).unwrap()
}

fn body<'a>(robot: &'a Robot, name: &str) -> &'a BodySpec {
    let mut bodies = robot.scene.bodies.iter();
    bodies.find(|of| of.name.as_deref() == Some(name)).unwrap()
}

fn forces<'a>(robot: &'a Robot, joint: &str) -> &'a [JointForce] {
    let mut joints = robot.scene.joints.iter();
    let found = joints.find(|of| of.name.as_deref() == Some(joint));
    &found.unwrap().forces
}

fn what_matters(robot: &Robot) -> Vec<String> {
    let list = robot.not_understood.iter();
    let list = list.filter(|of| of.matters());
    list.map(ToString::to_string).collect()
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "{found} {expected}"
    );
}

/// The class of all may be without elements: what is in it is no class of all for that.
#[test]
fn a_class_inside_is_for_those_who_ask_for_it() {
    let robot = read(
        r#"<mujoco><default><default class="c"><geom density="1" fromto="0 0 0 1 0 0"/><mesh scale="2 2 2"/></default></default><worldbody>
        <body name="a"><freejoint/><geom type="box" size="0.5 0.5 0.5"/></body>
        <body name="b"><freejoint/><geom class="c" type="capsule" size="0.1"/></body></worldbody></mujoco>"#,
    );
    close(body(&robot, "a").mass.mass(), 1000.0);
    assert!(body(&robot, "b").mass.mass() < 1.0);
    assert_eq!(what_matters(&robot), Vec::<String>::new());
    let told = robot.not_understood.iter().map(ToString::to_string);
    assert!(
        told.into_iter()
            .any(|of| of == "robot.xml:1: mesh: changes no motion")
    );
}

fn swing(option: &str, more: &str) -> Robot {
    read(&format!(
        r#"<mujoco><option>{option}</option><worldbody><body name="b">
        <joint name="j" range="-9 9" stiffness="3" damping="2" frictionloss="1"/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>{more}</mujoco>"#
    ))
}

#[test]
fn flags_turn_off_what_they_name() {
    let kinds = |robot: &Robot| {
        let of = |force: &JointForce| match force {
            JointForce::Limit { .. } => 'L',
            JointForce::Spring {
                stiffness, damping, ..
            } => match (*stiffness > 0.0, *damping > 0.0) {
                (true, true) => 'B',
                (true, false) => 'S',
                _ => 'D',
            },
            JointForce::Motor { .. } | JointForce::Applied { .. } => 'M',
            JointForce::Friction { .. } | JointForce::BallFriction { .. } => 'F',
            JointForce::Armature { .. } => 'A',
        };
        let list = forces(robot, "j").iter().map(of);
        list.collect::<String>()
    };
    let servo = r#"<actuator><position joint="j"/></actuator>"#;
    for (flag, expected) in [
        ("", "LBFM"),
        ("limit", "BFM"),
        ("frictionloss", "LBM"),
        ("constraint", "BM"),
        ("spring", "LDFM"),
        ("damper", "LSFM"),
        ("passive", "LFM"),
        ("actuation", "LBF"),
        ("contact", "LBFM"),
    ] {
        let flags = match flag {
            "" => String::new(),
            flag => format!(r#"<flag {flag}="disable"/>"#),
        };
        let robot = swing(&flags, servo);
        assert_eq!(kinds(&robot), expected, "{flag}");
        let shaped = !["contact", "constraint"].contains(&flag);
        assert_eq!(body(&robot, "b").shape.is_some(), shaped, "{flag}");
        assert_eq!(robot.scene.settings.gravity, DVec3::Z * -9.81);
        assert_eq!(what_matters(&robot), Vec::<String>::new());
    }
    let robot = swing(r#"<flag gravity="disable" energy="enable"/>"#, "");
    assert_eq!(robot.scene.settings.gravity, DVec3::ZERO);
    assert_eq!(what_matters(&robot), Vec::<String>::new());
}

fn two_boxes(compiler: &str) -> Robot {
    read(&format!(
        r#"<mujoco><compiler {compiler}/><worldbody>
        <body name="a"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="3"/></body>
        <body name="b"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.03"/></body></worldbody></mujoco>"#
    ))
}

#[test]
fn masses_are_bounded_and_sum_up_to_what_is_asked_for() {
    let robot = two_boxes(r#"settotalmass="8""#);
    close(body(&robot, "a").mass.mass(), 6.0);
    close(body(&robot, "b").mass.mass(), 2.0);
    close(
        body(&robot, "b").mass.principal_inertia().element_sum(),
        0.12,
    );
    assert_eq!(what_matters(&robot), Vec::<String>::new());
    let robot = two_boxes(r#"boundmass="2" boundinertia="0.025""#);
    close(body(&robot, "a").mass.mass(), 3.0);
    close(body(&robot, "b").mass.mass(), 2.0);
    let moments = body(&robot, "b").mass.principal_inertia();
    assert!(
        (moments.max_element() - 0.03).abs() < 1e-15
            && (moments.element_sum() - 0.08).abs() < 1e-15
    );
    let odd = |compiler: &str| {
        format!(
            r#"<mujoco><compiler {compiler}/><worldbody><body name="b"><freejoint/>
            <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.04"/></body></worldbody></mujoco>"#
        )
    };
    let moments = body(&read(&odd(r#"balanceinertia="true""#)), "b")
        .mass
        .principal_inertia();
    assert!((moments - DVec3::splat(0.02)).length() < 1e-15, "{moments}");
    let error = from_text(&odd(""), "robot.xml", &Options::default());
    assert!(error.is_err());
}

#[test]
fn gravity_is_compensated_body_by_body() {
    let robot = read(
        r#"<mujoco><worldbody><body name="a" gravcomp="1"><freejoint/><geom size="0.1"/></body>
        <body name="b"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#,
    );
    assert_eq!(body(&robot, "a").gravity_scale, GravityScale(0.0));
    assert_eq!(body(&robot, "b").gravity_scale, GravityScale(1.0));
    assert_eq!(what_matters(&robot), Vec::<String>::new());
}

fn driven(actuator: &str, control: &str) -> Robot {
    at_key(&format!(
        r#"<mujoco><compiler angle="radian"/><worldbody><body name="b">
        <joint name="j" ref="0.1"/><geom size="0.1"/></body></worldbody><actuator>{actuator}</actuator>
        <keyframe><key qpos="0.1" ctrl="{control}"/></keyframe></mujoco>"#
    ))
}

/// `τ = g (a u + b₀ + b₁ g q + b₂ g q̇)` is the torque of the motor that is made of it.
#[test]
fn a_general_actuator_is_the_motor_with_its_law() {
    for (actuator, [a, b0, b1, b2], gear) in [
        (
            r#"<general joint="j" gear="2" gainprm="30" biastype="affine" biasprm="4 -20 -3"/>"#,
            [30.0, 4.0, -20.0, -3.0],
            2.0,
        ),
        (
            r#"<general joint="j" gear="-1.5" gainprm="6" biastype="affine" biasprm="1 0 -3"/>"#,
            [6.0, 1.0, 0.0, -3.0],
            -1.5,
        ),
        (
            r#"<position joint="j" gear="3" kp="7" kv="2"/>"#,
            [7.0, 0.0, -7.0, -2.0],
            3.0,
        ),
        (
            r#"<velocity joint="j" gear="0.5" kv="2"/>"#,
            [2.0, 0.0, 0.0, -2.0],
            0.5,
        ),
    ] {
        let u = 0.4;
        let robot = driven(actuator, &u.to_string());
        assert_eq!(what_matters(&robot), Vec::<String>::new());
        let [
            JointForce::Motor {
                position,
                velocity,
                stiffness,
                damping,
                ..
            },
        ] = forces(&robot, "j")
        else {
            unreachable!("a motor")
        };
        // Coordinates count from the reference, 0.1.
        for (q, rate) in [(0.0, 0.0), (0.3, -0.2), (-1.0, 2.0)] {
            let torque = stiffness * (position - q) + damping * (velocity - rate);
            close(
                torque,
                gear * (a * u + b0 + b1 * gear * (q + 0.1) + b2 * gear * rate),
            );
        }
    }
}

#[test]
fn actuators_that_are_no_motor_are_listed() {
    for (actuator, line) in [
        (
            r#"<general joint="j" gaintype="affine" gainprm="1 2 3"/>"#,
            "general: left out: gains that do not change alone",
        ),
        (
            r#"<general joint="j" biastype="affine" biasprm="0 1 0"/>"#,
            "general: left out: no gains that push away",
        ),
        (
            r#"<general joint="j" biastype="affine" biasprm="1 0 0"/>"#,
            "general: left out: no given torques",
        ),
        (
            r#"<general joint="j" dyntype="filter" dynprm="0.1" biastype="affine" gainprm="2" biasprm="0 -2 0"/>"#,
            "general: dyntype: controls act at once",
        ),
        (
            r#"<general joint="j" dyntype="integrator" biastype="affine" gainprm="2" biasprm="0 -2 0"/>"#,
            "general: dyntype: it holds where it starts: controls are not integrated",
        ),
        (
            r#"<motor site="s" gear="1 0 0 0 0 0"/>"#,
            "motor: left out: only joints are driven",
        ),
        (
            r#"<muscle joint="j"/>"#,
            "muscle: left out: no such actuator",
        ),
    ] {
        let robot = driven(actuator, "0");
        let told = what_matters(&robot);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with(line), "{told:?}");
    }
    // A bound of controls is one of the torque, and a class has one actuator whatever it is called.
    let robot = read(
        r#"<mujoco><default><general ctrlrange="-2 3" gear="4"/></default><worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody>
        <actuator><motor joint="j"/></actuator></mujoco>"#,
    );
    let [JointForce::Motor { effort, .. }] = forces(&robot, "j") else {
        unreachable!("a motor")
    };
    close(*effort, 12.0);
}

#[test]
fn a_free_joint_has_no_springs_which_is_told_if_it_would() {
    let robot = |attributes: &str| {
        read(&format!(
            r#"<mujoco><worldbody><body name="b"><joint type="free" name="root" limited="false" pos="0 0 0" {attributes}/><geom size="0.1"/></body></worldbody></mujoco>"#
        ))
    };
    let quiet = robot(r#"stiffness="0" damping="0" armature="0""#);
    assert_eq!(quiet.not_understood, Vec::<NotUnderstood>::new());
    assert_eq!(
        what_matters(&robot(r#"damping="2""#)),
        ["robot.xml:1: joint \"root\": damping: left out: no damping of free joints"]
    );
}

fn machine(qpos: &[f64], qvel: &[f64]) -> String {
    let numbers = |of: &[f64]| of.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    format!(
        r#"<mujoco><compiler angle="radian"/><default><geom type="box" size="0.05 0.1 0.15"/></default><worldbody>
        <body name="hub" pos="0 0 1"><freejoint/><geom pos="0.1 0 0"/>
          <body name="swing" pos="0.2 0 0" euler="0.3 0 0"><joint axis="0 0 1" pos="0 0.1 0"/><geom pos="0 0.2 0"/>
            <body name="slide" pos="0 0.3 0"><joint type="slide" axis="1 1 0"/><joint axis="0 1 0"/><joint axis="1 0 1"/><geom/></body></body>
          <body name="ball" pos="-0.2 0 0" euler="0 0.2 0"><joint type="ball" pos="0 0 0.1"/><geom pos="0 0 -0.2"/></body></body>
        </worldbody><keyframe><key qpos="{}" qvel="{}"/></keyframe></mujoco>"#,
        numbers(qpos),
        numbers(qvel)
    )
}

/// Beside differences of the places at two times: second order in the time between, 1e-5 s.
#[test]
fn velocities_of_a_keyframe_are_those_of_the_bodies() {
    let rates = [
        0.3, -0.2, 0.5, 1.0, 0.4, -0.7, 0.9, 0.25, -1.1, 0.6, 0.2, -0.5, 0.8,
    ];
    let coordinates = |t: f64| {
        let spin = |of: &[f64], start: DQuat| {
            let turn = start * DQuat::from_scaled_axis(DVec3::from_slice(of) * t);
            [turn.w, turn.x, turn.y, turn.z]
        };
        let mut all: Vec<f64> = (0..3).map(|k| [0.1, 0.2, 1.3][k] + rates[k] * t).collect();
        all.extend(spin(&rates[3..6], DQuat::from_rotation_y(0.4)));
        all.extend((6..10).map(|k| [0.5, 0.1, -0.3, 0.7][k - 6] + rates[k] * t));
        all.extend(spin(&rates[10..13], DQuat::from_rotation_x(-0.6)));
        all
    };
    let t = 1e-5;
    let [before, now, after] = [-t, 0.0, t].map(|t| at_key(&machine(&coordinates(t), &rates)));
    assert!(now.scene.bodies.len() > 4, "one is between joints");
    for (index, body) in now.scene.bodies.iter().enumerate() {
        let [first, last] = [&before, &after].map(|of| &of.scene.bodies[index]);
        let linear = (last.position - first.position) / (2.0 * t);
        let turn = first.orientation.inverse() * last.orientation;
        let angular = turn.to_scaled_axis() / (2.0 * t);
        assert!((linear - body.twist.linear).length() < 1e-8, "{body:?}");
        assert!((angular - body.twist.angular).length() < 1e-8, "{body:?}");
    }
    // Its joints are closed with these velocities too.
    let mut run = now.scene.start().unwrap();
    assert!(run.step().unwrap().joint_error < 1e-12);
    let wrong = machine(&coordinates(0.0), &rates[..12]);
    let options = Options {
        keyframe: Some("0".to_owned()),
        ..Options::default()
    };
    let error = from_text(&wrong, "robot.xml", &options).err().unwrap();
    assert!(
        error
            .to_string()
            .contains("qvel is 12 numbers, expected 13 of them"),
        "{error}"
    );
}
