//! How numbers of a model are meant.

use crate::attributes::{View, quoted};
use crate::error::RobotError;
use crate::xml::Element;
use glam::{DMat3, DQuat, DVec3};
use moreau::geometry::Frame;
use moreau::geometry::orientation::from_axis_angle;
use std::path::PathBuf;

pub(super) struct Compiler {
    /// rad of a unit of angles.
    pub(super) unit: f64,
    pub(super) limits_are_meant: bool,
    pub(super) mesh_folder: PathBuf,
    /// Inertia from geoms: always, never, or where none is given.
    pub(super) from_geoms: Option<bool>,
    /// Least mass of a body, kg, and least principal moment, kg·m²; zero if there is none.
    pub(super) least_mass: f64,
    pub(super) least_moment: f64,
    /// Principal moments that violate the triangle inequality become their mean.
    pub(super) balances: bool,
    /// What all bodies weigh together, kg.
    pub(super) total_mass: Option<f64>,
    sequence: String,
}

impl Compiler {
    pub(super) fn read(root: Element) -> Result<Self, RobotError> {
        let mut compiler = Self {
            unit: std::f64::consts::PI / 180.0,
            limits_are_meant: true,
            mesh_folder: PathBuf::new(),
            from_geoms: None,
            least_mass: 0.0,
            least_moment: 0.0,
            balances: false,
            total_mass: None,
            sequence: "xyz".to_owned(),
        };
        for element in root.all("compiler") {
            let view = View::from(element);
            match view.word("angle", &["degree", "radian"])? {
                Some(1) => compiler.unit = 1.0,
                Some(_) => compiler.unit = std::f64::consts::PI / 180.0,
                None => {}
            }
            let _ = view.word("coordinate", &["local"])?;
            if let Some(meant) = view.yes("autolimits")? {
                compiler.limits_are_meant = meant;
            }
            if let Some(folder) = view.text("meshdir").or_else(|| view.text("assetdir")) {
                compiler.mesh_folder = folder.into();
            }
            match view.word("inertiafromgeom", &["false", "true", "auto"])? {
                Some(2) => compiler.from_geoms = None,
                Some(word) => compiler.from_geoms = Some(word == 1),
                None => {}
            }
            if let Some(mass) = view.not_negative("boundmass")? {
                compiler.least_mass = mass;
            }
            if let Some(moment) = view.not_negative("boundinertia")? {
                compiler.least_moment = moment;
            }
            if let Some(balances) = view.yes("balanceinertia")? {
                compiler.balances = balances;
            }
            if let Some(total) = view.number("settotalmass")? {
                // Not positive: none.
                compiler.total_mass = Some(total).filter(|total| *total > 0.0);
            }
            if let Some(sequence) = view.text("eulerseq") {
                let axes = sequence.chars().all(|c| "xyzXYZ".contains(c));
                if sequence.len() != 3 || !axes {
                    return Err(view.refuse("eulerseq", quoted(sequence), "three of x, y, z"));
                }
                sequence.clone_into(&mut compiler.sequence);
            }
        }
        Ok(compiler)
    }

    /// `pos` and one of the forms of a rotation.
    pub(super) fn pose(&self, view: &View) -> Result<Frame, RobotError> {
        let position = view.vector("pos")?.unwrap_or(DVec3::ZERO);
        Ok(Frame::new(position, self.turn(view)?))
    }

    fn turn(&self, view: &View) -> Result<DQuat, RobotError> {
        if let Some([w, x, y, z]) = view.exactly::<4>("quat")? {
            let unit = DQuat::from_xyzw(x, y, z, w);
            if unit.length() < 1e-9 {
                return Err(view.refuse("quat", unit.length(), "longer than zero"));
            }
            return Ok(moreau::rotation::normalised(unit * (1.0 / unit.length())));
        }
        if let Some([x, y, z, angle]) = view.exactly::<4>("axisangle")? {
            let turn = from_axis_angle(DVec3::new(x, y, z), angle * self.unit);
            return turn.ok_or_else(|| view.refuse("axisangle", "0 0 0", "an axis"));
        }
        if let Some(angles) = view.vector("euler")? {
            let mut turn = DQuat::IDENTITY;
            for (axis, angle) in self.sequence.chars().zip(angles.to_array()) {
                let about = match axis.to_ascii_lowercase() {
                    'x' => DVec3::X,
                    'y' => DVec3::Y,
                    _ => DVec3::Z,
                };
                let next = from_axis_angle(about, angle * self.unit).unwrap_or_default();
                // Small letters turn with the body, capitals are fixed.
                turn = if axis.is_lowercase() {
                    turn * next
                } else {
                    next * turn
                };
            }
            return Ok(turn);
        }
        if let Some([a, b, c, d, e, f]) = view.exactly::<6>("xyaxes")? {
            let (x, y) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
            let x = x.try_normalize();
            let across = x.and_then(|x| (y - x * x.dot(y)).try_normalize().map(|y| (x, y)));
            let Some((x, y)) = across else {
                return Err(view.refuse("xyaxes", "parallel", "two directions"));
            };
            return Ok(DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize());
        }
        if let Some(z) = view.vector("zaxis")? {
            let unit = z.try_normalize();
            let unit = unit.ok_or_else(|| view.refuse("zaxis", z, "not zero"))?;
            return Ok(DQuat::from_rotation_arc(DVec3::Z, unit));
        }
        Ok(DQuat::IDENTITY)
    }
}
