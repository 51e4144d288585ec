//! Nonsmooth laws between the outputs `y` and the multipliers `λ` of an interaction [docs/theory.md §4].

use crate::error::{FieldError, expect_length, expect_range};
use bevy_ecs::prelude::*;
use moreau_solvers::Law;
use moreau_solvers::law::RollingCoulomb;

/// The law of an interaction. Velocities `u = ẏ` are those at the end of the step, `u_k` those at its start.
///
/// | variant | rows | law |
/// |---|---|---|
/// | `Complementarity` | `m` | `0 ≤ y ⊥ λ ≥ 0` |
/// | `Equality` | `m` | `y = 0` |
/// | `MixedComplementarity` | `m₁ + m₂` | the first `m₁` rows `y = 0`, the others `0 ≤ y ⊥ λ ≥ 0` |
/// | `Relay` | `m` | `−y ∈ N_[lo, hi](λ)`, row by row |
/// | `NewtonImpact` | 1 | `0 ≤ u + e u_k ⊥ λ ≥ 0` where the contact is closed |
/// | `MultipleImpact` | 1 | the same in time stepping; event-driven, a contact that presses and gives `e²` of the work back |
/// | `NewtonImpactFriction` | 2, 3 | the same in the normal, Coulomb's law on `u_T + e_T u_{T,k}` |
/// | `RollingFriction` | 5, 6 | the same with resistance against rolling and spinning |
///
/// On a Lagrangian relation equalities and relays hold for `ẏ`, at all times; the bounds of a relay are forces, N.
#[derive(Component, Clone, Debug, PartialEq)]
pub enum NonsmoothLaw {
    /// Diodes, one-sided limits, compliant contacts.
    Complementarity {
        /// `m`.
        rows: usize,
    },
    /// Bilateral constraints.
    Equality {
        /// `m`.
        rows: usize,
    },
    /// Equalities, then complementarity.
    MixedComplementarity {
        /// `m₁`.
        equalities: usize,
        /// `m₂`.
        inequalities: usize,
    },
    /// Relays, dry friction of known normal force.
    Relay {
        /// `lo`, one entry a row; may be infinite.
        lower: Vec<f64>,
        /// `hi ≥ lo`, one entry a row; may be infinite.
        upper: Vec<f64>,
    },
    /// Impacts without friction.
    NewtonImpact {
        /// `e`, in [0, 1].
        restitution: f64,
    },
    /// Impacts without friction that go through several contacts as a wave, as through a row of balls: the limit of stiff contacts with the force `K δ^η`
    /// [docs/theory.md §12]. Only the ratios of the `K` matter, up to 1e8; where a wave does not come to its end, events are not converged. Time stepping, which takes all impacts of a step as one, imposes Newton's law with `e`.
    MultipleImpact {
        /// `e`, energetic, in [0.05, 1]: a contact unloads `e^(−2η)` times as stiffly as it is loaded. Of one contact alone it is Newton's.
        restitution: f64,
        /// `K > 0`, N/m^η.
        stiffness: f64,
        /// `η` in [1, 4]: 1 of springs, 1.5 of balls (Hertz).
        exponent: f64,
    },
    /// Impacts with Coulomb friction.
    NewtonImpactFriction {
        /// `e`, in [0, 1].
        restitution: f64,
        /// `e_T`, in [-1, 1]; zero most often. Below zero tangents are turned round while the normal is too: where `W` couples both, that may create energy.
        tangential_restitution: f64,
        /// `μ ≥ 0`.
        friction: f64,
        /// One tangent or two.
        space: Space,
    },
    /// Impacts with Coulomb friction and resistance against rolling; rows: normal, two tangents, two rolling axes, and the spin if there is one.
    RollingFriction {
        /// `e`, in [0, 1].
        restitution: f64,
        /// `μ ≥ 0`.
        friction: f64,
        /// `μ_R ≥ 0`, m.
        rolling: f64,
        /// `μ_S ≥ 0`, m; `None` leaves the sixth row out.
        spinning: Option<f64>,
    },
}

/// Where a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Normal and one tangent.
    Plane,
    /// Normal and two tangents.
    Space,
}

impl NonsmoothLaw {
    /// One relay between −1 and 1.
    #[must_use]
    pub fn sign() -> Self {
        Self::Relay {
            lower: vec![-1.0],
            upper: vec![1.0],
        }
    }

