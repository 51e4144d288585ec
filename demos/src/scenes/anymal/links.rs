//! Masses, hinges and shapes of ANYmal's links, as figures [docs/references.md, SimBenchmark].
//!
//! All frames are parallel where the angles are zero. The figures are those of the left fore leg; the others are its mirror images, the axes of the
//! hinges apart, which are the same for all.

use glam::{DMat3, DQuat, DVec3};
use moreau::Mass;
use moreau::geometry::{Frame, MassProperties, Shape};

/// The whole robot, kg.
pub const MASS: f64 = 33.946674;

/// What a link, or a thing fixed to one, weighs.
#[derive(Clone, Copy, Debug)]
struct Inertial {
    mass: f64,
    /// Centre of mass, m.
    center: DVec3,
    /// Moments about it, kg m²: `xx, xy, xz, yy, yz, zz`.
    moments: [f64; 6],
}

/// A leg's place: 1 or −1 each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Short name.
    pub name: &'static str,
    /// 1 for a fore leg.
    pub front: f64,
    /// 1 for a left leg.
    pub left: f64,
}

/// All of them.
pub const LEGS: [Leg; 4] = [
    leg("LF", 1.0, 1.0),
    leg("RF", 1.0, -1.0),
    leg("LH", -1.0, 1.0),
    leg("RH", -1.0, -1.0),
];

const fn leg(name: &'static str, front: f64, left: f64) -> Leg {
    Leg { name, front, left }
}

impl Leg {
    /// Angles of hip, thigh and shank at the start, rad.
    #[must_use]
    pub fn stance(self) -> [f64; 3] {
        [0.03 * self.left, 0.4 * self.front, -0.8 * self.front]
    }

    fn mirror(self, v: DVec3) -> DVec3 {
        v * DVec3::new(self.front, self.left, 1.0)
    }
}

/// A part of a robot: a body.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// `"base"`, `"hip"`, `"thigh"` or `"shank"`.
    pub(super) name: &'static str,
    /// Its hinge in the frame of the link above, m.
    pub(super) hinge: DVec3,
    /// Axis of that hinge.
    pub(super) axis: DVec3,
    /// In the frame of the link.
    pub(super) shape: Shape,
    /// In the frame of the link.
    pub(super) mass: Mass,
}

const BASE: Inertial = Inertial {
    mass: 21.39,
    center: DVec3::ZERO,
    moments: [
        0.268_388_530_624,
        7.753_924_554_22e-4,
        -0.015_184_853_445_1,
        0.884_235_660_795,
        -9.892_974_895_07e-4,
        0.829_158_678_306,
    ],
};
/// Turned upside down, which changes none of its moments.
const IMU: Inertial = Inertial {
    mass: 0.05,
    center: DVec3::ZERO,
    moments: [1.60333e-5, 0.0, 0.0, 2.80333e-5, 0.0, 1.60333e-5],
};
const IMU_PLACE: DVec3 = DVec3::new(0.0245, -0.04255, 0.1857);
const HIP: Inertial = Inertial {
    mass: 1.1064,
    center: DVec3::new(0.0542, -0.0136, 0.0),
    moments: [
        1.233_015_085_23e-3,
        -6.428_532_997_3e-5,
        6.999_010_4e-8,
        9.932_313_118_33e-4,
        2.327_401_345e-6,
        1.421_603_490_98e-3,
    ],
};
const THIGH: Inertial = Inertial {
    mass: 1.51,
    center: DVec3::new(0.0008, 0.0545, -0.1975),
    moments: [
        0.014_757_162_827_5,
        -1.799_650_788_2e-5,
        2.058_776_793_83e-4,
        0.014_418_892_571_9,
        -1.812_913_423_66e-3,
        1.784_490_759_64e-3,
    ],
};
#[expect(
    clippy::approx_constant,
    reason = "a mass in kg that happens to be near 1/π"
)]
const SHANK: Inertial = Inertial {
    mass: 0.318,
    center: DVec3::new(0.016_355_414_056, -0.005_622_191_06, -0.064_350_437_219),
    moments: [
        3.769_371_790_9e-3,
        -7.733_450_076_2e-5,
        -1.520_693_729_83e-4,
        4.004_464_676_35e-3,
        -3.218_356_083e-4,
        4.184_716_919_04e-4,
    ],
};
const FOOT: Inertial = Inertial {
    mass: 0.1922685,
    center: DVec3::new(-5.552_058e-6, 7.113_312_4e-5, -0.021_388_647_779),
    moments: [
        8.308_641_029_4e-5,
        4.169_016_01e-7,
        3.990_547_99e-7,
        8.286_020_966_7e-5,
        -3.457_122_52e-7,
        8.194_812_408_6e-5,
    ],
};
/// Of the foot in the frame of the shank.
const FOOT_PLACE: DVec3 = DVec3::new(0.0, -0.016, -0.31);
const FOOT_ROLL: f64 = 0.323;
const FOOT_PITCH: f64 = 0.549;
/// How far the cylinder of a shank leans, rad.
const SHANK_LEAN: f64 = 0.34;

