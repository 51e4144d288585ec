//! Rays and where they hit.

use super::error::{QueryError, finite, reach, unit};
use glam::DVec3;

/// What a ray does that starts within a solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// It hits at once: the distance is zero, the point its origin, the normal against its direction.
    #[default]
    Hits,
    /// It hits the far side, from within. Of a compound it hits that of every part that it starts in.
    Leaves,
}

/// A half-line, or a piece of it, in the inertial frame.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::query::{QueryError, Ray};
///
/// let ray = Ray::new(DVec3::ZERO, DVec3::new(0.0, 3.0, 4.0))?.up_to(10.0)?;
/// assert!(ray.at(5.0).distance(DVec3::new(0.0, 3.0, 4.0)) < 1e-15);
/// assert!(Ray::new(DVec3::ZERO, DVec3::ZERO).is_err());
/// assert!(Ray::new(DVec3::NAN, DVec3::X).is_err());
/// # Ok::<(), QueryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    pub(super) origin: DVec3,
    pub(super) direction: DVec3,
    pub(super) reach: f64,
    pub(super) inside: Inside,
}

impl Ray {
    /// From a point (m) along a direction of any length but zero, without end. Starts within solids hit.
    ///
    /// # Errors
    /// [`QueryError`] names a number that is not finite, or the direction if it is zero.
    pub fn new(origin: DVec3, direction: DVec3) -> Result<Self, QueryError> {
        Ok(Self {
            origin: finite("origin of the ray", origin)?,
            direction: unit("direction of the ray", direction)?,
            reach: f64::INFINITY,
            inside: Inside::Hits,
        })
    }

    /// From a point to another (m), which it reaches just so.
    ///
    /// # Errors
    /// [`QueryError`] names a number that is not finite, or the direction if the points are one.
    pub fn between(from: DVec3, to: DVec3) -> Result<Self, QueryError> {
        finite("end of the ray", to)?;
        let ray = Self::new(from, to - from)?;
        ray.up_to((to - from).length())
    }

    /// The same, no longer than `reach` (m, ≥ 0; `∞` is without end). A hit at this distance counts.
    ///
    /// # Errors
    /// [`QueryError`] if the distance is negative or not a number.
    pub fn up_to(self, reach_in_m: f64) -> Result<Self, QueryError> {
        let reach = reach("length of the ray", reach_in_m)?;
        Ok(Self { reach, ..self })
    }

    /// The same, no longer than it is and than `reach` (m).
    #[must_use]
    #[inline]
    pub fn shortened(self, reach: f64) -> Self {
        let reach = if reach < self.reach {
            reach
        } else {
            self.reach
        };
        Self { reach, ..self }
    }

    /// The same with another rule for starts within solids.
    #[must_use]
    pub fn starting_inside(self, inside: Inside) -> Self {
        Self { inside, ..self }
    }

    /// Where it starts (m).
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Unit vector along it.
    #[must_use]
    pub fn direction(&self) -> DVec3 {
        self.direction
    }

    /// How long it is (m), `∞` if it has no end.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// The point at a distance (m).
    #[must_use]
    pub fn at(&self, distance: f64) -> DVec3 {
        self.origin + self.direction * distance
    }
}

/// Where a ray hits a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// From the origin of the ray, m, ≥ 0.
    pub distance: f64,
    /// The point, inertial frame, m.
    pub point: DVec3,
    /// Unit normal of the surface there, on the side that the ray comes from: never along the ray. Where the ray starts within a solid
    /// and [hits at once](Inside::Hits), against its direction.
    pub normal: DVec3,
    /// The part of a compound, or the triangle in the list of a mesh, or of a height field (two for each cell, row by row); 0 of other
    /// shapes.
    pub part: u32,
}
