//! Orientations in the forms that files write them.

use glam::{DQuat, DVec3};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::f64::consts::PI;

/// Unit quaternion of three turns about the fixed axes of the parent frame, about x first, then y, then z (roll, pitch, yaw):
/// `R = R_z(c) R_y(b) R_x(a)` with `angles = (a, b, c)` in rad. The same as turns about the body's own axes, z first, then
/// the new y, then the new x.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::orientation::from_euler;
/// use std::f64::consts::FRAC_PI_2;
/// // Rolled, the y axis points up; yawed after that it stays there.
/// let turned = from_euler(DVec3::new(FRAC_PI_2, 0.0, FRAC_PI_2));
/// assert!((turned * DVec3::Y - DVec3::Z).length() < 1e-15);
/// assert!((turned * DVec3::X - DVec3::Y).length() < 1e-15);
/// ```
#[must_use]
pub fn from_euler(angles: DVec3) -> DQuat {
    about(DVec3::Z, angles.z) * about(DVec3::Y, angles.y) * about(DVec3::X, angles.x)
}

/// Unit quaternion of a right-handed turn by `angle` (rad) about `axis`, which need not have unit length; `None` if the axis is zero or a
/// number not finite.
#[must_use]
pub fn from_axis_angle(axis: DVec3, angle: f64) -> Option<DQuat> {
    // Scaled first: squares of lengths may leave the range of numbers.
    let scaled = axis / axis.abs().max_element();
    let unit = scaled.try_normalize()?;
    angle.is_finite().then(|| about(unit, angle))
}

/// Turn by `angle` about a unit vector.
fn about(axis: DVec3, angle: f64) -> DQuat {
    let (sin, cos) = libm::sincos(0.5 * angle);
    let v = axis * sin;
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// Reads an orientation: a quaternion `[x, y, z, w]` as it is, `{ euler = [a, b, c] }` as of [`from_euler`], or
/// `{ axis = [x, y, z], angle = a }` as of [`from_axis_angle`]; `euler_degrees` and `angle_degrees` are in degrees. Formats that
/// people do not read have the quaternion alone. For `#[serde(deserialize_with)]`.
///
/// # Errors
/// Keys that are unknown, missing or exclude each other, an axis that is zero, and numbers that are not finite.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DQuat, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_any(Forms)
    } else {
        DQuat::deserialize(deserializer)
    }
}

struct Forms;

impl<'de> Visitor<'de> for Forms {
    type Value = DQuat;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(FORMS)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<DQuat, A::Error> {
        let mut parts = [0.0; 4];
        for (index, part) in parts.iter_mut().enumerate() {
            let missing = || A::Error::invalid_length(index, &self);
            *part = seq.next_element()?.ok_or_else(missing)?;
        }
        match seq.next_element::<IgnoredAny>()? {
            None => Ok(DQuat::from_array(parts)),
            Some(_) => Err(A::Error::invalid_length(5, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DQuat, A::Error> {
        let turn = Turn::deserialize(MapAccessDeserializer::new(map))?;
        turn.quaternion().map_err(A::Error::custom)
    }
}

const FORMS: &str =
    "a quaternion [x, y, z, w], { euler = [a, b, c] } or { axis = [x, y, z], angle = a }";

/// The keys of a turn.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Turn {
    euler: Option<DVec3>,
    euler_degrees: Option<DVec3>,
    axis: Option<DVec3>,
    angle: Option<f64>,
    angle_degrees: Option<f64>,
}

impl Turn {
    fn quaternion(&self) -> Result<DQuat, String> {
        let in_rad = |degrees: f64| degrees * (PI / 180.0);
        let either = |a: Option<DVec3>, b: Option<DVec3>| match (a, b) {
            (a, None) => Some(a),
            (None, Some(degrees)) => Some(Some(degrees.map(in_rad))),
            (Some(_), Some(_)) => None,
        };
        let euler = either(self.euler, self.euler_degrees);
        let angle = either(
            self.angle.map(DVec3::splat),
            self.angle_degrees.map(DVec3::splat),
        );
        match (euler, self.axis, angle) {
            (Some(Some(angles)), None, Some(None)) => {
                if angles.is_finite() {
                    Ok(from_euler(angles))
                } else {
                    Err(format!("euler is {angles}, expected finite"))
                }
            }
            (Some(None), Some(axis), Some(Some(angle))) => from_axis_angle(axis, angle.x)
                .ok_or_else(|| {
                    format!(
                        "axis is {axis} and angle {}, expected finite and an axis that is not zero",
                        angle.x
                    )
                }),
            _ => Err(format!("expected {FORMS}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn turns(q: DQuat, from: DVec3, to: DVec3) {
        assert!((q.length() - 1.0).abs() < 1e-15, "{q}");
        assert!((q * from - to).length() < 4e-16, "{q}: {}", q * from);
    }

    #[test]
    fn euler_angles_turn_about_fixed_x_then_y_then_z() {
        turns(from_euler(DVec3::X * FRAC_PI_2), DVec3::Y, DVec3::Z);
        turns(from_euler(DVec3::Y * FRAC_PI_2), DVec3::Z, DVec3::X);
        turns(from_euler(DVec3::Z * FRAC_PI_2), DVec3::X, DVec3::Y);
        // y goes to z by the roll, z to x by the pitch, x to y by the yaw.
        turns(from_euler(DVec3::splat(FRAC_PI_2)), DVec3::Y, DVec3::Y);
        turns(from_euler(DVec3::splat(FRAC_PI_2)), DVec3::X, -DVec3::Z);
    }

    #[test]
    fn an_axis_has_any_length_but_none() {
        for scale in [1e-300, 1.0, 1e300] {
            let q = from_axis_angle(DVec3::new(0.0, 0.0, scale), FRAC_PI_2);
            turns(q.unwrap(), DVec3::X, DVec3::Y);
        }
        for (axis, angle) in [
            (DVec3::ZERO, 1.0),
            (DVec3::NAN, 1.0),
            (DVec3::INFINITY, 1.0),
            (DVec3::X, f64::NAN),
            (DVec3::X, f64::INFINITY),
        ] {
            assert_eq!(from_axis_angle(axis, angle), None, "{axis} {angle}");
        }
    }
}
