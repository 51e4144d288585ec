//! What the bodies of a pile are.

use glam::DVec3;
use moreau::geometry::{Frame, Shape};
use moreau::scene::Lcg;

/// The kind of the bodies of a pile. Sizes that are drawn are uniformly distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Hulls of 8 to 40 points on ellipsoids of half-axes of 25 to 75 mm.
    Hulls,
    /// Hulls of 40 points on a sphere of 50 mm.
    Hulls40,
    /// Hulls of 12 to 31 points on an ellipsoid of half-axes 100, 100 and 3 mm.
    ThinHull,
    /// Cuboids of half-extents 200, 4 and 4 mm.
    Rods,
    /// Cuboids of half-extents 100, 100 and 2 mm.
    Plates,
    /// Cylinders of half-height 20 to 80 mm and radius 20 to 60 mm.
    Cylinders,
    /// Cones of the same sizes.
    Cones,
    /// A cylinder, a cone and a capsule in turn, of the same sizes; the capsule's caps are part of its height.
    Round,
    /// Compounds of two bars in the form of an L.
    L,
    /// Compounds of three bars in the form of a U.
    U,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Hulls,
        Self::Hulls40,
        Self::ThinHull,
        Self::Rods,
        Self::Plates,
        Self::Cylinders,
        Self::Cones,
        Self::Round,
        Self::L,
        Self::U,
    ];

    /// Their names on the command line and in tables, in the same order.
    pub const NAMES: [&str; 10] = [
        "hulls", "hulls40", "thinhull", "rods", "plates", "cyl", "cones", "round", "L", "U",
    ];

    /// Pitch of the lattice, m. Long bodies may overlap one another and the walls a little at the start.
    pub(super) fn pitch(self) -> f64 {
        match self {
            Self::Rods => 0.21,
            Self::ThinHull | Self::Plates => 0.17,
            Self::L | Self::U => 0.2,
            _ => 0.15,
        }
    }

    /// Bodies in a row of the lattice: as many centres as a width of 0.7 m takes, of rods 0.5 m.
    pub(super) fn in_a_row(self) -> usize {
        let width = match self {
            Self::Rods => 0.5,
            _ => 0.7,
        };
        (width / self.pitch()) as usize + 1
    }

    /// The shape of the body of this number.
    pub(super) fn draw(self, index: usize, random: &mut Lcg) -> Shape {
        match self {
            Self::Hulls => {
                let count = 8 + whole(random, 33);
                let axes = [0; 3].map(|_| between(random, 0.025, 0.075));
                hull(count, axes.into(), random)
            }
            Self::Hulls40 => hull(40, DVec3::splat(0.05), random),
            Self::ThinHull => {
                let count = 12 + whole(random, 20);
                hull(count, DVec3::new(0.1, 0.1, 0.003), random)
            }
            Self::Rods => cuboid([0.2, 0.004, 0.004]),
            Self::Plates => cuboid([0.1, 0.1, 0.002]),
            Self::Cylinders => cylinder(random),
            Self::Cones => cone(random),
            Self::Round => match index % 3 {
                0 => cylinder(random),
                1 => cone(random),
                _ => capsule(random),
            },
            Self::L => Shape::Compound {
                parts: vec![
                    bar([0.0, 0.0, -0.045], [0.06, 0.015, 0.015]),
                    bar([-0.045, 0.0, 0.015], [0.015, 0.015, 0.045]),
                ],
            },
            Self::U => Shape::Compound {
                parts: vec![
                    bar([0.0, 0.0, -0.045], [0.06, 0.015, 0.015]),
                    bar([-0.045, 0.0, 0.015], [0.015, 0.015, 0.045]),
                    bar([0.045, 0.0, 0.015], [0.015, 0.015, 0.045]),
                ],
            },
        }
    }
}

/// Uniform in `[low, high)`.
fn between(random: &mut Lcg, low: f64, high: f64) -> f64 {
    low + (high - low) * random.uniform()
}

/// One of 0, …, `n − 1`.
fn whole(random: &mut Lcg, n: usize) -> usize {
    (random.uniform() * n as f64) as usize
}

/// A point of the unit sphere, uniformly distributed: a point of the ball by rejection, normalised.
fn direction(random: &mut Lcg) -> DVec3 {
    loop {
        let point = random.symmetric_vector();
        if (0.01..=1.0).contains(&point.length_squared()) {
            return point.normalize();
        }
    }
}

/// Hull of points on the ellipsoid of these half-axes, m.
fn hull(count: usize, axes: DVec3, random: &mut Lcg) -> Shape {
    let points = (0..count).map(|_| direction(random) * axes).collect();
    Shape::ConvexHull { points }
}

/// Half-height and radius, m.
fn height_and_radius(random: &mut Lcg) -> [f64; 2] {
    [between(random, 0.02, 0.08), between(random, 0.02, 0.06)]
}

fn cylinder(random: &mut Lcg) -> Shape {
    let [half_height, radius] = height_and_radius(random);
    Shape::Cylinder {
        half_height,
        radius,
    }
}

fn cone(random: &mut Lcg) -> Shape {
    let [half_height, radius] = height_and_radius(random);
    Shape::Cone {
        half_height,
        radius,
    }
}

/// A capsule whose half-height, caps included, is that of the cylinder, but at least 5 mm more than the radius.
fn capsule(random: &mut Lcg) -> Shape {
    let [half_height, radius] = height_and_radius(random);
    Shape::Capsule {
        half_height: (half_height - radius).max(0.005),
        radius,
    }
}

fn cuboid(half_extents: [f64; 3]) -> Shape {
    Shape::Cuboid {
        half_extents: half_extents.into(),
    }
}

/// A part of a compound.
fn bar(middle: [f64; 3], half_extents: [f64; 3]) -> (Frame, Shape) {
    (Frame::from_position(middle.into()), cuboid(half_extents))
}
