//! Laws of one contact, against code that shares nothing with the solve.

use super::*;
use crate::cone;
use crate::random::{Random, direction};
use glam::Vec3Swizzles;

struct Case {
    block: DMat3,
    q: DVec3,
    friction: f64,
}

impl Case {
    fn lambda(&self) -> f64 {
        (self.block.x_axis.x + self.block.y_axis.y + self.block.z_axis.z) / 3.0
    }

    /// `‖w‖/W_NN`: what the elimination of the normal multiplies rounding by.
    fn coupling(&self) -> f64 {
        self.block.x_axis.yz().length() / self.block.x_axis.x
    }

    fn solve(&self) -> DVec3 {
        OneContact::new(&self.block).solve(self.q, self.friction)
    }

    /// `e_scaled` of a problem of one contact.
    fn residual(&self, r: DVec3) -> f64 {
        let (lambda, u) = (self.lambda(), self.block * r + self.q);
        let shifted = cone::shifted_velocity(self.friction, u);
        let natural = r - cone::project(self.friction, r - shifted / lambda);
        lambda * natural.length() / (lambda * r.length()).max(self.q.length())
    }

    /// Rounding of `u = W r + q`, m/s: six products and sums of this size.
    fn velocity_rounding(&self, r: DVec3) -> f64 {
        f64::EPSILON * (3.0 * self.lambda() * r.length() + self.q.length())
    }
}

fn eigenvalues(random: &mut Random) -> DVec3 {
    let mut d = DVec3::from([(); 3].map(|()| random.power_of_ten(-12.0, 0.0)));
    match random.below(6) {
        0 => d = DVec3::from([(); 3].map(|()| random.power_of_ten(-0.5, 0.0))),
        1 => d = DVec3::from([(); 3].map(|()| random.power_of_ten(-2.0, 0.0))),
        2 => d.z = 0.0,
        3 => d = DVec3::new(1.0, 0.0, 0.0),
        _ => {}
    }
    d
}

fn case(random: &mut Random) -> Case {
    let d = eigenvalues(random);
    let block = match random.below(5) {
        0 => DMat3::from_diagonal(DVec3::new(d.x, d.y, d.y)),
        1 => DMat3::from_diagonal(d),
        _ => random.symmetric(d),
    };
    let friction = match random.below(4) {
        0 => 0.0,
        1 => random.uniform(0.0, 1.5),
        2 => random.power_of_ten(-3.0, 3.0),
        _ => 0.5,
    };
    let anisotropic = DVec3::from([(); 3].map(|()| random.power_of_ten(-3.0, 0.0)));
    Case {
        block: block * random.power_of_ten(-8.0, 8.0),
        q: random.vector() * anisotropic * random.power_of_ten(-8.0, 8.0),
        friction,
    }
}

/// The normal is eliminated with an amplification `1 + ‖w‖/W_NN`, and De Saxcé's shift multiplies
/// the rounding of `u_T` by `μ`; the rest is a fixed number of roundings (3 measured).
#[test]
fn every_block_gets_an_impulse_that_satisfies_the_law() {
    let mut random = Random::new(1);
    let mut regimes = [0; 3];
    for index in 0..100_000 {
        let case = case(&mut random);
        let r = case.solve();
        let rounding = f64::EPSILON * (1.0 + case.friction) * (1.0 + case.coupling());
        let residual = case.residual(r);
        assert!(
            residual <= 16.0 * rounding,
            "case {index}: {residual:e} with {rounding:e}, μ {}, {}, q {}, r {r}",
            case.friction,
            case.block,
            case.q
        );
        let on_cone = cone::tangential_norm(r) >= case.friction * r.x * (1.0 - 4.0 * f64::EPSILON);
        regimes[if r == DVec3::ZERO {
            0
        } else {
            1 + usize::from(on_cone)
        }] += 1;
    }
    assert!(regimes.iter().all(|n| *n > 5_000), "{regimes:?}");
}

/// `W_TT` without `W_NN`-coupling of rank 0: nothing stops the sliding velocity. An impulse of
/// `1e150` would pass into all neighbours; it must stay of the order `1/ε` at worst.
#[test]
fn a_block_of_rank_one_gets_a_finite_impulse() {
    let a = DVec3::new(1.0, 4.0, -2.0);
    let block = DMat3::from_cols(a * a.x, a * a.y, a * a.z);
    let q = DVec3::new(-1.0, 0.3, 2.0);
    for friction in [0.0, 0.2, 0.5, 1.0, 10.0] {
        let r = OneContact::new(&block).solve(q, friction);
        assert!(r.length() <= 10.0 / f64::EPSILON, "μ {friction}: {r}");
    }
}

