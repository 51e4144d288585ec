//! Motors and given forces that move what they drive: it does not fall asleep, however slowly it goes.

use super::{Jointed, Joints};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::JointForce;

/// Part of the velocity that a motor asks for, below which it stands against something.
const STANDS: f64 = 0.1;
/// Rate of a joint whose motor seeks a place, below which it is there, or that a given force presses against something, m/s or rad/s.
const THERE: f64 = 1e-4;

impl Joints {
    /// Bodies of joints that motors or given forces move.
    pub(crate) fn driven(&self, bodies: &Bodies) -> impl Iterator<Item = Slot> {
        let driven = self.list.iter().filter(|joint| joint.is_driven(bodies));
        driven.flat_map(Jointed::slots)
    }
}

impl Jointed {
    /// A motor or a given force moves one of its coordinates.
    fn is_driven(&self, bodies: &Bodies) -> bool {
        let mut forces = self.forces.iter().enumerate();
        forces.any(|(index, force)| {
            let Some(least) = least_rate(force) else {
                return false;
            };
            let (_, row) = self.coordinate(index, &self.placed(bodies));
            self.mean_rate(&row, bodies).abs() > least
        })
    }
}

/// The rate of a coordinate beyond which this force moves it, if it ever does.
fn least_rate(force: &JointForce) -> Option<f64> {
    match *force {
        JointForce::Motor {
            velocity,
            stiffness,
            damping,
            effort,
            ..
        } if effort > 0.0 => {
            if damping > 0.0 && velocity != 0.0 {
                Some(STANDS * velocity.abs())
            } else {
                (stiffness > 0.0).then_some(THERE)
            }
        }
        JointForce::Applied { effort, .. } => (effort != 0.0).then_some(THERE),
        _ => None,
    }
}
