//! What bodies are, each kind of them once: shapes, materials, masses, forces.

use super::error::SnapshotError;
use super::shape::StoredShape;
use crate::bodies::check::check_body;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::Slot;
use crate::components::mass::RawMass;
use crate::components::response::Response;
use crate::components::{
    BodyForces, BodyId, Collider, CollisionGroups, Drag, GravityScale, Made, Mass, Material,
    PartMaterials, RigidBody,
};
use crate::error::BodyError;
use crate::forces::law::ForceLaw;
use crate::forces::linear::LinearForce;
use crate::forces::point_spring::PointSpring;
use moreau_geometry::Shape;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a body is, beside its id and its state. Many bodies share one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substance {
    pub(crate) kind: RigidBody,
    pub(crate) collider: Option<Collider>,
    pub(crate) material: Material,
    pub(crate) parts: Option<PartMaterials>,
    /// As it was given.
    pub(crate) mass: Mass,
    pub(crate) groups: CollisionGroups,
    pub(crate) sensor: bool,
    pub(crate) gravity: Option<GravityScale>,
    pub(crate) drag: Option<Drag>,
    /// `None` within is a law that a file did not hold.
    pub(crate) forces: Option<Vec<Option<Arc<dyn ForceLaw>>>>,
}

/// All bodies and what they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matter {
    pub(crate) substances: Vec<Substance>,
    /// Ids, ascending, and places among the substances.
    pub(crate) bodies: Vec<(BodyId, u32)>,
    /// Of those that have one.
    pub(crate) names: Vec<(Slot, String)>,
}

impl Substance {
    pub(crate) fn of(
        kind: RigidBody,
        material: Material,
        mass: &Mass,
        groups: CollisionGroups,
    ) -> Self {
        Self {
            kind,
            material,
            mass: mass.as_given(),
            groups,
            ..Self::default()
        }
    }

    pub(crate) fn with_forces(self, forces: Option<&BodyForces>) -> Self {
        let forces = forces.map(|forces| forces.0.iter().cloned().map(Some).collect());
        Self { forces, ..self }
    }

    /// Its constants, checked.
    pub(crate) fn constants(&self) -> Result<BodyConstants, BodyError> {
        let made = Made::of(&self.material, self.parts.as_ref());
        let response = Response::new(self.gravity.as_ref(), self.drag.as_ref());
        check_body(
            self.kind,
            self.collider.as_ref(),
            made,
            &self.mass,
            (self.groups, self.sensor),
            response,
        )
    }

    /// Its forces; those that a file did not hold are the `own` ones of the body that it is restored to. The place of one that is missing otherwise.
    pub(crate) fn forces(&self, own: Option<&BodyForces>) -> Result<Option<BodyForces>, usize> {
        let Some(forces) = &self.forces else {
            return Ok(None);
        };
        let own = own.filter(|own| own.0.len() == forces.len());
        let laws = forces.iter().enumerate().map(|(index, law)| {
            let kept = || own.map(|own| own.0[index].clone());
            law.clone().or_else(kept).ok_or(index)
        });
        Ok(Some(BodyForces(laws.collect::<Result<_, _>>()?)))
    }
}

/// A substance in a file. Shapes by their places.
#[derive(Serialize, Deserialize)]
struct StoredSubstance {
    kind: RigidBody,
    shape: Option<u32>,
    material: Material,
    parts: Option<PartMaterials>,
    mass: RawMass,
    groups: CollisionGroups,
    sensor: bool,
    gravity: Option<GravityScale>,
    drag: Option<Drag>,
    forces: Option<Vec<StoredForce>>,
}

/// A force in a file.
#[derive(Serialize, Deserialize)]
enum StoredForce {
    Linear(Box<LinearForce>),
    PointSpring(PointSpring),
    /// A law of the user's own.
    Foreign,
}

impl StoredForce {
    fn of(law: Option<&Arc<dyn ForceLaw>>) -> Self {
        let Some(law) = law else {
            return Self::Foreign;
        };
        let law: &dyn Any = &**law;
        if let Some(linear) = law.downcast_ref::<LinearForce>() {
            Self::Linear(Box::new(*linear))
        } else if let Some(spring) = law.downcast_ref() {
            Self::PointSpring(*spring)
        } else {
            Self::Foreign
        }
    }

    fn law(self) -> Option<Arc<dyn ForceLaw>> {
        match self {
            Self::Linear(linear) => Some(Arc::new(*linear)),
            Self::PointSpring(spring) => Some(Arc::new(spring)),
            Self::Foreign => None,
        }
    }
}

/// Collects bodies and finds those that are the same.
#[derive(Default)]
pub(crate) struct Collector {
    matter: Matter,
    shapes: ShapeTable,
    known: BTreeMap<(Vec<u8>, Vec<usize>), u32>,
}

