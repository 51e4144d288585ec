//! What a body must satisfy, and the constants that follow from its components.

use super::constants::BodyConstants;
use crate::components::inertia::Inertia;
use crate::components::mass::Given;
use crate::components::response::Response;
use crate::components::{
    Collider, CollisionGroups, Grain, Made, Mass, Material, PartMaterials, Pose, RigidBody, Twist,
    Wrench,
};
use crate::error::BodyError;
use glam::DVec3;
use moreau_geometry::{ContactPoint, Geometry, MassProperties};

/// Centre of mass in the frame of the shape, m, as the step has it.
pub(crate) fn center_of_mass(
    geometry: &Geometry,
    mass: &Mass,
    parts: Option<&PartMaterials>,
) -> Result<DVec3, BodyError> {
    if let Some(own) = mass.center_of_mass() {
        return Ok(own);
    }
    if !geometry.is_solid() {
        return Ok(DVec3::ZERO);
    }
    let properties = match parts {
        Some(parts) if !parts.0.is_empty() => {
            let densities: Vec<f64> = parts.0.iter().map(|part| part.density).collect();
            geometry.mass_properties_by_part(&densities)?
        }
        _ => geometry.mass_properties(1.0)?,
    };
    Ok(properties.center_of_mass)
}

/// Checks a body and works out its constants.
pub(crate) fn check_body(
    kind: RigidBody,
    collider: Option<&Collider>,
    made: Made,
    mass: &Mass,
    (groups, sensor): (CollisionGroups, bool),
    response: Response,
) -> Result<BodyConstants, BodyError> {
    let geometry = collider.map(Collider::geometry).transpose()?;
    check_material(made.whole)?;
    check_parts(made.parts, geometry.as_ref())?;
    check_response(&response)?;
    let mut center_of_mass = DVec3::ZERO;
    let mut computed = None;
    let solid = geometry.as_ref().filter(|g| g.is_solid());
    if let Some(shape) = solid {
        let properties = if made.parts.is_empty() {
            shape.mass_properties(made.whole.density)?
        } else {
            let densities: Vec<f64> = made.parts.iter().map(|part| part.density).collect();
            shape.mass_properties_by_part(&densities)?
        };
        center_of_mass = properties.center_of_mass;
        computed = Some(properties);
    }
    if let Some(own) = mass.center_of_mass() {
        check_finite([("center of mass", own)])?;
        if mass.given_part() != Given::MassAndInertia {
            return Err(BodyError::CenterAlone);
        }
        center_of_mass = own;
    }
    let inertia = match (kind, mass.given_part(), &computed) {
        (RigidBody::Dynamic, ..) if geometry.is_some() && solid.is_none() => {
            return Err(BodyError::NotSolid);
        }
        (RigidBody::Dynamic, Given::MassAndInertia, _) => {
            let given = MassProperties::new(
                mass.mass(),
                DVec3::ZERO,
                mass.principal_inertia(),
                mass.principal_frame(),
            )?;
            Inertia::new(given.mass, given.principal_inertia, given.principal_frame)
        }
        (RigidBody::Dynamic, Given::Mass, Some(p)) => {
            let moments = p.principal_inertia * (mass.mass() / p.mass);
            let scaled = MassProperties::new(mass.mass(), DVec3::ZERO, moments, p.principal_frame)?;
            Inertia::new(
                scaled.mass,
                scaled.principal_inertia,
                scaled.principal_frame,
            )
        }
        (RigidBody::Dynamic, Given::Mass, None) => return Err(BodyError::NoInertia),
        (RigidBody::Dynamic, Given::Nothing, Some(p)) => {
            Inertia::new(p.mass, p.principal_inertia, p.principal_frame)
        }
        (RigidBody::Dynamic, Given::Nothing, None) => return Err(BodyError::NoMass),
        _ => Inertia::FIXED,
    };
    check_inverses(&inertia)?;
    let extent = geometry.as_ref().map_or(0.0, Geometry::bounding_radius);
    let size = geometry.as_ref().map_or(0.0, Geometry::size);
    let axis = geometry
        .as_ref()
        .and_then(|geometry| geometry.axis_through(center_of_mass));
    Ok(BodyConstants {
        kind,
        geometry,
        center_of_mass,
        inertia,
        response,
        groups,
        sensor,
        radius: extent + center_of_mass.length(),
        size: if size.is_finite() { size } else { 0.0 },
        axis,
    })
}

/// A number is finite and within its bound.
fn check(field: &'static str, value: f64, ok: bool, bound: &'static str) -> Result<(), BodyError> {
    if value.is_finite() && ok {
        Ok(())
    } else {
        Err(BodyError::Field {
            field,
            value,
            bound,
        })
    }
}

