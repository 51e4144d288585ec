//! Mass, centre of mass and principal inertia.

use crate::GeometryError;
use crate::error::{finite, positive, unit};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Mass properties of a solid in its local frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MassProperties {
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Centre of mass (m), local frame.
    pub center_of_mass: DVec3,
    /// Principal moments about the centre of mass (kg m²), each > 0.
    pub principal_inertia: DVec3,
    /// Unit quaternion, principal axes to local frame.
    pub principal_frame: DQuat,
}

impl MassProperties {
    /// Checks and collects the numbers.
    ///
    /// The quaternion is normalised if its length is 1 to 1e-6.
    ///
    /// # Errors
    /// A mass or moment that is not positive and finite, moments that violate the triangle
    /// inequality by more than 1e-9 of the largest, or a quaternion that is not of unit length.
    pub fn new(
        mass: f64,
        center_of_mass: DVec3,
        principal_inertia: DVec3,
        principal_frame: DQuat,
    ) -> Result<Self, GeometryError> {
        positive("mass", mass)?;
        finite("center_of_mass", center_of_mass)?;
        for moment in principal_inertia.to_array() {
            positive("principal_inertia", moment)?;
        }
        let largest = principal_inertia.max_element();
        let sum = principal_inertia.element_sum() - largest;
        if largest > sum + 1e-9 * largest {
            return Err(GeometryError::TriangleInequality { largest, sum });
        }
        unit("principal_frame", principal_frame.length())?;
        let principal_frame = if principal_frame == DQuat::IDENTITY {
            principal_frame
        } else {
            principal_frame.normalize()
        };
        Ok(Self {
            mass,
            center_of_mass,
            principal_inertia,
            principal_frame,
        })
    }

    /// Diagonalises an inertia tensor about the centre of mass, in local axes (kg m²).
    ///
    /// A tensor that is exactly diagonal keeps its order and gets exactly the identity frame;
    /// otherwise cyclic Jacobi rotations, which leave the axes near their place.
    ///
    /// # Errors
    /// As [`Self::new`], or a tensor that is not symmetric to 1e-9 of its largest entry.
    pub fn from_inertia_tensor(
        mass: f64,
        center_of_mass: DVec3,
        tensor: DMat3,
    ) -> Result<Self, GeometryError> {
        for column in [tensor.x_axis, tensor.y_axis, tensor.z_axis] {
            finite("inertia_tensor", column)?;
        }
        let largest = tensor
            .to_cols_array()
            .into_iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        let difference = (tensor.x_axis.y - tensor.y_axis.x)
            .abs()
            .max((tensor.x_axis.z - tensor.z_axis.x).abs())
            .max((tensor.y_axis.z - tensor.z_axis.y).abs());
        let bound = 1e-9 * largest;
        if difference > bound {
            return Err(GeometryError::NotSymmetric { difference, bound });
        }
        let (moments, axes) = jacobi(tensor);
        let frame = if axes == DMat3::IDENTITY {
            DQuat::IDENTITY
        } else {
            DQuat::from_mat3(&axes).normalize()
        };
        Self::new(mass, center_of_mass, moments, frame)
    }

    /// Inertia tensor about the centre of mass, in local axes (kg m²).
    #[must_use]
    pub fn inertia_tensor(&self) -> DMat3 {
        let axes = DMat3::from_quat(self.principal_frame);
        axes * DMat3::from_diagonal(self.principal_inertia) * axes.transpose()
    }
}

/// Eigenvalues and proper orthonormal eigenvectors (columns) of a symmetric matrix.
///
/// Each rotation annihilates one off-diagonal entry; the smaller angle is taken, so the axes are
/// never permuted without need. Converges quadratically; ten sweeps are ample for 3 × 3.
fn jacobi(matrix: DMat3) -> (DVec3, DMat3) {
    let mut a = [[0.0; 3]; 3];
    for (i, row) in a.iter_mut().enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry = 0.5 * (matrix.col(j)[i] + matrix.col(i)[j]);
        }
    }
    let mut axes = DMat3::IDENTITY;
    for _ in 0..10 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a[p][q];
            // Below the last digit of the diagonal: a rotation would change nothing.
            if off.abs() <= 1e-17 * (a[p][p].abs() + a[q][q].abs()) {
                a[p][q] = 0.0;
                a[q][p] = 0.0;
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * off);
            let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let r = 3 - p - q;
            let (rp, rq) = (a[r][p], a[r][q]);
            a[p][p] -= t * off;
            a[q][q] += t * off;
            a[p][q] = 0.0;
            a[q][p] = 0.0;
            a[r][p] = c * rp - s * rq;
            a[p][r] = a[r][p];
            a[r][q] = s * rp + c * rq;
            a[q][r] = a[r][q];
            let (x, y) = (axes.col(p), axes.col(q));
            *axes.col_mut(p) = c * x - s * y;
            *axes.col_mut(q) = s * x + c * y;
        }
    }
    (DVec3::new(a[0][0], a[1][1], a[2][2]), axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensor_is_recovered_from_its_principal_axes() {
        let turn = DQuat::from_xyzw(0.2, -0.4, 0.1, 0.8).normalize();
        let given = MassProperties::new(2.0, DVec3::X, DVec3::new(1.0, 2.0, 2.5), turn).unwrap();
        let tensor = given.inertia_tensor();
        let found = MassProperties::from_inertia_tensor(2.0, DVec3::X, tensor).unwrap();
        assert!((found.inertia_tensor() - tensor).abs_diff_eq(DMat3::ZERO, 1e-14));
    }

    #[test]
    fn diagonal_tensors_keep_order_and_identity() {
        let moments = DVec3::new(3.0, 1.0, 2.5);
        let tensor = DMat3::from_diagonal(moments);
        let found = MassProperties::from_inertia_tensor(1.0, DVec3::ZERO, tensor).unwrap();
        assert_eq!(found.principal_inertia, moments);
        assert_eq!(found.principal_frame, DQuat::IDENTITY);
    }

    #[test]
    fn impossible_values_are_refused() {
        let new = |mass, inertia| MassProperties::new(mass, DVec3::ZERO, inertia, DQuat::IDENTITY);
        assert!(matches!(
            new(0.0, DVec3::ONE),
            Err(GeometryError::NotPositive { field: "mass", .. })
        ));
        assert!(matches!(
            new(1.0, DVec3::new(1.0, 1.0, 2.1)),
            Err(GeometryError::TriangleInequality { .. })
        ));
        assert!(new(1.0, DVec3::new(1.0, 1.0, 2.0)).is_ok());
        assert!(new(f64::INFINITY, DVec3::ONE).is_err());
        let skew = DMat3::from_cols(DVec3::new(1.0, 0.1, 0.0), DVec3::Y, DVec3::Z);
        assert!(matches!(
            MassProperties::from_inertia_tensor(1.0, DVec3::ZERO, skew),
            Err(GeometryError::NotSymmetric { .. })
        ));
    }
}
