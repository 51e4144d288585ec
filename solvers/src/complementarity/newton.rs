//! Semismooth Newton methods with a line search, on the minimum and on the function of Fischer and Burmeister.
//!
//! All in the scaled variables `√λ z`, `w/√λ`, so that both have one unit. A row is solved iff its function vanishes:
//!
//! ```text
//! minimum:            F_i = z_i − P(z_i − w_i)                                 LCP: min(z, w)
//! Fischer–Burmeister: F_i = −φ(z_i − low, φ(high − z_i, −w_i))                 φ(a, b) = √(a² + b²) − a − b
//!                     an infinite gap a leaves φ(a, b) = −b: −φ(z_i − low, w_i) of a complementarity, w_i of a free row
//! Newton:             J d = −F,   J in the generalised derivative;   z ← z + τ d,   τ = 1, ½, ¼, …
//! ```
//!
//! [Fischer92, Billups95, DeLuca-Facchinei-Kanzow96]. `Ψ = ½‖F‖²` of Fischer–Burmeister is differentiable: where Newton's direction does not
//! exist, or is not one of descent, the step goes along `−∇Ψ = −JᵀF`. `½‖F‖²` of the minimum is not: a step that does not make it smaller
//! within a few halvings is replaced by one of Fischer–Burmeister. The full step of the minimum solves the linear system of the active set at
//! hand, so at the end it is exact in one step.
//!
//! **Converges** from anywhere for P₀-matrices whose `Ψ` has bounded level sets (P-matrices do), quadratically at a regular solution. Elsewhere it
//! may end at a local minimum of `Ψ`: then the status is `Stopped`. **When to use it:** warm starts; thousands of rows with few changes. **When
//! not:** degenerate monotone problems, which the path of the interior suits better. **Cost:** `n³/3` a step.

use super::BoxProblem;
use super::box_problem::dot;
use super::dense_lu::DenseLu;
use super::method::{Memory, Method, Trial, solver_of_boxes};

/// Which function is brought to zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Complementarity {
    /// `min(z, w)` and its kin on boxes: the natural map.
    #[default]
    Minimum,
    /// `√(a² + b²) − a − b`.
    FischerBurmeister,
}

/// Settings of [`SemismoothNewton`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemismoothNewtonSettings {
    /// The function. Default [`Complementarity::Minimum`].
    pub function: Complementarity,
    /// Budget of steps. Default 500.
    pub max_steps: usize,
}

impl Default for SemismoothNewtonSettings {
    fn default() -> Self {
        Self {
            function: Complementarity::default(),
            max_steps: 500,
        }
    }
}

/// The method and its buffers.
#[derive(Debug, Default)]
pub struct SemismoothNewton {
    /// Settings of the next solve.
    pub settings: SemismoothNewtonSettings,
    pub(super) memory: Memory,
    lu: DenseLu,
}

impl SemismoothNewton {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: SemismoothNewtonSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// On the function of Fischer and Burmeister.
    #[must_use]
    pub fn fischer_burmeister() -> Self {
        Self::new(SemismoothNewtonSettings {
            function: Complementarity::FischerBurmeister,
            ..SemismoothNewtonSettings::default()
        })
    }
}

/// Part of the promised fall of `Ψ` that a step must reach.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step on Fischer–Burmeister, and on the minimum before the other function takes over.
const HALVINGS: usize = 40;
const HALVINGS_OF_MINIMUM: usize = 6;

solver_of_boxes!(SemismoothNewton);

