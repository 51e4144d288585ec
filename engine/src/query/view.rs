//! Rays and points.

use super::error::QueryError;
use super::filter::QueryFilter;
use super::index::{Item, QueryIndex};
use crate::components::BodyId;
use crate::math::chunks;
use crate::settings::Settings;
use crate::step::StepState;
use crate::step::threads::Threads;
use bevy_ecs::entity::Entity;
use glam::DVec3;
use moreau_geometry::query::{PointHit, Ray, RayHit, cast_ray, closest_point, contains, ray_hits};
use moreau_geometry::{Aabb, query};
use rayon::prelude::*;

/// Something found on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<T> {
    /// The body.
    pub entity: Entity,
    /// Its id.
    pub id: BodyId,
    /// What was found there; inertial frame.
    pub at: T,
}

/// The bodies of a world with shapes, where they are now, to be asked about: from [`Simulation::queries`](crate::Simulation::queries) or
/// [`SpatialQuery::view`](crate::SpatialQuery::view).
///
/// | question | first or nearest | all | many at once |
/// |---|---|---|---|
/// | ray | [`ray`](Self::ray), [`is_blocked`](Self::is_blocked) | [`ray_all`](Self::ray_all) | [`rays`](Self::rays) |
/// | shape along a line | [`shape_cast`](Self::shape_cast) | [`shape_cast_all`](Self::shape_cast_all) | [`shape_casts`](Self::shape_casts) |
/// | nearest surface | [`closest_point`](Self::closest_point) | | [`closest_points`](Self::closest_points) |
/// | point within | | [`overlap_point`](Self::overlap_point) | |
/// | shape in overlap | | [`overlap_shape`](Self::overlap_shape) | |
/// | contacts of a shape | | [`contacts_of`](Self::contacts_of) | |
///
/// Answers are pure functions of the bodies and the question: the same bits on any number of threads, and for any order in which bodies are stored. Where
/// two bodies are equally far the one with the lesser [`BodyId`] is first, then the lesser part. What shapes do in a question, closed surfaces, sheets that have
/// no inside, is in [`query`]. Poses that are asked about are those of the frame of the shape, as in [`Simulation::shape_pose`](crate::Simulation::shape_pose).
#[derive(Clone, Copy, Debug)]
pub struct Queries<'a> {
    pub(super) index: &'a QueryIndex,
    threads: &'a Threads,
    /// As in the settings.
    number: usize,
}

/// Questions of a batch that one thread answers at a time.
const CHUNK: usize = 64;

impl<'a> Queries<'a> {
    pub(super) fn new(index: &'a QueryIndex, state: &'a StepState, settings: &Settings) -> Self {
        Self {
            index,
            threads: state.threads(),
            number: settings.threads,
        }
    }

    /// Number of bodies with shapes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True if no body has a shape.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first hit of a ray.
    #[must_use]
    pub fn ray(&self, ray: &Ray, filter: &QueryFilter) -> Option<Found<RayHit>> {
        let mut best: Option<Found<RayHit>> = None;
        self.cast(ray, filter, |item, reach| {
            let Some(hit) = cast_ray(&item.geometry, &item.pose, &ray.shortened(reach)) else {
                return reach;
            };
            keep_first(&mut best, item.with(hit));
            hit.distance
        });
        best
    }

    /// All hits of a ray, by distance, then by the id of the body, then by its part. A body has one hit if it is convex, one for each part of a compound, one
    /// for each triangle of a surface.
    #[must_use]
    pub fn ray_all(&self, ray: &Ray, filter: &QueryFilter) -> Vec<Found<RayHit>> {
        let (mut all, mut hits) = (Vec::new(), Vec::new());
        self.cast(ray, filter, |item, reach| {
            hits.clear();
            ray_hits(&item.geometry, &item.pose, ray, &mut hits);
            all.extend(hits.iter().map(|hit| item.with(*hit)));
            reach
        });
        all.sort_unstable_by(order);
        all
    }

    /// A ray hits something: cheaper than to ask what.
    #[must_use]
    pub fn is_blocked(&self, ray: &Ray, filter: &QueryFilter) -> bool {
        let mut hit = false;
        self.cast(ray, filter, |item, reach| {
            hit |= cast_ray(&item.geometry, &item.pose, ray).is_some();
            if hit { -1.0 } else { reach }
        });
        hit
    }

    /// The first hits of many rays, in their order, on the threads of the simulation.
    #[must_use]
    pub fn rays(&self, rays: &[Ray], filter: &QueryFilter) -> Vec<Option<Found<RayHit>>> {
        self.each(rays, |ray| self.ray(ray, filter))
    }

    fn cast(&self, ray: &Ray, filter: &QueryFilter, mut visit: impl FnMut(&Item, f64) -> f64) {
        let index = self.index;
        let (origin, direction) = (ray.origin(), ray.direction());
        let with = |number: u32, reach: f64| match index.item(number) {
            Some(item) if filter.accepts(item) => visit(item, reach),
            _ => reach,
        };
        index.tree.cast(origin, direction, ray.reach(), with);
    }

