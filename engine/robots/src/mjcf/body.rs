//! Bodies, one in the other.

use super::classes::Classes;
use super::compiler::Compiler;
use super::geom::Assets;
use super::joint::joint;
use super::option::Acting;
use crate::attributes::View;
use crate::error::RobotError;
use crate::inertia::united;
use crate::model::{Hold, Inertial, Link, Model};
use crate::reading::Reading;
use crate::xml::Element;
use glam::{DMat3, DQuat};
use moreau::geometry::Frame;

pub(super) struct Bodies<'a> {
    pub(super) compiler: &'a Compiler,
    pub(super) classes: &'a Classes<'a>,
    acting: Acting,
    assets: Assets<'a>,
}

/// Where a reader is: the body, its class, and the frames in it.
struct At<'a> {
    link: usize,
    class: Option<&'a str>,
    frame: Frame,
}

/// What is found in a body.
#[derive(Default)]
struct Found<'a> {
    axes: Vec<crate::model::Axis>,
    free: bool,
    solids: Vec<Inertial>,
    bodies: Vec<(Element<'a>, Option<&'a str>, Frame)>,
    sites: Vec<Site<'a>>,
}

/// A place on a link, to be read where something names it.
pub(super) struct Site<'a> {
    pub(super) element: Element<'a>,
    pub(super) class: Option<&'a str>,
    pub(super) link: usize,
    /// What its own pose is in, in the frame of the link.
    pub(super) frame: Frame,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(
        compiler: &'a Compiler,
        classes: &'a Classes<'a>,
        acting: Acting,
        root: Element<'a>,
    ) -> Result<Self, RobotError> {
        Ok(Self {
            compiler,
            classes,
            acting,
            assets: Assets::read(root, classes)?,
        })
    }

    pub(super) fn world(
        &self,
        world: Element<'a>,
        sites: &mut Vec<Site<'a>>,
        model: &mut Model,
        reading: &mut Reading,
    ) -> Result<(), RobotError> {
        let at = At {
            link: 0,
            class: world.get("childclass"),
            frame: Frame::IDENTITY,
        };
        let mut found = Found::default();
        self.inside(world, &at, &mut found, (model, reading))?;
        sites.append(&mut found.sites);
        self.below(0, found.bodies, sites, (model, reading))
    }

    fn below(
        &self,
        parent: usize,
        bodies: Vec<(Element<'a>, Option<&'a str>, Frame)>,
        sites: &mut Vec<Site<'a>>,
        (model, reading): (&mut Model, &mut Reading),
    ) -> Result<(), RobotError> {
        for (element, class, frame) in bodies {
            let view = View::from(element);
            let link = model.links.len();
            let name = element.get("name").unwrap_or_default().to_owned();
            if !name.is_empty() && model.links.iter().any(|link| link.name == name) {
                return Err(element.wrong("a second body of this name"));
            }
            model.links.push(Link {
                parent: Some(parent),
                pose: frame.compose(&self.compiler.pose(&view)?),
                ..Link::new(name, element.place())
            });
            let at = At {
                link,
                class: element.get("childclass").or(class),
                frame: Frame::IDENTITY,
            };
            let mut found = Found::default();
            self.inside(element, &at, &mut found, (&mut *model, &mut *reading))?;
            sites.append(&mut found.sites);
            let given = match element.one("inertial")? {
                Some(inertial) if self.compiler.from_geoms != Some(true) => {
                    Some(self.inertial(inertial)?)
                }
                _ => None,
            };
            let kinematic = view.yes("mocap")?.unwrap_or(false);
            let lifted = view.number("gravcomp")?.unwrap_or(0.0);
            let own = &mut model.links[link];
            own.gravity_scale = 1.0 - lifted;
            own.inertial = match given {
                Some(given) => Some(given),
                None if self.compiler.from_geoms == Some(false) => None,
                None => whole(&found.solids).map_err(|error| element.wrong(error.to_string()))?,
            };
            own.hold = match (found.free, found.axes.is_empty()) {
                _ if kinematic => Hold::Kinematic,
                (true, true) if parent == 0 => Hold::Free,
                (true, _) => {
                    return Err(element.wrong("a free joint is by itself, on a body of the world"));
                }
                (false, true) => Hold::Welded,
                (false, false) => Hold::Joints(found.axes),
            };
            self.below(link, found.bodies, sites, (&mut *model, &mut *reading))?;
        }
        Ok(())
    }

    /// What is in a body or in a frame in it.
    fn inside(
        &self,
        element: Element<'a>,
        at: &At<'a>,
        found: &mut Found<'a>,
        (model, reading): (&mut Model, &mut Reading),
    ) -> Result<(), RobotError> {
        for child in element.children() {
            match child.tag() {
                "geom" => {
                    child.meet();
                    let view = self.classes.view(child, at.class)?;
                    let geom = self.assets.geom(&view, self.compiler, reading)?;
                    let Some((mut geom, solid, collides)) = geom else {
                        let why = reading.notes.last().map(ToString::to_string);
                        model.links[at.link].without = why;
                        continue;
                    };
                    geom.pose = at.frame.compose(&geom.pose);
                    if let Some(solid) = solid {
                        found.solids.push(Inertial::of_solid(&solid, &geom.pose));
                    }
                    if collides && self.acting.contacts {
                        model.links[at.link].geoms.push(geom);
                    }
                }
                "joint" | "freejoint" if at.link == 0 => {
                    return Err(child.wrong("the world has no joints"));
                }
                "freejoint" => {
                    child.meet();
                    let _ = (child.get("name"), child.get("align"));
                    found.free = true;
                }
                "joint" => {
                    child.meet();
                    let view = self.classes.view(child, at.class)?;
                    match joint(
                        &view,
                        self.compiler,
                        &at.frame,
                        (self.acting, &mut *reading),
                    )? {
                        None => found.free = true,
                        Some(axis) => found.axes.push(axis),
                    }
                }
                "body" => {
                    child.meet();
                    found.bodies.push((child, at.class, at.frame));
                }
                "site" => found.sites.push(Site {
                    element: child,
                    class: at.class,
                    link: at.link,
                    frame: at.frame,
                }),
                "frame" => {
                    child.meet();
                    let pose = self.compiler.pose(&View::from(child))?;
                    let inner = At {
                        link: at.link,
                        class: child.get("childclass").or(at.class),
                        frame: at.frame.compose(&pose),
                    };
                    self.inside(child, &inner, found, (&mut *model, &mut *reading))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn inertial(&self, element: Element) -> Result<Inertial, RobotError> {
        let view = View::from(element);
        let pose = self.compiler.pose(&view)?;
        let mass = view.positive("mass")?;
        let tensor = match (
            view.vector("diaginertia")?,
            view.exactly::<6>("fullinertia")?,
        ) {
            (Some(moments), None) => DMat3::from_diagonal(moments),
            (None, Some([xx, yy, zz, xy, xz, yz])) => {
                DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
            }
            _ => return Err(element.missing("diaginertia or fullinertia, one of the two")),
        };
        Ok(Inertial {
            mass: mass.ok_or_else(|| element.missing("mass"))?,
            center: pose.position,
            tensor,
            frame: pose.orientation,
        })
    }
}

/// Several solids as one.
fn whole(solids: &[Inertial]) -> Result<Option<Inertial>, moreau::geometry::GeometryError> {
    if let [only] = solids {
        return Ok(Some(*only));
    }
    let parts: Vec<_> = solids
        .iter()
        .map(|solid| (Frame::IDENTITY, *solid))
        .collect();
    let all = united(&parts)?;
    Ok(all.map(|all| Inertial {
        mass: all.mass,
        center: all.center_of_mass,
        tensor: all.inertia_tensor(),
        frame: DQuat::IDENTITY,
    }))
}
