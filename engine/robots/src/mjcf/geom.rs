//! Geoms and the meshes that they name.

use super::classes::Classes;
use super::compiler::Compiler;
use crate::attributes::{View, quoted};
use crate::error::RobotError;
use crate::mesh::Mesh;
use crate::model::{Geom, Groups};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use glam::{DQuat, DVec3};
use moreau::geometry::{Frame, MassProperties, Shape};
use moreau::scene::nearest_name;
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::path::Path;

pub(super) struct Assets<'a> {
    classes: &'a Classes<'a>,
    meshes: BTreeMap<&'a str, Element<'a>>,
}

const TYPES: [&str; 9] = [
    "sphere",
    "capsule",
    "cylinder",
    "box",
    "ellipsoid",
    "plane",
    "mesh",
    "hfield",
    "sdf",
];

/// A geom, what it weighs, and whether it meets anything.
type Read = (Geom, Option<MassProperties>, bool);

impl<'a> Assets<'a> {
    pub(super) fn read(root: Element<'a>, classes: &'a Classes<'a>) -> Result<Self, RobotError> {
        let mut meshes = BTreeMap::new();
        for asset in root.all("asset") {
            for mesh in asset.all("mesh") {
                let file = mesh
                    .get("file")
                    .and_then(|file| Path::new(file).file_stem()?.to_str());
                let name = mesh
                    .get("name")
                    .or(file)
                    .ok_or_else(|| mesh.missing("name"))?;
                meshes.insert(name, mesh);
            }
        }
        Ok(Self { classes, meshes })
    }

    pub(super) fn geom(
        &self,
        view: &View,
        compiler: &Compiler,
        reading: &mut Reading,
    ) -> Result<Option<Read>, RobotError> {
        let kind = view.word("type", &TYPES)?;
        let kind = TYPES[kind.unwrap_or(if view.has("mesh") { 6 } else { 0 })];
        let whole = |name: &str, default: u32| {
            let number = view.number(name)?;
            match number {
                None => Ok(default),
                Some(x) if x >= 0.0 && x <= f64::from(u32::MAX) && x.fract() == 0.0 => Ok(x as u32),
                Some(x) => Err(view.refuse(name, x, "a whole number ≥ 0")),
            }
        };
        let groups = Groups {
            kind: whole("contype", 1)?,
            affinity: whole("conaffinity", 1)?,
        };
        let mut pose = compiler.pose(view)?;
        let [friction, ..] = view.first("friction", [1.0, 0.005, 0.0001])?;
        if friction < 0.0 {
            return Err(view.refuse("friction", friction, "≥ 0"));
        }
        let dimension = whole("condim", 3)?;
        if ![1, 3, 4, 6].contains(&dimension) {
            return Err(view.refuse("condim", dimension, "one of 1, 3, 4, 6"));
        }
        if dimension > 3 {
            let by = "sliding friction alone, none of rolling and spinning".to_owned();
            reading.note(view.element.note(Some("condim"), Reason::Replaced(by)));
        }
        let mut length = None;
        if let Some([a, b, c, d, e, f]) = view.exactly::<6>("fromto")? {
            let (from, to) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
            let way = to - from;
            let Some(unit) = way.try_normalize() else {
                return Err(view.refuse("fromto", "a point", "two points"));
            };
            pose = Frame::new(0.5 * (from + to), DQuat::from_rotation_arc(DVec3::Z, unit));
            length = Some(0.5 * way.length());
        }
        let density = view.not_negative("density")?.unwrap_or(1000.0);
        let mass = view.not_negative("mass")?;
        let Some((shape, unit)) = self.shape(kind, view, length, (compiler, reading))? else {
            return Ok(None);
        };
        // Without weight it has no part in the inertia.
        let weighs = mass.map_or(density > 0.0, |mass| mass > 0.0);
        let solid = unit.filter(|_| weighs).map(|unit| {
            let factor = mass.map_or(density, |mass| mass / unit.mass);
            MassProperties {
                mass: unit.mass * factor,
                principal_inertia: unit.principal_inertia * factor,
                ..unit
            }
        });
        let geom = Geom {
            name: view.element.get("name").map(str::to_owned),
            place: view.element.place(),
            shape,
            pose,
            friction: Some(friction),
            frictionless: dimension == 1,
            groups,
        };
        Ok(Some((
            geom,
            solid,
            groups.kind != 0 || groups.affinity != 0,
        )))
    }

