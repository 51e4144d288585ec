//! Equalities of bodies: joints beside those of the tree.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use glam::DVec3;
use moreau::{JointKind, SceneRun};
use moreau_robots::{Options, Robot, from_text};

fn read(text: &str) -> Robot {
    from_text(text, "robot.xml", &Options::default()).unwrap()
}

/// A place in the frame of a link, inertial frame.
fn place(robot: &Robot, run: &mut SceneRun, link: &str, point: DVec3) -> DVec3 {
    let mut links = robot.links.iter();
    let link = links.find(|of| of.name == link).unwrap();
    let body = run.body(link.body.as_ref().unwrap()).unwrap();
    let pose = run.simulation.pose(body).unwrap();
    let local = link.pose.position + link.pose.orientation * point;
    pose.position + pose.orientation * local
}

/// Four bars: crank, coupler and rocker in a chain, whose end is held in the world.
fn four_bars(held: &str) -> String {
    format!(
        r#"<mujoco><compiler angle="radian"/><default><joint axis="0 1 0"/><geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default>
        <worldbody><site name="pivot" pos="0.5 0 1"/>
        <body name="crank" pos="0 0 1"><joint name="a"/><geom fromto="0 0 0 0.1 0 0.2"/>
          <body name="coupler" pos="0.1 0 0.2"><joint name="b"/><geom fromto="0 0 0 0.5 0 0.1"/>
            <body name="rocker" pos="0.5 0 0.1"><joint name="c"/><geom fromto="0 0 0 -0.1 0 -0.3"/><site name="end" pos="-0.1 0 -0.3"/></body></body></body>
        </worldbody><equality>{held}</equality></mujoco>"#
    )
}

#[test]
fn a_connect_is_a_ball_joint_that_closes_a_loop() {
    for held in [
        r#"<connect name="e" body1="rocker" anchor="-0.1 0 -0.3"/>"#,
        r#"<connect name="e" body1="world" body2="rocker" anchor="0.5 0 1"/>"#,
        r#"<connect name="e" site1="pivot" site2="end"/>"#,
    ] {
        let robot = read(&four_bars(held));
        assert!(!robot.not_understood.iter().any(|of| of.matters()));
        let joint = robot.scene.joints.last().unwrap();
        assert_eq!(joint.name.as_deref(), Some("e"));
        assert_eq!(joint.kind, JointKind::Ball);
        let mut run = robot.scene.start().unwrap();
        let start = place(&robot, &mut run, "crank", DVec3::X * 0.1);
        for _ in 0..200 {
            assert!(run.step().unwrap().joint_error < 1e-12);
            let end = place(&robot, &mut run, "rocker", DVec3::new(-0.1, 0.0, -0.3));
            assert!((end - DVec3::new(0.5, 0.0, 1.0)).length() < 1e-12, "{end}");
        }
        let moved = place(&robot, &mut run, "crank", DVec3::X * 0.1) - start;
        assert!(moved.length() > 0.05, "{held}: {moved}");
    }
}

fn two(held: &str) -> Robot {
    read(&format!(
        r#"<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
        <body name="b" pos="0.5 0 1" euler="0 0 90"><freejoint/><geom type="box" size="0.1 0.1 0.1" pos="0 0.1 0"/></body></worldbody>
        <equality>{held}</equality></mujoco>"#
    ))
}

#[test]
fn a_weld_is_a_fixed_joint_with_the_pose_that_is_given_or_that_of_the_reference() {
    for (held, kind) in [
        (r#"<weld body1="a" body2="b"/>"#, JointKind::Fixed),
        (
            r#"<weld body1="a" body2="b" anchor="0.1 0 0" relpose="0.5 0 0 0.5 0 0 0.5"/>"#,
            JointKind::Fixed,
        ),
    ] {
        let robot = two(held);
        assert!(!robot.not_understood.iter().any(|of| of.matters()));
        let joint = &robot.scene.joints[0];
        assert_eq!((joint.kind, joint.collide), (kind, true));
        let mut scene = robot.scene.clone();
        // The second one's mass is out of the line: it turns what they are together.
        scene.bodies[0].twist.angular = DVec3::new(0.3, 0.2, 0.9);
        let mut run = scene.start().unwrap();
        for _ in 0..100 {
            assert!(run.step().unwrap().joint_error < 1e-12);
        }
        let corner = place(&robot, &mut run, "a", DVec3::new(0.5, 0.3, 0.0));
        let same = place(&robot, &mut run, "b", DVec3::X * 0.3);
        assert!((corner - same).length() < 1e-12, "{corner} {same}");
    }
}

#[test]
fn equalities_that_hold_nothing_are_listed_or_refused() {
    let robot = two(r#"<weld body1="a" body2="b" active="false"/>"#);
    assert!(robot.scene.joints.is_empty());
    let told: Vec<String> = robot
        .not_understood
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(told, ["robot.xml:3: weld: left out: it is not active"]);
    for (held, message) in [
        (
            r#"<weld body1="a" body2="a"/>"#,
            "it holds a body to itself",
        ),
        (
            r#"<connect body1="a" body2="c" anchor="0 0 0"/>"#,
            "there is no body \"c\"",
        ),
        (r#"<connect body1="a" body2="b"/>"#, "there is no anchor"),
        (
            r#"<connect site1="x" site2="y"/>"#,
            "there is no site \"x\"",
        ),
    ] {
        let text = four_bars(held)
            .replace("\"rocker\"", "\"a\"")
            .replace("\"coupler\"", "\"b\"");
        let error = from_text(&text, "robot.xml", &Options::default())
            .err()
            .unwrap();
        assert!(
            error.to_string().contains(message),
            "{error}\nexpected {message}"
        );
    }
}
