//! Equalities: of joints as relations of their coordinates, of bodies as joints that close loops.
//!
//! The format says `y − y₀ = a₀ + a₁ (x − x₀) + …` with `x₀`, `y₀` the reference coordinates, which are zero here: `y = a₀ + a₁ x`, in rad and m. A `connect`
//! is a ball joint and a `weld` a fixed one; where the file does not say how the bodies are to each other, they are as the reference coordinates put them.

use super::actuator::joint_of;
use super::body::Site;
use super::classes::Classes;
use super::compiler::Compiler;
use super::contact::body;
use crate::attributes::View;
use crate::error::RobotError;
use crate::model::{Closure, Coordinate, Hold, Model, Motion, Relation};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use glam::{DQuat, DVec3};
use moreau::JointKind;
use moreau::geometry::Frame;
use moreau::scene::nearest_name;

/// What equalities are read with.
pub(super) struct Equalities<'a, 'b> {
    pub(super) compiler: &'b Compiler,
    pub(super) classes: &'b Classes<'a>,
    pub(super) sites: &'b [Site<'a>],
}

impl<'a> Equalities<'a, '_> {
    /// Keyframes are not to be read before.
    pub(super) fn read(
        &self,
        root: Element<'a>,
        model: &mut Model,
        reading: &mut Reading,
    ) -> Result<(), RobotError> {
        for element in root.all("equality").iter().flat_map(Element::children) {
            match element.tag() {
                "joint" => {
                    element.meet();
                    if let Some(relation) = self.joint(element, model, reading)? {
                        model.relations.push(relation);
                    }
                }
                "connect" | "weld" => {
                    element.meet();
                    let view = self.classes.defaults_of(element, &["equality"])?;
                    if view.yes("active")?.unwrap_or(true) {
                        let closure = self.closure(&view, model)?;
                        model.closures.push(closure);
                    } else {
                        reading.leave_out(element, "it is not active");
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn closure(&self, view: &View<'a>, model: &Model) -> Result<Closure, RobotError> {
        let element = view.element;
        let welds = element.tag() == "weld";
        let kind = if welds {
            JointKind::Fixed
        } else {
            JointKind::Ball
        };
        let name = element.get("name").map(str::to_owned);
        if let Some(first) = view.text("site1") {
            let second = element.needed("site2")?;
            let [(a, frame_a), (b, frame_b)] =
                [self.site(element, first)?, self.site(element, second)?];
            return closed(
                element,
                Closure {
                    name,
                    links: [a, b],
                    frames: [frame_a, frame_b],
                    kind,
                },
            );
        }
        let first = body(element, "body1", model)?;
        let second = if element.has("body2") {
            body(element, "body2", model)?
        } else {
            0
        };
        let anchor = view.vector("anchor")?;
        // The second body as the first one sees it.
        let places = reference(model);
        let mut second_in_first = places[first].inverse().compose(&places[second]);
        let frames = if welds {
            let [x, y, z, w, i, j, k] = view.first("relpose", [0.0; 7])?;
            let turn = DQuat::from_xyzw(i, j, k, w);
            if turn.length() > 1e-9 {
                let turn = moreau::rotation::normalised(turn * (1.0 / turn.length()));
                second_in_first = Frame::new(DVec3::new(x, y, z), turn);
            }
            let on_second = Frame::from_position(anchor.unwrap_or(DVec3::ZERO));
            [second_in_first.compose(&on_second), on_second]
        } else {
            let anchor = anchor.ok_or_else(|| element.missing("anchor"))?;
            let on_first = Frame::from_position(anchor);
            [on_first, second_in_first.inverse().compose(&on_first)]
        };
        let _ = view.number("torquescale")?;
        closed(
            element,
            Closure {
                name,
                links: [first, second],
                frames,
                kind,
            },
        )
    }

    fn site(&self, element: Element, name: &str) -> Result<(usize, Frame), RobotError> {
        let found = self
            .sites
            .iter()
            .find(|of| of.element.get("name") == Some(name));
        let site = found.ok_or_else(|| RobotError::Unknown {
            place: element.place(),
            what: "site",
            name: name.to_owned(),
            nearest: nearest_name(
                name,
                self.sites.iter().filter_map(|of| of.element.get("name")),
            )
            .map(str::to_owned),
        })?;
        let view = self.classes.view(site.element, site.class)?;
        Ok((site.link, site.frame.compose(&self.compiler.pose(&view)?)))
    }

    fn joint(
        &self,
        element: Element<'a>,
        model: &Model,
        reading: &mut Reading,
    ) -> Result<Option<Relation>, RobotError> {
        let view = self.classes.defaults_of(element, &["equality"])?;
        let name = element.get("name").map(str::to_owned);
        let follower = joint_of(element, element.needed("joint1")?, model)?;
        let leader = match view.text("joint2") {
            Some(name) => Some(joint_of(element, name, model)?),
            None => None,
        };
        let [offset, ratio, square, cube, fourth] =
            view.first("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
        let active = view.yes("active")?.unwrap_or(true);
        let mut left_out = |attribute: Option<&str>, why: &str| {
            reading.note(element.note(attribute, Reason::LeftOut(why.to_owned())));
            Ok(None)
        };
        if !active {
            return left_out(None, "it is not active");
        }
        let Some(leader) = leader.filter(|_| ratio != 0.0) else {
            return left_out(None, "no joints that are held in a place");
        };
        if [square, cube, fourth].iter().any(|of| *of != 0.0) {
            return left_out(Some("polycoef"), "no relations that are not linear");
        }
        if !(is_scalar(model, follower) && is_scalar(model, leader)) {
            return left_out(None, "hinges and slides alone");
        }
        if follower == leader {
            return Err(element.wrong("it relates a joint to itself"));
        }
        Ok(Some(Relation {
            name,
            follower,
            leader,
            ratio,
            offset,
        }))
    }
}

fn closed(element: Element, closure: Closure) -> Result<Closure, RobotError> {
    if closure.links[0] == closure.links[1] {
        return Err(element.wrong("it holds a body to itself"));
    }
    Ok(closure)
}

/// Where the reference coordinates put the links.
fn reference(model: &Model) -> Vec<Frame> {
    let mut places: Vec<Frame> = Vec::new();
    for link in &model.links {
        let parent = link.parent.and_then(|of| places.get(of));
        places.push(parent.map_or(link.pose, |parent| parent.compose(&link.pose)));
    }
    places
}

fn is_scalar(model: &Model, of: Coordinate) -> bool {
    let Hold::Joints(axes) = &model.links[of.link].hold else {
        return false;
    };
    matches!(axes[of.axis].motion, Motion::Hinge(_) | Motion::Slide(_))
}
