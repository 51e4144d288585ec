//! Capsules and cylinders nearly side by side: contacts at both ends of the stretch along which they face each other.
//!
//! The nearest points of two rods that lean from each other lie at one end. It may be at rest while the other end swings in within the same step; so that end
//! is a contact too, as far away as it is now. What meets there is a ring (of a capsule: a ball) of one rod and the side of the other. Its distance from
//! that side is that of a part of the body, exactly: the contact forbids nothing that the bodies permit.
//!
//! Rods that cross at an angle pass each other at some place along their axes. The stretch ends where the one is aside of the other by [`BESIDE`] of
//! the radii, and there is none if that leaves less than [`SHORT`] of them.

use super::patch::{LocalContact, Patch};
use glam::DVec3;
use smallvec::SmallVec;

/// How far aside of each other the axes lie at most, over the sum of the radii: there the normal leans by about this angle (rad).
const BESIDE: f64 = 0.4;
/// The least length of a stretch that ends there, over the sum of the radii.
const SHORT: f64 = 2.0;
/// The least length of any stretch, over that of A.
const POINT: f64 = 1e-3;
/// Cosine of the normal to an axis up to which a side faces along it.
const SIDE: f64 = 0.5;
/// Cosine of the normals at an end and where the rods are nearest.
const LIKE: f64 = 0.9;
/// Points closer than this part of the stretch are one.
const SAME: f64 = 0.05;
/// Ends that are farther apart than the nearest points by no more than this part of the stretch are as near as these.
const EQUAL: f64 = 1e-9;
/// How far beyond the end of a side a point still faces it, over its length.
const BEYOND: f64 = 1e-12;

/// A body with a straight round side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rod {
    middle: DVec3,
    /// Unit.
    axis: DVec3,
    half_height: f64,
    radius: f64,
    /// Ends in discs, not in half balls.
    is_flat: bool,
}

impl Rod {
    /// A capsule about the segment between two points.
    pub(super) fn capsule([from, to]: [DVec3; 2], radius: f64) -> Option<Self> {
        let axis = (to - from).try_normalize()?;
        Some(Self {
            middle: 0.5 * (from + to),
            axis,
            half_height: 0.5 * (to - from).dot(axis),
            radius,
            is_flat: false,
        })
    }

    /// A cylinder about a unit axis.
    pub(super) fn cylinder(middle: DVec3, axis: DVec3, half_height: f64, radius: f64) -> Self {
        Self {
            middle,
            axis,
            half_height,
            radius,
            is_flat: true,
        }
    }

    fn at(&self, height: f64) -> DVec3 {
        self.middle + self.axis * height
    }

    fn height(&self, point: DVec3) -> f64 {
        (point - self.middle).dot(self.axis)
    }

    /// The ring, or ball, at a height against the side of another rod; normal from this rod to the other. None if it does not face that side.
    fn ring(&self, height: f64, other: &Self) -> Option<LocalContact> {
        let center = self.at(height);
        let (from, rest) = if self.is_flat {
            let towards = other.at(other.height(center)) - center;
            let across = towards - self.axis * towards.dot(self.axis);
            (center + across.try_normalize()? * self.radius, 0.0)
        } else {
            (center, self.radius)
        };
        let foot = other.height(from);
        let end = other.half_height;
        if other.is_flat && foot.abs() > end * (1.0 + BEYOND) {
            return None;
        }
        let offset = other.at(foot.clamp(-end, end)) - from;
        let normal = offset.try_normalize()?;
        let distance = offset.length();
        let gap = distance - rest - other.radius;
        Some(LocalContact {
            point: from + normal * (rest + 0.5 * gap),
            normal,
            gap,
            feature: 0,
        })
    }
}

/// An end of the stretch: the height on A, and that on B if it is an end of B.
type End = (f64, Option<f64>);

