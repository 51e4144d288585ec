//! Shapes: casts, overlaps, contacts.

use super::error::QueryError;
use super::filter::QueryFilter;
use super::index::Item;
use super::refresh::frame;
use super::view::{Found, Queries, keep_first, order};
use crate::components::{Collider, Pose};
use crate::error::BodyError;
use glam::DVec3;
use moreau_geometry::query::{QueryError as Question, ShapeHit, Sweep, cast_shape, overlaps};
use moreau_geometry::{ContactPoint, Frame, Geometry, contacts};

impl Queries<'_> {
    /// What a shape first touches that starts at `start` and moves along a line without turning.
    ///
    /// # Errors
    /// [`QueryError::Shape`] if the collider is wrong, [`QueryError::Question`] if the pose is.
    pub fn shape_cast(
        &self,
        collider: &Collider,
        start: &Pose,
        sweep: &Sweep,
        filter: &QueryFilter,
    ) -> Result<Option<Found<ShapeHit>>, QueryError> {
        let (geometry, start) = asked(collider, start)?;
        Ok(self.first_touch(&geometry, &start, sweep, filter))
    }

    /// Whatever the shape touches on its way, each body once, as if the others were not there: by distance, then by id.
    ///
    /// # Errors
    /// As [`Self::shape_cast`].
    pub fn shape_cast_all(
        &self,
        collider: &Collider,
        start: &Pose,
        sweep: &Sweep,
        filter: &QueryFilter,
    ) -> Result<Vec<Found<ShapeHit>>, QueryError> {
        let (geometry, start) = asked(collider, start)?;
        let mut all = Vec::new();
        self.sweep(&geometry, &start, sweep, filter, |item, reach| {
            let hit = cast_shape(&geometry, &start, sweep, &item.geometry, &item.pose);
            all.extend(hit.map(|hit| item.with(hit)));
            reach
        });
        all.sort_unstable_by(order);
        Ok(all)
    }

    /// The first touches of one shape from many starts, in their order, on the threads of the simulation.
    ///
    /// # Errors
    /// As [`Self::shape_cast`]; of several poses that are wrong the first is named.
    pub fn shape_casts(
        &self,
        collider: &Collider,
        casts: &[(Pose, Sweep)],
        filter: &QueryFilter,
    ) -> Result<Vec<Option<Found<ShapeHit>>>, QueryError> {
        let found = self.each(casts, |(start, sweep)| {
            self.shape_cast(collider, start, sweep, filter)
        });
        found.into_iter().collect()
    }

    fn first_touch(
        &self,
        geometry: &Geometry,
        start: &Frame,
        sweep: &Sweep,
        filter: &QueryFilter,
    ) -> Option<Found<ShapeHit>> {
        let mut best: Option<Found<ShapeHit>> = None;
        self.sweep(geometry, start, sweep, filter, |item, reach| {
            let sweep = sweep.shortened(reach);
            let hit = cast_shape(geometry, start, &sweep, &item.geometry, &item.pose);
            let Some(hit) = hit else {
                return reach;
            };
            keep_first(&mut best, item.with(hit));
            hit.distance
        });
        best
    }

    fn sweep(
        &self,
        geometry: &Geometry,
        start: &Frame,
        sweep: &Sweep,
        filter: &QueryFilter,
        mut visit: impl FnMut(&Item, f64) -> f64,
    ) {
        let index = self.index;
        let bounds = geometry.aabb(start);
        let with = |number: u32, reach: f64| match index.item(number) {
            Some(item) if filter.accepts(item) => visit(item, reach),
            _ => reach,
        };
        index
            .tree
            .sweep(&bounds, sweep.direction(), sweep.reach(), with);
    }

    /// The bodies that share a point with a shape, by their ids.
    ///
    /// # Errors
    /// As [`Self::shape_cast`].
    pub fn overlap_shape(
        &self,
        collider: &Collider,
        pose: &Pose,
        filter: &QueryFilter,
    ) -> Result<Vec<Found<()>>, QueryError> {
        let (geometry, pose) = asked(collider, pose)?;
        let mut all = Vec::new();
        self.index.tree.meet(&geometry.aabb(&pose), |number| {
            if let Some(item) = self.index.item(number)
                && filter.accepts(item)
                && overlaps(&geometry, &pose, &item.geometry, &item.pose)
            {
                all.push(item.with(()));
            }
        });
        all.sort_unstable_by_key(|found| (found.id, found.entity));
        Ok(all)
    }

    /// The contacts that a shape would have, with gaps up to `margin` (m), as the step finds them: by the ids of the bodies, normals from the body to the shape.
    ///
    /// # Errors
    /// As [`Self::shape_cast`]; [`QueryError::Question`] also for a margin that is not finite.
    pub fn contacts_of(
        &self,
        collider: &Collider,
        pose: &Pose,
        margin: f64,
        filter: &QueryFilter,
    ) -> Result<Vec<Found<ContactPoint>>, QueryError> {
        let (geometry, pose) = asked(collider, pose)?;
        if !margin.is_finite() {
            return Err(Question::Field {
                field: "margin of the contacts",
                value: margin,
                bound: "finite",
            }
            .into());
        }
        let (mut all, mut points) = (Vec::new(), Vec::new());
        let region = geometry.aabb(&pose).inflated(margin.max(0.0));
        self.index.tree.meet(&region, |number| {
            if let Some(item) = self.index.item(number)
                && !item.sensor
                && filter.accepts(item)
            {
                points.clear();
                contacts(
                    &geometry,
                    &pose,
                    &item.geometry,
                    &item.pose,
                    margin,
                    &mut points,
                );
                all.extend(points.iter().map(|point| item.with(*point)));
            }
        });
        // The points of a body stay in their order.
        all.sort_by_key(|found| (found.id, found.entity));
        Ok(all)
    }
}

/// The shape and the pose of a question.
fn asked(collider: &Collider, pose: &Pose) -> Result<(Geometry, Frame), QueryError> {
    let geometry = collider.geometry()?;
    let pose = frame(pose, DVec3::ZERO).map_err(|source| match source {
        BodyError::Field {
            field,
            value,
            bound,
        } => Question::Field {
            field,
            value,
            bound,
        }
        .into(),
        BodyError::Shape(source) => QueryError::Shape(source),
        _ => QueryError::Question(Question::Field {
            field: "pose",
            value: f64::NAN,
            bound: "a rotation and a place",
        }),
    })?;
    Ok((geometry, pose))
}