impl Method for SemismoothNewton {
    const NAME: &'static str = "semismooth Newton";

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let mut at = Point::new(problem, trial.best());
        let mut d = Vec::new();
        for _ in 0..self.settings.max_steps {
            let mut moved = false;
            if self.settings.function == Complementarity::Minimum {
                at.linearise(Complementarity::Minimum);
                trial.report.factorizations += 1;
                moved = at.newton(&mut self.lu, &mut d)
                    && at.search(Complementarity::Minimum, &d, HALVINGS_OF_MINIMUM);
            }
            if !moved {
                at.linearise(Complementarity::FischerBurmeister);
                trial.report.factorizations += 1;
                let found = at.newton(&mut self.lu, &mut d) && at.slope(&d) < 0.0;
                moved = found && at.search(Complementarity::FischerBurmeister, &d, HALVINGS);
                if !moved {
                    at.gradient(&mut d);
                    moved = at.search(Complementarity::FischerBurmeister, &d, HALVINGS);
                }
            }
            trial.report.iterations += 1;
            trial.judge(&at.lawful());
            if trial.finished() || !moved {
                break;
            }
        }
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

/// A point in the scaled variables, its function and one element of the derivative: `J = diag(a) + diag(b) M`.
struct Point<'a> {
    problem: &'a BoxProblem,
    root: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    value: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'a> Point<'a> {
    fn new(problem: &'a BoxProblem, start: &[f64]) -> Self {
        let root: Vec<f64> = problem.scales().iter().map(|scale| scale.sqrt()).collect();
        let mut point = Self {
            problem,
            z: start.iter().zip(&root).map(|(z, root)| z * root).collect(),
            root,
            w: Vec::new(),
            value: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
            scratch: Vec::new(),
        };
        point.velocities();
        point
    }

    /// `M z + q`, scaled.
    fn velocities(&mut self) {
        let parts = self.z.iter().zip(&self.root);
        self.scratch.clear();
        self.scratch.extend(parts.map(|(z, root)| z / root));
        self.problem.image(&self.scratch, &mut self.w);
        for (w, root) in self.w.iter_mut().zip(&self.root) {
            *w /= root;
        }
    }

    /// `z` in its box, in the units of the problem.
    fn lawful(&self) -> Vec<f64> {
        let parts = self.z.iter().zip(&self.root).enumerate();
        parts
            .map(|(row, (z, root))| self.problem.clamp(row, z / root))
            .collect()
    }

    fn row(&self, function: Complementarity, row: usize) -> [f64; 3] {
        let root = self.root[row];
        let ends = [
            self.problem.low()[row] * root,
            self.problem.high()[row] * root,
        ];
        match function {
            Complementarity::Minimum => minimum(ends, self.z[row], self.w[row]),
            Complementarity::FischerBurmeister => fischer(ends, self.z[row], self.w[row]),
        }
    }

    fn linearise(&mut self, function: Complementarity) {
        let n = self.z.len();
        for values in [&mut self.value, &mut self.a, &mut self.b] {
            values.resize(n, 0.0);
        }
        for row in 0..n {
            [self.value[row], self.a[row], self.b[row]] = self.row(function, row);
        }
    }

    /// `½‖F‖²`.
    fn merit(&self, function: Complementarity) -> f64 {
        let rows = 0..self.z.len();
        let square = |row| {
            let [value, ..] = self.row(function, row);
            value * value
        };
        0.5 * rows.map(square).sum::<f64>()
    }

    /// `d = −J⁻¹F`; false if `J` is singular.
    fn newton(&self, lu: &mut DenseLu, d: &mut Vec<f64>) -> bool {
        let n = self.z.len();
        let entry = |i: usize, j: usize| {
            let m = self.problem.row(i)[j] / (self.root[i] * self.root[j]);
            self.b[i] * m + if i == j { self.a[i] } else { 0.0 }
        };
        if !lu.factorize(n, entry) {
            return false;
        }
        d.clear();
        d.extend(self.value.iter().map(|value| -value));
        lu.solve(d);
        d.iter().all(|d| d.is_finite())
    }

    /// `d = −JᵀF`.
    fn gradient(&self, d: &mut Vec<f64>) {
        d.clear();
        d.extend(self.value.iter().zip(&self.a).map(|(value, a)| -a * value));
        for (i, value) in self.value.iter().enumerate() {
            let factor = -value * self.b[i] / self.root[i];
            let parts = d.iter_mut().zip(self.problem.row(i)).zip(&self.root);
            for ((d, entry), root) in parts {
                *d += factor * entry / root;
            }
        }
    }

    /// `∇Ψᵀd`.
    fn slope(&self, d: &[f64]) -> f64 {
        let mut gradient = Vec::new();
        self.gradient(&mut gradient);
        -dot(&gradient, d)
    }

    /// Goes along `d` until the merit falls enough; false, and back where it was, if it never does.
    fn search(&mut self, function: Complementarity, d: &[f64], halvings: usize) -> bool {
        let start = self.z.clone();
        let merit = self.merit(function);
        // A Newton step promises all of it; a gradient step what its slope says.
        let promise = match function {
            Complementarity::Minimum => 2.0 * merit,
            Complementarity::FischerBurmeister => -self.slope(d),
        };
        let mut tau = 1.0;
        for _ in 0..=halvings {
            for ((z, start), d) in self.z.iter_mut().zip(&start).zip(d) {
                *z = start + tau * d;
            }
            self.velocities();
            if self.merit(function) <= merit - ARMIJO * tau * promise && merit > 0.0 {
                return true;
            }
            tau *= 0.5;
        }
        self.z = start;
        self.velocities();
        false
    }
}

/// The natural map of a row and its derivatives by `z` and `w`.
fn minimum([low, high]: [f64; 2], z: f64, w: f64) -> [f64; 3] {
    let x = z - w;
    if x < low {
        [z - low, 1.0, 0.0]
    } else if x > high {
        [z - high, 1.0, 0.0]
    } else {
        [w, 0.0, 1.0]
    }
}

/// `φ(a, b)` and its derivatives; at the origin those along the diagonal.
fn phi(a: f64, b: f64) -> [f64; 3] {
    let length = (a * a + b * b).sqrt();
    if length == 0.0 {
        let slope = std::f64::consts::FRAC_1_SQRT_2 - 1.0;
        return [0.0, slope, slope];
    }
    // √(a² + b²) − a − b without cancelling where both are positive.
    let value = if a > 0.0 && b > 0.0 {
        -2.0 * a * b / (length + a + b)
    } else {
        length - a - b
    };
    [value, a / length - 1.0, b / length - 1.0]
}

/// The function of Fischer and Burmeister of a row, with its sign such that it grows with `z` and `w`, and its derivatives.
fn fischer([low, high]: [f64; 2], z: f64, w: f64) -> [f64; 3] {
    // The upper bound turns w into φ(high − z, −w), which is w without it.
    let [w, by_z, by_w] = if high.is_finite() {
        let [value, by_gap, by_minus_w] = phi(high - z, -w);
        [value, -by_gap, -by_minus_w]
    } else {
        [w, 0.0, 1.0]
    };
    if low.is_finite() {
        let [value, a, b] = phi(z - low, w);
        [-value, -(a + b * by_z), -b * by_w]
    } else {
        [w, by_z, by_w]
    }
}
