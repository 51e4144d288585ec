//! The deepest overlap of a state, from its poses: the same judge for every engine.

use crate::contender::{Body, BodyState, Outcome};
use crate::translation::double;
use moreau::glam::DVec3;
use parry3d_f64::math::Pose;
use parry3d_f64::query;
use parry3d_f64::shape::{Shape, SharedShape};

/// The shapes of a scene, once for all states.
pub(crate) struct Judge {
    bodies: Vec<Judged>,
}

/// A shape in the frame of the centre of mass.
struct Judged {
    dynamic: bool,
    place: Pose,
    shape: SharedShape,
    /// Radius of a ball about the centre of mass that holds the body, m.
    reach: f64,
}

/// A body as the query sees it.
struct Placed<'a> {
    pose: Pose,
    /// Centre of mass, m.
    center: DVec3,
    body: &'a Judged,
}

impl Judged {
    fn new(body: &Body) -> Outcome<Self> {
        let (place, shape) = double::placed(&body.shape, body.center)?;
        let geometry = body.shape.build()?;
        Ok(Self {
            dynamic: body.dynamic,
            place,
            shape,
            reach: geometry.bounding_radius() + body.center.length(),
        })
    }
}

impl Placed<'_> {
    /// Left end along x.
    fn left(&self) -> f64 {
        self.center.x - self.body.reach
    }

    /// Depth of the overlap with another body, m; zero without one.
    fn depth(&self, other: &Self) -> Outcome<f64> {
        if let Some(plane) = other.body.shape.as_halfspace() {
            let normal = other.pose.rotation * plane.normal;
            let lowest = lowest(&self.pose, &*self.body.shape, normal)?;
            return Ok((normal.dot(other.pose.translation) - lowest).max(0.0));
        }
        let (a, b) = (&*self.body.shape, &*other.body.shape);
        let contact = query::contact(&self.pose, a, &other.pose, b, 0.0)
            .map_err(|error| format!("overlap of two bodies: {error}"))?;
        Ok(contact.map_or(0.0, |contact| (-contact.dist).max(0.0)))
    }
}

/// Least coordinate of a shape along the unit vector `normal`, m. parry's own query of a shape with a half-space takes the pose for
/// its inverse if the shape comes first, as it does for the parts of a compound.
fn lowest(pose: &Pose, shape: &dyn Shape, normal: DVec3) -> Outcome<f64> {
    if let Some(compound) = shape.as_compound() {
        let parts = compound.shapes().iter();
        let lowest = parts.map(|(place, part)| lowest(&(*pose * *place), &**part, normal));
        return lowest
            .reduce(|a, b| Ok(a?.min(b?)))
            .unwrap_or(Ok(f64::INFINITY));
    }
    let convex = shape.as_support_map();
    let convex = convex.ok_or("overlap of two bodies: a shape that is not convex")?;
    Ok(normal.dot(convex.support_point(pose, -normal)))
}

impl Judge {
    /// Of the bodies of a scene.
    ///
    /// # Errors
    /// If parry has no such shape.
    pub(crate) fn new(bodies: &[Body]) -> Outcome<Self> {
        let bodies: Outcome<Vec<_>> = bodies.iter().map(Judged::new).collect();
        Ok(Self { bodies: bodies? })
    }

