//! Default classes: what an element does not say, its class may say, and the classes around that.

use crate::attributes::View;
use crate::error::RobotError;
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use moreau::scene::nearest_name;
use std::collections::BTreeMap;

pub(super) struct Classes<'a> {
    /// Elements of each class and of those around it, the nearest first.
    known: BTreeMap<&'a str, Vec<Element<'a>>>,
}

const MAIN: &str = "main";

impl<'a> Classes<'a> {
    pub(super) fn read(root: Element<'a>) -> Result<Self, RobotError> {
        let mut classes = Self {
            known: BTreeMap::from([(MAIN, Vec::new())]),
        };
        for element in root.all("default") {
            let name = element.get("class").unwrap_or(MAIN);
            classes.add(element, name, None)?;
        }
        Ok(classes)
    }

    fn add(
        &mut self,
        element: Element<'a>,
        name: &'a str,
        around: Option<&[Element<'a>]>,
    ) -> Result<(), RobotError> {
        let inside = element.all("default");
        let own = element.children().filter(|of| of.tag() != "default");
        let mut elements: Vec<_> = own.collect();
        elements.extend_from_slice(around.unwrap_or_default());
        for class in inside {
            let name = class.needed("class")?;
            self.add(class, name, Some(&elements))?;
        }
        self.known.entry(name).or_default().extend(elements);
        if name != MAIN && around.is_none() {
            // Whatever its name, the outermost class is that of all.
            let all = self.known.get(name).cloned().unwrap_or_default();
            self.known.entry(MAIN).or_default().extend(all);
        }
        Ok(())
    }

    /// An element with its defaults; `inherited` is the class of the bodies around it.
    pub(super) fn view(
        &self,
        element: Element<'a>,
        inherited: Option<&str>,
    ) -> Result<View<'a>, RobotError> {
        self.behind(element, &[element.tag()], inherited)
    }

    /// An element whose defaults have one of several other tags.
    pub(super) fn defaults_of(
        &self,
        element: Element<'a>,
        tags: &[&str],
    ) -> Result<View<'a>, RobotError> {
        self.behind(element, tags, None)
    }

    /// Defaults that nothing has asked for change nothing.
    pub(super) fn pass_unused(&self, reading: &mut Reading) {
        for element in self.known.values().flatten().filter(|of| !of.is_met()) {
            reading.pass(*element, Reason::NoEffect);
        }
    }

    fn behind(
        &self,
        element: Element<'a>,
        tags: &[&str],
        inherited: Option<&str>,
    ) -> Result<View<'a>, RobotError> {
        let own = element.get("class");
        let name = own.or(inherited).unwrap_or(MAIN);
        let all = self.known.get(name).ok_or_else(|| RobotError::Unknown {
            place: element.place(),
            what: "class",
            name: name.to_owned(),
            nearest: nearest_name(name, self.known.keys().copied()).map(str::to_owned),
        })?;
        let behind = all.iter().filter(|of| tags.contains(&of.tag()));
        let behind: Vec<_> = behind.copied().collect();
        behind.iter().for_each(Element::meet);
        Ok(View { element, behind })
    }
}