/// A turn by `angle` (rad) about a unit vector.
pub(super) fn turn(axis: DVec3, angle: f64) -> DQuat {
    let (sin, cos) = libm::sincos(0.5 * angle);
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// The base with its inertial measurement unit.
pub(super) fn base() -> Link {
    let own = Shape::Cuboid {
        half_extents: DVec3::new(0.2655, 0.116, 0.13),
    };
    let unit = Shape::Cuboid {
        half_extents: DVec3::new(0.029, 0.029, 0.011),
    };
    let parts = [
        (Frame::IDENTITY, BASE),
        (Frame::from_position(IMU_PLACE), IMU),
    ];
    Link {
        name: "base",
        hinge: DVec3::ZERO,
        axis: DVec3::X,
        shape: Shape::Compound {
            parts: vec![
                (Frame::from_position(DVec3::Z * 0.08), own),
                (Frame::from_position(IMU_PLACE - DVec3::Z * 0.011), unit),
            ],
        },
        mass: united(&parts),
    }
}

/// The three links of a leg, from above; the shank with its foot.
pub(super) fn links(leg: Leg) -> [Link; 3] {
    let at = |x, y, z| leg.mirror(DVec3::new(x, y, z));
    let own = |of: Inertial| united(&[(Frame::IDENTITY, of.mirrored(leg))]);
    // Along y.
    let drum = |place: DVec3| {
        let across = DQuat::from_rotation_arc(DVec3::Z, DVec3::Y);
        let drum = Shape::Cylinder {
            half_height: 0.04,
            radius: 0.04,
        };
        Shape::Compound {
            parts: vec![(Frame::new(place, across), drum)],
        }
    };
    let foot_turn = turn(DVec3::Y, FOOT_PITCH * leg.front) * turn(DVec3::X, FOOT_ROLL * leg.left);
    let foot_place = leg.mirror(FOOT_PLACE);
    let bar = Shape::Cylinder {
        half_height: 0.095,
        radius: 0.015,
    };
    let lean = turn(DVec3::Y, SHANK_LEAN * leg.front);
    let shank = [
        (Frame::IDENTITY, SHANK.mirrored(leg)),
        (Frame::new(foot_place, foot_turn), FOOT.mirrored(leg)),
    ];
    let parts = vec![
        (
            Frame::from_position(foot_place),
            Shape::Sphere { radius: 0.03 },
        ),
        (Frame::new(at(0.06, -0.03, -0.18), lean), bar),
    ];
    [
        Link {
            name: "hip",
            hinge: at(0.2629, 0.115, 0.0),
            axis: DVec3::X,
            shape: drum(at(0.0585, 0.0315, 0.0)),
            mass: own(HIP),
        },
        Link {
            name: "thigh",
            hinge: at(0.0585, 0.0315, 0.0),
            axis: DVec3::Y,
            shape: drum(at(0.0, 0.07, -0.25)),
            mass: own(THIGH),
        },
        Link {
            name: "shank",
            hinge: at(0.0, 0.111, -0.25),
            axis: DVec3::Y,
            shape: Shape::Compound { parts },
            mass: united(&shank),
        },
    ]
}

impl Inertial {
    fn mirrored(self, leg: Leg) -> Self {
        let [xx, xy, xz, yy, yz, zz] = self.moments;
        let Leg { front, left, .. } = leg;
        Self {
            mass: self.mass,
            center: leg.mirror(self.center),
            moments: [xx, xy * front * left, xz * front, yy, yz * left, zz],
        }
    }

    fn tensor(&self) -> DMat3 {
        let [xx, xy, xz, yy, yz, zz] = self.moments;
        DMat3::from_cols(
            DVec3::new(xx, xy, xz),
            DVec3::new(xy, yy, yz),
            DVec3::new(xz, yz, zz),
        )
    }
}

/// What is fixed to one another, as one body: `Σ R I Rᵀ + m (d² 1 − d dᵀ)` with the way `d` from the common centre of mass.
fn united(parts: &[(Frame, Inertial)]) -> Mass {
    let mass: f64 = parts.iter().map(|(_, part)| part.mass).sum();
    let place = |(pose, part): &(Frame, Inertial)| pose.transform_point(part.center);
    let moment: DVec3 = parts.iter().map(|of| place(of) * of.1.mass).sum();
    let center = moment / mass;
    let mut tensor = DMat3::ZERO;
    for of in parts {
        let axes = DMat3::from_quat(of.0.orientation);
        let d = place(of) - center;
        let outer = DMat3::from_cols(d * d.x, d * d.y, d * d.z);
        let apart = DMat3::from_diagonal(DVec3::splat(d.length_squared())) - outer;
        tensor += axes * of.1.tensor() * axes.transpose() + apart * of.1.mass;
    }
    // Products of turned axes are symmetric to rounding only.
    let tensor = (tensor + tensor.transpose()) * 0.5;
    // The figures are those of a body, as a test sees.
    MassProperties::from_inertia_tensor(mass, center, tensor).map_or_else(
        |_| Mass::scaled_to(mass),
        |of| {
            Mass::given(of.mass, of.principal_inertia)
                .with_principal_frame(of.principal_frame)
                .with_center_of_mass(of.center_of_mass)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_bodies_and_add_up() {
        let mut links = vec![base()];
        links.extend(LEGS.into_iter().flat_map(super::links));
        assert!(links.iter().all(|link| link.mass.is_given()), "{links:?}");
        let mass: f64 = links.iter().map(|link| link.mass.mass()).sum();
        assert!((mass - MASS).abs() < 1e-12, "{mass}");
    }
}
