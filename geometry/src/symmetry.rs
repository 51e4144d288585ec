//! Surfaces of revolution: those that a turn about an axis leaves where they are.
//!
//! A union of such bodies is one if the axes are the same line; balls have every axis through their centre.

use crate::{Frame, Shape};
use glam::DVec3;

/// Distance of a point from an axis, as a part of the distances at hand, and sine of an angle between axes, that are none: the rounding of poses.
const ROUNDING: f64 = 1e-12;

/// The turns that leave a surface where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Symmetry {
    /// All about this point.
    Ball(DVec3),
    /// Those about a line.
    Axis { point: DVec3, direction: DVec3 },
}

/// Unit vector along the axis through `center` about which the surface of a shape is one of revolution; of a ball about `center` and of shapes without such an axis none.
pub(crate) fn axis_through(center: DVec3, shape: &Shape) -> Option<DVec3> {
    let (point, direction) = match symmetry(shape)? {
        Symmetry::Ball(point) => (point, (point - center).try_normalize()?),
        Symmetry::Axis { point, direction } => (point, direction),
    };
    is_on(center, point, direction).then_some(direction)
}

fn symmetry(shape: &Shape) -> Option<Symmetry> {
    match shape {
        Shape::Sphere { .. } => Some(Symmetry::Ball(DVec3::ZERO)),
        Shape::Capsule { .. } | Shape::Cylinder { .. } | Shape::Cone { .. } => {
            Some(Symmetry::Axis {
                point: DVec3::ZERO,
                direction: DVec3::Z,
            })
        }
        Shape::Compound { parts } => {
            let mut parts = parts
                .iter()
                .map(|(pose, part)| placed(symmetry(part)?, pose));
            let first = parts.next()??;
            parts.try_fold(first, |all, part| common(all, part?))
        }
        _ => None,
    }
}

fn placed(symmetry: Symmetry, pose: &Frame) -> Option<Symmetry> {
    Some(match symmetry {
        Symmetry::Ball(point) => Symmetry::Ball(pose.transform_point(point)),
        Symmetry::Axis { point, direction } => Symmetry::Axis {
            point: pose.transform_point(point),
            direction: pose.rotate(direction).try_normalize()?,
        },
    })
}

/// What both have.
fn common(a: Symmetry, b: Symmetry) -> Option<Symmetry> {
    match (a, b) {
        (Symmetry::Ball(p), Symmetry::Ball(q)) => Some(match (q - p).try_normalize() {
            None => a,
            Some(direction) => Symmetry::Axis {
                point: p,
                direction,
            },
        }),
        (Symmetry::Ball(center), Symmetry::Axis { point, direction })
        | (Symmetry::Axis { point, direction }, Symmetry::Ball(center)) => {
            let axis = Symmetry::Axis { point, direction };
            is_on(center, point, direction).then_some(axis)
        }
        (
            Symmetry::Axis { point, direction },
            Symmetry::Axis {
                point: other,
                direction: along,
            },
        ) => {
            let parallel = direction.cross(along).length() <= ROUNDING;
            (parallel && is_on(other, point, direction)).then_some(a)
        }
    }
}

/// The point `p` is on the line.
fn is_on(p: DVec3, point: DVec3, direction: DVec3) -> bool {
    let size = p.length().max(point.length());
    (p - point).cross(direction).length() <= ROUNDING * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn at(x: f64, y: f64, z: f64) -> Frame {
        Frame::from_position(DVec3::new(x, y, z))
    }

    const BALL: Shape = Shape::Sphere { radius: 0.1 };
    const ROD: Shape = Shape::Capsule {
        half_height: 0.3,
        radius: 0.1,
    };

    fn compound(parts: Vec<(Frame, Shape)>) -> Shape {
        Shape::Compound { parts }
    }

    #[test]
    fn balls_in_a_row_turn_about_the_row() {
        let row = compound(vec![(at(1.0, 0.0, 0.0), BALL), (at(-1.0, 0.0, 0.0), BALL)]);
        let axis = axis_through(DVec3::ZERO, &row).map(DVec3::abs);
        assert_eq!(axis, Some(DVec3::X));
        assert_eq!(axis_through(DVec3::Y, &row), None);
        let corner = compound(vec![
            (at(1.0, 0.0, 0.0), BALL),
            (at(0.0, 1.0, 0.0), BALL),
            (Frame::IDENTITY, BALL),
        ]);
        assert_eq!(axis_through(DVec3::ZERO, &corner), None);
    }

    #[test]
    fn parts_on_one_axis_turn_about_it() {
        let turn = DQuat::from_rotation_y(0.7);
        let tilted = |along: f64| Frame::new(turn * DVec3::Z * along, turn);
        let club = compound(vec![
            (tilted(0.1), ROD),
            (at(0.0, 0.0, 0.0), BALL),
            (tilted(-0.4), ROD),
        ]);
        let axis = axis_through(turn * DVec3::Z * 0.2, &club);
        assert!(axis.is_some_and(|axis| (axis - turn * DVec3::Z).length() < 1e-15));
        let cross = compound(vec![(Frame::IDENTITY, ROD), (tilted(0.0), ROD)]);
        assert_eq!(axis_through(DVec3::ZERO, &cross), None);
        let beside = compound(vec![(Frame::IDENTITY, ROD), (at(0.0, 0.01, 0.0), ROD)]);
        assert_eq!(axis_through(DVec3::ZERO, &beside), None);
    }

    #[test]
    fn a_ball_off_its_centre_turns_about_the_line_through_both() {
        assert_eq!(axis_through(DVec3::ZERO, &BALL), None);
        let axis = axis_through(DVec3::Y * 0.01, &BALL);
        assert_eq!(axis, Some(-DVec3::Y));
        let cube = Shape::Cuboid {
            half_extents: DVec3::ONE,
        };
        assert_eq!(axis_through(DVec3::ZERO, &cube), None);
    }
}
