//! The integrators that a comparison runs.

use moreau_systems::{EulerMoreau, Integrator, Metric, Projection, Settings};

/// An integrator with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Name to ask for it by.
    pub id: &'static str,
    /// Name in the table.
    pub name: &'static str,
    /// The scheme; `None` is event-driven integration.
    pub scheme: Option<Integrator>,
    /// Correction of positions.
    pub projection: Projection,
}

/// Overlap that a projection leaves, m.
const TOLERANCE: f64 = 1e-10;
const MAX_ITERATIONS: usize = 20;

impl Default for Method {
    /// Event-driven integration.
    fn default() -> Self {
        Self {
            id: "event-driven",
            name: "event-driven",
            scheme: None,
            projection: Projection::None,
        }
    }
}

impl Method {
    /// All of them, in the order of the table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let plain = |[id, name]: [&'static str; 2], scheme| Self {
            id,
            name,
            scheme: Some(scheme),
            projection: Projection::None,
        };
        let projected = |[id, name]: [&'static str; 2], projection| Self {
            id,
            name,
            scheme: Some(Integrator::moreau_jean(0.5)),
            projection,
        };
        let full = Integrator::EulerMoreau(EulerMoreau {
            gamma: 0.5,
            gamma_for_relation: true,
            ..EulerMoreau::default()
        });
        vec![
            plain(
                ["moreau-jean", "moreau-jean θ=½"],
                Integrator::moreau_jean(0.5),
            ),
            plain(
                ["moreau-jean-1", "moreau-jean θ=1"],
                Integrator::moreau_jean(1.0),
            ),
            projected(
                ["moreau-jean-direct", "moreau-jean direct"],
                Projection::Direct {
                    tolerance: TOLERANCE,
                    max_iterations: MAX_ITERATIONS,
                    metric: Metric::Mass,
                },
            ),
            projected(
                ["moreau-jean-combined", "moreau-jean combined"],
                Projection::Combined {
                    tolerance: TOLERANCE,
                    max_iterations: MAX_ITERATIONS,
                    metric: Metric::Mass,
                },
            ),
            plain(
                ["schatzman-paoli", "schatzman-paoli"],
                Integrator::schatzman_paoli(),
            ),
            plain(["d1-minus", "d1-minus"], Integrator::d1_minus()),
            plain(
                ["euler-moreau", "euler-moreau θ=½"],
                Integrator::euler_moreau(0.5),
            ),
            plain(
                ["euler-moreau-1", "euler-moreau θ=1"],
                Integrator::euler_moreau(1.0),
            ),
            plain(["euler-moreau-full", "euler-moreau θ=γ=½"], full),
            plain(
                ["zero-order-hold", "zero-order-hold"],
                Integrator::zero_order_hold(),
            ),
            Self::default(),
        ]
    }

    /// The one with this [`id`](Self::id).
    ///
    /// ```
    /// use moreau_demos::systems::method::Method;
    /// assert!(Method::find("schatzman-paoli").is_some() && Method::find("newmark").is_none());
    /// ```
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|method| method.id == id)
    }

    /// True if it takes systems of first order.
    #[must_use]
    pub fn is_first_order(&self) -> bool {
        matches!(
            self.scheme,
            Some(Integrator::EulerMoreau(_) | Integrator::ZeroOrderHold(_))
        )
    }

    /// The component of Lagrangian systems. Event-driven integration does not look at it.
    #[must_use]
    pub fn integrator(&self) -> Integrator {
        self.scheme.unwrap_or(Integrator::moreau_jean(0.5))
    }

    /// The component of systems of first order. Event-driven integration does not look at it.
    #[must_use]
    pub fn integrator_of_first_order(&self) -> Integrator {
        self.scheme.unwrap_or(Integrator::euler_moreau(0.5))
    }

    /// Settings of a simulation with steps of `h`, s.
    #[must_use]
    pub fn settings(&self, h: f64) -> Settings {
        Settings {
            projection: self.projection,
            ..Settings::new(h)
        }
    }
}
