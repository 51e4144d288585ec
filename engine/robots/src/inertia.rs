//! Mass and inertia of links that are one body.

use crate::model::Inertial;
use glam::{DMat3, DQuat, DVec3};
use moreau::Mass;
use moreau::geometry::{Frame, GeometryError, MassProperties};

/// Mass, centre of mass and principal moments of parts, each with its pose in the frame of the body. A part by itself keeps its numbers.
pub(crate) fn united(parts: &[(Frame, Inertial)]) -> Result<Option<MassProperties>, GeometryError> {
    match parts {
        [] => Ok(None),
        [(pose, only)] => {
            let own = MassProperties::from_inertia_tensor(only.mass, DVec3::ZERO, only.tensor)?;
            let frame = turned(turned(pose.orientation, only.frame), own.principal_frame);
            let center = pose.transform_point(only.center);
            MassProperties::new(only.mass, center, own.principal_inertia, frame).map(Some)
        }
        several => {
            let mass: f64 = several.iter().map(|(_, part)| part.mass).sum();
            let center = |(pose, part): &(Frame, Inertial)| pose.transform_point(part.center);
            let first: DVec3 = several.iter().map(|of| center(of) * of.1.mass).sum();
            let whole = first / mass;
            let mut tensor = DMat3::ZERO;
            for of in several {
                let (pose, part) = of;
                let axes = DMat3::from_quat(pose.orientation * part.frame);
                // Huygens and Steiner: m (d² 1 − d dᵀ).
                let d = center(of) - whole;
                let outer = DMat3::from_cols(d * d.x, d * d.y, d * d.z);
                let off = DMat3::from_diagonal(DVec3::splat(d.length_squared())) - outer;
                tensor += axes * part.tensor * axes.transpose() + off * part.mass;
            }
            // Products of turned axes are symmetric to rounding only.
            let tensor = (tensor + tensor.transpose()) * 0.5;
            MassProperties::from_inertia_tensor(mass, whole, tensor).map(Some)
        }
    }
}

/// `a b`, and the other as it is where one turns nothing.
pub(crate) fn turned(a: DQuat, b: DQuat) -> DQuat {
    if a == DQuat::IDENTITY {
        b
    } else if b == DQuat::IDENTITY {
        a
    } else {
        a * b
    }
}

/// As a component; its centre is that of the body's frame of links.
pub(crate) fn component(of: &MassProperties) -> Mass {
    Mass::given(of.mass, of.principal_inertia)
        .with_principal_frame(of.principal_frame)
        .with_center_of_mass(of.center_of_mass)
}

impl Inertial {
    /// Of a solid, in the frame of the link.
    pub(crate) fn of_solid(solid: &MassProperties, pose: &Frame) -> Self {
        Self {
            mass: solid.mass,
            center: pose.transform_point(solid.center_of_mass),
            tensor: DMat3::from_diagonal(solid.principal_inertia),
            frame: turned(pose.orientation, solid.principal_frame),
        }
    }
}
