//! Directions in which the separation of two parts of surfaces is stationary.
//!
//! The greatest value of `l·x` on a circle of centre `c`, unit axis `a` and radius `r` is `h(l) = l·c + r |l_⊥|` with
//! `l_⊥ = l − (l·a) a`; its gradient is the point where it is reached, its second derivative `(r/|l_⊥|) t tᵀ` with the unit tangent `t` there. A corner is a
//! circle without radius. So `s(l) = −h_A(l) − h_B(−l)` has the gradient `q − p`, and on the sphere it is stationary where `q − p = s l`.
//!
//! Along an edge, or a generator of a side, two arcs support alike: that ties the direction to a circle, `l·k = σ`, with `k` the direction of the edge
//! and `σ = 0`, or the axis and the sine of the angle of the side. One tie leaves an angle to be found, two leave nothing.

use glam::{DVec2, DVec3};

/// A circle, or a point: no radius.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) center: DVec3,
    /// Unit vector.
    pub(super) axis: DVec3,
    /// Radius (m).
    pub(super) radius: f64,
}

/// Another arc which supports alike along directions `l` with `l·axis = sine`, outward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    /// Unit vector.
    pub(super) axis: DVec3,
    pub(super) sine: f64,
    pub(super) other: Arc,
}

/// A part of a surface: an arc, or what lies between two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) arc: Arc,
    pub(super) tie: Option<Tie>,
}

/// A stationary direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stationary {
    /// Unit direction from A to B.
    pub(super) direction: DVec3,
    /// False if it is only on the way to where the separation is greater, and that is not near.
    pub(super) is_settled: bool,
    /// Separation of the parts along it (m).
    pub(super) separation: f64,
    /// Point of A, and how far it is from its arc to the tied one, over their distance.
    pub(super) on_a: (DVec3, f64),
    /// The same of B.
    pub(super) on_b: (DVec3, f64),
}

/// Where Newton's method has got to.
struct Way {
    direction: DVec3,
    is_settled: bool,
}

/// Support of an arc: the point, the unit tangent, the length by which a turn moves the point.
struct Support {
    point: DVec3,
    tangent: DVec3,
    reach: f64,
}

/// Most steps of Newton's method.
const STEPS: usize = 12;
/// Longest step.
const LONGEST: f64 = 0.5;
/// A step where the separation is not curved like a maximum.
const JUMP: f64 = 0.2;
/// How often such a step is halved until the separation grows.
const HALVINGS: usize = 10;
/// Square of a step after which rounding is all that is left.
const LAST: f64 = 1e-18;
/// Sine of the angle to the axis of a circle below which all of it supports alike.
const FLAT: f64 = 1e-7;
/// Length below which a rest has lost digits.
const SHORT: f64 = 1e-2;
/// Length below which all digits are lost.
const NOTHING: f64 = 1e-14;
/// Squared sine of two ties that are one.
const SAME_TIE: f64 = 1e-10;

impl Arc {
    pub(super) fn point(center: DVec3) -> Self {
        Self {
            center,
            axis: DVec3::Z,
            radius: 0.0,
        }
    }

    fn support(&self, l: DVec3) -> Option<Support> {
        if self.radius <= 0.0 {
            return Some(Support {
                point: self.center,
                tangent: DVec3::ZERO,
                reach: 0.0,
            });
        }
        let (flat, length) = across(l, self.axis);
        (length > FLAT).then(|| {
            let reach = self.radius / length;
            Support {
                point: self.center + flat * reach,
                tangent: self.axis.cross(flat) / length,
                reach,
            }
        })
    }
}

impl Arc {
    /// The nearest point, if the other is outside of the cylinder over the circle.
    fn nearest(&self, point: DVec3) -> Option<DVec3> {
        if self.radius <= 0.0 {
            return Some(self.center);
        }
        let offset = point - self.center;
        let flat = offset - self.axis * offset.dot(self.axis);
        let length = flat.length();
        (length > self.radius).then(|| self.center + flat * (self.radius / length))
    }
}

/// The part of a unit vector across a unit axis, and its length; nothing if no more than rounding is left. Of a short rest the rounding of the
/// first subtraction may lie along the axis: it is taken off again.
pub(super) fn across(l: DVec3, axis: DVec3) -> (DVec3, f64) {
    let flat = l - axis * l.dot(axis);
    let length = flat.length();
    if length > SHORT {
        return (flat, length);
    }
    let flat = flat - axis * flat.dot(axis);
    let length = flat.length();
    if length > NOTHING {
        (flat, length)
    } else {
        (DVec3::ZERO, 0.0)
    }
}

impl Part {
    pub(super) fn of(arc: Arc) -> Self {
        Self { arc, tie: None }
    }
}

