//! The cam: arcs of three circles about points off its axis, mirrored, which the follower sees as a height over the angle.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Radius about the axis, m.
const BASE: f64 = 0.4;
/// Distance of the flank's middle from the axis, and its radius, m.
const FLANK: [f64; 2] = [0.45, 0.85];
/// Distance of the nose's middle from the axis, and its radius, m.
const NOSE: [f64; 2] = [0.403_933_207_238_21, 0.15];
/// Angle of the nose's middle before π.
const NOSE_TURN: f64 = PI / 9.0;
/// Ends of flank and nose, from where the flank begins, rad.
const ENDS: [f64; 2] = [1.050_328_174_371_336, 1.221_730_476_396_03];
/// Where the height is counted from, m.
const ZERO: f64 = 0.3;

/// A cam that turns evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cam {
    /// Angular velocity, rad/s.
    pub speed: f64,
}

impl Cam {
    /// With so many turns a minute.
    #[must_use]
    pub fn new(turns_a_minute: f64) -> Self {
        Self {
            speed: TAU * turns_a_minute / 60.0,
        }
    }

    /// Time of a turn, s.
    #[must_use]
    pub fn period(&self) -> f64 {
        TAU / self.speed
    }

    /// Angle at a time, s, in [0, 2π): the flank begins at `t = 0`.
    fn angle(&self, t: f64) -> f64 {
        let angle = self.speed * t + FRAC_PI_2;
        angle - TAU * (angle / TAU).floor()
    }

    /// Height `c`, m, and its slope by the angle, m/rad.
    fn profile(&self, t: f64) -> [f64; 2] {
        let angle = self.angle(t);
        let (angle, sign) = if angle > PI {
            (TAU - angle, -1.0)
        } else {
            (angle, 1.0)
        };
        let [height, slope] = if angle <= FRAC_PI_2 {
            [BASE, 0.0]
        } else if angle <= FRAC_PI_2 + ENDS[0] {
            arc(FLANK, angle + FRAC_PI_2)
        } else if angle <= FRAC_PI_2 + ENDS[1] {
            arc(NOSE, angle + NOSE_TURN - PI)
        } else {
            [NOSE[0] + NOSE[1], 0.0]
        };
        [height - ZERO, sign * slope]
    }

    /// `c(t)`, m.
    #[must_use]
    pub fn height(&self, t: f64) -> f64 {
        self.profile(t)[0]
    }

    /// `ċ(t)`, m/s.
    #[must_use]
    pub fn rate(&self, t: f64) -> f64 {
        self.speed * self.profile(t)[1]
    }
}

/// Where a ray leaves a circle whose middle it sees at this angle: distance from the axis, and its slope by the angle.
fn arc([distance, radius]: [f64; 2], angle: f64) -> [f64; 2] {
    let (s, c) = libm::sincos(angle);
    let root = (radius * radius - distance * distance * s * s).sqrt();
    [
        root + distance * c,
        -distance * s * (1.0 + distance * c / root),
    ]
}