    /// The deepest overlap of two bodies of which one can move, m.
    ///
    /// # Errors
    /// If parry cannot compare two of the shapes.
    pub(crate) fn deepest(&self, states: &[BodyState]) -> Outcome<f64> {
        let placed = self.bodies.iter().zip(states).map(|(body, state)| Placed {
            pose: Pose::from_parts(state.position, state.orientation) * body.place,
            center: state.position,
            body,
        });
        let (mut moving, fixed): (Vec<_>, Vec<_>) = placed.partition(|placed| placed.body.dynamic);
        moving.sort_by(|a, b| a.left().total_cmp(&b.left()));
        let mut deepest = 0.0_f64;
        for (index, a) in moving.iter().enumerate() {
            for wall in &fixed {
                deepest = deepest.max(a.depth(wall)?);
            }
            let right = a.center.x + a.body.reach;
            for b in moving[index + 1..].iter().take_while(|b| b.left() <= right) {
                let apart = (a.center - b.center).abs();
                if apart.max_element() <= a.body.reach + b.body.reach {
                    deepest = deepest.max(a.depth(b)?);
                }
            }
        }
        Ok(deepest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::glam::DQuat;
    use moreau::prelude::{Material, Pose as BodyPose, Shape as BodyShape};
    use moreau::scene::Lcg;

    fn body(dynamic: bool, shape: BodyShape) -> Body {
        let geometry = shape.build().unwrap();
        let mass = geometry.mass_properties(1.0);
        Body {
            dynamic,
            shape,
            center: mass.map_or(DVec3::ZERO, |mass| mass.center_of_mass),
            pose: BodyPose::default(),
            material: Material::default(),
        }
    }

    #[test]
    fn overlaps_among_bodies_and_with_walls_count_and_static_ones_do_not() {
        let at = |x: f64, z: f64| BodyState {
            position: DVec3::new(x, 0.0, z),
            orientation: DQuat::IDENTITY,
            speed: 0.0,
        };
        let half_extents = DVec3::new(5.0, 5.0, 0.5);
        let floor = body(false, BodyShape::Cuboid { half_extents });
        let ball = body(true, BodyShape::Sphere { radius: 0.1 });
        let judge = Judge::new(&[floor.clone(), floor, ball.clone(), ball]).unwrap();
        let depth = |states: &[BodyState]| judge.deepest(states).unwrap();
        let [ground, inside] = [at(0.0, -0.5), at(0.1, -0.6)];
        let found = depth(&[ground, inside, at(0.0, 0.1), at(0.19, 0.1)]);
        assert!((found - 0.01).abs() < 1e-12, "{found}");
        let found = depth(&[ground, inside, at(0.0, 0.08), at(0.3, 0.1)]);
        assert!((found - 0.02).abs() < 1e-12, "{found}");
    }

    #[test]
    fn bodies_below_a_plane_are_as_deep_as_their_lowest_point() {
        let normal = DVec3::new(0.6, 0.0, 0.8);
        let bar = |x: f64| {
            let half_extents = DVec3::new(0.1, 0.2, 0.3);
            let pose = moreau::geometry::Frame::from_position(DVec3::X * x);
            (pose, BodyShape::Cuboid { half_extents })
        };
        let parts = vec![bar(-0.5), bar(0.5)];
        let plane = body(false, BodyShape::HalfSpace { normal });
        let judge = Judge::new(&[plane, body(true, BodyShape::Compound { parts })]).unwrap();
        let turn = DQuat::from_rotation_y(-0.7);
        let at = |position, orientation| BodyState {
            position,
            orientation,
            speed: 0.0,
        };
        // Support of the compound along the normal: 0.3 along its z, 0.5 + 0.1 along its x.
        let along = (turn * DVec3::Z).dot(normal).abs();
        let states = |height: f64| {
            [
                at(DVec3::Z, DQuat::IDENTITY),
                at(DVec3::Z + normal * height, turn),
            ]
        };
        let lowest = 0.3 * along + 0.6 * (turn * DVec3::X).dot(normal).abs();
        for height in [0.9 * lowest, lowest - 1e-3] {
            let found = judge.deepest(&states(height)).unwrap();
            assert!((found - (lowest - height)).abs() < 1e-12, "{found}");
        }
        assert!(judge.deepest(&states(lowest + 1e-3)).unwrap() <= 0.0);
    }

    /// Two bodies of every pile, moved together until Moreau's narrow phase finds an overlap of about a millimetre. Its figure is the
    /// depth along one of the axes that it tries: an upper bound, and the depth itself for most pairs.
    #[test]
    fn the_depth_is_within_that_of_moreau_s_narrow_phase_for_the_shapes_of_all_piles() {
        let mut random = Lcg::new(5);
        let (mut seen, mut same) = (0, 0);
        for name in moreau_demos::scenes::pile::Form::NAMES {
            let spec = format!("pile:shape={name},n=20");
            let scene = moreau_demos::built_in(&spec).unwrap();
            let bodies = crate::contender::bodies_of(&scene).unwrap();
            for pair in bodies[5..].chunks_exact(2) {
                let judge = Judge::new(pair).unwrap();
                let [a, b] = [0, 1].map(|side: usize| pair[side].shape.build().unwrap());
                let (turn, towards) = (random.rotation(), random.rotation() * DVec3::X);
                let state = |position, orientation| BodyState {
                    position,
                    orientation,
                    speed: 0.0,
                };
                for step in 0..2_000 {
                    let apart = towards * (0.5 - 2.5e-4 * f64::from(step));
                    let poses = [(DVec3::ZERO, DQuat::IDENTITY), (apart, turn)];
                    let shape_pose = |side: usize| {
                        let (position, orientation) = poses[side];
                        moreau::geometry::Frame::new(
                            position - orientation * pair[side].center,
                            orientation,
                        )
                    };
                    let mut found = Vec::new();
                    let places = [shape_pose(0), shape_pose(1)];
                    moreau::geometry::contacts(&a, &places[0], &b, &places[1], 0.0, &mut found);
                    let depth = found.iter().map(|point| -point.gap).fold(0.0, f64::max);
                    if depth > 5e-4 {
                        let states = poses.map(|(position, turn)| state(position, turn));
                        let judged = judge.deepest(&states).unwrap();
                        assert!(judged < depth + 1e-5, "{name}: {judged}, Moreau {depth}");
                        same += usize::from(judged > 0.99 * depth - 1e-5);
                        seen += 1;
                        break;
                    }
                }
            }
        }
        assert!(seen >= 90 && same * 10 >= seen * 9, "{same} of {seen}");
    }
}
