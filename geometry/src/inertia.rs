//! Mass properties of solids of density ρ, in closed form or by exact integration.
//!
//! Notation: `V` volume, `c` centroid, `P = ∫ (x−c)(x−c)ᵀ dV` the second moment about the
//! centroid. The inertia tensor about the centroid is `ρ (tr P · I − P)`; volumes and second
//! moments add up over parts, with Steiner's term `V d dᵀ` for a shift `d`.

use crate::frustum::Frustum;
use crate::polytope::Polyhedron;
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// Volume (m³), centroid (m) and second moment about the centroid (m⁵).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) volume: f64,
    pub(crate) centroid: DVec3,
    pub(crate) second: DMat3,
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Moments {
    /// Axisymmetric about z: `across = ∫ x² dV`, `along = ∫ (z−c)² dV`.
    fn axial(volume: f64, height: f64, across: f64, along: f64) -> Self {
        Self {
            volume,
            centroid: DVec3::Z * height,
            second: DMat3::from_diagonal(DVec3::new(across, across, along)),
        }
    }

    /// `∫ x² dV = V r²/5`.
    pub(crate) fn sphere(radius: f64) -> Self {
        let volume = 4.0 / 3.0 * PI * radius * radius * radius;
        let second = volume * radius * radius / 5.0;
        Self::axial(volume, 0.0, second, second)
    }

    /// `∫ x² dV = V a²/3` for the half extent `a`.
    pub(crate) fn cuboid(half_extents: DVec3) -> Self {
        let volume = 8.0 * half_extents.element_product();
        Self {
            volume,
            centroid: DVec3::ZERO,
            second: DMat3::from_diagonal(half_extents * half_extents * (volume / 3.0)),
        }
    }

    /// Cylinder of half height `h` and two half balls. A half ball's centroid is `3r/8` above its
    /// disc, so `∫ z² = V_s (r²/5 + 2·h·3r/8 + h²)` for the two together.
    pub(crate) fn capsule(half_height: f64, radius: f64) -> Self {
        let square = radius * radius;
        let tube = 2.0 * PI * square * half_height;
        let ball = 4.0 / 3.0 * PI * square * radius;
        Self::axial(
            tube + ball,
            0.0,
            tube * square / 4.0 + ball * square / 5.0,
            tube * half_height * half_height / 3.0
                + ball * (square / 5.0 + 0.75 * half_height * radius + half_height * half_height),
        )
    }

    /// Cylinder or cone. With the height `H = 2h`: cylinder `∫x² = V r²/4`, `∫z² = V h²/3`; cone
    /// with its centroid `H/4` above the base, `∫x² = 3 V r²/20`, `∫(z−c)² = 3 V H²/80`.
    pub(crate) fn frustum(frustum: &Frustum) -> Self {
        let square = frustum.bottom * frustum.bottom;
        let height = 2.0 * frustum.half_height;
        if frustum.top > 0.0 {
            let volume = PI * square * height;
            Self::axial(
                volume,
                0.0,
                volume * square / 4.0,
                volume * height * height / 12.0,
            )
        } else {
            let volume = PI * square * height / 3.0;
            Self::axial(
                volume,
                -0.25 * height,
                volume * square * 0.15,
                volume * height * height * 0.0375,
            )
        }
    }

    /// Sum over the tetrahedra `(0, a, b, c)` of every face fan, seen from the mean vertex:
    /// `V = det/6`, `∫x = V s/4`, `∫xxᵀ = V (s sᵀ + Σ v vᵀ)/20` with `s = a + b + c`.
    pub(crate) fn polyhedron(polyhedron: &Polyhedron) -> Self {
        let origin =
            polyhedron.vertices.iter().sum::<DVec3>() / polyhedron.vertices.len().max(1) as f64;
        let view = polyhedron.view();
        let mut volume = 0.0;
        let mut first = DVec3::ZERO;
        let mut second = DMat3::ZERO;
        for face in 0..polyhedron.faces.len() {
            let corner = |i: u32| polyhedron.vertices[i as usize] - origin;
            let [start, rest @ ..] = view.loop_of(face) else {
                continue;
            };
            let a = corner(*start);
            for pair in rest.windows(2) {
                let (b, c) = (corner(pair[0]), corner(pair[1]));
                let part = a.dot(b.cross(c)) / 6.0;
                let sum = a + b + c;
                volume += part;
                first += sum * (part / 4.0);
                second +=
                    (outer(sum, sum) + outer(a, a) + outer(b, b) + outer(c, c)) * (part / 20.0);
            }
        }
        let shift = first / volume;
        Self {
            volume,
            centroid: origin + shift,
            second: second - outer(shift, shift) * volume,
        }
    }

    /// The same solid turned and moved.
    pub(crate) fn placed(&self, pose: &crate::Frame) -> Self {
        let rotation = pose.rotation_matrix();
        Self {
            volume: self.volume,
            centroid: pose.transform_point(self.centroid),
            second: rotation * self.second * rotation.transpose(),
        }
    }

    /// Of a solid that is denser by this factor.
    pub(crate) fn times(&self, factor: f64) -> Self {
        Self {
            volume: self.volume * factor,
            centroid: self.centroid,
            second: self.second * factor,
        }
    }

    /// Sum of the parts.
    pub(crate) fn sum(parts: impl Iterator<Item = Self> + Clone) -> Self {
        let volume: f64 = parts.clone().map(|part| part.volume).sum();
        let centroid = parts
            .clone()
            .map(|part| part.centroid * (part.volume / volume))
            .sum::<DVec3>();
        let second = parts.fold(DMat3::ZERO, |sum, part| {
            let shift = part.centroid - centroid;
            sum + part.second + outer(shift, shift) * part.volume
        });
        Self {
            volume,
            centroid,
            second,
        }
    }

    /// Inertia tensor per unit density about the centroid (m⁵).
    pub(crate) fn inertia(&self) -> DMat3 {
        let d = DVec3::new(
            self.second.x_axis.x,
            self.second.y_axis.y,
            self.second.z_axis.z,
        );
        // The diagonal as a sum of two second moments, never as trace minus one: no cancellation.
        let diagonal = DVec3::new(d.y + d.z, d.x + d.z, d.x + d.y);
        let mut tensor = self.second * -1.0;
        tensor.x_axis.x = diagonal.x;
        tensor.y_axis.y = diagonal.y;
        tensor.z_axis.z = diagonal.z;
        tensor
    }
}
