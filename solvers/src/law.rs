//! Laws of interactions: a law is a closed convex set of impulses and a shift of the velocity [docs/theory.md §4].
//!
//! With `w = W r + q` the velocity of an interaction (everything that is known before the solve is in `q`: restitution,
//! gap over `h`, prescribed velocities, springs; compliance `R` is on the diagonal of `W`), the law of `m` rows is
//!
//! ```text
//! −( w + s(w) ) ∈ N_C(r)      C ⊂ ℝᵐ closed and convex,   s(w) = (σ(w), 0, …, 0)
//! ```
//!
//! | law | `m` | `C` | `σ(w)` |
//! |---|---|---|---|
//! | [`Coulomb`] | 3 | `K_μ = { ‖r_T‖ ≤ μ r_N }` | `μ‖w_T‖` |
//! | [`PlanarCoulomb`] | 2 | `{ \|r_T\| ≤ μ r_N }` | `μ\|w_T\|` |
//! | [`EllipticCoulomb`], `D = diag(μ₁, μ₂)` | 3 | `{ ‖D⁻¹r_T‖ ≤ r_N }` | `‖D w_T‖` |
//! | [`RollingCoulomb`] | 5, 6 | `{ ‖r_T‖ ≤ μ r_N, ‖m_R‖ ≤ μ_R r_N, \|m_S\| ≤ μ_S r_N }` | `μ‖w_T‖ + μ_R‖w_R‖ + μ_S\|w_S\|` |
//! | [`Cohesion`], pull-off impulse `a` | 3 | `K_μ − (a, 0, 0)` | `μ‖w_T‖` |
//! | [`Law::Complementarity`] | 1 | `[0, ∞)` | 0 |
//! | [`Interval`] | 1 | `[lo, hi]` | 0 |
//! | [`Ball`], radius `ρ` | 3 | `{ ‖r‖ ≤ ρ }` | 0 |
//! | [`Equality`] | any | `ℝᵐ` | 0 |
//!
//! The shift is taken at `w`, the velocity that the set sees: with a compliance in tangential rows that is the slip
//! less the creep of the spring, and nothing dilates.
//!
//! Solvers need of a law what `RowLaw` lists and nothing else; each law is a file. Rows are in the order of the
//! table: normal, two tangents, two rolling axes (about `t₁`, `t₂`), spin.

pub mod ball;
pub mod cohesion;
pub mod complementarity;
pub mod coulomb;
pub mod elliptic;
pub mod equality;
pub mod interval;
pub mod planar;
pub mod rolling;

pub(crate) mod linearised;
pub mod list;
pub mod one_contact;

pub(crate) mod one_block;

pub use ball::Ball;
pub use cohesion::Cohesion;
pub use coulomb::Coulomb;
pub use elliptic::EllipticCoulomb;
pub use equality::Equality;
pub use interval::Interval;
pub use linearised::ConeMap;
pub use planar::PlanarCoulomb;
pub use rolling::RollingCoulomb;

use complementarity::Complementarity;
use glam::DVec3;
use linearised::Linearised;

/// The law of one interaction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// Contact with isotropic friction, three rows.
    Coulomb(Coulomb),
    /// Contact in the plane, two rows.
    PlanarCoulomb(PlanarCoulomb),
    /// Contact with two coefficients of friction, three rows.
    EllipticCoulomb(EllipticCoulomb),
    /// Contact with rolling and spinning resistance, five or six rows.
    Rolling(RollingCoulomb),
    /// Contact that holds up to a pull-off impulse, three rows.
    Cohesion(Cohesion),
    /// Frictionless contact, one-sided limit, diode: one row.
    Complementarity,
    /// Relay, bounded motor, joint friction: one row.
    Interval(Interval),
    /// Friction of a ball joint, efforts that are bounded together: three rows.
    Ball(Ball),
    /// Free multipliers: any number of rows.
    Equality(Equality),
}

impl From<Coulomb> for Law {
    fn from(law: Coulomb) -> Self {
        Self::Coulomb(law)
    }
}

impl Law {
    /// Coulomb's law with the coefficient `friction ≥ 0`.
    #[must_use]
    pub const fn coulomb(friction: f64) -> Self {
        Self::Coulomb(Coulomb { friction })
    }

