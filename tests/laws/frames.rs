//! **Law.** A pose is that of the centre of mass, a twist has its linear part in the inertial and its angular part in the body
//! frame; what stands in another frame is the same motion. A cone's centre of mass is a quarter of its height above its base.

use crate::support::*;

const ROUNDING: f64 = 1e-14;

fn cone() -> Collider {
    Collider::cone(0.4, 0.3)
}

#[test]
fn the_pose_of_a_shape_is_that_of_its_own_frame() {
    // Apex at +0.4: the centre of mass is at −0.4 + 0.8/4.
    let center = cone().center_of_mass().unwrap();
    assert!((center - DVec3::Z * -0.2).length() <= ROUNDING);
    let placed = Pose::at(1.0, 2.0, 3.0).with_orientation(turn(DVec3::X, 0.7));
    let mut simulation = Simulation::new(reference()).unwrap();
    let at = placed.of_center_of_mass(center);
    let body = (RigidBody::Dynamic, cone(), at);
    let body = simulation.spawn(body).unwrap();
    assert_eq!(simulation.pose(body), Some(at));
    let shape = simulation.shape_pose(body).unwrap();
    assert!((shape.position - placed.position).length() <= ROUNDING);
    assert_eq!(shape.orientation, placed.orientation);
    // The same as one part of a compound, whose own frame is that of the world.
    let parts = vec![(placed, cone().shape().clone())];
    let whole = Collider::compound(parts).center_of_mass().unwrap();
    assert!((whole - at.position).length() <= 10.0 * ROUNDING, "{whole}");
}

#[test]
fn surfaces_have_their_origin_for_a_centre() {
    let floor = Collider::half_space(DVec3::Z);
    assert_eq!(floor.center_of_mass().unwrap(), DVec3::ZERO);
    assert!(Collider::sphere(-1.0).center_of_mass().is_err());
}

#[test]
fn a_twist_is_the_same_motion_in_every_frame() {
    let orientation = turn(DVec3::new(0.6, 0.0, 0.8), 1.1);
    let twist = Twist {
        linear: DVec3::new(1.0, -2.0, 0.5),
        angular: DVec3::new(0.3, 0.1, -4.0),
    };
    let (v, omega) = twist.in_inertial_frame(orientation);
    assert_eq!(v, twist.linear);
    assert!((omega - orientation * twist.angular).length() <= ROUNDING);
    let (v_body, omega_body) = twist.in_body_frame(orientation);
    assert_eq!(omega_body, twist.angular);
    for same in [
        Twist::from_inertial_frame(v, omega, orientation),
        Twist::from_body_frame(v_body, omega_body, orientation),
    ] {
        assert!((same.linear - twist.linear).length() <= ROUNDING);
        assert!((same.angular - twist.angular).length() <= ROUNDING);
    }
    // A point of the body moves with v + ω × ρ: the orientation after a short time says so too.
    let mut simulation = Simulation::new(weightless()).unwrap();
    let ball = Collider::sphere(0.5);
    let start = Pose::default().with_orientation(orientation);
    let body = simulation.spawn((RigidBody::Dynamic, ball, start, twist));
    simulation.step().unwrap();
    let h = simulation.settings().time_step;
    let turned = simulation.pose(body.unwrap()).unwrap().orientation;
    let expected = moreau::rotation::exp(omega * h) * orientation;
    assert!(angle_between(turned, expected) <= 1e-12);
}
