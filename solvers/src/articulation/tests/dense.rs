//! The reference: all rows dense, motions of least energy by enumeration of which rows are closed.
//!
//! Without friction the twists minimise ½ (v − v_free)ᵀ M (v − v_free) + ½ λᵀCλ under linear conditions: they are unique. The
//! reference tries every set of closed rows, solves the equations of each by Gauss elimination with complete pivots, and
//! keeps the one whose impulses and velocities have the right signs.

use super::machines::{self, Machine};
use super::solved;
use crate::random::Random;
use crate::{Law, WorldTwist};
use glam::DVec3;

/// One row of the definition: factors of all twists, offset, compliance, bounds.
struct Row {
    factors: Vec<f64>,
    offset: f64,
    compliance: f64,
    bounds: [f64; 2],
}

fn rows(machine: &Machine) -> Vec<Row> {
    let n = 6 * machine.at.len();
    let mut rows = Vec::new();
    for contact in &machine.contacts {
        assert!(contact.friction <= 0.0, "no friction here");
        let normal = contact.frame.x_axis;
        let mut factors = vec![0.0; n];
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let moment = contact.arms[side].cross(normal);
            for k in 0..3 {
                factors[6 * contact.bodies[side] as usize + k] += sign * normal[k];
                factors[6 * contact.bodies[side] as usize + 3 + k] += sign * moment[k];
            }
        }
        rows.push(Row {
            factors,
            offset: contact.offset.x,
            compliance: 0.0,
            bounds: [0.0, f64::INFINITY],
        });
    }
    for other in &machine.interactions {
        for row in 0..other.law.rows() {
            let mut factors = vec![0.0; n];
            for (side, body) in other.bodies.iter().enumerate() {
                for k in 0..6 {
                    factors[6 * *body as usize + k] += other.rows[row][6 * side + k];
                }
            }
            let bounds = match other.law {
                Law::Equality(_) => [f64::NEG_INFINITY, f64::INFINITY],
                Law::Interval(law) => [law.low, law.high],
                _ => [0.0, f64::INFINITY],
            };
            rows.push(Row {
                factors,
                offset: other.offset[row],
                compliance: other.compliance[row],
                bounds,
            });
        }
    }
    rows
}

