//! The solvers under test.

use moreau_solvers::{
    Admm, AlartCurnierNewton, Anderson, Auto, ClassicalNsgs, ClassicalSettings, ConeMap,
    LocalSolver, Momentum, Nncg, Nsgs, NsgsSettings, ProximalNewton, ProximalNewtonSettings,
    Solver,
};

/// Every solver with its name. A new one is one more line.
pub(crate) fn all() -> Vec<(&'static str, Box<dyn Solver>)> {
    vec![
        ("nsgs", Box::new(nsgs(Momentum::NONE))),
        ("nsgs-capped", Box::new(nsgs(Momentum::CAPPED))),
        ("nsgs-nesterov", Box::new(nsgs(Momentum::NESTEROV))),
        (
            "nsgs-projection",
            Box::new(local(LocalSolver::Projection(Default::default()))),
        ),
        (
            "nsgs-alart-curnier",
            Box::new(local(LocalSolver::AlartCurnier(Default::default()))),
        ),
        ("nsgs-quartic", Box::new(local(LocalSolver::Quartic))),
        ("nncg", Box::new(Nncg::default())),
        ("anderson", Box::new(Anderson::default())),
        ("proximal-newton", Box::new(proximal(ConeMap::AlartCurnier))),
        ("proximal-newton-cone", Box::new(proximal(ConeMap::Cone))),
        (
            "alart-curnier-newton",
            Box::new(AlartCurnierNewton::default()),
        ),
        ("admm", Box::new(Admm::default())),
        ("auto", Box::new(Auto::default())),
    ]
}

fn sweeps(momentum: Momentum) -> NsgsSettings {
    NsgsSettings {
        momentum,
        max_sweeps: 50_000,
        ..NsgsSettings::default()
    }
}

fn nsgs(momentum: Momentum) -> Nsgs {
    Nsgs::new(sweeps(momentum))
}

fn local(local: LocalSolver) -> ClassicalNsgs {
    ClassicalNsgs::new(ClassicalSettings {
        sweeps: sweeps(Momentum::default()),
        local,
        ..ClassicalSettings::default()
    })
}

fn proximal(map: ConeMap) -> ProximalNewton {
    ProximalNewton::new(ProximalNewtonSettings {
        map,
        ..ProximalNewtonSettings::default()
    })
}
