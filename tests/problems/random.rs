//! Seeded random problems with contacts and joints between them, from bodies.

use glam::{DMat3, DQuat, DVec3};
use moreau_solvers::{Law, SparseMatrix, StoredProblem};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
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

/// One row: its two bodies, their parts of `G`, and its offset.
#[derive(Clone, Copy)]
struct Row {
    bodies: [usize; 2],
    parts: [[DVec3; 2]; 2],
    /// Restitution or gap over the time step.
    offset: f64,
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

/// Body 0 is fixed; joint `k` joins bodies `2k + 1` and `2k + 2`, contacts random ones; masses, arms and velocities are about 1 in SI
/// units. Joint `k` follows contact `2k + 1`.
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
    let mut contacts = Vec::new();
    for _ in 0..recipe.contacts {
        let [x, y, z, w] = [(); 4].map(|()| random.uniform(-1.0, 1.0));
        let frame = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize());
        let (pair, arms) = (
            random.pair(recipe.bodies),
            [random.vector(), random.vector()],
        );
        let rows = [frame.x_axis, frame.y_axis, frame.z_axis].map(|axis| Row {
            bodies: pair,
            parts: [[axis, arms[0].cross(axis)], [-axis, -arms[1].cross(axis)]],
            offset: 0.0,
        });
        let mut rows = rows.to_vec();
        rows[0].offset = random.uniform(-0.5, 0.1);
        contacts.push(rows);
    }
    let mut joints = Vec::new();
    for (joint, count) in recipe.joints.iter().enumerate() {
        let mut rows: Vec<Row> = Vec::new();
        for row in 0..*count {
            let repeated = recipe.redundant && row > 0 && row + 1 == *count;
            rows.push(if repeated {
                rows[0]
            } else {
                Row {
                    bodies: [2 * joint + 1, 2 * joint + 2],
                    parts: [(); 2].map(|()| [random.vector(), random.vector()]),
                    offset: 0.0,
                }
            });
        }
        joints.push(rows);
    }
    let friction = contacts.iter().map(|_| random.uniform(0.0, 0.7));
    let laws: Vec<Law> = friction.map(Law::coulomb).collect();
    let mut contacts = laws.into_iter().zip(contacts).enumerate();
    let mut joints = joints.into_iter();
    let joint = |rows: Vec<Row>| (Law::equality(rows.len()), rows);
    let mut interactions = Vec::new();
    for (index, contact) in &mut contacts {
        interactions.push(contact);
        let next = (index % 2 == 1).then(|| joints.next()).flatten();
        interactions.extend(next.map(joint));
    }
    interactions.extend(joints.map(joint));
    let laws: Vec<_> = interactions.iter().map(|(law, _)| *law).collect();
    let rows: Vec<Row> = interactions
        .into_iter()
        .flat_map(|(_, rows)| rows)
        .collect();
    let n = rows.len();
    let entry = |i: usize, j: usize| coupling(&rows[i], &rows[j], |body| bodies[body].0);
    let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let entries = entries.map(|(i, j)| (i, j, entry(i, j)));
    let w = SparseMatrix::from_triplets(n, n, entries).unwrap();
    let free = |row: &Row| {
        let of = |side: usize| {
            let [v, w] = bodies[row.bodies[side]].1;
            row.parts[side][0].dot(v) + row.parts[side][1].dot(w)
        };
        of(0) + of(1) + row.offset
    };
    let q: Vec<_> = rows.iter().map(free).collect();
    StoredProblem::new(&laws, &w, &q).unwrap()
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
