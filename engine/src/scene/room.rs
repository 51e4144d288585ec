//! Whether a body has room among others.

use super::{BodySpec, Emitter};
use crate::{Collider, CollisionGroups, Mass, Pose, RigidBody, Sensor};
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::{Aabb, ContactPoint, Geometry, GeometryError, contacts};

/// Overlap, over the radius of the smaller body, that is rounding.
const ROUNDING: f64 = 1e-9;

/// What a body takes up, wherever it is.
#[derive(Clone)]
pub(super) struct Guest {
    geometry: Geometry,
    center_of_mass: DVec3,
    dynamic: bool,
    groups: CollisionGroups,
}

impl Guest {
    pub(super) fn new(
        kind: RigidBody,
        collider: &Collider,
        groups: CollisionGroups,
        mass: &Mass,
    ) -> Result<Self, GeometryError> {
        Ok(Self {
            geometry: collider.geometry()?,
            center_of_mass: match mass.center_of_mass() {
                Some(own) => own,
                None => collider.center_of_mass()?,
            },
            dynamic: kind == RigidBody::Dynamic,
            groups,
        })
    }

    /// Distance from the centre of mass within which all of it is.
    fn reach(&self) -> f64 {
        self.center_of_mass.length() + self.geometry.bounding_radius()
    }

    fn at(self, pose: Pose) -> Placed {
        let frame = pose.of_shape(self.center_of_mass).into();
        Placed {
            bounds: self.geometry.aabb(&frame),
            frame,
            guest: self,
        }
    }
}

/// A body at its place.
struct Placed {
    guest: Guest,
    frame: moreau_geometry::Frame,
    bounds: Aabb,
}

/// A body that may reach into a region.
struct Near {
    kind: RigidBody,
    collider: Collider,
    groups: CollisionGroups,
    mass: Mass,
    pose: Pose,
    /// A box around it that is not tight.
    around: Aabb,
}

impl Near {
    fn placed(&self) -> Option<Placed> {
        let guest = Guest::new(self.kind, &self.collider, self.groups, &self.mass).ok()?;
        Some(guest.at(self.pose))
    }
}

/// What is read of them.
type Parts = (
    &'static RigidBody,
    &'static Collider,
    &'static Pose,
    &'static CollisionGroups,
    &'static Mass,
);

/// The bodies around an emitter.
pub(super) struct Room {
    /// Those that were there.
    near: Vec<Near>,
    /// Those that came.
    new: Vec<Placed>,
    found: Vec<ContactPoint>,
}

impl Room {
    /// Where bodies of the emitter may reach.
    pub(super) fn region<'a>(
        emitter: &Emitter,
        bodies: impl Iterator<Item = (&'a BodySpec, &'a Guest)>,
    ) -> Option<Aabb> {
        bodies
            .map(|(body, guest)| {
                let center = emitter.center + body.position;
                Aabb::from_center(center, emitter.half_extents).inflated(guest.reach())
            })
            .reduce(|a, b| a.union(&b))
    }

    /// The bodies of a world that may reach into the region.
    pub(super) fn around(world: &mut World, region: &Aabb) -> Self {
        let mut near = Vec::new();
        let mut query = world.query_filtered::<Parts, Without<Sensor>>();
        for (kind, collider, pose, groups, mass) in query.iter(world) {
            let Ok(geometry) = collider.geometry() else {
                continue;
            };
            // No solid's centre of mass is farther from the origin of its shape than its points are, but one that was given.
            let own = mass.center_of_mass().map_or(0.0, DVec3::length);
            let reach = geometry.bounding_radius() + own.max(geometry.bounding_radius());
            let around = Aabb::from_center(pose.position, DVec3::splat(reach));
            if around.intersects(region) {
                near.push(Near {
                    kind: *kind,
                    collider: collider.clone(),
                    groups: *groups,
                    mass: *mass,
                    pose: *pose,
                    around,
                });
            }
        }
        Self {
            near,
            new: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Takes the guest in, if it overlaps none of the bodies that it would meet.
    pub(super) fn take(&mut self, guest: &Guest, pose: Pose) -> bool {
        let place = guest.clone().at(pose);
        let found = &mut self.found;
        let taken = self.new.iter().any(|other| overlap(&place, other, found))
            || self.near.iter().any(|other| {
                let close = other.around.intersects(&place.bounds);
                let other = close.then(|| other.placed()).flatten();
                other.is_some_and(|other| overlap(&place, &other, found))
            });
        if !taken {
            self.new.push(place);
        }
        !taken
    }
}

fn overlap(a: &Placed, b: &Placed, found: &mut Vec<ContactPoint>) -> bool {
    let meet = (a.guest.dynamic || b.guest.dynamic) && a.guest.groups.meets(b.guest.groups);
    if !(meet && a.bounds.intersects(&b.bounds)) {
        return false;
    }
    let (x, y) = (&a.guest.geometry, &b.guest.geometry);
    found.clear();
    contacts(x, &a.frame, y, &b.frame, 0.0, found);
    let rounding = ROUNDING * x.bounding_radius().min(y.bounding_radius());
    found.iter().any(|contact| contact.gap < -rounding)
}