/// The common stretch, from low to high along A; `l` is a unit normal from A to B.
fn stretch(a: &Rod, b: &Rod, l: DVec3) -> Option<[End; 2]> {
    let along = a.axis.dot(b.axis);
    let radii = a.radius + b.radius;
    let reach = b.half_height.copysign(along);
    let start = a.height(b.middle);
    let low = (start - b.half_height * along.abs(), Some(-reach));
    let high = (start + b.half_height * along.abs(), Some(reach));
    let mut low: End = if low.0 > -a.half_height {
        low
    } else {
        (-a.half_height, None)
    };
    let mut high: End = if high.0 < a.half_height {
        high
    } else {
        (a.half_height, None)
    };
    if high.0 - low.0 < POINT * a.half_height {
        return None;
    }
    // Where the axis of B is at the height s of A, it is aside by start + slope s; along is not small, as the stretch is not short.
    let aside = l.cross(a.axis).try_normalize()?;
    let slope = b.axis.dot(aside) / along;
    let begin = (b.middle - a.middle).dot(aside) - slope * start;
    let most = BESIDE * radii;
    let ends = [(-most - begin) / slope, (most - begin) / slope];
    if slope.abs() * (high.0 - low.0) > EQUAL * radii {
        let (least, greatest) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if least > low.0 {
            low = (least, None);
        }
        if greatest < high.0 {
            high = (greatest, None);
        }
        let is_cut = least >= low.0 || greatest <= high.0;
        if is_cut && high.0 - low.0 < SHORT * radii {
            return None;
        }
    } else if begin.abs() > most {
        return None;
    }
    Some([low, high])
}

/// Contacts at the ends of the stretch, from low to high along A, as far as they face along `l`.
fn ends(a: &Rod, b: &Rod, l: DVec3, [low, high]: [End; 2]) -> [Option<LocalContact>; 2] {
    // A ring of a leaning rod reaches beyond a flat end that is at its height: the other's does not, or one farther in.
    let inwards = (a.radius + b.radius) * a.axis.cross(b.axis).length();
    let faces = |contact: &LocalContact| contact.normal.dot(l) > LIKE;
    let flipped = |contact: LocalContact| LocalContact {
        normal: -contact.normal,
        ..contact
    };
    [(low, inwards), (high, -inwards)].map(|((height, of_b), step)| {
        let ring = |height: f64| a.ring(height, b).filter(faces);
        let of_b = of_b.and_then(|height| b.ring(height, a).map(flipped).filter(faces));
        of_b.or_else(|| ring(height))
            .or_else(|| ring(height + step))
    })
}

/// Adds the ends of the stretch to contacts of A and B that hold the nearest points; their features are `first` and the next number.
///
/// Nearest points at an end are that end. Those between two ends that are as near go: rods that are parallel rest on the ends.
pub(super) fn add_ends(a: &Rod, b: &Rod, margin: f64, first: u64, patch: &mut Patch) {
    let nearest = (0..patch.len()).min_by(|i, j| patch[*i].gap.total_cmp(&patch[*j].gap));
    let Some(nearest) = nearest else { return };
    let l = patch[nearest].normal;
    if [a, b].iter().any(|rod| l.dot(rod.axis).abs() > SIDE) {
        return;
    }
    let Some(stretch) = stretch(a, b, l) else {
        return;
    };
    let length = stretch[1].0 - stretch[0].0;
    let mut added: SmallVec<[LocalContact; 2]> = SmallVec::new();
    for (feature, end) in (first..).zip(ends(a, b, l, stretch)) {
        let Some(end) = end.filter(|end| end.gap <= margin) else {
            continue;
        };
        let is_taken = patch.iter().any(|known| known.feature == feature);
        let at_end = |known: &LocalContact| (known.point - end.point).length() < SAME * length;
        match patch.iter_mut().find(|known| at_end(known)) {
            Some(known) if !is_taken => known.feature = feature,
            Some(_) => {}
            None => added.push(LocalContact { feature, ..end }),
        }
    }
    let as_near = |end: &LocalContact| end.gap <= patch[nearest].gap + EQUAL * length;
    if added.len() == 2 && added.iter().all(as_near) {
        patch.remove(nearest);
    }
    patch.extend(added);
}
