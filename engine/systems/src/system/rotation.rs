//! Unit quaternions `(w, x, y, z)`, body frame to inertial frame, as plain functions [docs/theory.md §2].

/// A unit quaternion, `w` first.
pub type Quaternion = [f64; 4];

/// `a × b`.
#[must_use]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// `p ∘ r`: first `r`, then `p`.
#[must_use]
pub fn product(p: Quaternion, r: Quaternion) -> Quaternion {
    let [pw, px, py, pz] = p;
    let [rw, rx, ry, rz] = r;
    [
        pw * rw - px * rx - py * ry - pz * rz,
        pw * rx + px * rw + py * rz - pz * ry,
        pw * ry - px * rz + py * rw + pz * rx,
        pw * rz + px * ry - py * rx + pz * rw,
    ]
}

/// `p` with norm 1.
#[must_use]
pub fn normalised(p: Quaternion) -> Quaternion {
    let norm = p.iter().map(|p| p * p).sum::<f64>().sqrt();
    p.map(|p| p / norm)
}

/// The rotation by the vector `φ`, rad: `(cos θ/2, sin(θ/2)/θ φ)` with `θ = ‖φ‖`.
///
/// ```
/// use moreau_systems::rotation::{exp, turned};
/// let quarter = exp([0.0, 0.0, std::f64::consts::FRAC_PI_2]);
/// let turned = turned(quarter, [1.0, 0.0, 0.0]);
/// assert!((turned[1] - 1.0).abs() < 1e-15 && turned[0].abs() < 1e-15);
/// ```
#[must_use]
pub fn exp(phi: [f64; 3]) -> Quaternion {
    let square: f64 = phi.iter().map(|x| x * x).sum();
    let angle = square.sqrt();
    // Below 1e-4 the next term of the series is below a rounding.
    let factor = if angle < 1e-4 {
        0.5 - square / 48.0
    } else {
        libm::sin(0.5 * angle) / angle
    };
    [
        libm::cos(0.5 * angle),
        factor * phi[0],
        factor * phi[1],
        factor * phi[2],
    ]
}

/// `R(p) x`: a vector of the body frame in the inertial frame.
#[must_use]
pub fn turned(p: Quaternion, x: [f64; 3]) -> [f64; 3] {
    let u = [p[1], p[2], p[3]];
    let twice = cross(u, x).map(|x| 2.0 * x);
    let again = cross(u, twice);
    [0, 1, 2].map(|k| x[k] + p[0] * twice[k] + again[k])
}

/// `R(p)ᵀ x`: a vector of the inertial frame in the body frame.
#[must_use]
pub fn turned_back(p: Quaternion, x: [f64; 3]) -> [f64; 3] {
    turned([p[0], -p[1], -p[2], -p[3]], x)
}