/// The stationary direction from A to B near `l`, of greatest separation in its surroundings; none if it is not found.
pub(super) fn stationary(a: &Part, b: &Part, l: DVec3) -> Option<Stationary> {
    let tied = |tie: &Tie, sign: f64| (tie.axis, sign * tie.sine);
    let Way {
        direction,
        is_settled,
    } = match (&a.tie, &b.tie) {
        (None, None) => free(&a.arc, &b.arc, l),
        (Some(tie), None) => on_circle(tied(tie, 1.0), &a.arc, &b.arc, l),
        (None, Some(tie)) => on_circle(tied(tie, -1.0), &a.arc, &b.arc, l),
        (Some(first), Some(second)) => {
            on_both(tied(first, 1.0), tied(second, -1.0), l).map(|direction| Way {
                direction,
                is_settled: true,
            })
        }
    }?;
    let (p, q) = (
        a.arc.support(direction)?.point,
        b.arc.support(-direction)?.point,
    );
    let separation = direction.dot(q - p);
    // p + x u − (q + y v) = −s l.
    let along = |tie: &Tie, l: DVec3, from: DVec3| Some(tie.other.support(l)?.point - from);
    let u = a
        .tie
        .as_ref()
        .map_or(Some(DVec3::ZERO), |tie| along(tie, direction, p))?;
    let v = b
        .tie
        .as_ref()
        .map_or(Some(DVec3::ZERO), |tie| along(tie, -direction, q))?;
    let rest = q - p - direction * separation;
    let [uu, uv, vv] = [u.dot(u), u.dot(v), v.dot(v)];
    let [x, y] = match (&a.tie, &b.tie) {
        (None, None) => [0.0, 0.0],
        (Some(_), None) => [rest.dot(u) / uu, 0.0],
        (None, Some(_)) => [0.0, -rest.dot(v) / vv],
        (Some(_), Some(_)) => {
            let determinant = uu * vv - uv * uv;
            let [ru, rv] = [rest.dot(u), rest.dot(v)];
            [
                (ru * vv - rv * uv) / determinant,
                (ru * uv - rv * uu) / determinant,
            ]
        }
    };
    Some(Stationary {
        direction,
        is_settled,
        separation,
        on_a: (p + u * x, x),
        on_b: (q + v * y, y),
    })
}

/// From a point to the nearest of a circle, or of two points: no more than rounding is left, however near they are.
fn between(a: &Arc, b: &Arc) -> Option<DVec3> {
    let offset = if b.radius <= 0.0 {
        b.center - a.nearest(b.center)?
    } else if a.radius <= 0.0 {
        b.nearest(a.center)? - a.center
    } else {
        return None;
    };
    offset.try_normalize()
}

/// Newton's method on the sphere.
fn free(a: &Arc, b: &Arc, mut l: DVec3) -> Option<Way> {
    if let Some(direction) = between(a, b).filter(|direction| direction.dot(l) > 0.0) {
        return Some(Way {
            direction,
            is_settled: true,
        });
    }
    for _ in 0..STEPS {
        let (p, q) = (a.support(l)?, b.support(-l)?);
        let gradient = q.point - p.point;
        let separation = l.dot(gradient);
        let (e, f) = l.any_orthonormal_pair();
        let flat = |v: DVec3| DVec2::new(v.dot(e), v.dot(f));
        let (s, t, slope) = (flat(p.tangent), flat(q.tangent), flat(gradient));
        // The negated second derivative.
        let xx = p.reach * s.x * s.x + q.reach * t.x * t.x + separation;
        let xy = p.reach * s.x * s.y + q.reach * t.x * t.y;
        let yy = p.reach * s.y * s.y + q.reach * t.y * t.y + separation;
        let determinant = xx * yy - xy * xy;
        let is_maximum = determinant > 0.0 && xx + yy > 0.0;
        let step = if is_maximum {
            DVec2::new(slope.x * yy - slope.y * xy, slope.y * xx - slope.x * xy) / determinant
        } else {
            up_the_ridge([xx, xy, yy], slope)
        };
        let mut step = step.clamp_length_max(LONGEST);
        let mut direction = (l + e * step.x + f * step.y).normalize();
        if !is_maximum {
            for _ in 0..HALVINGS {
                let (p, q) = (a.support(direction)?, b.support(-direction)?);
                if direction.dot(q.point - p.point) > separation {
                    break;
                }
                step *= 0.5;
                direction = (l + e * step.x + f * step.y).normalize();
            }
        }
        let is_settled = step.length_squared() <= LAST;
        if is_settled || !is_maximum {
            return Some(Way {
                direction,
                is_settled,
            });
        }
        l = direction;
    }
    None
}

/// A step up: Newton's along the direction in which the separation is curved most like a maximum, a jump across that.
fn up_the_ridge([xx, xy, yy]: [f64; 3], slope: DVec2) -> DVec2 {
    let half = 0.5 * (xx - yy);
    let root = (half * half + xy * xy).sqrt();
    let most = 0.5 * (xx + yy) + root;
    let along = if half > 0.0 {
        DVec2::new(half + root, xy)
    } else {
        DVec2::new(xy, root - half)
    };
    let along = along.normalize_or(DVec2::X);
    let jump = |direction: DVec2| direction * JUMP.copysign(slope.dot(direction));
    if most > 0.0 {
        along * (slope.dot(along) / most) + jump(along.perp())
    } else {
        jump(along) + jump(along.perp())
    }
}

