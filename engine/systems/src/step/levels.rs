//! What goes with what: relation, law and integrator decide on what quantity a law is imposed, or that it cannot be.

use super::link::Level;
use crate::algebra::{Coefficient, Factor, Matrix, Rows};
use crate::error::FieldError;
use crate::integrator::Integrator;
use crate::law::NonsmoothLaw;
use crate::relation::degree::{Part, degree_of};
use crate::relation::first_order::FirstOrderLinearRelation;
use crate::relation::{Relation, Seen};
use crate::system::System;
use crate::system::first_order::{Dynamics, FirstOrderLinear};
use crate::system::lagrangian::LagrangianLinear;
use std::borrow::Cow;

/// The level of an interaction.
pub(crate) fn level(
    relation: &Relation,
    law: &NonsmoothLaw,
    integrators: &[Integrator],
) -> Result<Level, FieldError> {
    match relation.seen() {
        Seen::Lagrangian(seen) => {
            expect_equal(integrators)?;
            if seen.is_compliant() {
                expect_law(
                    law,
                    !law.is_impact(),
                    "a law without impacts for a compliant relation",
                )?;
            }
            match integrators.first() {
                Some(Integrator::EulerMoreau(_) | Integrator::ZeroOrderHold(_)) | None => {
                    Err(FieldError::Kind {
                        field: "relation",
                        found: "Lagrangian",
                        expected: "a first-order relation for a first-order system",
                    })
                }
                Some(Integrator::D1Minus(_)) => {
                    of_forces(law, seen.is_compliant()).map(|()| Level::Velocity)
                }
                _ if seen.is_compliant() => Ok(Level::Compliant),
                Some(Integrator::MoreauJean(_)) => of_velocity(law),
                Some(Integrator::SchatzmanPaoli(_)) => of_position(law),
            }
        }
        Seen::FirstOrder(_) => {
            expect_law(
                law,
                !law.is_impact(),
                "a law without impacts for a first-order relation",
            )?;
            of_value(integrators)
        }
    }
}

/// Impacts, equalities and relays are imposed on velocities.
fn of_velocity(law: &NonsmoothLaw) -> Result<Level, FieldError> {
    match law {
        NonsmoothLaw::Complementarity { .. } | NonsmoothLaw::MixedComplementarity { .. } => {
            Err(FieldError::RelativeDegree {
                found: 2,
                most: 1,
                reason: "a rigid Lagrangian relation needs a law for impacts, such as NewtonImpact",
            })
        }
        _ => Ok(Level::Velocity),
    }
}

/// Laws that have a force as well as an impulse, of relations that have both.
fn of_forces(law: &NonsmoothLaw, is_compliant: bool) -> Result<(), FieldError> {
    if is_compliant {
        return Err(FieldError::Kind {
            field: "relation",
            found: "compliant",
            expected: "a rigid relation under D1Minus",
        });
    }
    let fits = matches!(
        law,
        NonsmoothLaw::NewtonImpact { .. }
            | NonsmoothLaw::MultipleImpact { .. }
            | NonsmoothLaw::Equality { .. }
    );
    expect_law(
        law,
        fits,
        "NewtonImpact, MultipleImpact or Equality under D1Minus",
    )
}

/// Laws without tangents.
fn of_position(law: &NonsmoothLaw) -> Result<Level, FieldError> {
    let fits = matches!(
        law,
        NonsmoothLaw::Complementarity { .. }
            | NonsmoothLaw::MixedComplementarity { .. }
            | NonsmoothLaw::Equality { .. }
            | NonsmoothLaw::NewtonImpact { .. }
            | NonsmoothLaw::MultipleImpact { .. }
    );
    expect_law(
        law,
        fits,
        "a law of positions under SchatzmanPaoli: no friction, no relay",
    )?;
    Ok(Level::Position)
}

/// Multipliers that are functions of time: of systems whose relations hold at one point of the step and that take the multipliers of that point alone, or of systems
/// with the same integrator.
fn of_value(integrators: &[Integrator]) -> Result<Level, FieldError> {
    let gamma = |integrator: &Integrator| match integrator {
        Integrator::EulerMoreau(scheme) if scheme.remembers() => None,
        Integrator::EulerMoreau(scheme) => Some(scheme.law_at().to_bits()),
        Integrator::MoreauJean(scheme) => Some(scheme.gamma_for_relation.to_bits()),
        Integrator::ZeroOrderHold(_) => Some(1.0_f64.to_bits()),
        Integrator::SchatzmanPaoli(_) | Integrator::D1Minus(_) => None,
    };
    let first = integrators.first().and_then(gamma);
    if first.is_none() || integrators.iter().any(|other| gamma(other) != first) {
        expect_equal(integrators)?;
    }
    match integrators.first() {
        Some(Integrator::EulerMoreau(scheme)) => Ok(Level::Value {
            gamma: scheme.law_at(),
        }),
        Some(Integrator::MoreauJean(scheme)) => Ok(Level::Value {
            gamma: scheme.gamma_for_relation,
        }),
        Some(Integrator::ZeroOrderHold(_)) => Ok(Level::Value { gamma: 1.0 }),
        Some(Integrator::SchatzmanPaoli(_)) | None => Err(FieldError::Kind {
            field: "relation",
            found: "FirstOrder",
            expected: "a Lagrangian relation under SchatzmanPaoli",
        }),
        Some(Integrator::D1Minus(_)) => Err(FieldError::Kind {
            field: "relation",
            found: "FirstOrder",
            expected: "a Lagrangian relation under D1Minus",
        }),
    }
}

