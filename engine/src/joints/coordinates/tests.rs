use super::*;
use crate::math::rotation;

fn velocity(row: &Row, twists: &[[DVec3; 2]; 2]) -> f64 {
    let parts = twists.iter().flatten();
    let factors = row.chunks_exact(3).map(DVec3::from_slice);
    factors
        .zip(parts)
        .map(|(factor, part)| factor.dot(*part))
        .sum()
}

fn moved(pose: &Pose, twist: &[DVec3; 2], h: f64) -> Pose {
    Pose {
        position: pose.position + twist[0] * h,
        orientation: rotation::exp(twist[1] * h) * pose.orientation,
    }
}

const KINDS: [JointKind; 11] = [
    JointKind::Fixed,
    JointKind::Ball,
    JointKind::Revolute,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::Universal,
    JointKind::Screw { lead: 0.3 },
    JointKind::Distance { length: 0.7 },
    JointKind::Generic {
        translation: [true, false, true],
        rotation: [false, true, true],
    },
    JointKind::Generic {
        translation: [false, false, true],
        rotation: [true, false, false],
    },
];

/// `ė = J v` where the joint is closed: the difference of errors over a way of both bodies along free coordinates and locked ones alike,
/// against the rows. Central differences of step 1e-5 leave 1e-9.
#[test]
fn rows_are_the_rates_of_the_errors() {
    for (case, kind) in KINDS.into_iter().enumerate() {
        let frames = [
            Pose::at(0.2, -0.1, 0.4).with_orientation(rotation::exp(DVec3::new(0.3, 0.2, -0.5))),
            Pose::at(-0.3, 0.2, 0.1).with_orientation(rotation::exp(DVec3::new(-0.4, 0.1, 0.2))),
        ];
        let a =
            Pose::at(0.5, 1.0, -0.2).with_orientation(rotation::exp(DVec3::new(0.7, -0.3, 0.1)));
        // B where the joint is closed, turned and moved along what is free.
        let (way, turn) = match kind {
            JointKind::Fixed | JointKind::Prismatic => (DVec3::Z * 0.2, DVec3::ZERO),
            JointKind::Ball => (DVec3::ZERO, DVec3::new(0.2, 0.5, -0.3)),
            JointKind::Distance { .. } => (DVec3::new(0.42, 0.0, 0.56), DVec3::new(0.1, 0.2, 0.3)),
            JointKind::Screw { lead } => (DVec3::Z * (lead * 0.4 / TAU), DVec3::Z * 0.4),
            JointKind::Universal => (DVec3::ZERO, DVec3::X * 0.4),
            JointKind::Planar => (DVec3::new(0.1, 0.2, 0.0), DVec3::Z * 0.4),
            JointKind::Generic { translation, .. } if translation[0] => (DVec3::Y, DVec3::X * 0.3),
            JointKind::Generic { .. } => (DVec3::X, DVec3::Y * 0.3),
            _ => (DVec3::ZERO, DVec3::Z * 0.4),
        };
        let way = if kind == JointKind::Fixed {
            DVec3::ZERO
        } else {
            way
        };
        let frame_a = Pose {
            position: a.position + a.orientation * frames[0].position,
            orientation: a.orientation * frames[0].orientation,
        };
        let orientation = frame_a.orientation * rotation::exp(turn);
        let of_b = orientation * frames[1].orientation.conjugate();
        let b = Pose {
            position: frame_a.position + frame_a.orientation * way - of_b * frames[1].position,
            orientation: of_b,
        };
        let placed = Placed::new(&frames, [&a, &b]);
        let turned = placed.coordinate(&kind, JointAxis::RotationZ).0;
        let locks = placed.locks(&kind, turned);
        assert!(locks.count > 0);
        let twists = [
            [DVec3::new(0.3, -0.2, 0.5), DVec3::new(-0.4, 0.6, 0.1)],
            [DVec3::new(-0.1, 0.4, 0.2), DVec3::new(0.5, 0.3, -0.7)],
        ];
        let errors_at = |h: f64| {
            let [a, b] = [moved(&a, &twists[0], h), moved(&b, &twists[1], h)];
            let placed = Placed::new(&frames, [&a, &b]);
            let turned = placed.coordinate(&kind, JointAxis::RotationZ).0;
            placed.locks(&kind, turned).errors
        };
        let (before, after) = (errors_at(-1e-5), errors_at(1e-5));
        for k in 0..locks.count {
            assert!(
                locks.errors[k].abs() < 1e-12,
                "case {case}: {}",
                locks.errors[k]
            );
            let rate = (after[k] - before[k]) / 2e-5;
            let row = velocity(&locks.rows[k], &twists);
            // A screw's angle is about its own axis only where the axes are parallel: they leave it in the second order.
            assert!(
                (rate - row).abs() < 1e-8,
                "case {case}, row {k}: {rate} against {row}"
            );
        }
    }
}

#[test]
fn turns_are_counted() {
    let mut last = 0.0;
    for step in 1..=100 {
        let angle = 0.3 * f64::from(step);
        let wrapped = libm::atan2(libm::sin(angle), libm::cos(angle));
        last = unwrapped(wrapped, last);
        assert!((last - angle).abs() < 1e-12);
    }
}
