//! Shapes as lines.

use moreau::geometry::{Frame as Place, Shape};
use moreau::glam::{DQuat, DVec2, DVec3};
use std::f64::consts::TAU;

/// Lines of a circle.
const ROUND: u32 = 24;
/// Half the size of the square that stands for a half-space, m, and how many lines it has each way.
const HALF_SPACE: f64 = 10.0;
const HALF_SPACE_LINES: i32 = 10;

/// A line from a point to another, m.
pub(crate) type Segment = [DVec3; 2];

/// The lines of a shape in its own frame. A wrong shape has none.
pub(crate) fn wire(shape: &Shape) -> Vec<Segment> {
    let mut lines = Lines(Vec::new());
    lines.shape(&Place::default(), shape);
    lines.0
}

struct Lines(Vec<Segment>);

impl Lines {
    fn shape(&mut self, place: &Place, shape: &Shape) {
        match shape {
            Shape::Sphere { radius } => self.ball(place, *radius),
            Shape::Capsule {
                half_height,
                radius,
            } => self.capsule(place, *half_height, *radius),
            Shape::Cylinder {
                half_height,
                radius,
            } => self.frustum(place, *half_height, [*radius; 2]),
            Shape::Cone {
                half_height,
                radius,
            } => self.frustum(place, *half_height, [*radius, 0.0]),
            Shape::Cuboid { .. } | Shape::ConvexHull { .. } => self.hull(place, shape),
            Shape::HalfSpace { normal } => self.plane(place, *normal),
            Shape::TriangleMesh {
                vertices,
                triangles,
            } => self.mesh(place, vertices, triangles),
            Shape::HeightField {
                x_size,
                y_size,
                columns,
                heights,
            } => self.field(place, [*x_size, *y_size], *columns, heights),
            Shape::Compound { parts } => {
                for (inner, part) in parts {
                    self.shape(&place.compose(inner), part);
                }
            }
        }
    }

    fn line(&mut self, place: &Place, ends: Segment) {
        self.0.push(ends.map(|end| place.transform_point(end)));
    }

    /// Part of a circle about `center`, from `u` on towards `v`, which have its radius.
    fn arc(&mut self, place: &Place, center: DVec3, [u, v]: [DVec3; 2], part: f64) {
        let lines = (f64::from(ROUND) * part).round().max(1.0) as u32;
        let at = |index: u32| {
            let angle = DVec2::from_angle(TAU * part * f64::from(index) / f64::from(lines));
            center + u * angle.x + v * angle.y
        };
        for index in 0..lines {
            self.line(place, [at(index), at(index + 1)]);
        }
    }