fn expect_law(law: &NonsmoothLaw, fits: bool, expected: &'static str) -> Result<(), FieldError> {
    if fits {
        return Ok(());
    }
    Err(FieldError::Kind {
        field: "law",
        found: law.name(),
        expected,
    })
}

fn expect_equal(integrators: &[Integrator]) -> Result<(), FieldError> {
    match integrators.windows(2).find(|pair| pair[0] != pair[1]) {
        Some(pair) => Err(FieldError::DifferentIntegrators {
            integrators: [pair[0].name(), pair[1].name()],
        }),
        None => Ok(()),
    }
}

/// The relative degree of first-order relations is at most 1, with explicit multipliers 0, where all is linear and can be seen from the matrices.
pub(crate) fn check_degree(
    relation: &Relation,
    level: Level,
    systems: &[&System],
    integrators: &[Integrator],
) -> Result<(), FieldError> {
    let (Level::Value { gamma }, Relation::FirstOrderLinear(relation)) = (level, relation) else {
        return Ok(());
    };
    let is_explicit = |integrator: &Integrator| match integrator {
        Integrator::EulerMoreau(scheme) => scheme.gamma <= 0.0,
        Integrator::MoreauJean(_)
        | Integrator::SchatzmanPaoli(_)
        | Integrator::ZeroOrderHold(_)
        | Integrator::D1Minus(_) => false,
    };
    let is_explicit = gamma <= 0.0 || integrators.iter().any(is_explicit);
    let Some(found) = degree(relation, systems) else {
        return Ok(());
    };
    if is_explicit && found > 0 {
        return Err(FieldError::RelativeDegree {
            found,
            most: 0,
            reason: "γ = 0 takes multipliers explicitly, so that the output must answer to them itself",
        });
    }
    if found <= 1 {
        return Ok(());
    }
    Err(FieldError::RelativeDegree {
        found,
        most: 1,
        reason: "multipliers of a first-order relation are functions of time, not measures",
    })
}

/// The largest relative degree of its rows, if the matrices do not vary.
fn degree(
    relation: &FirstOrderLinearRelation<Rows, Coefficient>,
    systems: &[&System],
) -> Option<usize> {
    let mut parts = Vec::new();
    for (side, system) in systems.iter().enumerate() {
        let (b, c) = (&relation.b[side], &relation.c[side]);
        parts.push(match system {
            System::FirstOrderLinear(system) => of_first_order(system, b, c)?,
            System::LagrangianLinear(system) => of_lagrangian(system, b, c)?,
            _ => return None,
        });
    }
    Some(degree_of(&mut parts, relation.d.as_ref()))
}

/// `M⁻¹A`, `M⁻¹B`, `C`.
fn of_first_order<'a>(
    system: &'a FirstOrderLinear<Coefficient>,
    b: &Coefficient,
    c: &'a Rows,
) -> Option<Part<'a>> {
    let Dynamics::Constant(a) = &system.matrix else {
        return None;
    };
    let mass = match &system.mass {
        Some(mass) => Some(Factor::of(mass)?),
        None => None,
    };
    let (state, size) = match &mass {
        Some(mass) => (mass.solve_columns_of(b), None),
        None => (b.transposed(), Some(a.norm())),
    };
    let rate = move |x: &[f64]| {
        let mut rate = vec![0.0; x.len()];
        a.add_times(1.0, x, &mut rate);
        if let Some(mass) = &mass {
            mass.solve(&mut rate);
        }
        rate
    };
    Some(Part {
        state,
        output: Cow::Borrowed(c),
        rate: Box::new(rate),
        size,
    })
}

/// The same for `x = (q, v)`.
fn of_lagrangian<'a>(
    system: &'a LagrangianLinear<Coefficient>,
    b: &Coefficient,
    c: &'a Rows,
) -> Option<Part<'a>> {
    let n = system.mass.rows();
    let mass = Factor::of(&system.mass)?;
    let answer = mass.solve_columns_of(b);
    let mut state = Matrix::zeros(answer.rows(), 2 * n);
    for row in 0..answer.rows() {
        state.row_mut(row)[n..].copy_from_slice(answer.row(row));
    }
    let rate = move |x: &[f64]| {
        let (q, v) = x.split_at(n);
        let mut force = vec![0.0; n];
        for (slope, x) in [(&system.stiffness, q), (&system.damping, v)] {
            if let Some(slope) = slope {
                slope.add_times(-1.0, x, &mut force);
            }
        }
        mass.solve(&mut force);
        [v, &force].concat()
    };
    Some(Part {
        state,
        output: Cow::Borrowed(c),
        rate: Box::new(rate),
        size: None,
    })
}