#[test]
fn an_opening_contact_takes_off() {
    let mut random = Random::new(2);
    for _ in 0..1_000 {
        let mut case = case(&mut random);
        case.q.x = case.q.x.abs();
        assert_eq!(case.solve(), DVec3::ZERO);
    }
}

#[test]
fn a_contact_without_normal_compliance_carries_nothing() {
    let q = DVec3::new(-1.0, 1.0, 1.0);
    for block in [
        DMat3::ZERO,
        -DMat3::IDENTITY,
        DMat3::from_diagonal(DVec3::NAN),
    ] {
        assert_eq!(OneContact::new(&block).solve(q, 0.5), DVec3::ZERO);
    }
}

/// An impulse inside the cone stops the contact point: built backwards from `r`.
#[test]
fn a_contact_sticks_inside_the_cone() {
    let mut random = Random::new(3);
    for _ in 0..10_000 {
        let mut case = case(&mut random);
        let d = DVec3::from([(); 3].map(|()| random.power_of_ten(-1.0, 0.0)));
        case.block = random.symmetric(d);
        case.friction = random.uniform(0.1, 2.0);
        let radius = case.friction * random.uniform(0.0, 0.99);
        let [c, s] = direction(random.uniform(0.0, 1.0));
        let r = DVec3::new(1.0, radius * c, radius * s);
        case.q = -(case.block * r);
        if case.q.x >= 0.0 {
            continue; // taking off is then a solution too
        }
        // Condition of W: at most 10, with constants of a 3×3 elimination.
        assert!((case.solve() - r).length() <= 200.0 * f64::EPSILON * (1.0 + radius));
    }
}

/// `u_T = −α r_T`, `α > 0`: the angle between `r_T` and `−u_T` is the rounding of `u_T` over its
/// length; 1e-9 is far above it for the blocks kept.
#[test]
fn friction_is_opposite_to_the_sliding_velocity() {
    let mut random = Random::new(4);
    let mut sliding = 0;
    for _ in 0..100_000 {
        let case = case(&mut random);
        let r = case.solve();
        let u = case.block * r + case.q;
        let speed = cone::tangential_norm(u);
        let rounding = case.velocity_rounding(r) * (1.0 + case.coupling());
        let (ut, rt) = (u.yz() / speed, r.yz() / cone::tangential_norm(r));
        if case.friction == 0.0 || r.x == 0.0 || speed < 1e11 * rounding {
            continue;
        }
        sliding += 1;
        assert!(ut.dot(rt) < 0.0 && ut.perp_dot(rt).abs() <= 1e-9, "{u} {r}");
    }
    assert!(sliding > 5_000, "{sliding}");
}

/// All impulses that satisfy the law, by a scan over the direction `d` of `r_T = μ r_N d` with
/// `u_N = 0`: roots of `d × u_T` where `d` opposes `u_T`; plus sticking and taking off.
fn all_solutions(case: &Case, steps: usize) -> Vec<DVec3> {
    let (w, mu) = (&case.block, case.friction);
    let mut found = Vec::new();
    if case.q.x >= 0.0 {
        found.push(DVec3::ZERO);
    }
    let stick = -(w.inverse() * case.q);
    if cone::tangential_norm(stick) <= mu * stick.x {
        found.push(stick);
    }
    let slide = |turn: f64| {
        let [c, s] = direction(turn);
        let d = DVec3::new(1.0, mu * c, mu * s);
        let r = d * (-case.q.x / w.row(0).dot(d));
        let u = *w * r + case.q;
        (r, u.yz().perp_dot(d.yz()), u.yz().dot(d.yz()))
    };
    let step = 1.0 / steps as f64;
    for i in 0..steps {
        let (mut a, mut b) = (i as f64 * step, (i + 1) as f64 * step);
        if slide(a).1.signum() * slide(b).1.signum() >= 0.0 {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (a + b);
            if slide(middle).1.signum() * slide(a).1.signum() > 0.0 {
                a = middle;
            } else {
                b = middle;
            }
        }
        let (r, _, along) = slide(a);
        if r.x > 0.0 && along < 0.0 {
            found.push(r);
        }
    }
    found
}

