//! One shape out of the shapes of a body's parts.

use moreau::geometry::{Frame as Place, Shape};
use moreau::{Collider, Material, PartMaterials, Pose};

/// A collider in the frame of its body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) pose: Pose,
    pub(crate) collider: Collider,
    pub(crate) material: Option<Material>,
}

/// What a body has of its own: a shape, materials of its parts, and a material.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Own {
    pub(crate) collider: Option<Collider>,
    pub(crate) materials: Option<PartMaterials>,
    pub(crate) material: Material,
}

/// The shape of a body with its own shape and these parts; and what each of them is made of, where one says.
///
/// Surfaces of triangles become one surface. What cannot be a part, as a half-space, stays one: it is a typed error of the step.
pub(crate) fn assemble(own: &Own, parts: &[Part]) -> (Option<Collider>, Option<PartMaterials>) {
    if let Some(alone) = alone(own, parts) {
        return (Some(alone), None);
    }
    if let Some(surface) = surface(own, parts) {
        return (Some(surface), None);
    }
    let mut list = List::default();
    if let Some(collider) = &own.collider {
        let materials = own.materials.as_ref().map_or(&[][..], |each| &each.0);
        list.add(&Pose::default(), collider.shape(), None, materials);
    }
    for part in parts {
        list.add(&part.pose, part.collider.shape(), part.material, &[]);
    }
    let materials = list.materials(own.material);
    let parts = list.shapes;
    (Some(Collider::new(Shape::Compound { parts })), materials)
}

/// The only shape, in the frame of the body.
fn alone(own: &Own, parts: &[Part]) -> Option<Collider> {
    match (&own.collider, parts) {
        (None, [part]) if part.pose == Pose::default() && part.material.is_none() => {
            Some(part.collider.clone())
        }
        _ => None,
    }
}

/// All of them are surfaces of triangles, which move into one.
fn surface(own: &Own, parts: &[Part]) -> Option<Collider> {
    let here = Pose::default();
    let own = own.collider.iter().map(|collider| (&here, collider));
    let all = own.chain(parts.iter().map(|part| (&part.pose, &part.collider)));
    let (mut corners, mut faces) = (Vec::new(), Vec::new());
    for (pose, collider) in all {
        let Shape::TriangleMesh {
            vertices,
            triangles,
        } = collider.shape()
        else {
            return None;
        };
        let place = Place::from(*pose);
        let first = u32::try_from(corners.len()).ok()?;
        corners.extend(vertices.iter().map(|vertex| place.transform_point(*vertex)));
        for triangle in triangles {
            let [a, b, c] = triangle.map(|corner| corner.checked_add(first));
            faces.push([a?, b?, c?]);
        }
    }
    Some(Collider::triangle_mesh(corners, faces))
}

/// Convex shapes, and what each is made of.
#[derive(Default)]
struct List {
    shapes: Vec<(Place, Shape)>,
    materials: Vec<Option<Material>>,
}

impl List {
    /// Adds a shape, or those of a compound.
    fn add(&mut self, pose: &Pose, shape: &Shape, material: Option<Material>, each: &[Material]) {
        let place = Place::from(*pose);
        let Shape::Compound { parts } = shape else {
            self.shapes.push((place, shape.clone()));
            self.materials.push(material);
            return;
        };
        for (index, (inner, shape)) in parts.iter().enumerate() {
            self.shapes.push((place.compose(inner), shape.clone()));
            self.materials.push(each.get(index).copied().or(material));
        }
    }

    /// One for each part, if one of them has its own.
    fn materials(&self, other: Material) -> Option<PartMaterials> {
        let one = self.materials.iter().any(Option::is_some);
        let all = self.materials.iter().map(|own| own.unwrap_or(other));
        one.then(|| PartMaterials(all.collect()))
    }
}
