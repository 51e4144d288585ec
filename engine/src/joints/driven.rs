//! Motors that move what they drive: it does not fall asleep, however slowly it goes.

use super::{Jointed, Joints};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::JointForce;

/// Part of the velocity that a motor asks for, below which it stands against something.
const STANDS: f64 = 0.1;
/// Rate of a joint whose motor seeks a place, below which it is there, m/s or rad/s.
const THERE: f64 = 1e-4;

impl Joints {
    /// Bodies of joints that motors move.
    pub(crate) fn driven(&self, bodies: &Bodies) -> impl Iterator<Item = Slot> {
        let driven = self.list.iter().filter(|joint| joint.is_driven(bodies));
        driven.flat_map(Jointed::slots)
    }
}

impl Jointed {
    /// A motor moves one of its coordinates.
    fn is_driven(&self, bodies: &Bodies) -> bool {
        let mut motors = self.forces.iter().enumerate();
        motors.any(|(index, force)| {
            let JointForce::Motor {
                velocity,
                stiffness,
                damping,
                effort,
                ..
            } = *force
            else {
                return false;
            };
            let asks = damping > 0.0 && velocity != 0.0;
            if effort <= 0.0 || !asks && stiffness <= 0.0 {
                return false;
            }
            let least = if asks { STANDS * velocity.abs() } else { THERE };
            let (_, row) = self.coordinate(index, &self.placed(bodies));
            self.mean_rate(&row, bodies).abs() > least
        })
    }
}