    /// A shape, and its mass properties with a density of 1.
    fn shape(
        &self,
        kind: &str,
        view: &View,
        length: Option<f64>,
        (compiler, reading): (&Compiler, &mut Reading),
    ) -> Result<Option<(Shape, Option<MassProperties>)>, RobotError> {
        let [a, b, c] = view.first("size", [0.0; 3])?;
        let needed: &[(f64, usize)] = match (kind, length) {
            ("sphere", _) => &[(a, 1)],
            ("capsule" | "cylinder", None) => &[(a, 1), (b, 2)],
            ("capsule" | "cylinder", Some(_)) => &[(a, 1)],
            ("box" | "ellipsoid", None) => &[(a, 1), (b, 2), (c, 3)],
            ("box" | "ellipsoid", Some(_)) => &[(a, 1)],
            _ => &[],
        };
        if let Some((size, number)) = needed.iter().find(|(size, _)| *size <= 0.0) {
            let bound = format!("> 0, number {number} of a {kind}");
            return Err(view.refuse("size", size, &bound));
        }
        let shape = match kind {
            "sphere" => Shape::Sphere { radius: a },
            "capsule" => Shape::Capsule {
                half_height: length.unwrap_or(b),
                radius: a,
            },
            "cylinder" => Shape::Cylinder {
                half_height: length.unwrap_or(b),
                radius: a,
            },
            "box" => Shape::Cuboid {
                half_extents: length.map_or(DVec3::new(a, b, c), |half| DVec3::new(a, a, half)),
            },
            "ellipsoid" => {
                let radii = length.map_or(DVec3::new(a, b, c), |half| DVec3::new(a, a, half));
                let by = "a hull of 258 points on it; its mass is exact".to_owned();
                reading.note(view.element.note(Some("type"), Reason::Replaced(by)));
                return Ok(Some((ellipsoid(radii), Some(of_ellipsoid(radii)))));
            }
            "plane" => {
                return Ok(Some((Shape::HalfSpace { normal: DVec3::Z }, None)));
            }
            "mesh" => return self.mesh(view, compiler, reading),
            _ => {
                reading.leave_out(view.element, &format!("no {kind}"));
                return Ok(None);
            }
        };
        let unit = mass_of(&shape, view)?;
        Ok(Some((shape, Some(unit))))
    }

    fn mesh(
        &self,
        view: &View,
        compiler: &Compiler,
        reading: &mut Reading,
    ) -> Result<Option<(Shape, Option<MassProperties>)>, RobotError> {
        let name = view
            .text("mesh")
            .ok_or_else(|| view.element.missing("mesh"))?;
        let asset = self.meshes.get(name).ok_or_else(|| RobotError::Unknown {
            place: view.element.place(),
            what: "mesh",
            name: name.to_owned(),
            nearest: nearest_name(name, self.meshes.keys().copied()).map(str::to_owned),
        })?;
        let of = self.classes.view(*asset, None)?;
        let named = asset.needed("file")?;
        let folder = reading
            .file
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default();
        let file = folder.join(&compiler.mesh_folder).join(named);
        let scale = of.vector("scale")?.unwrap_or(DVec3::ONE);
        let volume = scale.x * scale.y * scale.z;
        if volume == 0.0 {
            return Err(asset.refuse("scale", scale, "not zero"));
        }
        let Some(mesh) = Mesh::load(*asset, &file)? else {
            let why = format!("{} is neither STL, OBJ nor MSH", quoted(named));
            reading.leave_out(view.element, &why);
            return Ok(None);
        };
        let mesh = mesh.map(|point| point * scale, volume < 0.0);
        let hull = mesh.hull(*asset, reading);
        let kind = of.word("inertia", &["legacy", "exact", "convex", "shell"])?;
        let solid = match kind.unwrap_or(0) {
            0 => mesh.solid_of_all(1.0),
            1 => mesh.solid(1.0),
            2 => None,
            _ => {
                let by = "that of its convex hull".to_owned();
                reading.note(asset.note(Some("inertia"), Reason::Replaced(by)));
                None
            }
        };
        let unit = match solid {
            Some(Ok(unit)) => unit,
            _ => mass_of(&hull, view)?,
        };
        Ok(Some((hull, Some(unit))))
    }
}

fn mass_of(shape: &Shape, view: &View) -> Result<MassProperties, RobotError> {
    let built = shape.build().and_then(|shape| shape.mass_properties(1.0));
    built.map_err(|error| view.element.wrong(error.to_string()))
}

fn of_ellipsoid(radii: DVec3) -> MassProperties {
    let mass = 4.0 / 3.0 * PI * radii.x * radii.y * radii.z;
    let squares = radii * radii;
    let moments = DVec3::new(
        squares.y + squares.z,
        squares.x + squares.z,
        squares.x + squares.y,
    );
    MassProperties {
        mass,
        center_of_mass: DVec3::ZERO,
        principal_inertia: moments * (mass / 5.0),
        principal_frame: DQuat::IDENTITY,
    }
}

/// Rings of points on it, and its poles.
fn ellipsoid(radii: DVec3) -> Shape {
    const RINGS: usize = 16;
    const ROUND: usize = 16;
    let mut points = vec![DVec3::Z * radii.z, DVec3::Z * -radii.z];
    for ring in 0..RINGS {
        let (across, up) = libm::sincos(PI * (ring as f64 + 1.0) / (RINGS as f64 + 1.0));
        for place in 0..ROUND {
            let (y, x) = libm::sincos(TAU * place as f64 / ROUND as f64);
            points.push(DVec3::new(x * across, y * across, up) * radii);
        }
    }
    Shape::ConvexHull { points }
}
