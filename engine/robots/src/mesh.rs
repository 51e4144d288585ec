//! Mesh files: STL, text and binary, Wavefront OBJ, and the binary MSH of MuJoCo.

use crate::error::RobotError;
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::{Element, read_bytes};
use glam::{DMat3, DVec3};
use moreau::geometry::{GeometryError, MassProperties, Shape};
use std::io::BufReader;
use std::path::Path;

/// The largest mesh file that is read, bytes.
pub const MOST_MESH_BYTES: u64 = 1 << 27;

/// A surface of triangles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) triangles: Vec<[DVec3; 3]>,
    /// Where there are no triangles.
    pub(crate) loose: Vec<DVec3>,
}

impl Mesh {
    /// Reads a file; `None` if it is of a format that is not read.
    pub(crate) fn load(of: Element, file: &Path) -> Result<Option<Self>, RobotError> {
        let failed = |message: String| RobotError::Mesh {
            place: of.place(),
            file: file.to_owned(),
            message,
        };
        let extension = file.extension().unwrap_or_default().to_string_lossy();
        let read = match extension.to_ascii_lowercase().as_str() {
            "stl" => stl,
            "obj" => obj,
            "msh" => msh,
            _ => {
                // Missing is worse than not read.
                read_bytes(file, u64::MAX).map_err(failed)?;
                return Ok(None);
            }
        };
        let bytes = read_bytes(file, MOST_MESH_BYTES).map_err(failed)?;
        let mesh = read(&bytes).map_err(failed)?;
        let finite = mesh.points().all(DVec3::is_finite);
        match (mesh.triangles.is_empty() && mesh.loose.is_empty(), finite) {
            (true, _) => Err(failed("it has no triangles".to_owned())),
            (_, false) => Err(failed("a coordinate is not finite".to_owned())),
            _ => Ok(Some(mesh)),
        }
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = DVec3> {
        let corners = self.triangles.iter().flatten();
        corners.chain(&self.loose).copied()
    }

    /// With another place for every point. A reflection turns the triangles.
    pub(crate) fn map(mut self, of: impl Fn(DVec3) -> DVec3, reflects: bool) -> Self {
        for triangle in &mut self.triangles {
            *triangle = triangle.map(&of);
            if reflects {
                triangle.swap(1, 2);
            }
        }
        self.loose.iter_mut().for_each(|point| *point = of(*point));
        self
    }

    /// Its convex hull, or one of fewer points if that has more triangles than a hull may have.
    pub(crate) fn hull(&self, of: Element, reading: &mut Reading) -> Shape {
        let mut points: Vec<DVec3> = self.points().collect();
        let order = |a: &DVec3, b: &DVec3| {
            let of = |k: usize| a[k].total_cmp(&b[k]);
            of(0).then(of(1)).then(of(2))
        };
        points.sort_by(order);
        points.dedup();
        let whole = Shape::ConvexHull { points };
        let Shape::ConvexHull { points } = &whole else {
            return whole;
        };
        if points.len() <= DIRECTIONS || whole.build().is_ok() {
            return whole;
        }
        let by = format!("a hull of its outermost points in {DIRECTIONS} directions");
        reading.note(of.note(None, Reason::Replaced(by)));
        let mut outermost: Vec<usize> = (0..DIRECTIONS)
            .map(|k| farthest(points, direction(k)))
            .collect();
        outermost.sort_unstable();
        outermost.dedup();
        Shape::ConvexHull {
            points: outermost.into_iter().map(|index| points[index]).collect(),
        }
    }

    /// Mass properties of what the triangles enclose, as a sum over tetrahedra `(0, a, b, c)`:
    ///
    /// ```text
    /// 6V = Σ δ,  24 ∫x = Σ δ (a + b + c),  120 ∫xxᵀ = Σ δ (ssᵀ + aaᵀ + bbᵀ + ccᵀ),   δ = a·(b × c),  s = a + b + c
    /// ```
    ///
    /// `None` if they enclose nothing, or face inwards.
    pub(crate) fn solid(&self, density: f64) -> Option<Result<MassProperties, GeometryError>> {
        // About a point near: far from the origin the sums would cancel.
        let near = self.points().next()?;
        self.enclosed(near, |delta| delta)?.solid(density)
    }

    /// Mass properties where every triangle counts with the volume below it, whichever way it faces, as MJCF has it: first below the middle of the surface,
    /// which gives the centre, then below that centre, which gives mass and inertia. Those of [`Self::solid`] if the surface is closed and seen from
    /// there as a whole.
    pub(crate) fn solid_of_all(
        &self,
        density: f64,
    ) -> Option<Result<MassProperties, GeometryError>> {
        let (mut area, mut middle) = (0.0, DVec3::ZERO);
        for [a, b, c] in &self.triangles {
            let own = (b - a).cross(c - a).length();
            area += own;
            middle += (a + b + c) * (own / 3.0);
        }
        let first = self.enclosed(middle / area, f64::abs)?;
        let second = self.enclosed(first.center, f64::abs)?;
        Enclosed {
            about: second.about_apex,
            volume: second.volume,
            ..first
        }
        .solid(density)
    }

    /// What is between a point and the triangles; `part` of the signed volumes counts.
    fn enclosed(&self, apex: DVec3, part: impl Fn(f64) -> f64) -> Option<Enclosed> {
        let outer = |x: DVec3| DMat3::from_cols(x * x.x, x * x.y, x * x.z);
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|corner| corner - apex);
            let delta = part(a.dot(b.cross(c)));
            let sum = a + b + c;
            volume += delta / 6.0;
            first += sum * (delta / 24.0);
            second += (outer(sum) + outer(a) + outer(b) + outer(c)) * (delta / 120.0);
        }
        if !(volume > 0.0 && volume.is_finite()) {
            return None;
        }
        let center = first / volume;
        Some(Enclosed {
            volume,
            center: center + apex,
            about: second - outer(center) * volume,
            about_apex: second,
        })
    }
}

