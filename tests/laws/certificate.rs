//! **Law.** The certificate judges the solution and not its rounding: where a closed form solves the step, `e_scaled`
//! meets the tolerance, in few sweeps.
//!
//! One contact is solved exactly by the one-contact solver, so 8 sweeps (the minimum) are enough. Where free
//! velocity and shift cancel, or bodies touch and nothing presses them, `q` is rounding of velocities: a residual
//! relative to `q` alone would judge noise.

use crate::support::*;
use moreau_demos::built_in;

/// Every step converges in at most `sweeps`; at least one has a contact.
fn converges(simulation: &mut Simulation, steps: usize, sweeps: usize) {
    let mut contacts = 0;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        contacts += report.contacts;
        assert!(
            report.converged && report.sweeps <= sweeps,
            "step {}: e_scaled {:e} after {} sweeps, contacts {:?}",
            report.step,
            report.e_scaled,
            report.sweeps,
            simulation.contacts()
        );
    }
    assert!(contacts > 0);
}

fn ball_on_a_plane(settings: Settings, material: Material, pose: Pose, twist: Twist) -> Simulation {
    let mut simulation = Simulation::new(Settings {
        advanced: moreau::Advanced {
            max_sweeps: Some(1000),
            ..moreau::Advanced::default()
        },
        ..settings
    })
    .unwrap();
    ground(&mut simulation, material);
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.15),
        material,
        pose,
        twist,
    );
    simulation.spawn(ball).unwrap();
    simulation
}

#[test]
fn a_frictionless_contact_that_stays_open_is_solved() {
    // r = 0 is the solution while it approaches and is still apart.
    for material in [Material::frictionless(0.0), Material::with_friction(0.0)] {
        let pose = Pose::at(0.0, 0.0, 0.4);
        let mut simulation = ball_on_a_plane(reference(), material, pose, Twist::default());
        converges(&mut simulation, 100, 8);
    }
}

#[test]
fn a_body_gliding_along_a_wall_converges() {
    // It arrives, loses its normal speed, and touches without pressure from then on.
    for mu in [0.0, 0.5] {
        for speed in [-1.0, -0.37] {
            let mut simulation = ball_on_a_plane(
                weightless(),
                Material::with_friction(mu),
                Pose::at(0.0, 0.0, 0.31),
                Twist::linear(0.3, 0.1, speed),
            );
            converges(&mut simulation, 300, 8);
        }
    }
}

#[test]
fn bodies_that_fall_together_are_solved() {
    // Two blocks that rested on a third: without it they fall, touching, with nothing between them.
    let mut simulation = Simulation::new(Settings {
        advanced: moreau::Advanced {
            max_sweeps: Some(5000),
            ..moreau::Advanced::default()
        },
        ..reference()
    })
    .unwrap();
    ground(&mut simulation, Material::default());
    let cubes = [0.5, 1.5, 2.5].map(|z| {
        simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.5, 0.5, 0.5),
                Pose::at(0.0, 0.0, z),
            ))
            .unwrap()
    });
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    simulation.despawn(cubes[0]);
    // Eight contacts that are coupled, warm: far fewer than the hundreds of a cold stack.
    converges(&mut simulation, 10, 100);
}

/// In a pile that collapses most contacts slide, and whole corrections do not come down to every goal, whatever the
/// momentum. Careful ones are given 400 after the first 150, and in a tenth of the steps, at most, twice as many: no third kind is
/// needed. The worst steps hang on rounding: with time steps that differ by 1e-9 the longest of thirty takes 470 to 780 sweeps in the
/// pile of 8,000 capsules.
fn collapses(scene: Scene) {
    let mut run = scene.start().unwrap();
    let set = |run: &mut SceneRun, tolerance: f64| {
        let mut settings = run.simulation.settings();
        settings.tolerance = Some(tolerance);
        // This is about the norm: work on single contacts, for the second figure, is not counted.
        settings.velocity_tolerance = Some(1e9);
        run.simulation.set_settings(settings).unwrap();
    };
    set(&mut run, 1e-3);
    for _ in 0..130 {
        run.step().unwrap();
    }
    set(&mut run, 1e-4);
    let mut beyond = 0;
    for _ in 0..30 {
        let report = run.step().unwrap();
        let (step, sweeps, e) = (report.step, report.sweeps, report.e_scaled);
        beyond += usize::from(sweeps > 150 + 400);
        assert!(
            report.converged && sweeps <= 150 + 800 && beyond <= 3,
            "step {step}: {e:e} after {sweeps} sweeps, {beyond} beyond 550"
        );
    }
}

#[test]
fn a_pile_of_balls_that_collapses_reaches_the_goal() {
    collapses(built_in("sphere_pour:n=8000").unwrap());
}

#[test]
fn a_pile_of_capsules_that_collapses_reaches_the_goal() {
    collapses(capsules(1000));
}

#[test]
#[ignore = "takes two minutes"]
fn a_high_pile_of_capsules_that_collapses_reaches_the_goal() {
    collapses(capsules(8000));
}

fn capsules(count: usize) -> Scene {
    let mut scene = built_in(&format!("sphere_pour:n={count}")).unwrap();
    for lattice in &mut scene.lattices {
        lattice.random_orientation = true;
        lattice.body.shape = Some(Shape::Capsule {
            half_height: 0.05,
            radius: 0.05,
        });
    }
    scene
}

/// The second figure is a bound at every contact, and one contact of a whole pile is enough to miss it. Its problem is feasible, so it is solved on until
/// the bound holds, or the budget is spent, which is not so here.
#[test]
fn every_step_of_a_pile_of_rods_reaches_both_figures() {
    let mut run = built_in("pile:shape=rods,n=200").unwrap().start().unwrap();
    let mut settings = run.simulation.settings();
    settings.tolerance = Some(1e-3);
    run.simulation.set_settings(settings).unwrap();
    for _ in 0..220 {
        let report = run.step().unwrap();
        assert!(report.converged, "{report:?}");
    }
}
