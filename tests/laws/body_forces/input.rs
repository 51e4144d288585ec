//! Bad input, and laws whose derivatives are wrong.

use super::*;
use moreau::BodyError;

#[test]
fn what_cannot_be_computed_with_is_named_and_changes_nothing() {
    let told = |force, derivative, parameter| {
        let second = Told {
            force,
            derivative,
            parameter,
        };
        BodyForces::new(spring(1.0)).and(second)
    };
    // Parameters are refused with the body.
    let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
    for (forces, index, field) in [
        (told(0.0, 0.0, f64::NAN), 1, "parameter"),
        (BodyForces::new(spring(f64::NAN)), 0, "stiffness"),
    ] {
        let refused = simulation.spawn((point(DVec3::X), forces));
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains(&format!("force {index}: {field} is NaN, expected finite")),
            "{text}"
        );
    }
    // Wrenches and derivatives by the step in which they come.
    for (forces, field) in [
        (told(f64::INFINITY, 0.0, 0.0), "force"),
        (told(f64::NAN, 0.0, 0.0), "force"),
        (told(0.0, f64::NAN, 0.0), "derivative by the twist"),
    ] {
        let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
        let body = simulation.spawn((point(DVec3::X), forces)).unwrap();
        let error = loop {
            let before = (simulation.pose(body), simulation.twist(body));
            match simulation.step() {
                Ok(report) => assert!(report.t < 0.02),
                Err(error) => {
                    assert_eq!(before, (simulation.pose(body), simulation.twist(body)));
                    break error;
                }
            }
        };
        let StepError::Body {
            entity,
            source: BodyError::Force { index, source },
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((entity, index, source.field), (body, 1, field));
        assert!(!source.value.is_finite() && source.bound == "finite");
        // Without it the world goes on.
        simulation.set(body, BodyForces::default());
        sound(&simulation.step().unwrap());
    }
}

/// A law whose derivatives are wrong.
#[derive(Debug)]
struct Wrong(LinearForce);

impl ForceLaw for Wrong {
    fn wrench(&self, body: &BodyState) -> Wrench {
        self.0.wrench(body)
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let own = self.0.jacobians(body);
        ForceJacobians {
            pose: own.pose.map(|row| row.map(|x| -x)),
            ..own
        }
    }
}

#[test]
fn a_law_with_wrong_derivatives_is_told_by_the_report() {
    let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
    let body = (point(DVec3::X), BodyForces::new(Wrong(spring(1e6))));
    simulation.spawn(body).unwrap();
    let report = simulation.step().unwrap();
    assert!(!report.converged && report.force_error > 1e-3, "{report:?}");
    assert_eq!(report.status, moreau::StepStatus::Stopped);
}
