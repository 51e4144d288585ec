//! The tasks of SimBenchmark [docs/references.md, SimBenchmark] that need no joints.
//!
//! Rebuilt from a description of the scenes, body by body. Friction and restitution are those of the tasks: the smaller of
//! two coefficients counts. Nothing sleeps, and one thread works. What each task measures: [`crate::simbench`].

use super::{awake, named};
use glam::DVec3;
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Lattice, Scene};
use moreau::{Accuracy, Combine, Mass, Material, Settings, Wrench};

/// Force on the box of [`rolling`], N.
pub const FORCE: f64 = 150.0;
/// Radius of the balls of [`bouncing`] and of the piles, m.
pub const RADIUS: f64 = 0.1;
/// Mass of the balls of [`bouncing`] and of the piles, and of the pieces of [`kapla_tower`], kg.
pub const MASS: f64 = 10.0;

/// Where the force of [`rolling`] points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along y.
    Y,
    /// 60° from x.
    Xy,
}

impl Direction {
    /// Unit vector.
    #[must_use]
    pub fn unit(self) -> DVec3 {
        match self {
            Self::Y => DVec3::Y,
            Self::Xy => DVec3::new(0.5, 0.5 * libm::sqrt(3.0), 0.0),
        }
    }
}

/// A plane, without bodies yet. Every material has restitution `e`.
pub(super) fn on_a_plane(h: f64, duration: f64, ground: Material) -> Scene {
    let plane = Shape::HalfSpace { normal: DVec3::Z };
    awake(Scene {
        duration,
        settings: Settings {
            time_step: h,
            combine_friction: Combine::Min,
            combine_restitution: Combine::Min,
            threads: 1,
            ..Settings::default()
        },
        materials: [("ground".to_owned(), ground)].into(),
        bodies: vec![BodySpec {
            material: Some("ground".to_owned()),
            ..named("ground", BodySpec::fixed(plane, DVec3::ZERO))
        }],
        ..Scene::default()
    })
}

fn ball(radius: f64, mass: f64, position: DVec3, material: &str) -> BodySpec {
    let inertia = 0.4 * mass * radius * radius;
    BodySpec {
        mass: Mass::given(mass, DVec3::splat(inertia)),
        material: Some(material.to_owned()),
        ..BodySpec::dynamic(Shape::Sphere { radius }, position)
    }
}

fn slab(size: DVec3, mass: f64, position: DVec3, material: &str) -> BodySpec {
    let square = size * size;
    let others = DVec3::splat(square.element_sum()) - square;
    let half_extents = 0.5 * size;
    BodySpec {
        mass: Mass::given(mass, others * (mass / 12.0)),
        material: Some(material.to_owned()),
        ..BodySpec::dynamic(Shape::Cuboid { half_extents }, position)
    }
}

/// A box of 20 × 20 × 1 m with 25 balls on it is pulled over the ground: it slides (μ = 0.4), the balls roll (μ = 0.8).
/// All bodies start `overlap` (m) deep in what they stand on, the balls twice that.
#[must_use]
pub fn rolling(direction: Direction, overlap: f64) -> Scene {
    let mut scene = on_a_plane(1e-3, 4.0, Material::with_friction(0.4));
    scene.settings.accuracy = Accuracy::Reference;
    let rough = Material::with_friction(0.8);
    scene.materials.insert("rough".to_owned(), rough);
    let centre = DVec3::new(0.0, 0.0, 0.5 - overlap);
    let pulled = slab(DVec3::new(20.0, 20.0, 1.0), 10.0, centre, "rough");
    scene.bodies.push(BodySpec {
        wrench: Wrench {
            force: direction.unit() * FORCE,
            ..Wrench::default()
        },
        ..named("box", pulled)
    });
    for i in 0..5 {
        for j in 0..5 {
            let (x, y) = (2.0 * f64::from(i) - 4.0, 2.0 * f64::from(j) - 4.0);
            let position = DVec3::new(x, y, 1.5 - 3.0 * overlap);
            let name = format!("ball_{i}_{j}");
            let ball = ball(0.5, 1.0, position, "rough");
            scene.bodies.push(named(name, ball));
        }
    }
    scene
}

/// 49 elastic balls that fall 4.9 m onto the ground, over and over.
#[must_use]
pub fn bouncing() -> Scene {
    let mut scene = on_a_plane(1e-3, 20.0, smooth(1.0));
    for i in 0..7 {
        for j in 0..7 {
            let position = DVec3::new(2.0 * f64::from(i), 2.0 * f64::from(j), 5.0);
            scene.bodies.push(ball(RADIUS, MASS, position, "ground"));
        }
    }
    scene
}

fn smooth(restitution: f64) -> Material {
    Material {
        friction: 0.0,
        restitution,
        ..Material::default()
    }
}

/// A cube of 6 × 6 × 6 balls, 1 cm apart and displaced by up to 1 mm, that falls and spreads without friction. Elastic balls
/// (`restitution` 1) fall 1 m, inelastic ones 1 mm. The published displacements cannot be had: these are of the scene's seed.
#[must_use]
pub fn pile_666(restitution: f64) -> Scene {
    let mut scene = on_a_plane(1e-3, 10.0, smooth(restitution));
    let lowest = if restitution > 0.0 { 1.101 } else { 0.101 };
    // From 0 to 1 mm in each direction.
    let jitter = 0.5e-3;
    scene.lattices.push(Lattice {
        count: [6; 3],
        spacing: DVec3::splat(0.21),
        origin: DVec3::new(jitter, jitter, lowest + jitter),
        jitter,
        random_orientation: false,
        body: ball(RADIUS, MASS, DVec3::ZERO, "ground"),
    });
    scene
}

/// 102 planks in six storeys, none fixed to another, that are to stand for ten minutes.
#[must_use]
pub fn kapla_tower(friction: f64) -> Scene {
    let mut scene = on_a_plane(0.01, 600.0, Material::with_friction(friction));
    let sleeper = DVec3::new(0.05, 0.25, 0.1);
    let wall = DVec3::new(0.2, 0.05, 0.1);
    for storey in 0..6 {
        let base = 0.2 * f64::from(storey);
        let mut lay = |size, x, y, height| {
            let position = DVec3::new(x, y, base + height);
            scene.bodies.push(slab(size, MASS, position, "ground"));
        };
        for j in 0..8 {
            lay(sleeper, 0.2 * f64::from(j), 0.0, 0.05);
        }
        for j in 0..4 {
            lay(wall, 0.4 * f64::from(j) + 0.1, -0.1, 0.15);
        }
        for x in [0.3, 0.7, 1.1, 0.1, 1.3] {
            lay(wall, x, 0.1, 0.15);
        }
    }
    scene
}
