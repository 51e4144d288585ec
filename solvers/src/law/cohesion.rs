//! A contact that holds up to a pull-off impulse `a ≥ 0`: `C = K_μ − (a, 0, 0)`, with the shift of Coulomb's law.
//!
//! With `r' = r + (a, 0, 0)` it is Coulomb's law for `r'`: `w_N = 0` while `r_N > −a`, friction up to `μ (r_N + a)`, and
//! `r = (−a, 0, 0)` once it opens.

use super::coulomb::Coulomb;
use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw};
use glam::DVec3;

/// Friction `μ ≥ 0` and pull-off impulse `a ≥ 0`.
///
/// ```
/// use moreau_solvers::{Law, law::Cohesion};
/// let law = Law::Cohesion(Cohesion { friction: 0.5, pull_off: 2.0 });
/// let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let mut r = [0.0; 3];
/// law.solve_block(&unit, &[3.0, 0.0, 0.0], &mut r); // pulled harder than it holds
/// assert_eq!(r, [-2.0, 0.0, 0.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cohesion {
    /// `μ`.
    pub friction: f64,
    /// `a`, N·s.
    pub pull_off: f64,
}

impl Cohesion {
    /// Coulomb's law of `r + (a, 0, 0)`.
    pub(crate) fn lifted(&self) -> Coulomb {
        Coulomb {
            friction: self.friction,
        }
    }

    /// The law of the impulses `factor · r`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            pull_off: self.pull_off * factor,
            ..*self
        }
    }

    fn shifted(&self, z: &mut [f64], map: impl Fn(&mut [f64])) {
        z[0] += self.pull_off;
        map(z);
        z[0] -= self.pull_off;
    }
}

impl RowLaw for Cohesion {
    fn rows(&self) -> usize {
        3
    }

    fn project(&self, z: &mut [f64]) {
        self.shifted(z, |z| self.lifted().project(z));
    }

    fn project_recession(&self, z: &mut [f64]) {
        self.lifted().project(z);
    }

    fn resolve(&self, z: &mut [f64]) {
        self.shifted(z, |z| self.lifted().resolve(z));
    }

    fn shift(&self, w: &[f64]) -> f64 {
        self.lifted().shift(w)
    }

    fn violation(&self, r: &[f64]) -> f64 {
        self.lifted().violation(&[r[0] + self.pull_off, r[1], r[2]])
    }

    fn defect(&self) -> Option<Defect> {
        let pull_off = || Defect::unless_coefficient("pull-off impulse", self.pull_off);
        self.lifted().defect().or_else(pull_off)
    }

    fn linearise(&self, map: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let lift = DVec3::X * self.pull_off;
        self.lifted().linearise(map, &[y[0] + lift], w, rho, at);
        at[0].point -= lift;
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        self.lifted()
            .exit(at, &[r[0] + DVec3::X * self.pull_off], d)
    }
}
