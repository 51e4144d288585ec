//! The problem of a step as an FCLIB file: stored form, with the step's impulses as the solution.

use moreau::{Simulation, StepReport};
use moreau_solvers::fclib::{FclibFile, FclibProblem, FclibVectors, Info};
use moreau_solvers::{FactoredProblem, Interaction, Law, rows_of};

/// The problem of the last step of `simulation`, which gave `report`. `None` where the last step
/// failed or had no contacts. Where all contacts resist rolling it is a rolling problem, with angular rows in lengths of their own; other laws, and some of each, are refused when it
/// is written.
///
/// ```
/// let mut run = moreau_demos::built_in("stack:n=2")?.start()?;
/// let report = run.step()?;
/// let file = moreau_demos::step_file(&run.simulation, "stack", &report);
/// assert_eq!(file.map(|file| file.contacts()), Some(report.contacts));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn step_file(simulation: &Simulation, scene: &str, report: &StepReport) -> Option<FclibFile> {
    let problem = simulation.problem().filter(|problem| !problem.is_empty())?;
    let mut impulse = rows_of(simulation.impulses()).to_vec();
    let others = without_spin(
        problem.interactions,
        3 * problem.contacts.len(),
        &mut impulse,
    );
    let problem = FactoredProblem {
        interactions: &others,
        pull: &[],
        ..problem
    };
    let problem = problem.assemble();
    let solution = FclibVectors {
        u: problem.velocity_under(&impulse),
        r: impulse,
        v: None,
    };
    let end = if report.converged {
        "solved"
    } else {
        "not solved"
    };
    // A zero byte would end the texts.
    let scene = scene.replace('\0', " ");
    Some(FclibFile {
        info: Info {
            title: format!("{scene}, step {}", report.step),
            description: format!(
                "Step {} of {scene} by Moreau {}: t = {} s, h = {} s, {} bodies, {} contacts; \
                 {end}, e_scaled = {:e}, e_fclib = {:e}",
                report.step,
                env!("CARGO_PKG_VERSION"),
                report.t,
                simulation.settings().time_step,
                report.bodies,
                report.contacts,
                report.e_scaled,
                report.e_fclib,
            ),
            math_info: String::new(),
        },
        solution: Some(solution),
        ..FclibFile::new(FclibProblem::Local(problem))
    })
}

/// The interactions, whose impulses begin at a place of `impulse`; those that resist rolling and not spinning without the row of that: files have five rows.
fn without_spin(from: &[Interaction], begin: usize, impulse: &mut Vec<f64>) -> Vec<Interaction> {
    let mut rest = impulse.split_off(begin.min(impulse.len())).into_iter();
    let mut taken = from.to_vec();
    for other in &mut taken {
        let mut rows: Vec<f64> = rest.by_ref().take(other.law.rows()).collect();
        if let Law::Rolling(law) = &mut other.law
            && law.spinning.is_some_and(|spinning| spinning <= 0.0)
        {
            law.spinning = None;
            rows.truncate(5);
        }
        impulse.append(&mut rows);
    }
    taken
}

/// `scene-000012.hdf5`: a name that every file system takes, and that sorts by step.
#[must_use]
pub fn step_file_name(scene: &str, step: u64) -> String {
    let stem = scene.rsplit(['/', '\\']).next().unwrap_or(scene);
    let stem = stem.strip_suffix(".toml").unwrap_or(stem);
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '=' | '-');
    let safe = |c: char| if fits(c) { c } else { '-' };
    format!(
        "{}-{step:06}.hdf5",
        stem.chars().map(safe).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem_file::ProblemFile;
    use crate::residual_kind::ResidualKind;

    #[test]
    fn names_are_safe_and_sort_by_step() {
        assert_eq!(
            step_file_name("stack:n=3,friction=0.4", 12),
            "stack-n=3-friction=0.4-000012.hdf5"
        );
        assert_eq!(
            step_file_name("demos/scenes/domino.toml", 1),
            "domino-000001.hdf5"
        );
        assert_eq!(step_file_name("a b?*", 1_234_567), "a-b---1234567.hdf5");
    }

    #[test]
    fn the_stored_solution_has_the_residual_of_the_report() {
        for scene in ["pyramid:n=4", "incline:f=1.5", "arch"] {
            let mut run = crate::built_in(scene).unwrap().start().unwrap();
            let mut written = 0;
            for _ in 0..8 {
                let report = run.step().unwrap();
                let Some(file) = step_file(&run.simulation, scene, &report) else {
                    assert_eq!(report.contacts, 0);
                    continue;
                };
                let again = FclibFile::from_bytes(&file.to_bytes().unwrap()).unwrap();
                assert_eq!(again, file);
                let problem = ProblemFile::new(scene.to_owned(), again).unwrap();
                let found = problem.verify().unwrap();
                let (e, expected) = (found.residual.scaled, report.e_scaled);
                assert!(
                    (e - expected).abs() <= 1e-9 * expected + 1e-13,
                    "{e} {expected}"
                );
                assert!(found.velocity_error < 1e-15);
                assert!(ResidualKind::Scaled.reached(&found.residual, 1e-4));
                written += 1;
            }
            assert!(written > 0, "{scene}");
        }
    }

    #[test]
    fn nothing_is_written_of_a_step_without_contacts() {
        let mut run = crate::built_in("bounce").unwrap().start().unwrap();
        let report = run.step().unwrap();
        assert_eq!(report.contacts, 0);
        assert!(step_file(&run.simulation, "bounce", &report).is_none());
    }

    const BALLS: &str = r#"
[settings]
accuracy = "reference"
[materials.clay]
rolling_resistance = 0.01
[[bodies]]
kind = "static"
shape = { half_space = { normal = [0, 0, 1] } }
material = "clay"
[[lattices]]
count = [2, 2, 1]
spacing = [0.2, 0.2, 0.2]
origin = [0, 0, 0.1]
body = { shape = { sphere = { radius = 0.1 } }, material = "clay", twist = { linear = [1, 0.2, 0] } }
"#;

    #[test]
    fn a_step_with_rolling_resistance_is_a_rolling_problem() {
        let mut run = moreau::Scene::from_toml(BALLS, "")
            .unwrap()
            .start()
            .unwrap();
        run.step().unwrap();
        let report = run.step().unwrap();
        let file = step_file(&run.simulation, "balls", &report).unwrap();
        assert_eq!(file.contacts(), report.contacts);
        let again = FclibFile::from_bytes(&file.to_bytes().unwrap()).unwrap();
        let FclibProblem::Local(problem) = &again.problem else {
            panic!("a step is a local problem")
        };
        let five = |law: &Law| matches!(law, Law::Rolling(_)) && law.rows() == 5;
        assert!(report.contacts >= 4 && problem.laws().iter().all(five));
        let problem = ProblemFile::new("balls".to_owned(), again).unwrap();
        let found = problem.verify().unwrap();
        assert!(found.residual.scaled <= 1e-10, "{:?}", found.residual);
    }
}
