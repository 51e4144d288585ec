//! Coulomb's law in the plane: two rows, normal and tangent.
//!
//! It is the law of three rows in the plane `t₂ = 0`, which all that the law in space does leaves as it is.

use super::coulomb::Coulomb;
use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw};
use glam::DVec3;

/// The coefficient `μ ≥ 0` of friction in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarCoulomb {
    /// `μ`.
    pub friction: f64,
}

impl PlanarCoulomb {
    /// The law in space.
    pub(crate) fn in_space(&self) -> Coulomb {
        Coulomb {
            friction: self.friction,
        }
    }

    fn through_space(z: &mut [f64], map: impl Fn(&mut [f64])) {
        let mut space = [z[0], z[1], 0.0];
        map(&mut space);
        z.copy_from_slice(&space[..2]);
    }
}

impl RowLaw for PlanarCoulomb {
    fn rows(&self) -> usize {
        2
    }

    fn project(&self, z: &mut [f64]) {
        Self::through_space(z, |z| self.in_space().project(z));
    }

    fn resolve(&self, z: &mut [f64]) {
        Self::through_space(z, |z| self.in_space().resolve(z));
    }

    fn shift(&self, w: &[f64]) -> f64 {
        self.friction * w[1].abs()
    }

    fn violation(&self, r: &[f64]) -> f64 {
        self.in_space().violation(&[r[0], r[1], 0.0])
    }

    fn defect(&self) -> Option<Defect> {
        self.in_space().defect()
    }

    fn linearise(&self, map: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        self.in_space().linearise(map, y, w, rho, at);
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        self.in_space().exit(at, r, d)
    }
}
