//! Which scenes are timed, and which of their steps.

use crate::cli::TimingOptions;
use std::time::Duration;

/// Steps that are timed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// What the scene is doing then.
    pub(super) state: &'static str,
    /// The first of the steps, and …
    pub(super) first: u64,
    /// … the last one.
    pub(super) last: u64,
}

impl Window {
    fn new(state: &'static str, first: u64, steps: u64) -> Self {
        Self {
            state,
            first,
            last: first + steps - 1,
        }
    }

    pub(super) fn contains(&self, step: u64) -> bool {
        (self.first..=self.last).contains(&step)
    }

    /// Steps in a row on the same number of threads, where `counts` numbers of threads take turns.
    pub(super) fn turn(&self, counts: usize) -> u64 {
        let steps = self.last + 1 - self.first;
        (steps / (2 * counts as u64)).clamp(2, 10)
    }
}

/// A scene and the parts of its life that are timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Built-in scene with parameters.
    pub(super) scene: String,
    /// In ascending order; never empty.
    pub(super) windows: Vec<Window>,
    /// Steps that are not timed, and not close to one that is, are solved to [`HURRIED`] only.
    pub(super) hurried: bool,
    /// The problem at the end of the first window is swept.
    pub(super) swept: bool,
    /// Time after which a run ends, whatever is then timed; the step that it ends in is finished.
    pub(super) limit: Option<Duration>,
}

/// `e_scaled` of steps that are made in a hurry.
pub(super) const HURRIED: f64 = 1e-3;
/// Steps before a window that are never made in a hurry.
pub(super) const LEAD: u64 = 10;

impl Case {
    /// A pour of spheres, not a structure.
    pub(super) fn is_granular(&self) -> bool {
        self.scene.starts_with("sphere_pour")
    }

    /// Steps to be made.
    pub(super) fn steps(&self) -> u64 {
        self.windows.iter().map(|w| w.last).max().unwrap_or(0)
    }

    /// `e_scaled` to which a step is solved, given that of the timed ones.
    pub(super) fn tolerance(&self, step: u64, timed: f64) -> f64 {
        let near = |w: &Window| (w.first.saturating_sub(LEAD)..=w.last).contains(&step);
        if self.hurried && !self.windows.iter().any(near) {
            timed.max(HURRIED)
        } else {
            timed
        }
    }
}

/// Spheres from which on runs are long: few steps are timed, and the others are made in a hurry.
const LARGE: u32 = 100_000;
/// Spheres from which on a scene is not waited for to settle.
const HUGE: u32 = 1_000_000;
/// The same with `--quick`.
const HUGE_QUICK: u32 = 8_000;
/// Steps timed in each state with `--quick`.
const QUICK_STEPS: u64 = 16;
/// Time of a run with `--quick`: of a pile, and of a structure.
const QUICK_LIMITS: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(5)];

/// Piles of spheres: while they fall together, while the pile collapses and most contacts slide, and at rest.
pub(super) fn granular(options: &TimingOptions) -> Vec<Case> {
    sizes(options)
        .into_iter()
        .map(|n| {
            let [moving, collapsing, settled] = match n {
                _ if n >= HUGE => [8, 8, 8],
                _ if n >= LARGE => [20, 10, 20],
                _ => [30, 121, 201],
            };
            let mut windows = vec![Window::new("moving", 100, cut(moving, options))];
            if !options.quick {
                windows.push(Window::new("collapsing", 130, cut(collapsing, options)));
            }
            if n < if options.quick { HUGE_QUICK } else { HUGE } {
                windows.push(Window::new("settled", 400, cut(settled, options)));
            }
            Case {
                scene: format!("sphere_pour:n={n}"),
                windows,
                hurried: options.quick || n >= LARGE,
                swept: true,
                limit: limited(options).then_some(QUICK_LIMITS[0]),
            }
        })
        .collect()
}

fn sizes(options: &TimingOptions) -> Vec<u32> {
    let mut sizes = match (&options.sizes[..], options.quick) {
        ([], true) => vec![1_000, 8_000],
        ([], false) => vec![1_000, 8_000, 32_000, 100_000],
        (given, _) => given.to_vec(),
    };
    if options.million {
        sizes.push(1_000_000);
    }
    sizes
}

/// Structures that are to stand still.
pub(super) fn structures(options: &TimingOptions) -> Vec<Case> {
    let first = if options.quick { 40 } else { 400 };
    ["box_pyramid:n=20", "box_pyramid:n=40", "wall_20x20"]
        .into_iter()
        .map(|scene| Case {
            scene: scene.to_owned(),
            windows: vec![Window::new("standing", first, cut(201, options))],
            hurried: false,
            swept: scene == "box_pyramid:n=40",
            limit: limited(options).then_some(QUICK_LIMITS[1]),
        })
        .collect()
}

/// Who says how many steps are to be timed gets them.
fn limited(options: &TimingOptions) -> bool {
    options.quick && options.steps.is_none()
}

/// `steps`, or fewer if that was asked for.
fn cut(steps: u64, options: &TimingOptions) -> u64 {
    let most = match options.steps {
        Some(steps) => steps,
        None if options.quick => QUICK_STEPS,
        None => u64::MAX,
    };
    steps.min(most)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values are picked, not computed")]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Command};
    use clap::Parser;

    fn options(arguments: &[&str]) -> TimingOptions {
        let all = [&["moreau", "bench"], arguments].concat();
        match Arguments::parse_from(all).command {
            Some(Command::Bench(options)) => options.timings,
            _ => unreachable!("the command is `bench`"),
        }
    }

    #[test]
    fn the_full_table_times_the_documented_steps() {
        let cases = granular(&options(&[]));
        let scenes: Vec<_> = cases.iter().map(|case| case.scene.as_str()).collect();
        assert_eq!(
            scenes,
            [1_000, 8_000, 32_000, 100_000].map(|n| format!("sphere_pour:n={n}"))
        );
        for case in &cases[..3] {
            let steps: Vec<_> = case.windows.iter().map(|w| [w.first, w.last]).collect();
            assert_eq!(steps, [[100, 129], [130, 250], [400, 600]]);
            assert!(!case.hurried);
        }
        assert!(cases[3].hurried);
        let million = granular(&options(&["--million"]));
        assert_eq!(million.len(), 5);
        assert_eq!(million[4].windows.len(), 2);
    }

    #[test]
    fn quick_is_small_and_hurried() {
        let cases = granular(&options(&["--quick"]));
        assert_eq!(cases.len(), 2);
        assert_eq!(cases[1].steps(), 115);
        assert_eq!(cases[1].tolerance(89, 1e-4), HURRIED);
        assert_eq!(cases[1].tolerance(90, 1e-4), 1e-4);
        assert_eq!(cases[1].tolerance(10, 1e-2), 1e-2);
        assert!(cases[0].limit.is_some());
        let short = granular(&options(&["--quick", "--steps", "4"]));
        assert_eq!(short[0].windows[0].last, 103);
        assert_eq!(short[0].limit, None);
    }

    #[test]
    fn every_number_of_threads_has_a_turn() {
        for steps in [4, 8, 16, 20, 151, 201] {
            let window = Window::new("", 100, steps);
            assert!(2 * window.turn(2) <= steps, "{steps}");
        }
    }

    #[test]
    fn all_cases_are_scenes_of_the_catalog() {
        let options = options(&["--million"]);
        for case in granular(&options).iter().chain(&structures(&options)) {
            assert!(
                moreau_demos::built_in(&case.scene).is_ok(),
                "{}",
                case.scene
            );
        }
    }
}
