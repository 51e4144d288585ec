//! Momentum balance of a finished step, from the states that were committed.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::Detected;
use crate::math::chunks;
use crate::settings::Settings;
use glam::DVec3;

/// The check of `m (v_{k+1} − v_k) = h (m g + f) + Σ ±P` for every dynamic body.
#[derive(Debug, Default)]
pub(crate) struct MomentumCheck {
    /// Impulse still to be explained, N·s. Entries of bodies at rest are written and not used. The ledger, which
    /// has the states of a body at hand, writes what forces leave.
    pub(crate) defect: Vec<DVec3>,
}

/// What the forces of the step leave of the change of a body's momentum, N·s.
#[inline]
pub(crate) fn left_by_forces(slot: Slot, bodies: &Bodies, settings: &Settings) -> DVec3 {
    let body = &bodies.constants[slot];
    let (mass, gravity) = (
        body.inertia.mass,
        settings.gravity * body.response.gravity.0,
    );
    let (old, new) = (&bodies.before.twist[slot], &bodies.twist[slot]);
    let mut external = gravity * mass + bodies.acting(slot).force;
    if body.response.has_drag() {
        external -= new.linear * (body.response.drag.linear * mass);
    }
    (new.linear - old.linear) * mass - external * settings.time_step
}

impl MomentumCheck {
    /// Largest defect of a body, N·s, by the impulses `carried` on A, in the inertial frame.
    pub(crate) fn check(&mut self, bodies: &Bodies, places: &[Detected], carried: &[DVec3]) -> f64 {
        for (place, p) in places.iter().zip(carried) {
            let [a, b] = place.bodies;
            self.defect[a] -= *p;
            self.defect[b] += *p;
        }
        let worst = |slots: &[Slot]| {
            let slots = slots.iter().copied();
            let dynamic = slots.filter(|slot| bodies.constants[*slot].is_dynamic());
            dynamic.fold(0.0, |worst: f64, slot| {
                worst.max(self.defect[slot].length_squared())
            })
        };
        chunks::fold(&bodies.moving[..], &worst, &f64::max).sqrt()
    }
}
