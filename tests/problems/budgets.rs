//! Every solver of [`crate::solvers`] with a budget of its own kind.

use moreau_solvers::{
    Admm, AdmmSettings, AlartCurnierNewton, AlartCurnierNewtonSettings, Anderson, AndersonSettings,
    Auto, AutoSettings, ConeMap, LocalSolver, Momentum, Nncg, NncgSettings, Nsgs, NsgsSettings,
    ProximalNewton, ProximalNewtonSettings, Solver,
};

/// At most `budget` sweeps, iterations or factorisations each.
pub(crate) fn budgeted(budget: usize) -> Vec<(&'static str, Box<dyn Solver>)> {
    let nsgs = |momentum, local| {
        Box::new(Nsgs::new(NsgsSettings {
            momentum,
            local,
            max_sweeps: budget,
            ..NsgsSettings::default()
        }))
    };
    let (none, exact) = (Momentum::NONE, LocalSolver::Exact);
    let proximal = |map| {
        Box::new(ProximalNewton::new(ProximalNewtonSettings {
            map,
            first_sweeps: budget,
            max_factorizations: budget,
            ..ProximalNewtonSettings::default()
        }))
    };
    let auto = AutoSettings::default();
    vec![
        ("nsgs", nsgs(none, exact)),
        ("nsgs-capped", nsgs(Momentum::CAPPED, exact)),
        ("nsgs-nesterov", nsgs(Momentum::NESTEROV, exact)),
        (
            "nsgs-projection",
            nsgs(none, LocalSolver::Projection(Default::default())),
        ),
        (
            "nsgs-alart-curnier",
            nsgs(none, LocalSolver::AlartCurnier(Default::default())),
        ),
        ("nsgs-quartic", nsgs(none, LocalSolver::Quartic)),
        (
            "nncg",
            Box::new(Nncg::new(NncgSettings {
                max_iterations: budget,
                ..NncgSettings::default()
            })),
        ),
        (
            "anderson",
            Box::new(Anderson::new(AndersonSettings {
                max_iterations: budget,
                ..AndersonSettings::default()
            })),
        ),
        ("proximal-newton", proximal(ConeMap::AlartCurnier)),
        ("proximal-newton-cone", proximal(ConeMap::Cone)),
        (
            "alart-curnier-newton",
            Box::new(AlartCurnierNewton::new(AlartCurnierNewtonSettings {
                first_sweeps: budget,
                max_factorizations: budget,
                ..AlartCurnierNewtonSettings::default()
            })),
        ),
        (
            "admm",
            Box::new(Admm::new(AdmmSettings {
                max_iterations: budget,
                ..AdmmSettings::default()
            })),
        ),
        (
            "auto",
            Box::new(Auto::new(AutoSettings {
                first: NsgsSettings {
                    max_sweeps: budget,
                    ..auto.first
                },
                max_sweeps: 2 * budget,
                max_factorizations: budget,
            })),
        ),
    ]
}
