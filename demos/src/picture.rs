//! A side view of a scene in characters.
//!
//! Looks along y at the dynamic bodies: the more material lies behind a cell, the darker it is.
//! Outlines come from bounding boxes of the body turned by a few angles about the line of sight,
//! so that every shape is drawn without knowing its kind.

use glam::DQuat;
use moreau::geometry::{Frame, Geometry};
use moreau::{Collider, Mass, Pose, RigidBody, Simulation};
use std::f64::consts::PI;

/// Size of the picture in characters, at most.
const COLUMNS: usize = 64;
const ROWS: usize = 20;
/// A character is about twice as high as wide.
const ASPECT: f64 = 2.0;
/// Directions in which an outline is bounded, per quarter turn.
const TURNS: usize = 4;
/// Points a character, in each direction.
const SAMPLES: usize = 3;
/// From empty to full.
const SHADES: [char; 6] = [' ', '·', '░', '▒', '▓', '█'];

/// Picture of the dynamic bodies, if there are any.
pub(crate) fn side_view(simulation: &mut Simulation) -> Option<String> {
    let outlines = outlines(simulation);
    let view = View::around(&outlines)?;
    Some(view.draw(&outlines))
}

/// A half-plane `x nx + z nz ≤ bound`.
#[derive(Clone, Copy, Debug)]
struct Edge {
    normal: [f64; 2],
    bound: f64,
}

/// What a body covers, seen along y.
#[derive(Clone, Debug)]
struct Outline {
    /// Box in the plane: `[x, z]`.
    min: [f64; 2],
    max: [f64; 2],
    edges: Vec<Edge>,
    /// Extent along y, m.
    depth: f64,
}

fn outlines(simulation: &mut Simulation) -> Vec<Outline> {
    let world = simulation.world_mut();
    let mut query = world.query::<(&RigidBody, &Pose, &Collider, &Mass)>();
    query
        .iter(world)
        .filter(|(kind, ..)| **kind == RigidBody::Dynamic)
        .filter_map(|(_, pose, collider, mass)| {
            let shape = collider.shape().build().ok()?;
            outline(&shape, pose, mass)
        })
        .collect()
}

fn outline(shape: &Geometry, pose: &Pose, mass: &Mass) -> Option<Outline> {
    // The pose is that of the centre of mass.
    let of_shape = shape.mass_properties(1.0).ok()?.center_of_mass;
    let center = mass.center_of_mass().unwrap_or(of_shape);
    let placed = |turn: DQuat| {
        let orientation = turn * pose.orientation;
        let position = turn * pose.position - orientation * center;
        shape.aabb(&Frame::new(position, orientation))
    };
    let upright = placed(DQuat::IDENTITY);
    if !upright.is_finite() {
        return None;
    }
    let mut edges = Vec::with_capacity(4 * TURNS);
    for k in 0..TURNS {
        let (sin, cos) = libm::sincos(0.25 * PI * k as f64 / TURNS as f64);
        let turned = placed(DQuat::from_xyzw(0.0, sin, 0.0, cos));
        // Rotation by twice that angle about y, and its axes seen from the inertial frame.
        let (c, s) = (cos * cos - sin * sin, 2.0 * sin * cos);
        for (normal, high, low) in [
            ([c, s], turned.max.x, turned.min.x),
            ([-s, c], turned.max.z, turned.min.z),
        ] {
            edges.push(Edge {
                normal,
                bound: high,
            });
            edges.push(Edge {
                normal: normal.map(|n| -n),
                bound: -low,
            });
        }
    }
    Some(Outline {
        min: [upright.min.x, upright.min.z],
        max: [upright.max.x, upright.max.z],
        edges,
        depth: upright.max.y - upright.min.y,
    })
}

impl Outline {
    fn covers(&self, x: f64, z: f64) -> bool {
        self.edges
            .iter()
            .all(|edge| edge.normal[0] * x + edge.normal[1] * z <= edge.bound)
    }

    fn center(&self, axis: usize) -> f64 {
        0.5 * (self.min[axis] + self.max[axis])
    }
}

/// From the least to the largest coordinate of the outlines, m.
fn range(outlines: &[&Outline], axis: usize) -> [f64; 2] {
    outlines
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], o| {
            [low.min(o.min[axis]), high.max(o.max[axis])]
        })
}

/// A window and its grid of characters.
#[derive(Debug)]
struct View {
    min: [f64; 2],
    max: [f64; 2],
    /// Width of a character, m.
    cell: f64,
    columns: usize,
    rows: usize,
}

impl View {
    /// A window around the bodies. A few that went astray do not count if there are many.
    fn around(outlines: &[Outline]) -> Option<Self> {
        if outlines.is_empty() {
            return None;
        }
        let (mut min, mut max) = ([0.0; 2], [0.0; 2]);
        for axis in 0..2 {
            let mut order: Vec<_> = outlines.iter().collect();
            order.sort_by(|a, b| a.center(axis).total_cmp(&b.center(axis)));
            let astray = outlines.len().div_ceil(100);
            let middle = order.get(astray..outlines.len() - astray).unwrap_or(&[]);
            let (all, most) = (range(&order, axis), range(middle, axis));
            let far = !middle.is_empty() && all[1] - all[0] > 2.0 * (most[1] - most[0]);
            [min[axis], max[axis]] = if far && middle.len() > 20 { most } else { all };
        }
        let (width, height) = (max[0] - min[0], max[1] - min[1]);
        let cell = (width / COLUMNS as f64).max(height / (ASPECT * ROWS as f64));
        // A hair of slack: the last column must not begin where the window ends.
        let cells = |length: f64| ((length / cell - 1e-9).ceil() as usize).max(1);
        (cell.is_finite() && cell > 0.0).then(|| Self {
            min,
            max,
            cell,
            columns: cells(width),
            rows: cells(height / ASPECT),
        })
    }