/// Shapes, each once.
#[derive(Default)]
struct ShapeTable {
    shapes: Vec<StoredShape>,
    colliders: Vec<Collider>,
    by_address: BTreeMap<usize, u32>,
    by_content: BTreeMap<Vec<u8>, u32>,
}

impl ShapeTable {
    fn place(&mut self, collider: &Collider) -> Result<u32, SnapshotError> {
        if let Some(place) = self.by_address.get(&collider.address()) {
            return Ok(*place);
        }
        let stored = StoredShape::try_from(collider.shape())?;
        let next = self.shapes.len() as u32;
        let place = *self.by_content.entry(bytes(&stored)?).or_insert(next);
        if place == next {
            self.shapes.push(stored);
            self.colliders.push(collider.clone());
        }
        self.by_address.insert(collider.address(), place);
        Ok(place)
    }
}

fn bytes(value: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    postcard::to_extend(value, Vec::new())
        .map_err(|error| SnapshotError::malformed("substances", error.to_string()))
}

fn stored(of: &Substance, shapes: &mut ShapeTable) -> Result<StoredSubstance, SnapshotError> {
    let shape = of.collider.as_ref();
    let forces = of.forces.as_ref().map(|forces| {
        let forces = forces.iter();
        forces.map(|law| StoredForce::of(law.as_ref())).collect()
    });
    Ok(StoredSubstance {
        kind: of.kind,
        shape: shape.map(|shape| shapes.place(shape)).transpose()?,
        material: of.material,
        parts: of.parts.clone(),
        mass: of.mass.raw(),
        groups: of.groups,
        sensor: of.sensor,
        gravity: of.gravity,
        drag: of.drag,
        forces,
    })
}

impl Collector {
    /// A body more, in the order of ids.
    pub(crate) fn push(&mut self, id: BodyId, substance: Substance) -> Result<(), SnapshotError> {
        let content = bytes(&stored(&substance, &mut self.shapes)?)?;
        let laws = substance.forces.iter().flatten().flatten();
        let laws = laws.map(|law| Arc::as_ptr(law).addr()).collect();
        let next = self.matter.substances.len() as u32;
        let place = *self.known.entry((content, laws)).or_insert(next);
        if place == next {
            let shape = substance.collider.as_ref();
            let shape = shape.map(|shape| self.shapes.place(shape)).transpose()?;
            let collider = shape.map(|place| self.shapes.colliders[place as usize].clone());
            self.matter.substances.push(Substance {
                collider,
                ..substance
            });
        }
        self.matter.bodies.push((id, place));
        Ok(())
    }

    /// The last body has this name.
    pub(crate) fn name(&mut self, name: &str) {
        let last = self.matter.bodies.len().saturating_sub(1);
        self.matter.names.push((Slot::new(last), name.to_owned()));
    }

    pub(crate) fn finish(self) -> Matter {
        self.matter
    }
}

/// Shapes and substances, for a file.
pub(super) struct Tables {
    pub(super) shapes: Vec<StoredShape>,
    substances: Vec<StoredSubstance>,
}

impl Tables {
    pub(super) fn of(matter: &Matter) -> Result<Self, SnapshotError> {
        let mut shapes = ShapeTable::default();
        let substances = matter.substances.iter();
        let substances = substances
            .map(|of| stored(of, &mut shapes))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            shapes: shapes.shapes,
            substances,
        })
    }

    pub(super) fn substances(&self) -> &impl Serialize {
        &self.substances
    }
}

/// Substances that are read.
pub(super) struct ReadSubstances(Vec<StoredSubstance>);

impl<'de> Deserialize<'de> for ReadSubstances {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self)
    }
}

impl ReadSubstances {
    /// Their shapes are shared again.
    pub(super) fn with_shapes(
        self,
        shapes: Vec<StoredShape>,
    ) -> Result<Vec<Substance>, SnapshotError> {
        let colliders = shapes
            .into_iter()
            .map(|shape| Collider::new(Shape::from(shape)));
        let colliders: Vec<Collider> = colliders.collect();
        let substances = self.0.into_iter().map(|stored| {
            let collider = match stored.shape {
                None => None,
                Some(place) => Some(colliders.get(place as usize).cloned().ok_or_else(|| {
                    let reason = format!("there is no shape {place} of {}", colliders.len());
                    SnapshotError::malformed("substances", reason)
                })?),
            };
            let laws =
                |forces: Vec<StoredForce>| forces.into_iter().map(StoredForce::law).collect();
            Ok(Substance {
                kind: stored.kind,
                collider,
                material: stored.material,
                parts: stored.parts,
                mass: Mass::of_raw(stored.mass),
                groups: stored.groups,
                sensor: stored.sensor,
                gravity: stored.gravity,
                drag: stored.drag,
                forces: stored.forces.map(laws),
            })
        });
        substances.collect()
    }
}
