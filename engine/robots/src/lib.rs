//! Robot files, URDF and MJCF, as scenes.
//!
//! ```
//! let text = r#"
//!     <robot name="pendulum">
//!       <link name="ceiling"/>
//!       <link name="bob">
//!         <inertial>
//!           <origin xyz="0 0 -1"/>
//!           <mass value="2"/>
//!           <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
//!         </inertial>
//!       </link>
//!       <joint name="hinge" type="continuous">
//!         <parent link="ceiling"/>
//!         <child link="bob"/>
//!         <axis xyz="0 1 0"/>
//!       </joint>
//!     </robot>"#;
//! let robot = moreau_robots::from_text(text, "pendulum.urdf", &Default::default())?;
//! assert!(robot.not_understood.is_empty());
//! let mut run = robot.scene.start()?;
//! run.step()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is read and what is not is in `docs/robots.md`. Nothing that is not taken as it stands is silent: [`Robot::not_understood`].
#![forbid(unsafe_code)]

mod attributes;
mod build;
mod error;
mod inertia;
mod mesh;
mod mjcf;
mod model;
mod reading;
mod report;
mod urdf;
mod xml;

pub use error::{Place, RobotError};
pub use mesh::MOST_MESH_BYTES;
pub use report::{NotUnderstood, Reason};
pub use xml::MOST_BYTES;

use moreau::{Pose, Scene};
use reading::Reading;
use std::path::Path;
use xml::Tree;

/// How a file is to be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What holds the root link of a URDF, which does not say it. MJCF says it.
    pub base: Base,
    /// Where the root link of a URDF is.
    pub pose: Pose,
    /// The keyframe of an MJCF to start from, by its name or its number from 0; without one, from its reference coordinates.
    pub keyframe: Option<String>,
}

/// What holds the root link of a URDF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Nothing if it has `<inertial>`, the world otherwise.
    #[default]
    AsGiven,
    /// The world.
    Fixed,
    /// Nothing.
    Free,
}

/// What a robot file says.
#[derive(Clone, Debug)]
pub struct Robot {
    /// Bodies and joints; names are those of the file.
    pub scene: Scene,
    /// What was not taken as it stands: as the readers came upon it, then in the order of the file.
    pub not_understood: Vec<NotUnderstood>,
    /// Where the links of the file are.
    pub links: Vec<LinkFrame>,
    /// Names of keyframes.
    pub keyframes: Vec<String>,
}

/// A link of a file, and the body that it is part of: links that are welded to each other are one body.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFrame {
    /// Name of the link.
    pub name: String,
    /// Name of its body; of links that stand still in the world none.
    pub body: Option<String>,
    /// The link's frame, from the centre of mass in the frame of the body; of the world in the inertial frame.
    pub pose: Pose,
}

/// Reads a URDF or an MJCF file.
///
/// # Errors
/// [`RobotError`] names the file, the element, the value and the bound.
pub fn load(file: impl AsRef<Path>, options: &Options) -> Result<Robot, RobotError> {
    let file = file.as_ref();
    let text = xml::read_text(file).map_err(|message| RobotError::Io {
        file: file.to_owned(),
        message,
    })?;
    from_text(&text, file, options)
}

/// Reads the text of a URDF or an MJCF file; `file` is used in messages and as the place of its meshes.
///
/// # Errors
/// As [`load`].
pub fn from_text(
    text: &str,
    file: impl AsRef<Path>,
    options: &Options,
) -> Result<Robot, RobotError> {
    let file = file.as_ref();
    let tree = Tree::parse(text, file, Some("include"))?;
    let root = tree.root();
    root.meet();
    let mut reading = Reading {
        file,
        options,
        notes: Vec::new(),
    };
    let (model, why, keyframes): (_, fn(xml::Element, Option<&str>) -> Reason, _) = match root.tag()
    {
        "robot" => (urdf::read(root, &mut reading)?, urdf::why, Vec::new()),
        "mujoco" => {
            let (model, keyframes) = mjcf::read(root, &mut reading)?;
            (model, mjcf::why, keyframes)
        }
        _ => return Err(root.wrong("expected robot (URDF) or mujoco (MJCF)")),
    };
    let built = build::build(&model, &mut reading)?;
    let mut not_understood = reading.notes;
    tree.unread(why, &mut not_understood);
    Ok(Robot {
        scene: Scene {
            folder: file.parent().map(Path::to_owned).unwrap_or_default(),
            ..built.scene
        },
        not_understood,
        links: built.links,
        keyframes,
    })
}