    /// Material behind each character, m, row by row from below; and the bodies out of sight.
    fn thickness(&self, outlines: &[Outline]) -> (Vec<f64>, usize) {
        let n = SAMPLES as f64;
        let step = [self.cell / n, self.cell * ASPECT / n];
        let samples = [self.columns * SAMPLES, self.rows * SAMPLES];
        let mut thickness = vec![0.0; self.columns * self.rows];
        let mut unseen = 0;
        for outline in outlines {
            let index = |axis: usize, at: f64| {
                let i = ((at - self.min[axis]) / step[axis] - 0.5).ceil();
                (i.max(0.0) as usize).min(samples[axis])
            };
            let columns = index(0, outline.min[0])..index(0, outline.max[0]);
            let rows = index(1, outline.min[1])..index(1, outline.max[1]);
            if columns.is_empty() || rows.is_empty() {
                unseen += 1;
            }
            for k in rows {
                let z = self.min[1] + (k as f64 + 0.5) * step[1];
                for i in columns.clone() {
                    let x = self.min[0] + (i as f64 + 0.5) * step[0];
                    if outline.covers(x, z) {
                        let cell = (k / SAMPLES) * self.columns + i / SAMPLES;
                        thickness[cell] += outline.depth / (n * n);
                    }
                }
            }
        }
        (thickness, unseen)
    }

    fn draw(&self, outlines: &[Outline]) -> String {
        let (thickness, unseen) = self.thickness(outlines);
        let full = full_shade(&thickness);
        let mut text = String::new();
        for row in (0..self.rows).rev() {
            let label = if row + 1 == self.rows {
                format!("{} m ┤", meters(self.max[1]))
            } else if row == 0 {
                format!("{} m ┤", meters(self.min[1]))
            } else {
                "│".to_owned()
            };
            let cells = &thickness[row * self.columns..(row + 1) * self.columns];
            let line: String = cells.iter().map(|t| shade(t / full)).collect();
            text += &format!("{label:>12}{}\n", line.trim_end());
        }
        text += &format!("{:>12}{}\n", "└", "─".repeat(self.columns));
        let [from, to] = [self.min[0], self.max[0]].map(meters);
        text += &format!("{:>12}x from {from} to {to} m, seen along y", "");
        match unseen {
            0 => {}
            1 => text += "; one body is out of sight",
            n => text += &format!("; {n} bodies are out of sight"),
        }
        text.push('\n');
        text
    }
}

/// Two decimals, a true minus sign, no negative zero.
fn meters(x: f64) -> String {
    let x = if x.abs() < 0.005 { 0.0 } else { x };
    format!("{x:.2}").replacen('-', "−", 1)
}

/// Thickness that is drawn full: few cells are thicker.
fn full_shade(thickness: &[f64]) -> f64 {
    let mut covered: Vec<_> = thickness.iter().copied().filter(|t| *t > 0.0).collect();
    covered.sort_by(f64::total_cmp);
    covered.get(covered.len() * 9 / 10).copied().unwrap_or(1.0)
}

fn shade(fraction: f64) -> char {
    let last = SHADES.len() - 1;
    let index = (fraction * last as f64).ceil().max(0.0) as usize;
    SHADES[index.min(last)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn picture(spec: &str) -> String {
        let mut run = moreau_demos::built_in(spec).unwrap().start().unwrap();
        run.step().unwrap();
        side_view(&mut run.simulation).unwrap()
    }

    #[test]
    fn pictures_are_bounded() {
        for scene in moreau_demos::list() {
            let picture = picture(scene.name);
            assert!(
                picture.lines().count() <= ROWS + 3,
                "{}\n{picture}",
                scene.name
            );
            let widest = picture.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(COLUMNS + 48), "{}\n{picture}", scene.name);
            assert!(picture.contains('█'), "{}\n{picture}", scene.name);
        }
    }

    #[test]
    fn a_pyramid_looks_like_one() {
        let picture = picture("pyramid:n=5");
        let lines: Vec<_> = picture.lines().collect();
        let filled = |line: &str| line.matches('█').count();
        let (top, bottom) = (filled(lines[0]), filled(lines[lines.len() - 3]));
        assert!(top > 0 && 3 * top < bottom, "{picture}");
    }

    #[test]
    fn a_turned_cube_is_a_rhombus() {
        let half_extents = DVec3::splat(0.5);
        let shape = moreau::geometry::Shape::Cuboid { half_extents };
        let (sin, cos) = libm::sincos(PI / 8.0);
        let pose = Pose {
            position: DVec3::new(3.0, 0.0, 1.0),
            orientation: DQuat::from_xyzw(0.0, sin, 0.0, cos),
        };
        let outline = outline(&shape.build().unwrap(), &pose, &Mass::default()).unwrap();
        assert!(outline.covers(3.0, 1.7) && outline.covers(3.7, 1.0));
        assert!(!outline.covers(3.5, 1.5) && !outline.covers(2.6, 0.6));
        assert!((outline.depth - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_gives_no_picture() {
        assert!(View::around(&[]).is_none());
    }
}