    /// Coulomb's law in the plane with the coefficient `friction ≥ 0`.
    #[must_use]
    pub const fn planar(friction: f64) -> Self {
        Self::PlanarCoulomb(PlanarCoulomb { friction })
    }

    /// An impulse between `low` and `high`, either of which may be infinite.
    #[must_use]
    pub const fn interval(low: f64, high: f64) -> Self {
        Self::Interval(Interval { low, high })
    }

    /// Three impulses whose norm is at most `radius ≥ 0`, which may be infinite.
    #[must_use]
    pub const fn ball(radius: f64) -> Self {
        Self::Ball(Ball { radius })
    }

    /// So many rows with free multipliers.
    #[must_use]
    pub const fn equality(rows: usize) -> Self {
        Self::Equality(Equality { rows })
    }

    pub(crate) fn rules(&self) -> &dyn RowLaw {
        match self {
            Self::Coulomb(law) => law,
            Self::PlanarCoulomb(law) => law,
            Self::EllipticCoulomb(law) => law,
            Self::Rolling(law) => law,
            Self::Cohesion(law) => law,
            Self::Complementarity => &Complementarity,
            Self::Interval(law) => law,
            Self::Ball(law) => law,
            Self::Equality(law) => law,
        }
    }

    /// `m`.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Coulomb(_) | Self::Ball(_) => 3,
            Self::Equality(law) => law.rows,
            Self::Interval(_) | Self::Complementarity => 1,
            _ => self.rules().rows(),
        }
    }

    /// `z ← P_C(z)`: Euclidean projection on the set, any unit. Where an entry is not a number one of the projection is none either:
    /// what is undefined is never solved.
    ///
    /// ```
    /// use moreau_solvers::Law;
    /// let mut z = [1.0, 2.0, 0.0];
    /// Law::coulomb(0.5).project(&mut z); // on the boundary of the cone
    /// assert_eq!(z, [1.6, 0.8, 0.0]);
    /// ```
    pub fn project(&self, z: &mut [f64]) {
        self.rules().project(z);
    }

    /// `z ← ` projection on the recession cone of `C`: the directions in which the set has no end.
    pub fn project_recession(&self, z: &mut [f64]) {
        self.rules().project_recession(z);
    }

    /// `σ(w)`, what the velocity of the first row is shifted by, m/s.
    #[must_use]
    pub fn shift(&self, w: &[f64]) -> f64 {
        self.rules().shift(w)
    }

    /// How far `r` lies outside `C`, unit of `r`; zero inside, not a number if an entry is none.
    #[must_use]
    pub fn violation(&self, r: &[f64]) -> f64 {
        if is_undefined(r) {
            return f64::NAN;
        }
        self.rules().violation(r)
    }

    /// True if the first row is one that must not close: `w ≥ 0` there at every solution.
    #[must_use]
    pub fn is_unilateral(&self) -> bool {
        self.rules().is_unilateral()
    }

    /// `sup { wᵀr : r ∈ B }` of the bounded part `B` of `C`, which is this part plus its recession cone; and how large `B` is.
    pub(crate) fn support_of_bounded_part(&self, w: &[f64]) -> (f64, f64) {
        match self {
            Self::Cohesion(law) => (-law.pull_off * w[0], law.pull_off),
            Self::Interval(law) => {
                let ends = [law.low, law.high]
                    .into_iter()
                    .filter(|end| end.is_finite());
                let support = ends.clone().map(|end| end * w[0]).reduce(f64::max);
                let size = ends.map(f64::abs).reduce(f64::max);
                (support.unwrap_or(0.0), size.unwrap_or(0.0))
            }
            Self::Ball(law) if law.radius.is_finite() => {
                let length = w.iter().map(|w| w * w).sum::<f64>().sqrt();
                (law.radius * length, law.radius)
            }
            _ => (0.0, 0.0),
        }
    }

    /// True if the law has a shift: contacts with friction, their coefficients zero or not.
    pub(crate) fn has_friction(&self) -> bool {
        self.is_unilateral() && self.rows() > 1
    }

    /// The law of the impulses `factor · r`, `factor > 0`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Cohesion(law) => Self::Cohesion(law.scaled(factor)),
            Self::Interval(law) => Self::Interval(law.scaled(factor)),
            Self::Ball(law) => Self::Ball(law.scaled(factor)),
            _ => *self,
        }
    }

    /// The coefficient of Coulomb's law, `None` for other laws.
    #[must_use]
    pub fn friction(&self) -> Option<f64> {
        match self {
            Self::Coulomb(law) => Some(law.friction),
            _ => None,
        }
    }

    /// Solves one interaction with all others frozen: `r` with `w = W r + q` that satisfies the law. `block` is
    /// `W`, `m × m`, row by row, of which the symmetric part is used (for equalities the whole of it); `q` and `r` have `m` entries. Where several
    /// impulses satisfy the law, one of them.
    ///
    /// ```
    /// use moreau_solvers::Law;
    /// let mut r = [0.0];
    /// Law::interval(-2.0, 1.0).solve_block(&[0.5], &[-3.0], &mut r);
    /// assert_eq!(r, [1.0]); // 6 would stop it, the bound is 1
    /// ```
    pub fn solve_block(&self, block: &[f64], q: &[f64], r: &mut [f64]) {
        one_block::OneBlock::new(self, block).solve(q, r);
    }

    /// The first parameter that is out of its range.
    pub(crate) fn defect(&self) -> Option<Defect> {
        self.rules().defect()
    }

    /// See [`RowLaw::resolve`].
    #[inline]
    pub(crate) fn resolve(&self, z: &mut [f64]) {
        self.rules().resolve(z);
    }

    /// See [`RowLaw::linearise`].
    #[inline]
    pub(crate) fn linearise(
        &self,
        map: ConeMap,
        [y, w]: [&[DVec3]; 2],
        rho: f64,
        at: &mut [Linearised],
    ) {
        match self {
            Self::Coulomb(law) => at[0] = law.linearise_one(map, y[0], w[0], rho),
            _ => self.rules().linearise(map, y, w, rho, at),
        }
    }

    /// See [`RowLaw::exit`].
    pub(crate) fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        self.rules().exit(at, r, d)
    }
}

