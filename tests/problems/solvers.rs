//! The solvers under test.

use moreau_solvers::{Admm, AdmmSettings, Momentum, Nsgs, NsgsSettings, Solver};

/// Every solver with its name. A new one is one more line.
pub(crate) fn all() -> Vec<(&'static str, Box<dyn Solver>)> {
    vec![
        ("nsgs", Box::new(nsgs(Momentum::NONE))),
        ("nsgs-capped", Box::new(nsgs(Momentum::CAPPED))),
        ("nsgs-nesterov", Box::new(nsgs(Momentum::NESTEROV))),
        ("admm", Box::new(Admm::new(AdmmSettings::default()))),
    ]
}

/// Solvers that say why there is no solution; the others need not converge.
pub(crate) fn classifies(name: &str) -> bool {
    name == "admm"
}

fn nsgs(momentum: Momentum) -> Nsgs {
    Nsgs::new(NsgsSettings {
        momentum,
        max_sweeps: 50_000,
        ..NsgsSettings::default()
    })
}
