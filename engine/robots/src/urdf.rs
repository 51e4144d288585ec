//! URDF: links, and joints that name them.
//!
//! Every link has its frame where its joint is; a joint moves the child along or about `axis`, given in the child's frame. Units are those of SI,
//! `rpy` are turns about the fixed x, then y, then z. A root link that has `<inertial>` is free; one without stands still at the origin.

mod joint;
mod mimic;

use crate::Base;
use crate::attributes::{View, quoted};
use crate::error::RobotError;
use crate::mesh::Mesh;
use crate::model::{Coordinate, Geom, Groups, Hold, Inertial, Link, Model, Relation};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use glam::{DMat3, DQuat, DVec3};
use joint::{Joint, joints};
use moreau::Settings;
use moreau::geometry::orientation::from_euler;
use moreau::geometry::{Frame, Shape};
use moreau::scene::nearest_name;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads a robot.
pub(crate) fn read(root: Element, reading: &mut Reading) -> Result<Model, RobotError> {
    let _ = root.get("version");
    let name = root.needed("name")?.to_owned();
    let elements = root.all("link");
    let mut known = BTreeMap::new();
    for (index, element) in elements.iter().enumerate() {
        let name = element.needed("name")?;
        if known.insert(name, index).is_some() {
            return Err(element.wrong("a second link of this name"));
        }
    }
    if elements.is_empty() {
        return Err(root.missing("link"));
    }
    let mut joints = joints(root, &known, reading)?;
    let followers = mimic::read(&mut joints, reading)?;
    let order = order(&elements, &joints)?;
    let mut model = Model {
        name,
        settings: Settings::default(),
        links: vec![Link::new("", root.place())],
        relations: Vec::new(),
        exclusions: Vec::new(),
        closures: Vec::new(),
        base_is_apart: true,
    };
    // Places of links in the model.
    let mut places = vec![0; elements.len()];
    for (index, joint) in order {
        places[index] = model.links.len();
        let (parent, pose, hold) = match joint {
            None => {
                let has_mass = elements[index].children().any(|of| of.tag() == "inertial");
                let free = match reading.options.base {
                    Base::AsGiven => has_mass,
                    Base::Fixed => false,
                    Base::Free => true,
                };
                let hold = if free { Hold::Free } else { Hold::Welded };
                (0, reading.options.pose.into(), hold)
            }
            Some(at) => {
                let Joint {
                    parent, pose, hold, ..
                } = &joints[at];
                let hold = match hold {
                    Hold::Joints(axes) => Hold::Joints(axes.clone()),
                    Hold::Free => Hold::Free,
                    _ => Hold::Welded,
                };
                (places[*parent], *pose, hold)
            }
        };
        let link = link(elements[index], reading)?;
        model.links.push(Link {
            parent: Some(parent),
            pose,
            hold,
            ..link
        });
    }
    let of = |joint: usize| Coordinate {
        link: places[joints[joint].child],
        axis: 0,
    };
    model.relations = followers
        .iter()
        .map(|follower| Relation {
            name: None,
            follower: of(follower.joint),
            leader: of(follower.leader),
            ratio: follower.ratio,
            offset: follower.offset,
        })
        .collect();
    Ok(model)
}

/// Links after their parents, each with the joint that it hangs on.
fn order(links: &[Element], joints: &[Joint]) -> Result<Vec<(usize, Option<usize>)>, RobotError> {
    let mut above = vec![None; links.len()];
    let mut below = vec![Vec::new(); links.len()];
    for (at, joint) in joints.iter().enumerate() {
        if above[joint.child].replace(at).is_some() {
            let child = links[joint.child].place().element;
            let message = format!("its child, {child}, is the child of another joint already");
            return Err(joint.element.wrong(message));
        }
        below[joint.parent].push(at);
    }
    let roots: Vec<usize> = (0..links.len()).filter(|of| above[*of].is_none()).collect();
    let root = match roots[..] {
        [root] => root,
        // Every link is the child of one joint: they go round.
        [] => return Err(links[0].wrong("no link is the root: the joints make a loop")),
        [first, second, ..] => {
            let first = links[first].place().element;
            let message = format!("no joint has it as its child, and none has {first}: two roots");
            return Err(links[second].wrong(message));
        }
    };
    let mut order = vec![(root, None)];
    let mut next = 0;
    while let Some((link, _)) = order.get(next).copied() {
        next += 1;
        order.extend(below[link].iter().map(|at| (joints[*at].child, Some(*at))));
    }
    if order.len() < links.len() {
        let reached: Vec<usize> = order.iter().map(|(link, _)| *link).collect();
        let lost = (0..links.len()).find(|link| !reached.contains(link));
        let lost = links[lost.unwrap_or(0)];
        return Err(lost.wrong("it does not hang on the root: the joints make a loop"));
    }
    Ok(order)
}

/// The pose that `<origin>` says.
fn origin(of: Element) -> Result<Frame, RobotError> {
    let Some(origin) = of.one("origin")? else {
        return Ok(Frame::IDENTITY);
    };
    let view = View::from(origin);
    let position = view.vector("xyz")?.unwrap_or(DVec3::ZERO);
    let orientation = match view.vector("rpy")? {
        None => DQuat::IDENTITY,
        Some(angles) if angles == DVec3::ZERO => DQuat::IDENTITY,
        Some(angles) => from_euler(angles),
    };
    Ok(Frame::new(position, orientation))
}

fn link(element: Element, reading: &mut Reading) -> Result<Link, RobotError> {
    let inertial = match element.one("inertial")? {
        Some(inertial) => Some(read_inertial(inertial)?),
        None => None,
    };
    let mut geoms = Vec::new();
    for collision in element.all("collision") {
        geoms.extend(geom(collision, reading)?);
    }
    Ok(Link {
        inertial,
        geoms,
        ..Link::new(element.needed("name")?, element.place())
    })
}

