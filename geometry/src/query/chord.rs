//! The piece of a line within a convex solid.
//!
//! The line is `o + s d`, `|d| = 1`, in the frame of the solid. It is moved along itself first so that `o` is its point nearest to the local
//! origin, `o·d = 0`: lines from far away lose no more digits than their distance has.
//!
//! | solid | bounds of `s` |
//! |---|---|
//! | ball | `∓√(r² − o²)` |
//! | capsule | least and greatest of its cylinder and its two balls |
//! | box, polytope | greatest entry and least exit of the planes |
//! | frustum | between the planes of the discs, and where `‖xy‖ ≤ m − k z`: a quadratic inequality |

use crate::frustum::Frustum;
use crate::geometry::Convex;
use crate::polytope::Polyhedron;
use glam::{DVec2, DVec3};

/// The piece of a line within a solid, `enter ≤ exit`, and which side each end is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chord {
    pub(super) enter: f64,
    pub(super) exit: f64,
    sides: [u32; 2],
}

/// Sides of a frustum.
const BOTTOM: u32 = 0;
const TOP: u32 = 1;
const AROUND: u32 = 2;

impl Chord {
    const LINE: Self = Self {
        enter: f64::NEG_INFINITY,
        exit: f64::INFINITY,
        sides: [AROUND; 2],
    };

    /// Within both; none if that is nothing.
    fn meet(self, enter: (f64, u32), exit: (f64, u32)) -> Option<Self> {
        let mut both = self;
        if enter.0 > both.enter {
            (both.enter, both.sides[0]) = enter;
        }
        if exit.0 < both.exit {
            (both.exit, both.sides[1]) = exit;
        }
        (both.enter <= both.exit).then_some(both)
    }

    /// Of a line with a solid, both in its frame. The direction has unit length.
    #[inline]
    pub(super) fn new(solid: &Convex, origin: DVec3, direction: DVec3) -> Option<Self> {
        let along = -origin.dot(direction);
        let o = origin + direction * along;
        // Also false if a number is not finite.
        let reach = solid.bounding_radius();
        let near = o.length_squared() <= reach * reach * (1.0 + 1e-9);
        if !near {
            return None;
        }
        let chord = match solid {
            Convex::Sphere { radius } => ball(o, *radius)?,
            Convex::Capsule {
                half_height,
                radius,
            } => capsule(o, direction, *half_height, *radius)?,
            Convex::Frustum(frustum) => of_frustum(o, direction, frustum)?,
            Convex::Polyhedron(polyhedron) => match polyhedron.half_extents {
                Some(half) => cuboid(o, direction, half)?,
                None => of_polyhedron(o, direction, polyhedron)?,
            },
        };
        Some(Self {
            enter: along + chord.enter,
            exit: along + chord.exit,
            ..chord
        })
    }

    /// Outward unit normal at the entry (0) or the exit (1), a point in the frame of the solid.
    pub(super) fn normal(&self, solid: &Convex, end: usize, point: DVec3) -> DVec3 {
        let side = self.sides[end];
        match solid {
            Convex::Sphere { .. } => point.normalize_or(DVec3::Z),
            Convex::Capsule { half_height, .. } => {
                let middle = DVec3::Z * point.z.clamp(-half_height, *half_height);
                (point - middle).normalize_or(DVec3::X)
            }
            Convex::Frustum(frustum) => match side {
                BOTTOM => DVec3::NEG_Z,
                TOP => DVec3::Z,
                _ => frustum.side_normal(point.truncate().normalize_or(DVec2::X)),
            },
            Convex::Polyhedron(polyhedron) => match polyhedron.half_extents {
                // Two sides an axis, the lower one first.
                Some(_) => DVec3::AXES[side as usize / 2] * [-1.0, 1.0][side as usize % 2],
                None => {
                    let face = polyhedron.faces.get(side as usize);
                    face.map_or(DVec3::Z, |face| face.normal)
                }
            },
        }
    }
}

/// Half the chord of a circle or a ball at a distance from its middle, over the square of the speed.
fn half_chord(square: f64, radius: f64, speed: f64) -> Option<f64> {
    let height = radius * radius - square;
    (height >= 0.0).then(|| (height / speed).sqrt())
}

fn ball(o: DVec3, radius: f64) -> Option<Chord> {
    let half = half_chord(o.length_squared(), radius, 1.0)?;
    Some(Chord {
        enter: -half,
        exit: half,
        sides: [AROUND; 2],
    })
}

/// Between two planes across an axis, at `±half`.
fn slab(o: f64, d: f64, half: f64, [low, high]: [u32; 2]) -> Option<[(f64, u32); 2]> {
    if d == 0.0 {
        let within = o.abs() <= half;
        return within.then_some([(f64::NEG_INFINITY, low), (f64::INFINITY, high)]);
    }
    let (a, b) = (((-half - o) / d, low), ((half - o) / d, high));
    Some(if d > 0.0 { [a, b] } else { [b, a] })
}