/// Newton's method on the circle `l·k = σ`.
fn on_circle((k, sine): (DVec3, f64), a: &Arc, b: &Arc, l: DVec3) -> Option<Way> {
    let cosine = (1.0 - sine * sine).sqrt();
    let mut u = (l - k * l.dot(k)).try_normalize()?;
    for _ in 0..STEPS {
        let l = k * sine + u * cosine;
        let (p, q) = (a.support(l)?, b.support(-l)?);
        let gradient = q.point - p.point;
        let across = k.cross(u);
        let slope = across.dot(gradient);
        let turn = |support: &Support| {
            let along = support.tangent.dot(across);
            support.reach * along * along
        };
        let bend = cosine * (turn(&p) + turn(&q)) + gradient.dot(u);
        let is_maximum = bend > 0.0;
        let step = if is_maximum {
            (slope / bend).clamp(-LONGEST, LONGEST)
        } else {
            JUMP.copysign(slope)
        };
        u = (u + across * step).normalize();
        let is_settled = step * step <= LAST;
        if is_settled || !is_maximum {
            return Some(Way {
                direction: (k * sine + u * cosine).normalize(),
                is_settled,
            });
        }
    }
    None
}

/// The direction nearer to `l` on two circles.
fn on_both((j, first): (DVec3, f64), (k, second): (DVec3, f64), l: DVec3) -> Option<DVec3> {
    let cosine = j.dot(k);
    let common = j.cross(k);
    let square = common.length_squared();
    if square < SAME_TIE {
        return None;
    }
    let within =
        j * ((first - second * cosine) / square) + k * ((second - first * cosine) / square);
    let rest = 1.0 - within.length_squared();
    if rest < 0.0 {
        return None;
    }
    let out = common * (rest / square).sqrt();
    let out = if out.dot(l) < 0.0 { -out } else { out };
    Some((within + out).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rim(center: DVec3, axis: DVec3, radius: f64) -> Part {
        Part::of(Arc {
            center,
            axis: axis.normalize(),
            radius,
        })
    }

    fn edge(from: DVec3, to: DVec3) -> Part {
        let tie = Tie {
            axis: (to - from).normalize(),
            sine: 0.0,
            other: Arc::point(to),
        };
        Part {
            arc: Arc::point(from),
            tie: Some(tie),
        }
    }

    fn found(a: &Part, b: &Part, l: DVec3) -> Stationary {
        let found = stationary(a, b, l.normalize()).unwrap();
        assert!(found.is_settled);
        let offset = found.on_b.0 - found.on_a.0;
        assert!((offset - found.direction * found.separation).length() < 1e-14);
        found
    }

    #[test]
    fn crossed_edges_meet_along_their_common_normal() {
        let a = edge(DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0));
        for height in [0.3, 1e-9, -0.3] {
            let b = edge(DVec3::new(0.0, -1.0, height), DVec3::new(0.0, 3.0, height));
            let met = found(&a, &b, DVec3::new(0.3, 0.2, 1.0));
            assert!((met.direction - DVec3::Z).length() < 1e-15);
            assert!((met.separation - height).abs() < 1e-15);
            assert!((met.on_a.1 - 0.5).abs() < 1e-15 && (met.on_b.1 - 0.25).abs() < 1e-15);
        }
    }

    #[test]
    fn a_point_beside_a_rim_is_as_far_as_its_nearest_point() {
        let a = rim(DVec3::Z, DVec3::Z, 2.0);
        for near in [1.0, 1e-6, 1e-12] {
            let corner = Part::of(Arc::point(DVec3::new(
                2.0 + 3.0 * near,
                0.0,
                1.0 + 4.0 * near,
            )));
            let met = found(&a, &corner, DVec3::new(0.9, 0.1, 1.0));
            assert!((met.separation - 5.0 * near).abs() < 1e-15);
        }
    }

    /// Apart and in overlap alike.
    #[test]
    fn rims_meet_at_points_opposite_each_other() {
        let a = rim(DVec3::Z, DVec3::Z, 1.0);
        for shift in [0.3, 1e-3, 1e-9, -1e-9, -1e-3] {
            let b = rim(
                DVec3::new(1.0 + shift, 0.3, 2.0 + shift),
                DVec3::new(0.2, 1.0, 0.1),
                1.0,
            );
            let met = found(&a, &b, DVec3::new(1.0, 0.1, 1.0));
            let Some(on_a) = a.arc.support(met.direction) else {
                panic!("the whole rim")
            };
            assert!((on_a.point - met.on_a.0).length() < 1e-15);
        }
    }

    /// Rounding would put points of a disc outside of its plane: bodies in touch would seem apart.
    #[test]
    fn what_is_left_of_a_vector_is_across_the_axis() {
        let axis = DVec3::new(0.42, 0.67, -0.61).normalize();
        let (e, _) = axis.any_orthonormal_pair();
        for part in [1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0] {
            let (flat, length) = across((axis + e * part).normalize(), axis);
            assert!(flat.dot(axis).abs() <= 4e-16 * length, "{part}");
        }
    }
}
