//! **Law.** A time-stepping scheme is three functions; detection, assembly, solve, projection and report are the same for all.
//!
//! The scheme of this test advances positions with the velocity at the beginning of the step, `x_{k+1} = x_k + h v_k`. In
//! free fall it gives `x_n = x_0 + h v_0 n − g h² n (n − 1)/2` and `v_n = v_0 − n g h`, to rounding. Its law asks for
//! `u_N ≥ 0` once the gap at the end of the step is not positive: a body stops on the ground, to first order.

use crate::support::*;
use moreau::{BodyAtStart, BodySolved, FreeMotion, NormalLaw, Scheme};

#[derive(Clone, Copy)]
struct ExplicitEuler;

impl Scheme for ExplicitEuler {
    fn predict(&self, body: &BodyAtStart<'_>, settings: &Settings) -> FreeMotion {
        let force = body.wrench.force / body.mass().mass();
        FreeMotion {
            twist: Twist {
                linear: body.twist.linear + (settings.gravity + force) * settings.time_step,
                angular: body.twist.angular,
            },
            orientation: body.pose.orientation,
            turned: body.twist.angular,
            ..FreeMotion::default()
        }
    }

    fn normal_law(
        &self,
        gap: f64,
        restitution: f64,
        approach: impl FnOnce() -> moreau::Approach,
        settings: &Settings,
    ) -> NormalLaw {
        let approach = approach().begin;
        let closes = gap + settings.time_step * approach <= 0.0;
        NormalLaw {
            imposed: closes,
            shift: restitution * approach,
            impact: restitution > 0.0,
        }
    }

    fn selects(&self, _: &Settings) -> bool {
        true
    }

    fn update(&self, body: &BodySolved<'_>, settings: &Settings) -> (Pose, Twist) {
        let back = body.drift.orientation.conjugate();
        let twist = Twist {
            linear: body.end.linear,
            angular: back * body.end.angular,
        };
        let position = body.pose.position + body.twist.linear * settings.time_step;
        (
            Pose {
                position,
                ..*body.pose
            },
            twist,
        )
    }
}

fn ball(z: f64) -> Body {
    Body {
        id: BodyId(1),
        pose: Pose::at(0.0, 0.0, z),
        twist: Twist::linear(1.0, 0.0, 2.0),
        collider: Some(Collider::sphere(0.5)),
        ..Body::default()
    }
}

#[test]
fn explicit_euler_in_free_fall_is_what_its_formula_says() {
    let (mut state, settings) = (StepState::default(), reference());
    state.set_bodies(&[ball(9.0)]).unwrap();
    let h = settings.time_step;
    for n in 1..=100 {
        let report = state
            .step_by(&ExplicitEuler, &settings, |_| Ok(()))
            .unwrap();
        let n = f64::from(n);
        let (pose, twist) = (state.pose(BodyId(1)), state.twist(BodyId(1)));
        let z = 9.0 + h * 2.0 * n - G * h * h * n * (n - 1.0) / 2.0;
        assert!((pose.unwrap().position.z - z).abs() <= 1e-13 * n);
        assert!((twist.unwrap().linear.z - (2.0 - n * G * h)).abs() <= 1e-13 * n);
        // The books still close: what the scheme does to positions is the work of the drift.
        assert!(report.energy.energy_gap.abs() <= 1e-10 * report.energy.total());
    }
}

#[test]
fn explicit_euler_stops_a_body_on_the_ground() {
    let (mut state, mut settings) = (StepState::default(), reference());
    settings.projection.max_iterations = 0;
    let floor = Body {
        id: BodyId(0),
        kind: RigidBody::Static,
        collider: Some(Collider::half_space(DVec3::Z)),
        ..Body::default()
    };
    let mut fallen = ball(0.6);
    fallen.twist = Twist::default();
    state.set_bodies(&[floor, fallen]).unwrap();
    for _ in 0..200 {
        let report = state
            .step_by(&ExplicitEuler, &settings, |_| Ok(()))
            .unwrap();
        assert!(report.converged);
    }
    let (pose, twist) = (state.pose(BodyId(1)), state.twist(BodyId(1)));
    // It falls by 0.1 m at √(2 g 0.1) = 1.4 m/s: the steps before and at the impact may be off by h v each.
    let slack = 2.0 * settings.time_step * 1.41;
    assert!((pose.unwrap().position.z - 0.5).abs() <= slack);
    assert!(twist.unwrap().linear.length() <= 1e-9);
}

#[test]
fn a_scheme_may_be_installed_in_a_world() {
    let mut world = bevy_ecs::prelude::World::new();
    let mut schedule = bevy_ecs::prelude::Schedule::default();
    let threads = Threads::own();
    moreau::install_with(
        &mut world,
        &mut schedule,
        reference(),
        threads,
        ExplicitEuler,
    )
    .unwrap();
    let spec = ball(9.0);
    let body = (
        RigidBody::Dynamic,
        spec.pose,
        spec.twist,
        spec.collider.unwrap(),
    );
    let body = world.spawn(body).id();
    schedule.run(&mut world);
    let moved = world.get::<Pose>(body).unwrap().position - spec.pose.position;
    let h = reference().time_step;
    assert!(
        (moved - DVec3::new(h, 0.0, 2.0 * h)).length() <= 1e-14,
        "{moved}"
    );
}
