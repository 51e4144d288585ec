//! Figures of five engines, from the public results of SimBenchmark [docs/references.md, SimBenchmark]: Intel i7-7700HQ, one core.

use super::Task;

/// The engines.
pub const ENGINES: [&str; 5] = ["RaiSim", "Bullet", "ODE", "MuJoCo", "DART"];

/// The error of an engine and the time that it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The task.
    pub task: Task,
    /// Time step, s.
    pub h: f64,
    /// One of [`ENGINES`].
    pub engine: &'static str,
    /// What was chosen of it.
    pub choice: &'static str,
    /// Mean square error; for [`Task::Kapla`] the steps for which the tower stood.
    pub figure: f64,
    /// Time of the steps, s; NaN if it was not published.
    pub seconds: f64,
}

/// What was published for this task and time step (s), the best first.
#[must_use]
pub fn published(task: Task, h: f64) -> Vec<Published> {
    let same = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    let mut rows: Vec<_> = ROWS
        .iter()
        .map(|(task, h, name, figure, seconds)| {
            let (engine, choice) = name.split_once(", ").unwrap_or((name, ""));
            Published {
                task: *task,
                h: *h,
                engine,
                choice,
                figure: *figure,
                seconds: *seconds,
            }
        })
        .filter(|row| row.task == task && same(row.h, h))
        .collect();
    rows.sort_by(|a, b| match task {
        Task::Kapla => b.figure.total_cmp(&a.figure),
        _ => a.figure.total_cmp(&b.figure),
    });
    rows
}

/// Robots in a row of [`Task::Stand`], for which times were published.
pub const ROBOTS: [usize; 3] = [1, 5, 15];

/// Robot-steps a second of an engine with `n × n` robots of [`Task::Stand`]; none where it failed.
#[must_use]
pub fn robot_steps(engine: &str, n: usize) -> Option<f64> {
    let row = STANDING.iter().find(|row| row.0 == engine)?;
    let place = ROBOTS.iter().position(|own| *own == n)?;
    let seconds = row.1[place];
    seconds
        .is_finite()
        .then(|| 50_000.0 * (n * n) as f64 / seconds)
}

/// Seconds for 50,000 steps of [`ROBOTS`] squared.
const STANDING: [(&str, [f64; 3]); 5] = [
    ("RaiSim", [0.406, 14.6, 203.0]),
    // With its pass against slip.
    ("MuJoCo", [1.73, 49.8, 548.0]),
    ("Bullet", [3.71, 93.0, f64::NAN]),
    ("DART", [5.83, 122.0, 1687.0]),
    // Maximal coordinates.
    ("ODE", [22.8, 613.0, 11_383.0]),
];

