//! How far impulses and velocities are from the exact law, by the same code for every engine.
//!
//! ```text
//! natmap_rel = √(Σ ‖r − P_K(r − ρ û)‖²) / √(Σ ‖r‖²),   û = u + μ‖u_T‖ n,   ρ = 1/W_nn
//! ```
//!
//! `r` is the impulse (N·s) and `u` the relative velocity after it (m/s), both in the inertial
//! frame; `n` points from body B to body A, `r` acts on A, `u` is the velocity of A relative to B
//! with the gap term `max(g_N, 0)/h` on its normal part. `K = {‖r_T‖ ≤ μ r_N}` is the true cone
//! and `P_K` the projection on it. Zero is a solution of Signorini–Coulomb. The figure is
//! dimensionless, and an engine that substeps is judged on the impulses of one substep.
//!
//! It shares no code with Moreau's own certificate.

use moreau::glam::{DMat3, DVec3};

/// One contact after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactState {
    /// `n`, unit, from B to A.
    pub(crate) normal: DVec3,
    /// `r`, on A, N·s.
    pub(crate) impulse: DVec3,
    /// `u`, of A relative to B, gap term included, m/s.
    pub(crate) velocity: DVec3,
    /// `μ`.
    pub(crate) friction: f64,
    /// `W_nn`, 1/kg, > 0.
    pub(crate) mobility: f64,
}

/// What a contact meets in one of its bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// 1/m, 1/kg; zero for a static body.
    pub(crate) inverse_mass: f64,
    /// Inverse inertia about the centre of mass, inertial frame, 1/(kg·m²).
    pub(crate) inverse_inertia: DMat3,
    /// Contact point from the centre of mass, inertial frame, m.
    pub(crate) arm: DVec3,
}

/// `W_nn = Σ 1/m + (ρ × n)·𝕀⁻¹(ρ × n)`, 1/kg.
pub(crate) fn mobility(normal: DVec3, sides: [Side; 2]) -> f64 {
    let of = |side: Side| {
        let lever = side.arm.cross(normal);
        side.inverse_mass + lever.dot(side.inverse_inertia * lever)
    };
    sides.map(of).iter().sum()
}

/// `natmap_rel` of all contacts; zero without contacts, infinite if there is something to solve
/// but no impulse.
pub(crate) fn natural_map(contacts: &[ContactState]) -> f64 {
    let (mut violation, mut impulse) = (0.0, 0.0);
    for contact in contacts {
        violation += of_contact(contact).length_squared();
        impulse += contact.impulse.length_squared();
    }
    if violation > 0.0 {
        (violation / impulse).sqrt()
    } else {
        violation
    }
}

/// `r − P_K(r − ρ û)`, N·s.
fn of_contact(contact: &ContactState) -> DVec3 {
    let ContactState {
        normal: n,
        impulse: r,
        velocity: u,
        friction: mu,
        mobility,
    } = *contact;
    let sliding = (u - n * n.dot(u)).length();
    let modified = u + n * (mu * sliding);
    r - project(n, mu, r - modified / mobility)
}

/// `P_K`: the nearest point of the cone of axis `n` and slope `μ`.
fn project(n: DVec3, mu: f64, p: DVec3) -> DVec3 {
    let normal = n.dot(p);
    let tangent = p - n * normal;
    let length = tangent.length();
    if length <= mu * normal {
        p
    } else if mu * length <= -normal {
        DVec3::ZERO
    } else {
        let on_cone = (normal + mu * length) / (1.0 + mu * mu);
        n * on_cone + tangent * (mu * on_cone / length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTACT: ContactState = ContactState {
        normal: DVec3::Z,
        impulse: DVec3::ZERO,
        velocity: DVec3::ZERO,
        friction: 0.5,
        mobility: 2.0,
    };

    fn natmap(impulse: [f64; 3], velocity: [f64; 3]) -> f64 {
        natural_map(&[ContactState {
            impulse: impulse.into(),
            velocity: velocity.into(),
            ..CONTACT
        }])
    }

    fn assert_near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-14 * (1.0 + expected),
            "{found}, expected {expected}"
        );
    }

    #[test]
    fn sticking_sliding_and_open_contacts_are_exact() {
        assert_near(natmap([0.3, -0.2, 1.0], [0.0; 3]), 0.0);
        // Sliding along +x at any speed: r_T = −μ r_N x.
        assert_near(natmap([-0.5, 0.0, 1.0], [0.7, 0.0, 0.0]), 0.0);
        assert_near(natmap([0.0; 3], [1.0, 2.0, 0.1]), 0.0);
        assert_near(natural_map(&[]), 0.0);
    }

    #[test]
    fn a_closing_velocity_counts_by_its_impulse() {
        // r − P_K(r − ρu) = ρu: 0.2 m/s over 2 /kg is 0.1 N·s of 1 N·s.
        assert_near(natmap([0.0, 0.0, 1.0], [0.0, 0.0, -0.2]), 0.1);
        // Separating under force, likewise.
        assert_near(natmap([0.0, 0.0, 1.0], [0.0, 0.0, 0.2]), 0.1);
    }

    #[test]
    fn sliding_without_friction_force_is_seen() {
        // r = (0, 0, 1), u = (0.4, 0, 0): r − ρû = (−0.2, 0, 0.9) lies in the cone.
        let expected = (0.2_f64 * 0.2 + 0.1 * 0.1).sqrt();
        assert_near(natmap([0.0, 0.0, 1.0], [0.4, 0.0, 0.0]), expected);
    }

    #[test]
    fn an_impulse_outside_the_cone_is_seen() {
        // The nearest point of the cone to (1, 0, 1) is 1.2 (0.5, 0, 1).
        let expected = ((0.4_f64 * 0.4 + 0.2 * 0.2) / 2.0).sqrt();
        assert_near(natmap([1.0, 0.0, 1.0], [0.0; 3]), expected);
        // A pulling impulse is wrong as a whole.
        assert_near(natmap([0.0, 0.0, -1.0], [0.0; 3]), 1.0);
    }

    #[test]
    fn work_left_without_any_impulse_is_infinite_and_nan_stays() {
        assert!(natmap([0.0; 3], [0.0, 0.0, -1.0]).is_infinite());
        assert!(natmap([f64::NAN, 0.0, 0.0], [0.0; 3]).is_nan());
    }

    #[test]
    fn the_normal_of_a_contact_may_point_anywhere() {
        let n = DVec3::new(2.0, -1.0, 2.0) / 3.0;
        let t = DVec3::new(1.0, 2.0, 0.0) / 5.0_f64.sqrt();
        let sliding = ContactState {
            normal: n,
            impulse: n - t * 0.5,
            velocity: t * 3.0,
            ..CONTACT
        };
        assert_near(natural_map(&[sliding]), 0.0);
        let closing = ContactState {
            velocity: t * 3.0 - n * 0.2,
            ..sliding
        };
        assert!(natural_map(&[closing]) > 0.05);
    }

    #[test]
    fn mobility_of_a_ball_on_the_ground_is_one_over_its_mass() {
        let ball = Side {
            inverse_mass: 0.25,
            inverse_inertia: DMat3::from_diagonal(DVec3::splat(7.0)),
            arm: DVec3::Z * -0.1,
        };
        let ground = Side {
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
            arm: DVec3::X,
        };
        assert_near(mobility(DVec3::Z, [ball, ground]), 0.25);
        // Pushed from the side, a lever of 0.1 m.
        assert_near(mobility(DVec3::X, [ball, ground]), 0.25 + 0.07);
    }
}
