//! Mass properties, boxes and refusals of shapes.

use crate::polytope::Polyhedron;
use crate::{Frame, GeometryError, Shape};
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::PI;

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-13 * b.abs().max(1e-3), "{a} {b}");
}

#[test]
fn closed_forms() {
    let properties = |shape: Shape| shape.build().unwrap().mass_properties(2.0).unwrap();
    let (h, r) = (0.7, 0.4);
    let sphere = properties(Shape::Sphere { radius: r });
    near(sphere.mass, 8.0 / 3.0 * PI * r.powi(3));
    near(sphere.principal_inertia.y, 0.4 * sphere.mass * r * r);
    let cuboid = properties(Shape::Cuboid {
        half_extents: DVec3::new(1.0, 2.0, 3.0),
    });
    near(cuboid.mass, 96.0);
    near(cuboid.principal_inertia.x, 96.0 / 3.0 * 13.0);
    assert_eq!(cuboid.principal_frame, DQuat::IDENTITY);
    let cylinder = properties(Shape::Cylinder {
        half_height: h,
        radius: r,
    });
    near(cylinder.mass, 4.0 * PI * r * r * h);
    near(cylinder.principal_inertia.z, 0.5 * cylinder.mass * r * r);
    near(
        cylinder.principal_inertia.x,
        cylinder.mass * (3.0 * r * r + 4.0 * h * h) / 12.0,
    );
    let cone = properties(Shape::Cone {
        half_height: h,
        radius: r,
    });
    near(cone.mass, 4.0 / 3.0 * PI * r * r * h);
    near(cone.center_of_mass.z, -0.5 * h);
    near(cone.principal_inertia.z, 0.3 * cone.mass * r * r);
    near(
        cone.principal_inertia.y,
        cone.mass * (0.15 * r * r + 0.15 * h * h),
    );
    // A capsule by parts: the tube and two half balls (83/320 m r² about their own centroids).
    let capsule = properties(Shape::Capsule {
        half_height: h,
        radius: r,
    });
    let (tube, half) = (4.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
    near(capsule.mass, tube + 2.0 * half);
    near(
        capsule.principal_inertia.x,
        tube * (r * r / 4.0 + h * h / 3.0)
            + 2.0 * half * (83.0 / 320.0 * r * r + (h + 0.375 * r) * (h + 0.375 * r)),
    );
}

#[test]
fn a_box_as_hull_and_as_compound_has_the_same_inertia() {
    let half = DVec3::new(0.2, 0.3, 0.4);
    let shift = DVec3::new(3.0, -2.0, 1.0);
    let boxed = Shape::Cuboid { half_extents: half };
    let expected = boxed.build().unwrap().mass_properties(1000.0).unwrap();
    let points = Polyhedron::cuboid(half).vertices;
    let hull = Shape::ConvexHull {
        points: points.iter().map(|p| *p + shift).collect(),
    };
    let half_part = Shape::Cuboid {
        half_extents: half * DVec3::new(1.0, 1.0, 0.5),
    };
    // The second part is turned half a turn about x: it looks the same.
    let turned = DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0);
    let compound = Shape::Compound {
        parts: vec![
            (
                Frame::from_position(shift + DVec3::Z * 0.2),
                half_part.clone(),
            ),
            (Frame::new(shift - DVec3::Z * 0.2, turned), half_part),
        ],
    };
    for shape in [hull, compound] {
        let found = shape.build().unwrap().mass_properties(1000.0).unwrap();
        near(found.mass, expected.mass);
        assert!((found.center_of_mass - shift).length() < 1e-13);
        let difference = found.inertia_tensor() - expected.inertia_tensor();
        assert!(difference.abs_diff_eq(DMat3::ZERO, 1e-12));
    }
}

#[test]
fn boxes_are_tight() {
    let pose = Frame::new(
        DVec3::new(1.0, 2.0, 3.0),
        DQuat::from_xyzw(0.3, -0.5, 0.1, 0.7).normalize(),
    );
    for shape in [
        Shape::Cylinder {
            half_height: 0.5,
            radius: 0.3,
        },
        Shape::Cone {
            half_height: 0.5,
            radius: 0.3,
        },
    ] {
        let geometry = shape.build().unwrap();
        let super::Body::Convex(super::Convex::Frustum(frustum)) = geometry.body() else {
            panic!("frustum expected")
        };
        let bounds = geometry.aabb(&pose);
        for axis in 0..3 {
            let unit = DVec3::AXES[axis];
            let high = pose.position[axis] + frustum.support(pose.inverse_rotate(unit));
            let low = pose.position[axis] - frustum.support(pose.inverse_rotate(-unit));
            near(bounds.max[axis], high);
            near(bounds.min[axis], low);
        }
    }
    let plane = Shape::HalfSpace { normal: DVec3::Z }.build().unwrap();
    let bounds = plane.aabb(&Frame::from_position(DVec3::Z * 2.0));
    near(bounds.max.z, 2.0);
    assert!(bounds.min.z.is_infinite() && bounds.max.x.is_infinite());
    assert!(plane.bounding_radius().is_infinite() && plane.size().is_infinite());
}

#[test]
fn bad_shapes_are_refused_by_name() {
    let refuse = |shape: Shape| shape.build().unwrap_err();
    assert_eq!(
        refuse(Shape::Sphere { radius: 0.0 }),
        GeometryError::NotPositive {
            field: "radius",
            value: 0.0
        }
    );
    assert!(
        refuse(Shape::Cuboid {
            half_extents: DVec3::new(1.0, f64::INFINITY, 1.0)
        })
        .to_string()
        .contains("half_extents")
    );
    assert!(matches!(
        refuse(Shape::HalfSpace {
            normal: DVec3::ZERO
        }),
        GeometryError::NotUnit {
            field: "normal",
            ..
        }
    ));
    assert!(matches!(
        refuse(Shape::Compound { parts: vec![] }),
        GeometryError::TooFew { field: "parts", .. }
    ));
    let plane = Shape::HalfSpace { normal: DVec3::Z };
    assert_eq!(
        refuse(Shape::Compound {
            parts: vec![(Frame::IDENTITY, plane.clone())]
        }),
        GeometryError::NestedPart {
            part: 0,
            kind: "half_space"
        }
    );
    let plane = plane.build().unwrap();
    assert!(!plane.is_solid());
    assert!(matches!(
        plane.mass_properties(1.0),
        Err(GeometryError::NoVolume { kind: "half_space" })
    ));
    let sphere = Shape::Sphere { radius: 1.0 }.build().unwrap();
    assert!(sphere.mass_properties(-1.0).is_err());
}