fn capsule(o: DVec3, d: DVec3, half_height: f64, radius: f64) -> Option<Chord> {
    let mut found: Option<Chord> = None;
    let mut add = |piece: Option<Chord>| {
        let Some(piece) = piece else { return };
        found = Some(found.map_or(piece, |known| Chord {
            enter: known.enter.min(piece.enter),
            exit: known.exit.max(piece.exit),
            sides: [AROUND; 2],
        }));
    };
    add(around(o, d, radius).and_then(|tube| {
        let [enter, exit] = slab(o.z, d.z, half_height, [AROUND; 2])?;
        tube.meet(enter, exit)
    }));
    for end in [-half_height, half_height] {
        let from = o - DVec3::Z * end;
        let along = -from.dot(d);
        let piece = ball(from + d * along, radius);
        add(piece.map(|piece| Chord {
            enter: along + piece.enter,
            exit: along + piece.exit,
            ..piece
        }));
    }
    found
}

/// Of an endless tube about z.
fn around(o: DVec3, d: DVec3, radius: f64) -> Option<Chord> {
    let (from, across) = (o.truncate(), d.truncate());
    let speed = across.length_squared();
    if speed == 0.0 {
        return (from.length_squared() <= radius * radius).then_some(Chord::LINE);
    }
    let middle = -from.dot(across) / speed;
    let half = half_chord((from + across * middle).length_squared(), radius, speed)?;
    Some(Chord {
        enter: middle - half,
        exit: middle + half,
        ..Chord::LINE
    })
}

fn of_frustum(o: DVec3, d: DVec3, frustum: &Frustum) -> Option<Chord> {
    let [enter, exit] = slab(o.z, d.z, frustum.half_height, [BOTTOM, TOP])?;
    let between = Chord::LINE.meet(enter, exit)?;
    if frustum.bottom.to_bits() == frustum.top.to_bits() {
        let tube = around(o, d, frustum.bottom)?;
        return between.meet((tube.enter, AROUND), (tube.exit, AROUND));
    }
    let [low, high] = cone(o, d, frustum)?;
    between.meet((low, AROUND), (high, AROUND))
}

/// Where `‖xy‖ ≤ m − k z`: `A s² + 2 B s + C ≤ 0`, where the right side is positive. Elsewhere the planes of the discs rule it out.
fn cone(o: DVec3, d: DVec3, frustum: &Frustum) -> Option<[f64; 2]> {
    let m = 0.5 * (frustum.bottom + frustum.top);
    let k = (frustum.bottom - frustum.top) / (2.0 * frustum.half_height);
    let (from, across) = (o.truncate(), d.truncate());
    let (radius, growth) = (m - k * o.z, -k * d.z);
    let a = across.length_squared() - growth * growth;
    let b = from.dot(across) - radius * growth;
    let c = from.length_squared() - radius * radius;
    // The line is parallel to a generator.
    if a == 0.0 {
        let end = -0.5 * c / b;
        return if b == 0.0 {
            (c <= 0.0).then_some([f64::NEG_INFINITY, f64::INFINITY])
        } else if b > 0.0 {
            Some([f64::NEG_INFINITY, end])
        } else {
            Some([end, f64::INFINITY])
        };
    }
    let discriminant = b * b - a * c;
    if a > 0.0 && discriminant < 0.0 {
        return None;
    }
    let q = -(b + discriminant.max(0.0).sqrt().copysign(b));
    // Both vanish at the apex alone.
    let other = if q == 0.0 { 0.0 } else { c / q };
    let (low, high) = ((q / a).min(other), (q / a).max(other));
    Some(if a > 0.0 {
        [low, high]
    } else if growth > 0.0 {
        // The line goes on within the cone; before the lower root it is beyond the apex.
        [high, f64::INFINITY]
    } else {
        [f64::NEG_INFINITY, low]
    })
}

fn cuboid(o: DVec3, d: DVec3, half: DVec3) -> Option<Chord> {
    let mut chord = Chord::LINE;
    for axis in 0..3 {
        let side = 2 * axis as u32;
        let [enter, exit] = slab(o[axis], d[axis], half[axis], [side, side + 1])?;
        chord = chord.meet(enter, exit)?;
    }
    Some(chord)
}

fn of_polyhedron(o: DVec3, d: DVec3, polyhedron: &Polyhedron) -> Option<Chord> {
    let mut chord = Chord::LINE;
    for (side, face) in (0..).zip(&polyhedron.faces) {
        let (speed, room) = (face.normal.dot(d), face.offset - face.normal.dot(o));
        let at = room / speed;
        if speed < 0.0 {
            if at > chord.enter {
                (chord.enter, chord.sides[0]) = (at, side);
            }
        } else if speed > 0.0 {
            if at < chord.exit {
                (chord.exit, chord.sides[1]) = (at, side);
            }
        } else if room < 0.0 {
            return None;
        }
        if chord.enter > chord.exit {
            return None;
        }
    }
    Some(chord)
}
