//! Bounds of masses and of their sum, as the compiler of the format sets them: body by body, the sum last.

use super::compiler::Compiler;
use crate::error::RobotError;
use crate::model::{Inertial, Link};
use glam::{DMat3, DQuat, DVec3};
use moreau::geometry::MassProperties;

/// Changes the masses of the links.
pub(super) fn adjust(links: &mut [Link], compiler: &Compiler) -> Result<(), RobotError> {
    let bounded = compiler.least_mass > 0.0 || compiler.least_moment > 0.0;
    for link in links.iter_mut().skip(1) {
        if !bounded && !compiler.balances {
            break;
        }
        link.inertial = match link.inertial.take() {
            Some(own) => Some(within(own, link, compiler)?),
            None if compiler.least_mass > 0.0 && compiler.least_moment > 0.0 => Some(Inertial {
                mass: compiler.least_mass,
                center: DVec3::ZERO,
                tensor: DMat3::from_diagonal(DVec3::splat(compiler.least_moment)),
                frame: DQuat::IDENTITY,
            }),
            None => None,
        };
    }
    if let Some(total) = compiler.total_mass {
        let masses = links.iter().skip(1).filter_map(|link| link.inertial);
        let sum: f64 = masses.map(|own| own.mass).sum();
        let factor = if sum > 0.0 { total / sum } else { 1.0 };
        let all = links.iter_mut().skip(1);
        for own in all.filter_map(|link| link.inertial.as_mut()) {
            own.mass *= factor;
            own.tensor *= factor;
        }
    }
    Ok(())
}

fn within(own: Inertial, link: &Link, compiler: &Compiler) -> Result<Inertial, RobotError> {
    let principal = MassProperties::from_inertia_tensor(own.mass, DVec3::ZERO, own.tensor);
    let (moments, axes) = match principal {
        Ok(of) => (of.principal_inertia, of.principal_frame),
        // Moments that no body has are what balancing is for; their axes are given, or it is an error.
        Err(_) if compiler.balances && is_diagonal(&own.tensor) => {
            let of = own.tensor;
            let moments = DVec3::new(of.x_axis.x, of.y_axis.y, of.z_axis.z);
            (moments, DQuat::IDENTITY)
        }
        Err(error) => {
            return Err(RobotError::Structure {
                place: link.place.clone(),
                message: format!("inertia: {error}"),
            });
        }
    };
    let mut moments = moments.max(DVec3::splat(compiler.least_moment));
    let sum = moments.element_sum();
    if compiler.balances && 2.0 * moments.max_element() > sum {
        moments = DVec3::splat(sum / 3.0);
    }
    Ok(Inertial {
        mass: own.mass.max(compiler.least_mass),
        tensor: DMat3::from_diagonal(moments),
        frame: own.frame * axes,
        ..own
    })
}

fn is_diagonal(of: &DMat3) -> bool {
    let off = DVec3::new(of.x_axis.y, of.x_axis.z, of.y_axis.z);
    off == DVec3::ZERO
}
