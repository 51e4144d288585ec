//! Rows may be packed in any way: what is solved is `A x = b`.

use super::*;
use crate::random::Random;
use glam::{DMat3, DVec3};

fn mass(random: &mut Random) -> InverseMass {
    let axes = random.rotation();
    let moments = DMat3::from_diagonal(DVec3::new(0.5, 1.0, 2.0));
    InverseMass {
        linear: random.uniform(0.5, 2.0),
        angular: axes * moments * axes.transpose(),
    }
}

fn block(random: &mut Random, bodies: [Option<u32>; 2], count: usize) -> JointBlock {
    let mut block = JointBlock {
        bodies,
        count,
        ..JointBlock::default()
    };
    for row in &mut block.rows[..count] {
        for (side, body) in bodies.iter().enumerate() {
            for entry in &mut row[6 * side..6 * side + 6] {
                *entry = if body.is_some() {
                    random.uniform(-1.0, 1.0)
                } else {
                    0.0
                };
            }
        }
    }
    block.compliance[count - 1] = random.uniform(0.0, 0.1);
    block
}

/// What a row takes of a body.
fn lever(blocks: &[JointBlock], links: &[JointLink], at: [usize; 2], body: u32) -> [f64; 6] {
    let [index, row] = at;
    let mut sum = [0.0; 6];
    let block = &blocks[index];
    for side in (0..2).filter(|side| block.bodies[*side] == Some(body)) {
        for (sum, entry) in sum.iter_mut().zip(&block.rows[row][6 * side..]) {
            *sum += entry;
        }
    }
    for link in links {
        if link.block as usize == index && link.body == body {
            for (sum, entry) in sum.iter_mut().zip(&link.row) {
                *sum += entry;
            }
        }
    }
    sum
}

/// `A x`, by the definition.
fn product(
    (masses, blocks, links): (&[InverseMass], &[JointBlock], &[JointLink]),
    x: &[[f64; 6]],
) -> Vec<[f64; 6]> {
    let rows = |index: usize| (0..blocks[index].count).map(move |row| [index, row]);
    let mut y: Vec<[f64; 6]> = vec![[0.0; 6]; blocks.len()];
    for (body, mass) in (0..).zip(masses) {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for at in (0..blocks.len()).flat_map(rows) {
            let lever = lever(blocks, links, at, body);
            linear += DVec3::from_slice(&lever) * x[at[0]][at[1]];
            angular += DVec3::from_slice(&lever[3..]) * x[at[0]][at[1]];
        }
        let (linear, angular) = (linear * mass.linear, mass.angular * angular);
        for at in (0..blocks.len()).flat_map(rows) {
            let lever = lever(blocks, links, at, body);
            y[at[0]][at[1]] +=
                DVec3::from_slice(&lever).dot(linear) + DVec3::from_slice(&lever[3..]).dot(angular);
        }
    }
    for at in (0..blocks.len()).flat_map(rows) {
        y[at[0]][at[1]] += blocks[at[0]].compliance[at[1]] * x[at[0]][at[1]];
    }
    y
}

/// A chain of four bodies with motors, and a row on three of them.
fn chain(random: &mut Random, most: usize) -> (Vec<JointBlock>, Vec<JointLink>) {
    let blocks = vec![
        block(random, [None, Some(0)], most),
        block(random, [Some(0), Some(1)], most - 1),
        block(random, [Some(1), Some(0)], 1),
        block(random, [Some(2), Some(1)], most - 2),
        block(random, [Some(1), Some(2)], 1),
        block(random, [Some(1), Some(2)], 1),
        block(random, [Some(0), Some(1)], 1),
        block(random, [Some(3), None], 1),
        block(random, [Some(0), Some(2)], 1),
    ];
    let row = [0.3, -0.2, 0.5, 0.1, -0.4, 0.6];
    let links = vec![JointLink {
        block: 8,
        body: 3,
        row,
    }];
    (blocks, links)
}

/// The tolerance: `ε` of 1e-12 of the diagonal on a matrix whose condition is some thousands.
#[test]
fn rows_that_share_a_block_are_solved_as_the_matrix_says() {
    let mut random = Random::new(5);
    for most in [3, 6] {
        for _ in 0..20 {
            let masses: Vec<InverseMass> = (0..4).map(|_| mass(&mut random)).collect();
            let (blocks, links) = chain(&mut random, most);
            let mut right = vec![[0.0; 6]; blocks.len()];
            for (right, block) in right.iter_mut().zip(&blocks) {
                for entry in &mut right[..block.count] {
                    *entry = random.uniform(-1.0, 1.0);
                }
            }
            let mut factor = JointFactor::default();
            assert!(factor.factorize_linked(&masses, &blocks, &links));
            assert_eq!(factor.packing.small, most == 3);
            // Three share the block of another.
            assert_eq!(factor.packing.graph.ends.len(), 6);
            let mut x = right.clone();
            factor.solve(&mut x);
            let made = product((&masses, &blocks, &links), &x);
            let size = x
                .iter()
                .flatten()
                .fold(1.0, |size: f64, x| size.max(x.abs()));
            for (made, right) in made.iter().flatten().zip(right.iter().flatten()) {
                assert!((made - right).abs() < 1e-8 * size, "{made} for {right}");
            }
            for (x, block) in x.iter().zip(&blocks) {
                assert!(x[block.count..].iter().all(|x| *x == 0.0));
            }
        }
    }
}

/// A factor that is kept is that of a new one, to the last bit, and one of other rows is another.
#[test]
fn a_factor_that_is_kept_has_the_bits_of_a_new_one() {
    let mut random = Random::new(9);
    let masses: Vec<InverseMass> = (0..4).map(|_| mass(&mut random)).collect();
    let given = [6, 6, 3].map(|most| chain(&mut random, most));
    let solved = |factor: &mut JointFactor, (blocks, links): &(Vec<JointBlock>, Vec<JointLink>)| {
        assert!(factor.factorize_linked(&masses, blocks, links));
        let mut x: Vec<[f64; 6]> = vec![[0.0; 6]; blocks.len()];
        for (x, block) in x.iter_mut().zip(blocks) {
            x[..block.count].fill(1.0);
        }
        factor.solve(&mut x);
        let bits = x.iter().flatten().map(|x| x.to_bits());
        bits.collect::<Vec<u64>>()
    };
    let mut kept = JointFactor::default();
    for index in [0, 0, 1, 0, 2, 2, 1] {
        let new = solved(&mut JointFactor::default(), &given[index]);
        assert_eq!(solved(&mut kept, &given[index]), new, "{index}");
    }
}