/// `M⁻¹ x`.
fn push(machine: &Machine, x: &[f64]) -> Vec<f64> {
    let bodies = machine.inverse_mass.iter().zip(x.chunks(6));
    bodies
        .flat_map(|(mass, x)| {
            let v = DVec3::from_slice(&x[..3]) * mass.linear;
            let w = mass.angular * DVec3::from_slice(&x[3..]);
            [v.x, v.y, v.z, w.x, w.y, w.z]
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves `A x = b` with complete pivots; pivots below 1e-11 of the largest are dropped. Rows are scaled first.
fn gauss(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    let scale: Vec<f64> = (0..n).map(|i| 1.0 / a[i][i].max(1e-300).sqrt()).collect();
    for i in 0..n {
        for j in 0..n {
            a[i][j] *= scale[i] * scale[j];
        }
        b[i] *= scale[i];
    }
    let mut columns: Vec<usize> = (0..n).collect();
    let mut rank = n;
    for k in 0..n {
        let (mut row, mut column) = (k, k);
        for i in k..n {
            for j in k..n {
                if a[i][j].abs() > a[row][column].abs() {
                    (row, column) = (i, j);
                }
            }
        }
        if a[row][column].abs() < 1e-11 {
            rank = k;
            break;
        }
        a.swap(k, row);
        b.swap(k, row);
        a.iter_mut().for_each(|row| row.swap(k, column));
        columns.swap(k, column);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let pivots = a[k].clone();
            for (entry, pivot) in a[i].iter_mut().zip(&pivots).skip(k) {
                *entry -= factor * pivot;
            }
            b[i] -= factor * b[k];
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..rank).rev() {
        let sum: f64 = (k + 1..rank).map(|j| a[k][j] * x[columns[j]]).sum();
        x[columns[k]] = (b[k] - sum) / a[k][k];
    }
    x.iter().zip(&scale).map(|(x, s)| x * s).collect()
}

/// The twists of the reference, all six numbers of all bodies.
pub(super) fn reference(machine: &Machine) -> Option<Vec<f64>> {
    let rows = rows(machine);
    let free: Vec<f64> = machine
        .free_twist
        .iter()
        .flat_map(|t| [t.linear.to_array(), t.angular.to_array()].concat())
        .collect();
    let pushes: Vec<Vec<f64>> = rows.iter().map(|row| push(machine, &row.factors)).collect();
    let bounded: Vec<usize> = (0..rows.len())
        .filter(|k| rows[*k].bounds.iter().any(|bound| bound.is_finite()))
        .collect();
    // States of bounded rows: at the lower bound, moving within, at the upper bound.
    let mut states = vec![0; bounded.len()];
    loop {
        let mut fixed = vec![None; rows.len()];
        let mut possible = true;
        for (state, k) in states.iter().zip(&bounded) {
            let bound = match state {
                0 => Some(rows[*k].bounds[0]),
                1 => None,
                _ => Some(rows[*k].bounds[1]),
            };
            possible &= bound.is_none_or(f64::is_finite);
            fixed[*k] = bound;
        }
        if possible {
            let open: Vec<usize> = (0..rows.len()).filter(|k| fixed[*k].is_none()).collect();
            let mut start = free.clone();
            for (k, r) in fixed.iter().enumerate() {
                if let Some(r) = r {
                    start
                        .iter_mut()
                        .zip(&pushes[k])
                        .for_each(|(v, p)| *v += p * r);
                }
            }
            let of = |i: &usize, j: &usize| {
                dot(&rows[*i].factors, &pushes[*j]) + if i == j { rows[*i].compliance } else { 0.0 }
            };
            let a = open
                .iter()
                .map(|i| open.iter().map(|j| of(i, j)).collect())
                .collect();
            let b = open
                .iter()
                .map(|i| -dot(&rows[*i].factors, &start) - rows[*i].offset)
                .collect();
            let x = gauss(a, b);
            for (k, r) in open.iter().zip(&x) {
                start
                    .iter_mut()
                    .zip(&pushes[*k])
                    .for_each(|(v, p)| *v += p * r);
            }
            let left = |k: usize, r: f64| {
                dot(&rows[k].factors, &start) + rows[k].offset + rows[k].compliance * r
            };
            let holds = (0..rows.len()).all(|k| match fixed[k] {
                Some(r) => {
                    let w = left(k, r);
                    (r > rows[k].bounds[0] || w >= -1e-9) && (r < rows[k].bounds[1] || w <= 1e-9)
                }
                None => {
                    let place = open.iter().position(|open| *open == k);
                    let r = place.map_or(0.0, |place| x[place]);
                    left(k, r).abs() <= 1e-7
                        && r >= rows[k].bounds[0] - 1e-9
                        && r <= rows[k].bounds[1] + 1e-9
                }
            });
            if holds {
                return Some(start);
            }
        }
        let mut next = 0;
        loop {
            let state = states.get_mut(next)?;
            *state += 1;
            if *state < 3 {
                break;
            }
            *state = 0;
            next += 1;
        }
    }
}

/// Largest difference of twists, over the largest entry.
fn difference(twist: &[WorldTwist], reference: &[f64]) -> f64 {
    let size = reference.iter().fold(1.0_f64, |size, v| size.max(v.abs()));
    let own = twist
        .iter()
        .flat_map(|t| [t.linear.to_array(), t.angular.to_array()].concat());
    own.zip(reference)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
        / size
}

/// Trees, loops and doubled joints: the twists are those of the reference. Its own rounding, with dropped pivots, is some 1e-11.
#[test]
fn joints_alone_move_as_the_dense_reference() {
    for seed in 0..60 {
        let bodies = 2 + seed as usize % 9;
        let machine = machines::random(seed, bodies, [seed as usize % 3, seed as usize % 4], 1.0);
        let (report, _, twist) = solved(&machine, 1e-8);
        assert!(report.converged(), "{seed}: {report:?}");
        assert!(
            report.residual.constraint_velocity <= 1e-10,
            "{seed}: {report:?}"
        );
        let reference = reference(&machine).unwrap();
        let difference = difference(&twist, &reference);
        assert!(difference <= 1e-8, "{seed}: {difference:e}");
    }
}

/// The same with frictionless contacts, limits and motors of bounded effort, some soft.
#[test]
fn bounded_rows_move_as_the_dense_reference() {
    for seed in 0..60 {
        let mut random = Random::new(seed + 500);
        let bodies = 3 + seed as usize % 5;
        let mut machine =
            machines::random(seed, bodies, [seed as usize % 2, seed as usize % 3], 1.0);
        let other = machine.body(random.vector() * 2.0, 1.0, DVec3::splat(0.1));
        machine.free_twist[other as usize].linear += random.vector();
        for _ in 0..2 {
            let body = random.below(bodies) as u32 + 1;
            let normal = random.vector().normalize();
            machine.touch([other, body], random.vector() * 2.0, normal, 0.0);
            machine.touch([body, 0], random.vector() * 2.0, normal, 0.0);
        }
        for k in 0..3 {
            let b = 1 + random.below(bodies) as u32;
            let law = if k == 0 {
                Law::Complementarity
            } else {
                Law::interval(-random.uniform(0.01, 0.5), random.uniform(0.01, 0.5))
            };
            let soft = [0.0, 0.1][random.below(2)];
            let axis = random.vector().normalize();
            machine.about([b, 0], axis, law, random.uniform(-1.0, 1.0), soft);
        }
        let Some(reference) = reference(&machine) else {
            continue;
        };
        let (report, _, twist) = solved(&machine, 1e-10);
        assert!(report.converged(), "{seed}: {report:?}");
        assert!(
            report.residual.constraint_velocity <= 1e-10,
            "{seed}: {report:?}"
        );
        let difference = difference(&twist, &reference);
        let left = report.residual.worst_velocity;
        assert!(
            difference <= 1e-7 + 100.0 * left,
            "{seed}: {difference:e} {report:?}"
        );
    }
}