    /// The bodies that a point (m) is within, by their ids. Surfaces have no inside.
    ///
    /// # Errors
    /// [`QueryError::Question`] names a coordinate that is not finite.
    pub fn overlap_point(
        &self,
        point: DVec3,
        filter: &QueryFilter,
    ) -> Result<Vec<Found<()>>, QueryError> {
        // Checks the point where there is no body, too.
        Ray::new(point, DVec3::X)?;
        let (mut all, mut error) = (Vec::new(), None);
        self.index.tree.meet(&Aabb::new(point, point), |number| {
            if let Some(item) = self.index.item(number)
                && filter.accepts(item)
            {
                match contains(&item.geometry, &item.pose, point) {
                    Ok(true) => all.push(item.with(())),
                    Ok(false) => {}
                    Err(wrong) => error = Some(wrong),
                }
            }
        });
        match error {
            Some(error) => Err(error.into()),
            None => {
                all.sort_unstable_by_key(|found| (found.id, found.entity));
                Ok(all)
            }
        }
    }

    /// The surface nearest to a point (m), no farther than `within` (m; `∞` is anywhere). Distances are negative within solids: then it is that of the body that the
    /// point is deepest in.
    ///
    /// # Errors
    /// [`QueryError::Question`] names a coordinate that is not finite, or a distance that is negative or not a number.
    pub fn closest_point(
        &self,
        point: DVec3,
        within: f64,
        filter: &QueryFilter,
    ) -> Result<Option<Found<PointHit>>, QueryError> {
        Ray::new(point, DVec3::X)?.up_to(within)?;
        let (mut best, mut error): (Option<Found<PointHit>>, _) = (None, None);
        self.index.tree.near(point, within, |number, reach| {
            let Some(item) = self.index.item(number).filter(|item| filter.accepts(item)) else {
                return reach;
            };
            match closest_point(&item.geometry, &item.pose, point, reach) {
                Ok(Some(hit)) => {
                    keep_first(&mut best, item.with(hit));
                    // Within one body it may be deeper in another.
                    hit.distance.max(0.0)
                }
                Ok(None) => reach,
                Err(wrong) => {
                    error = Some(wrong);
                    -1.0
                }
            }
        });
        match error {
            Some(error) => Err(error.into()),
            None => Ok(best),
        }
    }

    /// The same for many points, in their order, on the threads of the simulation.
    ///
    /// # Errors
    /// That of the first point with one.
    pub fn closest_points(
        &self,
        points: &[DVec3],
        within: f64,
        filter: &QueryFilter,
    ) -> Result<Vec<Option<Found<PointHit>>>, QueryError> {
        let found = self.each(points, |point| self.closest_point(*point, within, filter));
        found.into_iter().collect()
    }

    /// Answers many questions, in their order.
    pub(super) fn each<Q: Sync, A: Send>(
        &self,
        questions: &[Q],
        answer: impl Fn(&Q) -> A + Sync,
    ) -> Vec<A> {
        let worth = questions.len() > 2 * CHUNK;
        let threads = match self.threads.pool() {
            None if worth => {
                let start = || self.threads.started(self.number);
                self.index.threads.get_or_init(start)
            }
            _ => self.threads,
        };
        threads.run(worth, || {
            if worth && chunks::is_shared() {
                let chunks = questions.par_iter().with_min_len(CHUNK);
                chunks.map(&answer).collect()
            } else {
                questions.iter().map(&answer).collect()
            }
        })
    }
}

impl Item {
    pub(super) fn with<T>(&self, at: T) -> Found<T> {
        Found {
            entity: self.entity,
            id: self.id,
            at,
        }
    }
}

/// Something with a distance and a part.
pub(super) trait Placed {
    fn place(&self) -> (f64, u32);
}

impl Placed for RayHit {
    fn place(&self) -> (f64, u32) {
        (self.distance, self.part)
    }
}

impl Placed for PointHit {
    fn place(&self) -> (f64, u32) {
        (self.distance, self.part)
    }
}

impl Placed for query::ShapeHit {
    fn place(&self) -> (f64, u32) {
        (self.distance, self.part)
    }
}

/// By distance, id and part.
pub(super) fn order<T: Placed>(one: &Found<T>, other: &Found<T>) -> std::cmp::Ordering {
    let ((a, part), (b, other_part)) = (one.at.place(), other.at.place());
    let ids = (one.id, one.entity).cmp(&(other.id, other.entity));
    a.total_cmp(&b).then(ids).then(part.cmp(&other_part))
}

/// Keeps the better of two.
pub(super) fn keep_first<T: Placed>(best: &mut Option<Found<T>>, found: Found<T>) {
    if best.as_ref().is_none_or(|best| order(&found, best).is_lt()) {
        *best = Some(found);
    }
}
