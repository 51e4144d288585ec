//! The inside of the solver, which results depend on within the tolerance alone.

use super::{Accuracy, Settings};
use moreau_solvers::{AutoSettings, Momentum, NsgsSettings};
use serde::{Deserialize, Serialize};

/// Values that replace those of the [`Accuracy`](super::Accuracy) preset, and the form of the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_reflect::prelude::Default)
)]
pub struct Advanced {
    /// Sweeps done in any case; twice as many while they keep their direction, as in structures at rest.
    pub min_sweeps: Option<usize>,
    /// Largest number of sweeps, ≥ 1.
    pub max_sweeps: Option<usize>,
    /// Contacts from which on sweeps are shared among threads; results do not depend on it.
    pub parallel_from: Option<usize>,
    /// Use the widest vector instructions of the machine; results do not depend on it. Default true.
    pub simd: Option<bool>,
    /// Cap of the momentum, in [0, 1], for the whole solve; 0 is plain Gauss–Seidel. The presets
    /// start with 0.8, pass it while sweeps keep their direction, and let several caps compete where that does
    /// not converge.
    pub momentum: Option<f64>,
    /// Factorisations of Newton for islands that sweeps leave unsolved; 0 for sweeps alone.
    pub max_factorizations: Option<usize>,
    /// How the solver holds the Delassus operator.
    pub delassus: DelassusForm,
}

/// Block products of a step with [`Accuracy::Interactive`] beside those of its sweeps: a third of a millisecond, so that forty contacts get a
/// hundred sweeps more and a thousand get four.
const FREE_PRODUCTS: usize = 4_000;
/// Block products that take as long as the narrow phase of a pair of bodies other than balls: a microsecond.
const PRODUCTS_OF_A_LOOK: usize = 100;
/// Contacts in the factorisations of such a step, counted anew in each: one to two milliseconds, so that forty contacts get forty of them. A tower whose masses
/// grow upwards needs more sweeps than any budget of these has.
const FREE_FACTORS: usize = 1_600;
/// Newton's method gets nowhere with less.
const LEAST_FACTORISATIONS: usize = 4;

/// The two forms of `W = G Ŵ Gᵀ`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum DelassusForm {
    /// Applied through the twists of the bodies, never formed: a sweep costs `O(contacts)`. The
    /// default.
    #[default]
    MatrixFree,
    /// Assembled as sparse blocks: for comparison, and for problems to be looked at. One thread.
    Stored,
}

impl Settings {
    /// The settings of the sweeps: the preset with its overrides.
    #[must_use]
    pub fn nsgs(&self) -> NsgsSettings {
        let preset = self.accuracy.solver();
        NsgsSettings {
            min_sweeps: self.advanced.min_sweeps.unwrap_or(preset.min_sweeps),
            max_sweeps: self.advanced.max_sweeps.unwrap_or(preset.max_sweeps),
            parallel_from: self.advanced.parallel_from.unwrap_or(preset.parallel_from),
            simd: self.advanced.simd.unwrap_or(preset.simd),
            momentum: self
                .advanced
                .momentum
                .map_or(preset.momentum, |cap| Momentum {
                    cap,
                    rises: false,
                    turns_after: None,
                    ..preset.momentum
                }),
            ..preset
        }
    }

    /// The solver of a step with so many contacts, and so many `looks` at pairs of bodies neither of which is a ball: by detection, and in the
    /// rounds after it. Without an override [`Accuracy::Interactive`] has a budget of block products, never of seconds: a sweep over all contacts costs
    /// one each. Few contacts get more sweeps for it, and some factorisations with as many sweeps between them, as a tower needs them. A look allows for
    /// what it costs: of a motion that is solved better fewer follow.
    #[must_use]
    pub fn auto_for(&self, contacts: usize, looks: usize) -> AutoSettings {
        let mut auto = self.auto();
        if self.has_budget_of_products() {
            auto.max_sweeps += (FREE_PRODUCTS + PRODUCTS_OF_A_LOOK * looks) / contacts.max(1);
            auto.first.max_sweeps = auto.max_sweeps;
            let few = FREE_FACTORS / contacts.max(1);
            if self.advanced.max_factorizations.is_none() && few >= LEAST_FACTORISATIONS {
                auto.max_factorizations = few;
                auto.max_sweeps += few;
            }
        }
        auto
    }

    /// Sweeps have a budget of block products.
    pub(crate) fn has_budget_of_products(&self) -> bool {
        self.accuracy == Accuracy::Interactive && self.advanced.max_sweeps.is_none()
    }

    /// The solver of the step: these sweeps, then Newton for the islands that they leave unsolved.
    #[must_use]
    pub fn auto(&self) -> AutoSettings {
        let first = self.nsgs();
        AutoSettings {
            first,
            max_sweeps: first.max_sweeps,
            max_factorizations: self
                .advanced
                .max_factorizations
                .unwrap_or_else(|| self.accuracy.max_factorizations()),
        }
    }
}
