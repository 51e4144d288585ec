//! Moreau's shapes as those of parry, in doubles for the judge of overlaps and in singles for rapier.
//!
//! parry's cylinders and cones stand along y, ours along z: a quarter turn about x brings y to z.

/// A translation for one of the two builds of parry.
macro_rules! translation {
    ($name:ident, $parry:path, $real:ty, $vector:ident) => {
        pub(crate) mod $name {
            use crate::contender::Outcome;
            use moreau::glam::DVec3;
            use moreau::prelude::Shape;
            use parry::math::{Pose, Rotation, Vector};
            use parry::shape::SharedShape;
            use $parry as parry;

            /// The shape, and its pose in the frame of its centre of mass `center` (m, frame of the shape).
            ///
            /// # Errors
            /// If parry has no such shape.
            pub(crate) fn placed(shape: &Shape, center: DVec3) -> Outcome<(Pose, SharedShape)> {
                let (place, shape) = translated(shape)?;
                let back = Pose::from_parts(vector(-center), Rotation::IDENTITY);
                Ok((back * place, shape))
            }

            fn vector(v: DVec3) -> Vector {
                v.$vector()
            }

            /// The shape, and its pose in the frame of ours.
            fn translated(shape: &Shape) -> Outcome<(Pose, SharedShape)> {
                let real = |x: &f64| *x as $real;
                let upright = Pose::from_parts(
                    Vector::ZERO,
                    Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2 as $real),
                );
                Ok(match shape {
                    Shape::Sphere { radius } => (Pose::IDENTITY, SharedShape::ball(real(radius))),
                    Shape::Cuboid { half_extents } => {
                        let [x, y, z] = vector(*half_extents).to_array();
                        (Pose::IDENTITY, SharedShape::cuboid(x, y, z))
                    }
                    Shape::Capsule {
                        half_height,
                        radius,
                    } => (
                        Pose::IDENTITY,
                        SharedShape::capsule_z(real(half_height), real(radius)),
                    ),
                    Shape::Cylinder {
                        half_height,
                        radius,
                    } => (
                        upright,
                        SharedShape::cylinder(real(half_height), real(radius)),
                    ),
                    Shape::Cone {
                        half_height,
                        radius,
                    } => (upright, SharedShape::cone(real(half_height), real(radius))),
                    Shape::ConvexHull { points } => {
                        let points: Vec<Vector> = points.iter().map(|p| vector(*p)).collect();
                        let hull = SharedShape::convex_hull(&points);
                        (Pose::IDENTITY, hull.ok_or("parry finds no hull")?)
                    }
                    Shape::HalfSpace { normal } => {
                        (Pose::IDENTITY, SharedShape::halfspace(vector(*normal)))
                    }
                    Shape::Compound { parts } => {
                        let part = |(pose, shape): &(moreau::geometry::Frame, Shape)| {
                            let (place, shape) = translated(shape)?;
                            let [x, y, z, w] = pose.orientation.to_array().map(|q| q as $real);
                            let pose = Pose::from_parts(
                                vector(pose.position),
                                Rotation::from_xyzw(x, y, z, w),
                            );
                            Ok((pose * place, shape))
                        };
                        let parts: Outcome<Vec<_>> = parts.iter().map(part).collect();
                        (Pose::IDENTITY, SharedShape::compound(parts?))
                    }
                    Shape::TriangleMesh {
                        vertices,
                        triangles,
                    } => {
                        let vertices = vertices.iter().map(|p| vector(*p)).collect();
                        (
                            Pose::IDENTITY,
                            SharedShape::trimesh(vertices, triangles.clone())?,
                        )
                    }
                    other => return Err(format!("a {} is not translated", other.kind()).into()),
                })
            }
        }
    };
}

translation!(double, parry3d_f64, f64, into);
translation!(single, rapier3d::parry, f32, as_vec3);