/// `f(α)` decreases, hence one solution, if `μ‖w‖/W_NN < 2√κ/(κ + 1)`, `κ = cond S`: with
/// `A = (S + αI)⁻¹` and the unit vector `x` along `r_T`, `|dr_N/dα| ≤ ‖w‖‖A r_T‖/W_NN` and
/// `−d‖r_T‖/dα = ‖r_T‖ xᵀAx ≥ ‖A r_T‖ 2√κ/(κ + 1)` (Kantorovich). At 0.9 of the bound the slope keeps
/// a tenth, so rounding is amplified by at most `10 cond(W)`, times the scan's own few roundings.
#[test]
fn a_unique_solution_is_the_one_found_by_scanning_directions() {
    let mut random = Random::new(5);
    let mut regimes = [0; 3];
    for index in 0..4_000 {
        let d = DVec3::from([(); 3].map(|()| random.power_of_ten(-2.0, 0.0)));
        let block = random.symmetric(d);
        let local = OneContact::new(&block);
        let kappa = (local.s[0] / local.s[1]).max(local.s[1] / local.s[0]);
        let w = libm::hypot(local.w[0], local.w[1]);
        let bound = 2.0 * kappa.sqrt() / (kappa + 1.0) * local.w_nn / w;
        let case = Case {
            block,
            q: random.vector(),
            friction: 0.9 * bound.min(10.0) * random.uniform(0.0, 1.0),
        };
        let mut solutions = all_solutions(&case, 720);
        if solutions.len() != 1 {
            solutions = all_solutions(&case, 100_000);
        }
        assert_eq!(solutions.len(), 1, "case {index}: {solutions:?}");
        let r = case.solve();
        let error = (r - solutions[0]).length() / solutions[0].length().max(f64::MIN_POSITIVE);
        let condition = d.max_element() / d.min_element();
        assert!(
            error <= 40.0 * f64::EPSILON * condition,
            "case {index}: {error:e}, condition {condition:e}"
        );
        let on_cone = cone::tangential_norm(r) >= case.friction * r.x * (1.0 - 1e-12);
        regimes[if r == DVec3::ZERO {
            0
        } else {
            1 + usize::from(on_cone)
        }] += 1;
    }
    assert!(regimes.iter().all(|n| *n > 200), "{regimes:?}");
}

/// The guess may be any positive number; the law holds as without it.
#[test]
fn a_guess_of_the_slip_multiplier_changes_nothing_but_the_path() {
    let mut random = Random::new(8);
    for index in 0..50_000 {
        let case = case(&mut random);
        let local = OneContact::new(&case.block);
        let mut alpha = case.lambda() * random.power_of_ten(-12.0, 12.0);
        let r = local.solve_principal_from(local.to_principal(case.q), case.friction, &mut alpha);
        let rounding = f64::EPSILON * (1.0 + case.friction) * (1.0 + case.coupling());
        let residual = case.residual(local.from_principal(r));
        assert!(residual <= 16.0 * rounding, "case {index}: {residual:e}");
        assert!(alpha >= 0.0 && alpha.is_finite());
    }
}

/// Beyond the bound there may be several solutions; the answer is one of them.
#[test]
fn a_solution_among_several_is_one_of_those_found_by_scanning() {
    let mut random = Random::new(6);
    let mut several = 0;
    for index in 0..2_000 {
        let d = DVec3::from([(); 3].map(|()| random.power_of_ten(-3.0, 0.0)));
        let case = Case {
            block: random.symmetric(d),
            q: random.vector() - DVec3::X,
            friction: random.uniform(1.0, 10.0),
        };
        let solutions = all_solutions(&case, 20_000);
        several += usize::from(solutions.len() > 1);
        let r = case.solve();
        let nearest = solutions.iter().map(|s| (*s - r).length() / r.length());
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        // Roots may nearly coincide, where rounding is amplified like a square root.
        assert!(
            nearest <= f64::EPSILON.sqrt(),
            "case {index}: {nearest:e}, {r} not in {solutions:?}, {}",
            case.friction
        );
    }
    assert!(several >= 5, "{several}");
}

/// `W = [W_NN wᵀ; w S + w wᵀ/W_NN]` in the turned tangents; each entry a few roundings of `‖W‖`,
/// plus what the floor of `S` adds.
#[test]
fn the_principal_form_is_the_block() {
    let mut random = Random::new(7);
    for _ in 0..10_000 {
        let case = case(&mut random);
        let (local, r) = (OneContact::new(&case.block), random.vector());
        let back = local.from_principal(local.to_principal(r));
        assert!((back - r).length() <= 8.0 * f64::EPSILON);
        let applied = local.from_principal(local.apply_principal(local.to_principal(r)));
        let error = (applied - case.block * r).length();
        assert!(
            error <= 32.0 * f64::EPSILON * 3.0 * case.lambda(),
            "{error:e}"
        );
    }
}