/// Directions in which the points of a hull that has too many are looked for; what lies between two of them, 0.08 rad apart, is cut off by less than 1e-3 of the
/// radius of curvature.
const DIRECTIONS: usize = 2048;

/// On a spiral from pole to pole, each with the same part of the sphere.
fn direction(index: usize) -> DVec3 {
    const GOLDEN: f64 = 2.399_963_229_728_653;
    let z = 1.0 - (2 * index + 1) as f64 / DIRECTIONS as f64;
    let (sin, cos) = libm::sincos(GOLDEN * index as f64);
    let across = (1.0 - z * z).sqrt();
    DVec3::new(across * cos, across * sin, z)
}

fn farthest(points: &[DVec3], along: DVec3) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, point) in points.iter().enumerate() {
        let reach = point.dot(along);
        if reach > best.1 {
            best = (index, reach);
        }
    }
    best.0
}

/// Volume, its centre, and `∫xxᵀ` about that and about the apex.
struct Enclosed {
    volume: f64,
    center: DVec3,
    about: DMat3,
    about_apex: DMat3,
}

impl Enclosed {
    fn solid(&self, density: f64) -> Option<Result<MassProperties, GeometryError>> {
        let about = self.about;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        let tensor = (DMat3::from_diagonal(DVec3::splat(trace)) - about) * density;
        let tensor = (tensor + tensor.transpose()) * 0.5;
        let mass = density * self.volume;
        Some(MassProperties::from_inertia_tensor(
            mass,
            self.center,
            tensor,
        ))
    }
}

