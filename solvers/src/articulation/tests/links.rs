//! Rows on more than two bodies, as interactions that are linked.

use crate::problem::{FactoredProblem, Interaction, InverseMass, WorldTwist};
use crate::random::Random;
use crate::{Auto, Goal, Law, natural_map};
use glam::{DMat3, DVec3};

fn piece(bodies: [u32; 2], random: &mut Random, linked: bool) -> Interaction {
    let mut piece = Interaction::new(bodies, Law::equality(1));
    for entry in &mut piece.rows[0] {
        *entry = random.uniform(-1.0, 1.0);
    }
    piece.offset[0] = random.uniform(-1.0, 1.0);
    piece.linked = linked;
    piece
}

/// `λ = −(J v_free + d)/(J M⁻¹Jᵀ)` of one row over two to five bodies, some of them shared by its parts, one of them fixed.
#[test]
fn a_row_on_many_bodies_has_one_multiplier() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut vector = |scale: f64| {
            let mut number = || random.uniform(-scale, scale);
            DVec3::new(number(), number(), number())
        };
        let mut masses = vec![InverseMass::FIXED];
        let mut free = vec![WorldTwist::default()];
        for _ in 0..5 {
            masses.push(InverseMass {
                linear: 1.0 + vector(0.9).x,
                angular: DMat3::from_diagonal(DVec3::splat(2.0) + vector(1.5)),
            });
            free.push(WorldTwist {
                linear: vector(1.0),
                angular: vector(1.0),
            });
        }
        let pairs: &[[u32; 2]] = match seed % 4 {
            0 => &[[1, 2], [3, 4]],
            1 => &[[1, 2], [1, 3]],
            2 => &[[0, 1], [2, 0]],
            _ => &[[1, 2], [2, 3], [4, 5]],
        };
        let mut rows: Vec<Interaction> = Vec::new();
        for (k, pair) in pairs.iter().enumerate() {
            rows.push(piece(*pair, &mut random, k > 0));
        }
        // A joint beside it, so that blocks are coupled.
        let mut beside = Interaction::new([2, 5], Law::equality(3));
        for k in 0..3 {
            beside.rows[k][k] = -1.0;
            beside.rows[k][6 + k] = 1.0;
        }
        if seed % 2 == 1 {
            rows.push(beside);
        } else {
            rows.insert(0, beside);
        }
        let problem = FactoredProblem {
            inverse_mass: &masses,
            free_twist: &free,
            contacts: &[],
            interactions: &rows,
            positions: &[],
            pull: &[],
        };
        let mut impulse = vec![0.0; problem.rows()];
        let mut twist = Vec::new();
        let goal = Goal::scaled(1e-10);
        let report = Auto::default()
            .solve_factored(&problem, &mut impulse, &mut twist, &goal)
            .unwrap();
        assert!(report.converged(), "{seed}: {report:?}");
        assert!(report.residual.constraint_velocity < 1e-12, "{seed}");
        let links: Vec<f64> = {
            let mut begin = 0;
            let mut own = Vec::new();
            for row in &rows {
                if row.law.rows() == 1 {
                    own.push(impulse[begin]);
                }
                begin += row.law.rows();
            }
            own
        };
        assert!(
            links.iter().all(|r| r.to_bits() == links[0].to_bits()),
            "{links:?}"
        );
        // By hand: the row's velocity under what is returned.
        let parts = rows.iter().filter(|row| row.law.rows() == 1);
        let u: f64 = parts
            .map(|row| row.velocity(&row.bodies.map(|j| twist[j as usize]))[0].x)
            .sum();
        assert!(u.abs() < 1e-12, "{seed}: {u}");
        // In stored form the first of them has the row.
        let mut stored = impulse.clone();
        let mut begin = 0;
        for row in &rows {
            if row.linked {
                stored[begin] = 0.0;
            }
            begin += row.law.rows();
        }
        let residual = natural_map::stored(&problem.assemble(), &stored);
        assert!(residual.constraint < 1e-12, "{seed}: {residual:?}");
        problem.spread_links(&mut stored);
        assert_eq!(stored, impulse);
        // An impulse that differs among them is no solution.
        let last = rows.iter().rposition(|row| row.linked).unwrap();
        let place: usize = rows[..last].iter().map(|row| row.law.rows()).sum();
        stored[place] += 0.1;
        let judged = natural_map::factored(&problem, &stored, &mut twist);
        assert!(judged.constraint > 1e-3, "{seed}: {judged:?}");
        assert!(
            crate::Nsgs::default()
                .solve_factored(&problem, &mut impulse, &mut twist, &goal)
                .is_err()
        );
    }
}