/// Steps work with the inverses.
fn check_inverses(inertia: &Inertia) -> Result<(), BodyError> {
    let bound = "of finite inverse";
    let is_sound = inertia.inverse_mass.is_finite();
    check("mass", inertia.mass, is_sound, bound)?;
    let moments = inertia.moments.to_array().into_iter();
    for (moment, inverse) in moments.zip(inertia.inverse_moments.to_array()) {
        check(
            "principal moment of inertia",
            moment,
            inverse.is_finite(),
            bound,
        )?;
    }
    Ok(())
}

fn check_response(response: &Response) -> Result<(), BodyError> {
    let Response { gravity, drag } = response;
    check("gravity scale", gravity.0, true, "finite")?;
    check("linear drag", drag.linear, drag.linear >= 0.0, "≥ 0")?;
    check("angular drag", drag.angular, drag.angular >= 0.0, "≥ 0")
}

/// One sound material for each part, of no more parts than contacts tell apart.
fn check_parts(parts: &[Material], geometry: Option<&Geometry>) -> Result<(), BodyError> {
    if parts.is_empty() {
        return Ok(());
    }
    let (given, of_shape) = (parts.len(), geometry.map_or(0, Geometry::part_count));
    let sound = given == of_shape && given <= ContactPoint::MOST_PARTS;
    if !sound {
        return Err(BodyError::PartMaterials {
            given,
            parts: of_shape,
        });
    }
    parts.iter().try_for_each(check_material)
}

fn check_material(material: &Material) -> Result<(), BodyError> {
    check("density", material.density, material.density > 0.0, "> 0")?;
    check(
        "friction",
        material.friction,
        (0.0..=Material::MOST_FRICTION).contains(&material.friction),
        "in [0, 1e3]",
    )?;
    let e = material.restitution;
    check("restitution", e, (0.0..=1.0).contains(&e), "in [0, 1]")?;
    let threshold = material.bounce_threshold.unwrap_or(0.0);
    check("bounce threshold", threshold, threshold >= 0.0, "≥ 0")?;
    check(
        "cohesion",
        material.cohesion,
        (0.0..=Material::MOST_COHESION).contains(&material.cohesion),
        "in [0, 1e12]",
    )?;
    for (field, value) in [
        ("rolling resistance", material.rolling_resistance),
        ("spinning resistance", material.spinning_resistance),
    ] {
        let sound = (0.0..=Material::MOST_RESISTANCE).contains(&value);
        check(field, value, sound, "in [0, 1e6]")?;
    }
    let Some(Grain { along, across }) = material.grain else {
        return Ok(());
    };
    check_finite([("grain", along)])?;
    check(
        "length of the grain",
        along.length(),
        along.length() > 0.0,
        "> 0",
    )?;
    let sound = (0.0..=Material::MOST_FRICTION).contains(&across);
    check("friction across the grain", across, sound, "in [0, 1e3]")
}

pub(crate) fn check_body_state(
    pose: &Pose,
    twist: &Twist,
    wrench: &Wrench,
) -> Result<(), BodyError> {
    check_finite([
        ("position", pose.position),
        ("linear velocity", twist.linear),
        ("angular velocity", twist.angular),
        ("force", wrench.force),
        ("moment", wrench.moment),
        ("body moment", wrench.body_moment),
    ])?;
    check_orientation("orientation norm", pose)
}

/// A body of this kind may be given the pose as its target.
pub(crate) fn check_target(kind: RigidBody, pose: &Pose) -> Result<(), BodyError> {
    if kind != RigidBody::Kinematic {
        return Err(BodyError::NotKinematic { kind });
    }
    check_finite([("target position", pose.position)])?;
    check_orientation("target orientation norm", pose)
}

pub(crate) fn check_finite<const N: usize>(
    vectors: [(&'static str, DVec3); N],
) -> Result<(), BodyError> {
    for (field, v) in vectors {
        if !v.is_finite() {
            let value = if v.x.is_finite() {
                if v.y.is_finite() { v.z } else { v.y }
            } else {
                v.x
            };
            return Err(BodyError::Field {
                field,
                value,
                bound: "finite",
            });
        }
    }
    Ok(())
}

fn check_orientation(field: &'static str, pose: &Pose) -> Result<(), BodyError> {
    let norm = pose.orientation.length();
    // Renormalised after each step: anything farther from one was not a rotation to begin with.
    if (norm - 1.0).abs() <= 1e-6 {
        Ok(())
    } else {
        Err(BodyError::Field {
            field,
            value: norm,
            bound: "1 ± 1e-6",
        })
    }
}

/// Whether [`check_body_state`] finds nothing in the pose and the twist.
#[inline]
pub(crate) fn is_sound(pose: &Pose, twist: &Twist) -> bool {
    let finite = pose.position.is_finite() && twist.linear.is_finite() && twist.angular.is_finite();
    finite && (pose.orientation.length() - 1.0).abs() <= 1e-6
}