    /// `m`.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Complementarity { rows } | Self::Equality { rows } => *rows,
            Self::MixedComplementarity {
                equalities,
                inequalities,
            } => equalities + inequalities,
            Self::Relay { lower, .. } => lower.len(),
            Self::NewtonImpact { .. } | Self::MultipleImpact { .. } => 1,
            Self::NewtonImpactFriction { space, .. } => match space {
                Space::Plane => 2,
                Space::Space => 3,
            },
            Self::RollingFriction { spinning, .. } => 5 + usize::from(spinning.is_some()),
        }
    }

    /// True if it is a law of contacts: imposed only where they close.
    #[must_use]
    pub fn is_impact(&self) -> bool {
        matches!(
            self,
            Self::NewtonImpact { .. }
                | Self::MultipleImpact { .. }
                | Self::NewtonImpactFriction { .. }
                | Self::RollingFriction { .. }
        )
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Complementarity { .. } => "Complementarity",
            Self::Equality { .. } => "Equality",
            Self::MixedComplementarity { .. } => "MixedComplementarity",
            Self::Relay { .. } => "Relay",
            Self::NewtonImpact { .. } => "NewtonImpact",
            Self::MultipleImpact { .. } => "MultipleImpact",
            Self::NewtonImpactFriction { .. } => "NewtonImpactFriction",
            Self::RollingFriction { .. } => "RollingFriction",
        }
    }

    /// `e` and `e_T`.
    pub(crate) fn restitution(&self) -> [f64; 2] {
        match self {
            Self::NewtonImpact { restitution }
            | Self::MultipleImpact { restitution, .. }
            | Self::RollingFriction { restitution, .. } => [*restitution, 0.0],
            Self::NewtonImpactFriction {
                restitution,
                tangential_restitution,
                ..
            } => [*restitution, *tangential_restitution],
            _ => [0.0; 2],
        }
    }

    /// The laws of its rows for multipliers `unit · λ`, appended to `laws`.
    pub(crate) fn append_to(&self, unit: f64, laws: &mut Vec<Law>) {
        let one_sided = |rows: usize| std::iter::repeat_n(Law::Complementarity, rows);
        match self {
            Self::Complementarity { rows } => laws.extend(one_sided(*rows)),
            Self::Equality { rows } => laws.push(Law::equality(*rows)),
            Self::MixedComplementarity {
                equalities,
                inequalities,
            } => {
                if *equalities > 0 {
                    laws.push(Law::equality(*equalities));
                }
                laws.extend(one_sided(*inequalities));
            }
            Self::Relay { lower, upper } => {
                let bounds = lower.iter().zip(upper);
                laws.extend(bounds.map(|(low, high)| Law::interval(unit * low, unit * high)));
            }
            Self::NewtonImpact { .. } | Self::MultipleImpact { .. } => {
                laws.push(Law::Complementarity);
            }
            Self::NewtonImpactFriction {
                friction, space, ..
            } => laws.push(match space {
                Space::Plane => Law::planar(*friction),
                Space::Space => Law::coulomb(*friction),
            }),
            Self::RollingFriction {
                friction,
                rolling,
                spinning,
                ..
            } => laws.push(Law::Rolling(RollingCoulomb {
                friction: *friction,
                rolling: *rolling,
                spinning: *spinning,
            })),
        }
    }

    pub(crate) fn check(&self, relation_rows: usize) -> Result<(), FieldError> {
        expect_length("law", self.rows(), relation_rows)?;
        let coefficient = |field, value: f64| {
            let holds = value.is_finite() && value >= 0.0;
            expect_range(field, value, holds, "finite and ≥ 0")
        };
        let [e, tangential] = self.restitution();
        expect_range("restitution", e, (0.0..=1.0).contains(&e), "in [0, 1]")?;
        let holds = (-1.0..=1.0).contains(&tangential);
        expect_range("tangential_restitution", tangential, holds, "in [-1, 1]")?;
        match self {
            Self::Relay { lower, upper } => {
                expect_length("upper", upper.len(), lower.len())?;
                for (low, high) in lower.iter().zip(upper) {
                    expect_range("lower", *low, *low < f64::INFINITY, "below infinity")?;
                    expect_range("upper", *high, high >= low, "at least lower")?;
                    let holds = *high > f64::NEG_INFINITY;
                    expect_range("upper", *high, holds, "above minus infinity")?;
                }
                Ok(())
            }
            Self::MultipleImpact {
                restitution,
                stiffness,
                exponent,
            } => {
                let holds = *restitution >= 0.05;
                expect_range("restitution", *restitution, holds, "in [0.05, 1]")?;
                let holds = stiffness.is_finite() && *stiffness > 0.0;
                expect_range("stiffness", *stiffness, holds, "finite and > 0")?;
                let holds = (1.0..=4.0).contains(exponent);
                expect_range("exponent", *exponent, holds, "in [1, 4]")
            }
            Self::NewtonImpactFriction { friction, .. } => coefficient("friction", *friction),
            Self::RollingFriction {
                friction,
                rolling,
                spinning,
                ..
            } => {
                coefficient("friction", *friction)?;
                coefficient("rolling", *rolling)?;
                coefficient("spinning", spinning.unwrap_or(0.0))
            }
            _ => Ok(()),
        }
    }
}