/// A parameter of a law that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Defect {
    pub(crate) what: &'static str,
    pub(crate) value: f64,
    pub(crate) bound: &'static str,
}

impl Defect {
    /// `value` must be finite and not negative.
    fn unless_coefficient(what: &'static str, value: f64) -> Option<Self> {
        let bound = "finite and ≥ 0";
        (!(value.is_finite() && value >= 0.0)).then_some(Self { what, value, bound })
    }
}

/// What solvers, the judge and the test of infeasibility need of a law. Slices have `m` entries; those of triples
/// (three rows each, the last one filled up) have `⌈m/3⌉`.
pub(crate) trait RowLaw {
    /// `m`.
    fn rows(&self) -> usize;

    /// `z ← P_C(z)`.
    fn project(&self, z: &mut [f64]);

    /// `z ← ` projection on the recession cone of `C`.
    fn project_recession(&self, z: &mut [f64]) {
        self.project(z);
    }

    /// `z ← r` with `−(w + s(w)) ∈ N_C(r)`, `w = r − z`: the one-block solve of the unit matrix. For laws without a
    /// shift it is the projection; with one it is the normal part first, then the rest on the section of `C`.
    fn resolve(&self, z: &mut [f64]) {
        self.project(z);
    }

    /// `σ(w)`.
    fn shift(&self, _w: &[f64]) -> f64 {
        0.0
    }

    /// How far `r` lies outside `C`.
    fn violation(&self, r: &[f64]) -> f64;

    /// `w ≥ 0` in the first row at every solution.
    fn is_unilateral(&self) -> bool {
        true
    }

    /// The first parameter that is out of its range.
    fn defect(&self) -> Option<Defect> {
        None
    }

    /// `P(y − ρ w)` of one of the two maps whose fixed points satisfy the law, and the factors of its derivative, one entry
    /// a triple. A law with one map takes it for both.
    fn linearise(&self, map: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]);

    /// The smallest `t > 0` at which `r + t d` leaves the set, or the face of it that the states `at` say it is on;
    /// infinite if it never does.
    fn exit(&self, _at: &[Linearised], _r: &[DVec3], _d: &[DVec3]) -> f64 {
        f64::INFINITY
    }
}

/// An entry is not a number.
pub(crate) fn is_undefined(z: &[f64]) -> bool {
    z.iter().any(|z| z.is_nan())
}

/// `‖z‖`.
#[inline]
pub(crate) fn norm(z: [f64; 2]) -> f64 {
    (z[0] * z[0] + z[1] * z[1]).sqrt()
}

#[cfg(test)]
mod tests;
