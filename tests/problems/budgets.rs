//! Every solver of [`crate::solvers`] with a budget of its own kind.

use moreau_solvers::{
    Admm, AdmmSettings, AlartCurnierNewton, AlartCurnierNewtonSettings, Anderson, AndersonSettings,
    Auto, AutoSettings, ClassicalNsgs, ClassicalSettings, ConeMap, LocalSolver, Momentum, Nncg,
    NncgSettings, Nsgs, NsgsSettings, ProximalNewton, ProximalNewtonSettings, Solver,
};

/// At most `budget` sweeps, iterations or factorisations each.
pub(crate) fn budgeted(budget: usize) -> Vec<(&'static str, Box<dyn Solver>)> {
    let sweeps = |momentum| NsgsSettings {
        momentum,
        max_sweeps: budget,
        ..NsgsSettings::default()
    };
    let nsgs = |momentum| Box::new(Nsgs::new(sweeps(momentum)));
    let classical = |local| {
        Box::new(ClassicalNsgs::new(ClassicalSettings {
            sweeps: sweeps(Momentum::NONE),
            local,
            ..ClassicalSettings::default()
        }))
    };
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
        ("nsgs", nsgs(Momentum::NONE)),
        ("nsgs-capped", nsgs(Momentum::CAPPED)),
        ("nsgs-nesterov", nsgs(Momentum::NESTEROV)),
        (
            "nsgs-projection",
            classical(LocalSolver::Projection(Default::default())),
        ),
        (
            "nsgs-alart-curnier",
            classical(LocalSolver::AlartCurnier(Default::default())),
        ),
        ("nsgs-quartic", classical(LocalSolver::Quartic)),
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
