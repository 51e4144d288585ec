//! **Law.** The two forms of the Delassus operator are one problem: [`DelassusForm::Stored`] moves bodies as
//! [`DelassusForm::MatrixFree`] does, up to the solver's tolerance.
//!
//! Both solve each step to 1e-11 of its impulses, `m g h` here, on velocities that the law determines. Over 100
//! steps velocities differ by 1e-9 m/s at most and positions by h times the sum of that. A contact sees rotations
//! through its arm, 0.1 m and more here.

use crate::support::*;
use moreau::DelassusForm;

fn stack(settings: Settings) -> (Simulation, Vec<Entity>) {
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, Material::default());
    let cubes = (0..3)
        .map(|i| {
            // Dropped from 2 cm, so that there are impacts, and off centre.
            let height = 0.52 + 1.02 * f64::from(i);
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cuboid(0.5, 0.5, 0.5),
                    Pose::at(0.02 * f64::from(i), 0.0, height),
                ))
                .unwrap()
        })
        .collect();
    (simulation, cubes)
}

fn sliding_cube(settings: Settings) -> (Simulation, Vec<Entity>) {
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, Material::with_friction(0.3));
    let cube = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.2, 0.3, 0.1),
            Material::with_friction(0.3),
            Pose::at(0.0, 0.0, 0.1).with_orientation(turn(DVec3::Z, 0.4)),
            Twist {
                linear: DVec3::new(2.0, 1.0, 0.0),
                angular: DVec3::new(0.0, 0.0, 3.0),
            },
        ))
        .unwrap();
    (simulation, vec![cube])
}

#[test]
fn the_stored_form_gives_the_same_motion() {
    for scene in [stack, sliding_cube] {
        let of = |delassus| {
            let mut settings = reference();
            // One method for both: Newton works in another space for each.
            settings.advanced.max_factorizations = Some(0);
            settings.tolerance = Some(1e-12);
            settings.advanced.delassus = delassus;
            scene(settings)
        };
        let (mut free, bodies) = of(DelassusForm::MatrixFree);
        let (mut stored, twins) = of(DelassusForm::Stored);
        let mut contacts = 0;
        for step in 0..100 {
            let reports = [free.step().unwrap(), stored.step().unwrap()];
            contacts += reports[1].closed_contacts;
            for report in reports {
                assert!(report.converged, "e_scaled {:e}", report.e_scaled);
            }
            assert_eq!(reports[0].contacts, reports[1].contacts, "step {step}");
            for (body, twin) in bodies.iter().zip(&twins) {
                let (v, w) = (free.twist(*body).unwrap(), stored.twist(*twin).unwrap());
                let linear = (v.linear - w.linear).length();
                let angular = 0.1 * (v.angular - w.angular).length();
                assert!(
                    linear <= 1e-9 && angular <= 1e-9,
                    "velocities differ by {linear:e} m/s, {angular:e} m/s by rotation in step {step}"
                );
                let (p, q) = (free.pose(*body).unwrap(), stored.pose(*twin).unwrap());
                assert!((p.position - q.position).length() <= 5e-10);
            }
        }
        assert!(contacts > 100, "only {contacts} contacts");
    }
}
