//! The deepest overlap of a state, from its poses: the same judge for every engine.

use crate::contender::{Body, BodyState, Form, Outcome};
use parry3d_f64::math::Pose;
use parry3d_f64::query;
use parry3d_f64::shape::{Ball, Cuboid, Shape};

/// A body as the query sees it.
struct Placed {
    pose: Pose,
    shape: Box<dyn Shape>,
    /// Radius of a ball about the pose that holds the body, m.
    reach: f64,
}

impl Placed {
    fn new(body: &Body, state: &BodyState) -> Self {
        let shape: Box<dyn Shape> = match body.form {
            Form::Ball(radius) => Box::new(Ball::new(radius)),
            Form::Cuboid(half) => Box::new(Cuboid::new(half)),
        };
        let reach = match body.form {
            Form::Ball(radius) => radius,
            Form::Cuboid(half) => half.length(),
        };
        Self {
            pose: Pose::from_parts(state.position, state.orientation),
            shape,
            reach,
        }
    }

    /// Left end along x.
    fn left(&self) -> f64 {
        self.pose.translation.x - self.reach
    }

    /// Depth of the overlap with another body, m; zero without one.
    fn depth(&self, other: &Self) -> Outcome<f64> {
        let (a, b) = (self.shape.as_ref(), other.shape.as_ref());
        let contact = query::contact(&self.pose, a, &other.pose, b, 0.0)
            .map_err(|error| format!("overlap of two bodies: {error}"))?;
        Ok(contact.map_or(0.0, |contact| (-contact.dist).max(0.0)))
    }
}

/// The deepest overlap of two bodies of which one can move, m.
///
/// # Errors
/// If parry cannot compare two of the shapes.
pub(crate) fn deepest(bodies: &[Body], states: &[BodyState]) -> Outcome<f64> {
    let (mut moving, mut fixed) = (Vec::new(), Vec::new());
    for (body, state) in bodies.iter().zip(states) {
        let list = if body.dynamic {
            &mut moving
        } else {
            &mut fixed
        };
        list.push(Placed::new(body, state));
    }
    moving.sort_by(|a, b| a.left().total_cmp(&b.left()));
    let mut deepest = 0.0_f64;
    for (index, a) in moving.iter().enumerate() {
        for wall in &fixed {
            deepest = deepest.max(a.depth(wall)?);
        }
        let right = a.pose.translation.x + a.reach;
        for b in moving[index + 1..].iter().take_while(|b| b.left() <= right) {
            let apart = (a.pose.translation - b.pose.translation).abs();
            if apart.max_element() <= a.reach + b.reach {
                deepest = deepest.max(a.depth(b)?);
            }
        }
    }
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::glam::{DQuat, DVec3};
    use moreau::prelude::{Material, Pose as BodyPose};

    #[test]
    fn overlaps_among_bodies_and_with_walls_count_and_static_ones_do_not() {
        let body = |dynamic, form| Body {
            dynamic,
            form,
            pose: BodyPose::default(),
            material: Material::default(),
        };
        let at = |x: f64, z: f64| BodyState {
            position: DVec3::new(x, 0.0, z),
            orientation: DQuat::IDENTITY,
            speed: 0.0,
        };
        let floor = body(false, Form::Cuboid(DVec3::new(5.0, 5.0, 0.5)));
        let ball = body(true, Form::Ball(0.1));
        let bodies = [floor, floor, ball, ball];
        let depth = |states: &[BodyState]| deepest(&bodies, states).unwrap();
        let [ground, inside] = [at(0.0, -0.5), at(0.1, -0.6)];
        let found = depth(&[ground, inside, at(0.0, 0.1), at(0.19, 0.1)]);
        assert!((found - 0.01).abs() < 1e-12, "{found}");
        let found = depth(&[ground, inside, at(0.0, 0.08), at(0.3, 0.1)]);
        assert!((found - 0.02).abs() < 1e-12, "{found}");
    }
}