type Row = (Task, f64, &'static str, f64, f64);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (Task::RollingXy, 1e-3, "Bullet, 400 iterations", 3.9e-27, 1.79),
    (Task::RollingXy, 1e-3, "Bullet, 40 iterations", 4.4e-15, 0.91),
    (Task::RollingXy, 1e-3, "RaiSim, 40 iterations", 4.1e-7, 0.49),
    (Task::RollingXy, 1e-3, "RaiSim, 10 iterations", 2.0e-6, 0.17),
    (Task::RollingXy, 1e-3, "MuJoCo, RK4", 2.0e-3, 3.15),
    (Task::RollingXy, 1e-3, "ODE, quick", 3.145, 0.53),
    (Task::RollingXy, 1e-3, "DART", 3.145, 2.7),
    (Task::RollingY, 1e-3, "Bullet, 400 iterations", 7.3e-28, 1.90),
    (Task::RollingY, 1e-3, "Bullet, 40 iterations", 6.1e-15, 0.91),
    (Task::RollingY, 1e-3, "RaiSim, 40 iterations", 4.1e-7, 0.47),
    (Task::RollingY, 1e-3, "MuJoCo, RK4", 2.2e-3, 1.59),
    (Task::RollingY, 1e-3, "ODE, quick", 7.6e-9, 1.19),
    (Task::RollingY, 1e-3, "DART", 0.426, 2.8),
    (Task::Bouncing, 1e-5, "RaiSim", 1.9e-10, 23.7),
    (Task::Bouncing, 1e-5, "ODE", 1.9e-2, 192.0),
    (Task::Bouncing, 1e-5, "Bullet", 7.5, 81.0),
    (Task::Bouncing, 1e-5, "DART", 7.4, 328.0),
    (Task::Bouncing, 1e-3, "RaiSim", 1.9e-2, 0.235),
    (Task::Bouncing, 1e-3, "ODE", 185.0, 1.9),
    (Task::Bouncing, 1e-3, "Bullet", 7.5e4, 0.85),
    (Task::Bouncing, 1e-3, "DART", 7.2e4, 3.2),
    (Task::Bouncing, 0.01, "RaiSim", 186.0, 0.025),
    (Task::Bouncing, 0.01, "ODE", 1.9e4, 0.19),
    (Task::Bouncing, 0.01, "Bullet", 7.4e6, 0.10),
    (Task::Bouncing, 0.01, "DART", 7.4e6, 0.34),
    (Task::Bouncing, 0.1, "RaiSim", 1.8e6, 0.0027),
    (Task::Bouncing, 0.1, "ODE", 2.0e6, 0.02),
    (Task::Bouncing, 0.1, "Bullet", 7.7e8, 0.016),
    (Task::Bouncing, 0.1, "DART", 7.7e8, 0.038),
    (Task::Pile, 1e-4, "DART, Dantzig", 2.0e-7, 197.0),
    (Task::Pile, 1e-4, "RaiSim", 1.6e-6, 12.9),
    (Task::Pile, 1e-4, "ODE, standard", 1.5e-6, 94.0),
    (Task::Pile, 1e-4, "ODE, quick", 1.6e-6, 99.0),
    (Task::Pile, 1e-4, "Bullet", 3.5e-3, 80.0),
    (Task::Pile, 1e-4, "MuJoCo, CG", 1.1e-2, 92.0),
    (Task::Pile, 1e-3, "DART, Dantzig", 2.8e-4, 22.9),
    (Task::Pile, 1e-3, "RaiSim", 1.4e-4, 1.51),
    (Task::Pile, 1e-3, "ODE, standard", 1.5e-4, 10.6),
    (Task::Pile, 1e-3, "ODE, quick", 1.6e-4, 10.0),
    (Task::Pile, 1e-3, "Bullet", 0.38, 12.0),
    (Task::Pile, 1e-3, "MuJoCo, CG", 9.5e-2, 12.1),
    (Task::Pile, 0.01, "DART, Dantzig", 215.0, 3.1),
    (Task::Pile, 0.01, "RaiSim", 1.5e-2, 0.168),
    (Task::Pile, 0.01, "ODE, standard", 1.6e-2, 1.36),
    (Task::Pile, 0.01, "ODE, quick", 1.6e-2, 1.00),
    (Task::Pile, 0.01, "Bullet", 37.0, 2.0),
    (Task::Pile, 0.01, "MuJoCo, CG", 0.93, 1.8),
    (Task::Pile, 0.1, "DART, Dantzig", 6.8, 2.8),
    (Task::Pile, 0.1, "RaiSim", 0.96, 0.037),
    (Task::Pile, 0.1, "ODE, standard", 4.4, 5.7),
    (Task::Pile, 0.1, "ODE, quick", 3.1, 0.12),
    (Task::Pile, 0.1, "Bullet", 2.8e5, 0.92),
    (Task::Pile, 0.1, "MuJoCo, CG", 11.0, 0.40),
    (Task::ElasticPile, 1e-4, "RaiSim", 1.1e-3, 6.1),
    (Task::ElasticPile, 1e-4, "ODE", 1.1, 56.0),
    (Task::ElasticPile, 1e-4, "Bullet", 168.0, 21.5),
    (Task::ElasticPile, 1e-4, "DART, PGS", 2.4e3, 78.0),
    (Task::ElasticPile, 1e-3, "RaiSim", 8.4, 0.66),
    (Task::ElasticPile, 1e-3, "ODE", 112.0, 5.6),
    (Task::ElasticPile, 1e-3, "Bullet", 4.1e4, 2.3),
    (Task::ElasticPile, 1e-3, "DART, PGS", 3.5e5, 8.1),
    (Task::ElasticPile, 0.01, "RaiSim", 5.2e6, 0.070),
    (Task::ElasticPile, 0.01, "ODE", 8.6e6, 0.6),
    (Task::ElasticPile, 0.01, "Bullet", 9.9e6, 0.32),
    (Task::ElasticPile, 0.01, "DART, PGS", 1.3e10, 0.84),
    (Task::Kapla, 0.01, "RaiSim, 1000 iterations", 60_000.0, 2885.0),
    (Task::Kapla, 0.01, "RaiSim, 400 iterations", 5265.0, 121.0),
    (Task::Kapla, 0.01, "MuJoCo, Newton", 3297.0, 61.0),
    (Task::Kapla, 0.01, "Bullet, 1000 iterations, ERP 0.2", 55_058.0, 6955.0),
    (Task::Kapla, 0.01, "Bullet, 1000 iterations", 147.0, 33.0),
    (Task::Kapla, 0.01, "ODE, quick, 1000 iterations, ERP 0.2", 6453.0, 1052.0),
    (Task::Kapla, 0.01, "ODE, quick, 400 iterations", 124.0, 8.6),
    (Task::Kapla, 0.01, "DART, Dantzig", 19.0, f64::NAN),
    (Task::Momentum, 1e-5, "ODE, quick", 1.6e-25, 186.0),
    (Task::Momentum, 1e-5, "ODE, standard", 1.4e-24, 306.0),
    (Task::Momentum, 1e-5, "MuJoCo, RK4", 2.9e-22, 78.0),
    (Task::Momentum, 1e-5, "MuJoCo, Euler", 8.8e-8, 37.0),
    (Task::Momentum, 1e-5, "RaiSim", 3.7e-9, 5.8),
    (Task::Momentum, 1e-5, "Bullet", 2.6e-8, 32.0),
    (Task::Momentum, 1e-5, "DART", 185.0, 61.0),
    (Task::Momentum, 1e-3, "ODE, quick", 1.3e-27, 1.78),
    (Task::Momentum, 1e-3, "ODE, standard", 4.6e-26, 2.7),
    (Task::Momentum, 1e-3, "MuJoCo, RK4", 3.0e-13, 0.78),
    (Task::Momentum, 1e-3, "MuJoCo, Euler", 1.1e-3, 0.38),
    (Task::Momentum, 1e-3, "RaiSim", 4.7e-5, 0.058),
    (Task::Momentum, 1e-3, "Bullet", 2.7e-4, 0.44),
    (Task::Momentum, 1e-3, "DART", 169.0, 0.53),
    (Task::Momentum, 0.01, "ODE, quick", 4.0e-28, 0.18),
    (Task::Momentum, 0.01, "ODE, standard", 7.2e-28, 0.27),
    (Task::Momentum, 0.01, "MuJoCo, RK4", 2.4e-5, 0.079),
    (Task::Momentum, 0.01, "MuJoCo, Euler", 1.6e-2, 0.038),
    (Task::Momentum, 0.01, "RaiSim", 5.4e-3, 0.0061),
    (Task::Momentum, 0.01, "Bullet", 2.3e-2, 0.035),
    (Task::Momentum, 0.01, "DART", 105.0, 0.052),
    (Task::Energy, 1e-5, "MuJoCo, RK4", 2.9e-21, 14.0),
    (Task::Energy, 1e-5, "MuJoCo, Euler", 3.5e-4, 6.2),
    (Task::Energy, 1e-5, "RaiSim", 1.1e-6, 1.37),
    (Task::Energy, 1e-5, "ODE, quick", 3.9e-4, 50.0),
    (Task::Energy, 1e-5, "Bullet", 2.7e-2, 7.1),
    (Task::Energy, 1e-5, "DART", 200.0, 9.5),
    (Task::Energy, 1e-3, "MuJoCo, RK4", 1.6e-17, 0.14),
    (Task::Energy, 1e-3, "MuJoCo, Euler", 3.5, 0.062),
    (Task::Energy, 1e-3, "RaiSim", 1.2e-2, 0.015),
    (Task::Energy, 1e-3, "ODE, quick", 3.9, 0.48),
    (Task::Energy, 1e-3, "Bullet", 3.7, 0.083),
    (Task::Energy, 1e-3, "DART", 237.0, 0.097),
    (Task::Energy, 0.01, "MuJoCo, RK4", 5.6e-11, 0.0135),
    (Task::Energy, 0.01, "MuJoCo, Euler", 344.0, 0.0061),
    (Task::Energy, 0.01, "RaiSim", 1.40, 0.0015),
    (Task::Energy, 0.01, "ODE, quick", 380.0, 0.052),
    (Task::Energy, 0.01, "Bullet", 343.0, 0.011),
    (Task::Energy, 0.01, "DART", 918.0, 0.012),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_an_engine_and_of_a_time_step_of_its_task() {
        let mut rows = 0;
        for task in Task::ALL {
            for h in task.time_steps() {
                let published = published(task, *h);
                rows += published.len();
                assert!(published.iter().all(|row| ENGINES.contains(&row.engine)));
            }
        }
        assert_eq!(rows, ROWS.len());
    }

    #[test]
    fn robot_steps_are_as_published() {
        for (engine, n, thousands) in [("RaiSim", 1, 123.0), ("ODE", 15, 1.0), ("MuJoCo", 5, 25.0)]
        {
            let own = robot_steps(engine, n).unwrap();
            assert!((own / 1e3 - thousands).abs() < 0.5, "{own}");
        }
        assert_eq!(robot_steps("Bullet", 15), None);
    }

    #[test]
    fn the_best_is_the_first() {
        let best = |task, h| published(task, h)[0].engine;
        assert_eq!(best(Task::RollingY, 1e-3), "Bullet");
        assert_eq!(best(Task::Pile, 1e-4), "DART");
        assert_eq!(best(Task::Kapla, 0.01), "RaiSim");
        assert!(published(Task::Bouncing, 0.04).is_empty());
    }
}