/// Numbers of vertices, normals, texture coordinates and triangles, then these, all of four bytes.
fn msh(bytes: &[u8]) -> Result<Mesh, String> {
    let word = |index: usize| {
        let at = index.saturating_mul(4);
        let four = bytes.get(at..at.saturating_add(4));
        four.and_then(|four| four.try_into().ok()).unwrap_or([0; 4])
    };
    let [vertices, normals, texture, triangles] =
        [0, 1, 2, 3].map(|k| u32::from_le_bytes(word(k)) as usize);
    let before = 4 + 3 * vertices + 3 * normals + 2 * texture;
    let words = before + 3 * triangles;
    if bytes.len() != 4 * words {
        let found = bytes.len();
        return Err(format!(
            "it is no MSH: {found} bytes, expected {}",
            4 * words
        ));
    }
    let point = |index: usize| {
        let of = |k: usize| f64::from(f32::from_le_bytes(word(4 + 3 * index + k)));
        DVec3::new(of(0), of(1), of(2))
    };
    let corner = |place: usize| {
        let index = u32::from_le_bytes(word(before + place)) as usize;
        let known = Some(index).filter(|index| *index < vertices);
        known
            .map(point)
            .ok_or_else(|| format!("a triangle has vertex {index}, expected below {vertices}"))
    };
    let faces =
        (0..triangles).map(|of| Ok([corner(3 * of)?, corner(3 * of + 1)?, corner(3 * of + 2)?]));
    Ok(Mesh {
        triangles: faces.collect::<Result<_, String>>()?,
        loose: if triangles == 0 {
            (0..vertices).map(point).collect()
        } else {
            Vec::new()
        },
    })
}

fn stl(bytes: &[u8]) -> Result<Mesh, String> {
    const HEAD: usize = 84;
    const EACH: usize = 50;
    let number = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.unwrap_or([0; 4])
    };
    let count = u32::from_le_bytes(number(80)) as usize;
    let is_binary =
        bytes.len() >= HEAD && bytes.len() == HEAD.saturating_add(count.saturating_mul(EACH));
    if !is_binary {
        return match std::str::from_utf8(bytes) {
            Ok(text) if text.trim_start().starts_with("solid") => stl_text(text),
            _ => Err(format!(
                "it is no STL: {} bytes, expected {} for {count} triangles",
                bytes.len(),
                HEAD.saturating_add(count.saturating_mul(EACH))
            )),
        };
    }
    let corner = |at: usize| {
        let of = |k: usize| f64::from(f32::from_le_bytes(number(at + 4 * k)));
        DVec3::new(of(0), of(1), of(2))
    };
    let triangles = (0..count).map(|index| {
        let at = HEAD + EACH * index + 12;
        [corner(at), corner(at + 12), corner(at + 24)]
    });
    Ok(Mesh {
        triangles: triangles.collect(),
        ..Mesh::default()
    })
}

fn stl_text(text: &str) -> Result<Mesh, String> {
    let mut points = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() != Some("vertex") {
            continue;
        }
        let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        let [x, y, z] = numbers[..] else {
            return Err(format!(
                "line {}: a vertex without three numbers",
                index + 1
            ));
        };
        points.push(DVec3::new(x, y, z));
    }
    if points.len() % 3 != 0 {
        return Err(format!(
            "{} vertices, expected three a triangle",
            points.len()
        ));
    }
    let triangles = points.chunks_exact(3).map(|of| [of[0], of[1], of[2]]);
    Ok(Mesh {
        triangles: triangles.collect(),
        ..Mesh::default()
    })
}

fn obj(bytes: &[u8]) -> Result<Mesh, String> {
    let options = tobj::LoadOptions {
        triangulate: true,
        single_index: true,
        ..Default::default()
    };
    // Materials are not looked at: no other file is opened.
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut BufReader::new(bytes), &options, no_materials)
        .map_err(|error| error.to_string())?;
    let mut mesh = Mesh::default();
    for model in models {
        let positions = &model.mesh.positions;
        let corner = |index: u32| {
            let at = 3 * index as usize;
            let of = positions.get(at..at + 3);
            of.map_or(DVec3::NAN, DVec3::from_slice)
        };
        let faces = model.mesh.indices.chunks_exact(3);
        mesh.triangles
            .extend(faces.map(|face| [corner(face[0]), corner(face[1]), corner(face[2])]));
    }
    Ok(mesh)
}
