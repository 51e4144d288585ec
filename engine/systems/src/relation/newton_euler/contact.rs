//! Contacts of rigid bodies: the gap, and the velocity of the first body relative to the second in the frame `(n, t₁, t₂)`.

use super::{add_velocity_at, part, tangents};
use crate::algebra::Matrix;
use crate::relation::lagrangian::LagrangianRelation;
use std::sync::Arc;

/// Where bodies are closest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// `g_N`, m.
    pub gap: f64,
    /// Where the contact is, inertial frame, m.
    pub point: [f64; 3],
    /// Unit vector from the second body, or what does not move, to the first, inertial frame.
    pub normal: [f64; 3],
}

/// The contact point for the time, s, and the seven coordinates of each body.
pub type ContactGeometry = dyn Fn(f64, &[&[f64]]) -> ContactPoint + Send + Sync;

/// A contact of one body with what does not move, or of two.
///
/// ```
/// use moreau_systems::*;
/// // A ball of radius 0.1 m above the plane z = 0, with friction.
/// let contact = BodyContact::with_friction(|_, q| ContactPoint {
///     gap: q[0][2] - 0.1,
///     point: [q[0][0], q[0][1], 0.0],
///     normal: [0.0, 0.0, 1.0],
/// });
/// assert_eq!(Relation::lagrangian(contact).rows(), 3);
/// ```
#[derive(Clone)]
pub struct BodyContact {
    geometry: Arc<ContactGeometry>,
    rows: usize,
}

impl BodyContact {
    /// The normal alone: one row.
    #[must_use]
    pub fn frictionless(
        geometry: impl Fn(f64, &[&[f64]]) -> ContactPoint + Send + Sync + 'static,
    ) -> Self {
        Self {
            geometry: Arc::new(geometry),
            rows: 1,
        }
    }

    /// Normal and two tangents: three rows.
    #[must_use]
    pub fn with_friction(
        geometry: impl Fn(f64, &[&[f64]]) -> ContactPoint + Send + Sync + 'static,
    ) -> Self {
        Self {
            geometry: Arc::new(geometry),
            rows: 3,
        }
    }
}

impl LagrangianRelation for BodyContact {
    fn rows(&self) -> usize {
        self.rows
    }

    /// The gap; tangents have no place.
    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = (self.geometry)(t, q).gap;
    }

    fn jacobian(&self, t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let ContactPoint { point, normal, .. } = (self.geometry)(t, q);
        let [first, second] = tangents(normal);
        let frame = [normal, first, second];
        for (row, direction) in frame.into_iter().enumerate().take(self.rows) {
            for (side, (q, factor)) in q.iter().zip([1.0, -1.0]).enumerate() {
                if let Some(own) = part(h, side, row) {
                    add_velocity_at(own, factor, q, point, direction);
                }
            }
        }
    }
}
