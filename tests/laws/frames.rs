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

/// A ball of radius `R` that is loaded at `d` below its centre rocks without slipping: `ω² = m g d / (I + m (R − d)²)` for small angles.
#[test]
fn a_loaded_ball_rocks_about_its_own_centre_of_mass() {
    let (radius, down, moment, mass) = (0.5, 0.2, 0.08, 2.0);
    let mut settings = reference();
    settings.time_step = 1e-3;
    let mut simulation = Simulation::new(settings).unwrap();
    let floor = (RigidBody::Static, Collider::half_space(DVec3::Z));
    simulation.spawn(floor).unwrap();
    let center = DVec3::Z * -down;
    let loaded = Mass::given(mass, DVec3::splat(moment)).with_center_of_mass(center);
    let shape = Pose::at(0.0, 0.0, radius).with_orientation(turn(DVec3::Y, 0.02));
    let at = shape.of_center_of_mass(center);
    let ball = (RigidBody::Dynamic, Collider::sphere(radius), loaded, at);
    let ball = simulation.spawn(ball).unwrap();
    assert_eq!(
        simulation.shape_pose(ball).unwrap().orientation,
        shape.orientation
    );
    let arm = radius - down;
    let frequency = (mass * 9.81 * down / (moment + mass * arm * arm)).sqrt();
    let quarter = 0.25 * std::f64::consts::TAU / frequency;
    // Up to the first passage of the upright place.
    let mut passed = None;
    let mut before = 0.02;
    for _ in 0..2000 {
        simulation.step().unwrap();
        let angle = 2.0 * simulation.pose(ball).unwrap().orientation.y;
        if angle <= 0.0 && passed.is_none() {
            passed = Some(simulation.time() - settings.time_step * angle / (angle - before));
        }
        before = angle;
    }
    let error = (passed.unwrap() / quarter - 1.0).abs();
    // First order in the step, as all that contacts push.
    assert!(error < 5e-3, "{error}");
}

#[test]
fn a_centre_of_mass_that_is_given_as_the_shape_has_it_changes_nothing() {
    let parts = || {
        let small = (Pose::at(0.4, 0.1, 0.0), Shape::Sphere { radius: 0.1 });
        vec![
            (Pose::at(-0.1, 0.0, 0.05), Shape::Sphere { radius: 0.2 }),
            small,
        ]
    };
    let collider = Collider::compound(parts());
    let center = collider.center_of_mass().unwrap();
    let of_shape = collider
        .geometry()
        .unwrap()
        .mass_properties(1000.0)
        .unwrap();
    let given = Mass::given(of_shape.mass, of_shape.principal_inertia)
        .with_principal_frame(of_shape.principal_frame);
    let fall = |mass: Mass| {
        let mut simulation = Simulation::new(reference()).unwrap();
        let floor = (RigidBody::Static, Collider::half_space(DVec3::Z));
        simulation.spawn(floor).unwrap();
        let at = Pose::at(0.0, 0.0, 0.6);
        let body = (RigidBody::Dynamic, collider.clone(), mass, at);
        simulation.spawn(body).unwrap();
        for _ in 0..200 {
            simulation.step().unwrap();
        }
        simulation.state_hash()
    };
    assert_eq!(fall(given), fall(given.with_center_of_mass(center)));
}

#[test]
fn a_centre_of_mass_without_inertia_is_refused() {
    let mut simulation = Simulation::new(reference()).unwrap();
    for mass in [Mass::from_shape(), Mass::scaled_to(1.0)] {
        let mass = mass.with_center_of_mass(DVec3::X);
        let body = (RigidBody::Dynamic, Collider::sphere(0.1), mass);
        let error = simulation.spawn(body).unwrap_err().to_string();
        assert!(error.contains("without mass and inertia"), "{error}");
    }
    let nowhere = Mass::given(1.0, DVec3::ONE).with_center_of_mass(DVec3::X * f64::NAN);
    let body = (RigidBody::Dynamic, Collider::sphere(0.1), nowhere);
    let error = simulation.spawn(body).unwrap_err().to_string();
    assert!(error.contains("center of mass is NaN"), "{error}");
}
