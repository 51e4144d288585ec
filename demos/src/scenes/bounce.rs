//! Spheres of different restitution.

use super::named;
use glam::DVec3;
use moreau::Material;
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Scene};

/// Restitution coefficients of the spheres.
pub const RESTITUTION: [f64; 5] = [0.9, 0.7, 0.5, 0.3, 0.0];
/// Radius of the spheres, m.
pub const RADIUS: f64 = 0.1;

/// Spheres `e_0.9`, `e_0.7`, … that fall by `height` (m) on a plane of restitution 0. The apexes
/// follow e², and each comes to rest after the finite time (1 + e)/(1 − e) √(2 height/g).
#[must_use]
pub fn bounce(height: f64) -> Scene {
    let ground = Shape::HalfSpace { normal: DVec3::Z };
    let mut scene = Scene {
        duration: 10.0,
        bodies: vec![BodySpec::fixed(ground, DVec3::ZERO)],
        ..Scene::default()
    };
    for (i, restitution) in RESTITUTION.into_iter().enumerate() {
        let name = format!("e_{restitution}");
        let material = Material {
            restitution,
            ..Material::default()
        };
        scene.materials.insert(name.clone(), material);
        let position = DVec3::new(0.4 * (i as f64 - 2.0), 0.0, RADIUS + height);
        let sphere = Shape::Sphere { radius: RADIUS };
        scene.bodies.push(BodySpec {
            material: Some(name.clone()),
            ..named(name, BodySpec::dynamic(sphere, position))
        });
    }
    scene
}
