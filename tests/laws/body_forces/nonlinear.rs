//! Forces that are not linear in the state.

use super::*;

/// A spring whose force grows with the cube of its length, `f = −k ‖x‖² x`.
#[derive(Debug)]
pub(super) struct Cubic(pub(super) f64);

impl ForceLaw for Cubic {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let x = body.position;
        Wrench {
            force: x * (-self.0 * x.length_squared()),
            ..Wrench::default()
        }
    }
}

/// The attraction of a mass at the origin, `f = −g x/‖x‖³`, with its derivatives.
#[derive(Debug)]
struct Attraction(f64);

impl ForceLaw for Attraction {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let x = body.position;
        let r = x.length();
        Wrench {
            force: x * (-self.0 / (r * r * r)),
            ..Wrench::default()
        }
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let x = body.position;
        let r = x.length();
        let mut all = ForceJacobians::default();
        for i in 0..3 {
            for j in 0..3 {
                let same = f64::from(u8::from(i == j));
                all.pose[i][j] = self.0 / r.powi(3) * (3.0 * x[i] * x[j] / (r * r) - same);
            }
        }
        all
    }
}

#[test]
fn derivatives_of_ready_made_forces_are_those_of_differences() {
    let mut random = Lcg::new(7);
    let mut vector = || random.symmetric_vector();
    let mut springs: Vec<Box<dyn ForceLaw>> = Vec::new();
    for rest in [0.0, 0.7] {
        springs.push(Box::new(PointSpring {
            anchor: vector(),
            to: vector(),
            stiffness: 3.0,
            damping: 2.0,
            rest,
        }));
    }
    let mut linear = LinearForce::spring(
        Pose::from_position(vector()).with_orientation(turn(DVec3::X, 0.4)),
        2.0,
        1.5,
    );
    for row in linear.stiffness.iter_mut().chain(&mut linear.damping) {
        let [a, b] = [vector(), vector()];
        for (entry, x) in row.iter_mut().zip([a.x, a.y, a.z, b.x, b.y, b.z]) {
            *entry += x;
        }
    }
    linear.wrench.body_moment = vector();
    springs.push(Box::new(linear));
    for _ in 0..20 {
        let orientation = moreau::rotation::exp(vector() * 2.0);
        let body = BodyState {
            time: 0.0,
            position: vector(),
            orientation,
            velocity: vector(),
            angular_velocity: vector() * 3.0,
        };
        for law in &springs {
            let own = law.jacobians(&body);
            let found = ForceJacobians::by_differences(|state| law.wrench(state), &body);
            let pairs = [(own.pose, found.pose), (own.twist, found.twist)];
            for (own, found) in pairs {
                for (a, b) in own.iter().flatten().zip(found.iter().flatten()) {
                    // The square of the difference, 4e-11, times third derivatives of some hundreds where a spring is short.
                    assert!((a - b).abs() < 1e-6, "{law:?}: {own:?} {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_stiff_cubic_spring_never_gains_energy() {
    for (k, h) in [(1e3, 0.005), (1e5, 0.005), (1e9, 0.02), (1e12, 0.1)] {
        let mut simulation = Simulation::new(settings(h, Theta::Fixed(1.0))).unwrap();
        let body = (point(DVec3::X), BodyForces::new(Cubic(k)));
        let body = simulation.spawn(body).unwrap();
        // Of a potential that is convex, backward Euler only loses.
        let energy = |[x, v]: [f64; 2]| 0.5 * v * v + 0.25 * k * x.powi(4);
        let mut last = energy([1.0, 0.0]);
        for _ in 0..300 {
            sound(&simulation.step().unwrap());
            let now = energy(x(&simulation, body));
            assert!(now <= last * (1.0 + 1e-9), "{k}: {last} to {now}");
            last = now;
        }
    }
}

/// Where a body with a force is after a time.
pub(super) fn after(
    time: f64,
    h: f64,
    theta: Theta,
    spawn: impl Fn(&mut Simulation) -> Entity,
) -> DVec3 {
    let mut simulation = Simulation::new(settings(h, theta)).unwrap();
    let body = spawn(&mut simulation);
    for _ in 0..(time / h).round() as usize {
        sound(&simulation.step().unwrap());
    }
    simulation.pose(body).unwrap().position
}

#[test]
fn nonlinear_forces_converge_to_those_of_tiny_steps_with_the_order_of_theta() {
    let cubic = |simulation: &mut Simulation| {
        let body = (
            point(DVec3::new(1.0, 0.3, 0.0)),
            Twist::linear(0.0, 2.0, 0.0),
            BodyForces::new(Cubic(20.0)),
        );
        simulation.spawn(body).unwrap()
    };
    let exact = after(1.0, 1e-4, Theta::Fixed(0.5), cubic);
    for (theta, ratio) in [
        (Theta::Fixed(0.5), 4.0),
        (Theta::Auto, 4.0),
        (Theta::Fixed(1.0), 2.0),
    ] {
        let [coarse, fine] =
            [0.005, 0.0025].map(|h| (after(1.0, h, theta, cubic) - exact).length());
        // 10 % for the next term of the series.
        let found = coarse / fine;
        assert!(
            (found / ratio - 1.0).abs() < 0.1,
            "{theta:?}: {coarse} {fine}"
        );
    }
}

#[test]
fn a_body_on_a_circle_about_an_attracting_mass_stays_on_it() {
    // Of radius and period 1 and 2π; in a plane that no axis lies in.
    let (out, along) = (DVec3::new(0.6, 0.0, 0.8), DVec3::new(-0.64, 0.6, 0.48));
    let start = |simulation: &mut Simulation| {
        let twist = Twist {
            linear: along,
            ..Twist::default()
        };
        let body = (point(out), twist, BodyForces::new(Attraction(1.0)));
        simulation.spawn(body).unwrap()
    };
    let time = 3.0;
    let exact = out * libm::cos(time) + along * libm::sin(time);
    let [coarse, fine] =
        [0.02, 0.01].map(|h| (after(time, h, Theta::Auto, start) - exact).length());
    // Second order; 10 % for the next term.
    assert!((coarse / fine / 4.0 - 1.0).abs() < 0.1, "{coarse} {fine}");
    assert!(fine < 1e-3, "{fine}");
}
