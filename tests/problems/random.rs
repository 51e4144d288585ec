//! Seeded random problems with contacts and joints, from bodies.

use glam::{DMat3, DQuat, DVec3};
use moreau_solvers::{Delassus, StoredProblem};

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        low + (high - low) * ((z >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::from([(); 3].map(|()| self.uniform(-1.0, 1.0)))
    }

    fn pair(&mut self, bodies: usize) -> [usize; 2] {
        loop {
            let pair = [(); 2].map(|()| self.uniform(0.0, bodies as f64) as usize);
            if pair[0] != pair[1] {
                return pair;
            }
        }
    }
}

/// One row of the constraints: its two bodies, and their parts of `G`.
#[derive(Clone, Copy)]
struct Row {
    bodies: [usize; 2],
    parts: [[DVec3; 2]; 2],
}

/// How many of what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) bodies: usize,
    pub(crate) contacts: usize,
    /// Rows of each joint.
    pub(crate) joints: &'static [usize],
    /// The last row of each joint repeats its first one.
    pub(crate) redundant: bool,
}

/// Body 0 is fixed; joint `k` joins bodies `2k + 1` and `2k + 2`, contacts random ones; masses, arms and velocities are about 1 in SI units.
pub(crate) fn problem(seed: u64, recipe: Recipe) -> StoredProblem {
    let mut random = Random(seed);
    let body = |random: &mut Random, fixed: bool| {
        let inverse = [(); 2].map(|()| DVec3::splat(1.5) + random.vector());
        let inverse = if fixed { [DVec3::ZERO; 2] } else { inverse };
        let speed = if fixed { 0.0 } else { 1.0 };
        (inverse, [random.vector() * speed, random.vector() * speed])
    };
    let bodies: Vec<_> = (0..recipe.bodies)
        .map(|j| body(&mut random, j == 0))
        .collect();
    // Three rows a block; none for what fills up a joint.
    let mut rows: Vec<Option<Row>> = Vec::new();
    let mut offsets = Vec::new();
    for _ in 0..recipe.contacts {
        let [x, y, z, w] = [(); 4].map(|()| random.uniform(-1.0, 1.0));
        let frame = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize());
        let (pair, arms) = (
            random.pair(recipe.bodies),
            [random.vector(), random.vector()],
        );
        for axis in [frame.x_axis, frame.y_axis, frame.z_axis] {
            let parts = [[axis, arms[0].cross(axis)], [-axis, -arms[1].cross(axis)]];
            rows.push(Some(Row {
                bodies: pair,
                parts,
            }));
        }
        offsets.push(DVec3::X * random.uniform(-0.5, 0.1));
    }
    for (joint, count) in recipe.joints.iter().enumerate() {
        let pair = [2 * joint + 1, 2 * joint + 2];
        let first = rows.len();
        for row in 0..count.div_ceil(3) * 3 {
            let repeated = recipe.redundant && row > 0 && row + 1 == *count;
            rows.push(match row {
                _ if row >= *count => None,
                _ if repeated => rows[first],
                _ => Some(Row {
                    bodies: pair,
                    parts: [(); 2].map(|()| [random.vector(), random.vector()]),
                }),
            });
        }
        offsets.extend(vec![DVec3::ZERO; count.div_ceil(3)]);
    }
    let blocks = rows.len() / 3;
    let entry = |i: usize, j: usize| match (&rows[i], &rows[j]) {
        (Some(a), Some(b)) => coupling(a, b, |body| bodies[body].0),
        _ => f64::from(u8::from(i == j)),
    };
    let block = |i: usize, j: usize| {
        let column = |c: usize| DVec3::from([0, 1, 2].map(|r| entry(3 * i + r, 3 * j + c)));
        DMat3::from_cols(column(0), column(1), column(2))
    };
    let delassus = (0..blocks).map(|i| {
        let row = (0..blocks).map(|j| (j as u32, block(i, j)));
        row.filter(|(_, block)| *block != DMat3::ZERO).collect()
    });
    let free = |i: usize| {
        let row = rows[i].as_ref();
        row.map_or(0.0, |row| {
            let of = |side: usize| {
                let [v, w] = bodies[row.bodies[side]].1;
                row.parts[side][0].dot(v) + row.parts[side][1].dot(w)
            };
            of(0) + of(1)
        })
    };
    StoredProblem {
        delassus: Delassus::from_rows(delassus.collect()),
        free_velocity: (0..blocks)
            .map(|b| DVec3::from([0, 1, 2].map(|r| free(3 * b + r))) + offsets[b])
            .collect(),
        friction: (0..recipe.contacts)
            .map(|_| random.uniform(0.0, 0.7))
            .collect(),
        joints: recipe.joints.iter().map(|m| m.div_ceil(3)).collect(),
    }
}

/// One entry of `W`.
fn coupling(a: &Row, b: &Row, inverse: impl Fn(usize) -> [DVec3; 2]) -> f64 {
    let mut sum = 0.0;
    for (body_a, part_a) in a.bodies.iter().zip(&a.parts) {
        for (body_b, part_b) in b.bodies.iter().zip(&b.parts) {
            if body_a == body_b {
                let [m, i] = inverse(*body_a);
                sum += (part_a[0] * m).dot(part_b[0]) + (part_a[1] * i).dot(part_b[1]);
            }
        }
    }
    sum
}