    fn ball(&mut self, place: &Place, radius: f64) {
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| axis * radius);
        for across in [[x, y], [y, z], [z, x]] {
            self.arc(place, DVec3::ZERO, across, 1.0);
        }
    }

    fn capsule(&mut self, place: &Place, half_height: f64, radius: f64) {
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| axis * radius);
        for end in [half_height, -half_height] {
            let center = DVec3::Z * end;
            let out = z * end.signum();
            self.arc(place, center, [x, y], 1.0);
            for across in [x, y] {
                self.arc(place, center, [across, out], 0.5);
            }
        }
        self.sides(place, half_height, [radius; 2]);
    }

    /// Between discs below and above.
    fn frustum(&mut self, place: &Place, half_height: f64, [below, above]: [f64; 2]) {
        for (radius, z) in [(below, -half_height), (above, half_height)] {
            let across = [DVec3::X * radius, DVec3::Y * radius];
            if radius > 0.0 {
                self.arc(place, DVec3::Z * z, across, 1.0);
            }
        }
        self.sides(place, half_height, [below, above]);
    }

    fn sides(&mut self, place: &Place, half_height: f64, [below, above]: [f64; 2]) {
        for side in [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Y] {
            let at = |radius, z| side * radius + DVec3::Z * z;
            self.line(place, [at(below, -half_height), at(above, half_height)]);
        }
    }

    fn hull(&mut self, place: &Place, shape: &Shape) {
        let Ok(hull) = shape.build() else { return };
        for edge in hull.hull_edges() {
            self.line(place, edge);
        }
    }

    /// A grid about the origin, and the normal.
    fn plane(&mut self, place: &Place, normal: DVec3) {
        let Some(normal) = normal.try_normalize() else {
            return;
        };
        let turn = DQuat::from_rotation_arc(DVec3::Z, normal);
        for index in -HALF_SPACE_LINES..=HALF_SPACE_LINES {
            let across = HALF_SPACE * f64::from(index) / f64::from(HALF_SPACE_LINES);
            for (x, y) in [(DVec3::X, DVec3::Y), (DVec3::Y, DVec3::X)] {
                let [low, high] = [-HALF_SPACE, HALF_SPACE].map(|end| x * across + y * end);
                self.line(place, [turn * low, turn * high]);
            }
        }
        self.line(place, [DVec3::ZERO, normal]);
    }

    /// Edges, each once.
    fn mesh(&mut self, place: &Place, vertices: &[DVec3], triangles: &[[u32; 3]]) {
        let sides = triangles
            .iter()
            .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        for [a, b] in edges {
            if let (Some(a), Some(b)) = (vertices.get(a as usize), vertices.get(b as usize)) {
                self.line(place, [*a, *b]);
            }
        }
    }

    fn field(&mut self, place: &Place, size: [f64; 2], columns: usize, heights: &[f64]) {
        if columns < 2 {
            return;
        }
        let rows = heights.len() / columns;
        let share = |index: usize, count: usize| index as f64 / (count.max(2) - 1) as f64 - 0.5;
        let at = |row: usize, column: usize| {
            let height = heights.get(row * columns + column)?;
            let (x, y) = (share(column, columns), share(row, rows));
            Some(DVec3::new(size[0] * x, size[1] * y, *height))
        };
        for row in 0..rows {
            for column in 0..columns {
                let here = at(row, column);
                let right = (column + 1 < columns).then(|| at(row, column + 1));
                for next in [right.flatten(), at(row + 1, column)] {
                    if let (Some(here), Some(next)) = (here, next) {
                        self.line(place, [here, next]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farthest(shape: &Shape) -> f64 {
        let ends = wire(shape).into_iter().flatten();
        ends.fold(0.0, |most, end| most.max(end.length()))
    }

    #[test]
    fn lines_are_on_the_surfaces_of_their_shapes() {
        let ball = Shape::Sphere { radius: 2.0 };
        for end in wire(&ball).into_iter().flatten() {
            assert!((end.length() - 2.0).abs() < 1e-12);
        }
        let capsule = Shape::Capsule {
            half_height: 1.0,
            radius: 0.5,
        };
        for end in wire(&capsule).into_iter().flatten() {
            let axis = DVec3::Z * end.z.clamp(-1.0, 1.0);
            assert!(((end - axis).length() - 0.5).abs() < 1e-12);
        }
        let half_extents = DVec3::new(1.0, 2.0, 3.0);
        let brick = Shape::Cuboid { half_extents };
        assert_eq!(wire(&brick).len(), 12);
        assert!((farthest(&brick) - half_extents.length()).abs() < 1e-12);
    }

    #[test]
    fn parts_are_at_their_places_and_wrong_shapes_have_no_lines() {
        let point = Shape::Sphere { radius: 1e-3 };
        let place = Place::from_position(DVec3::X * 5.0);
        let parts = vec![(Place::default(), point.clone()), (place, point)];
        let both = Shape::Compound { parts };
        assert!((farthest(&both) - 5.001).abs() < 1e-9);
        let flat = Shape::ConvexHull {
            points: vec![DVec3::ZERO; 4],
        };
        assert!(wire(&flat).is_empty());
    }

    #[test]
    fn edges_that_triangles_share_are_drawn_once() {
        let vertices = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE];
        let triangles = vec![[0, 1, 2], [2, 1, 3]];
        let mesh = Shape::TriangleMesh {
            vertices,
            triangles,
        };
        assert_eq!(wire(&mesh).len(), 5);
        let field = Shape::HeightField {
            x_size: 2.0,
            y_size: 4.0,
            columns: 2,
            heights: vec![0.0; 6],
        };
        assert_eq!(wire(&field).len(), 7);
        assert!((farthest(&field) - DVec2::new(1.0, 2.0).length()).abs() < 1e-12);
    }
}