fn read_inertial(element: Element) -> Result<Inertial, RobotError> {
    let pose = origin(element)?;
    let needed = |tag: &str| element.one(tag)?.ok_or_else(|| element.missing(tag));
    let mass = View::from(needed("mass")?);
    let value = mass.positive("value")?;
    let value = value.ok_or_else(|| mass.element.missing("value"))?;
    let inertia = View::from(needed("inertia")?);
    let entry = |name: &str, needed: bool| {
        let entry = inertia.number(name)?;
        match entry {
            None if needed => Err(inertia.element.missing(name)),
            other => Ok(other.unwrap_or(0.0)),
        }
    };
    let [xx, yy, zz] = [
        entry("ixx", true)?,
        entry("iyy", true)?,
        entry("izz", true)?,
    ];
    let [xy, xz, yz] = [
        entry("ixy", false)?,
        entry("ixz", false)?,
        entry("iyz", false)?,
    ];
    Ok(Inertial {
        mass: value,
        center: pose.position,
        tensor: DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]),
        frame: pose.orientation,
    })
}

fn geom(element: Element, reading: &mut Reading) -> Result<Option<Geom>, RobotError> {
    let pose = origin(element)?;
    let geometry = element.one("geometry")?;
    let geometry = geometry.ok_or_else(|| element.missing("geometry"))?;
    let mut kinds = geometry.children();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return Err(geometry.wrong("expected one shape"));
    };
    let Some(shape) = shape(kind, reading)? else {
        return Ok(None);
    };
    Ok(Some(Geom {
        name: element.get("name").map(str::to_owned),
        place: element.place(),
        shape,
        pose,
        friction: None,
        frictionless: false,
        groups: Groups::default(),
    }))
}

fn shape(element: Element, reading: &mut Reading) -> Result<Option<Shape>, RobotError> {
    element.meet();
    let view = View::from(element);
    let length = |name: &str| {
        let length = view.positive(name)?;
        length.ok_or_else(|| element.missing(name))
    };
    Ok(Some(match element.tag() {
        "box" => {
            let size = view.vector("size")?;
            let size = size.ok_or_else(|| element.missing("size"))?;
            if size.min_element() <= 0.0 {
                return Err(element.refuse("size", size, "> 0 each"));
            }
            Shape::Cuboid {
                half_extents: size * 0.5,
            }
        }
        "sphere" => Shape::Sphere {
            radius: length("radius")?,
        },
        "cylinder" => Shape::Cylinder {
            half_height: 0.5 * length("length")?,
            radius: length("radius")?,
        },
        "capsule" => Shape::Capsule {
            half_height: 0.5 * length("length")?,
            radius: length("radius")?,
        },
        "mesh" => {
            let named = element.needed("filename")?;
            let file = found(named, reading.file);
            let scale = view.vector("scale")?.unwrap_or(DVec3::ONE);
            let volume = scale.x * scale.y * scale.z;
            if volume == 0.0 {
                return Err(element.refuse("scale", scale, "not zero"));
            }
            let Some(mesh) = Mesh::load(element, &file)? else {
                let why = format!("{} is neither STL, OBJ nor MSH", quoted(named));
                reading.note(element.note(None, Reason::LeftOut(why)));
                return Ok(None);
            };
            mesh.map(|point| point * scale, volume < 0.0)
                .hull(element, reading)
        }
        _ => {
            reading.note(element.note(None, Reason::LeftOut("no such shape is known".to_owned())));
            return Ok(None);
        }
    }))
}

/// The file that a URI names: a path relative to the robot's file, `file://…`, or `package://NAME/…`, for which the folders above the robot's file are
/// looked through for one that is NAME or has NAME in it.
fn found(uri: &str, robot: &Path) -> PathBuf {
    let folder = robot.parent().map(Path::to_owned).unwrap_or_default();
    let uri = uri.trim();
    if let Some(path) = uri.strip_prefix("file://") {
        return folder.join(path);
    }
    let Some(rest) = uri
        .strip_prefix("package://")
        .or_else(|| uri.strip_prefix("model://"))
    else {
        return folder.join(uri);
    };
    let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
    let absolute = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
    for above in absolute.ancestors() {
        let is_it = above.file_name().is_some_and(|name| name == package);
        for file in [is_it.then(|| above.join(inside)), Some(above.join(rest))] {
            if let Some(file) = file.filter(|file| file.exists()) {
                return file;
            }
        }
    }
    folder.join(rest)
}

/// Why an element or an attribute of a URDF was not asked for.
pub(crate) fn why(element: Element, attribute: Option<&str>) -> Reason {
    let left_out = |why: &str| Reason::LeftOut(why.to_owned());
    match (element.tag(), attribute) {
        ("visual" | "material" | "sensor" | "verbose", None) => Reason::NoEffect,
        ("calibration", _) => Reason::NoEffect,
        ("transmission" | "ros2_control", None) => left_out("no transmissions"),
        ("gazebo", None) => left_out("what another simulator is told"),
        ("safety_controller", None) => left_out("no controllers"),
        ("limit", Some("velocity")) => left_out("no bounds of velocities"),
        ("limit", Some("acceleration" | "deceleration" | "jerk")) => {
            left_out("no bounds of accelerations")
        }
        ("link", Some("type")) => Reason::NoEffect,
        _ => Reason::Unknown,
    }
}

/// The nearest link to a name that none has.
fn unknown_link(element: Element, name: &str, known: &BTreeMap<&str, usize>) -> RobotError {
    RobotError::Unknown {
        place: element.place(),
        what: "link",
        name: name.to_owned(),
        nearest: nearest_name(name, known.keys().copied()).map(str::to_owned),
    }
}
