//! XML as a tree that knows what of it was read: what nobody asked for is what was not understood.

use crate::error::{Place, RobotError};
use crate::report::{NotUnderstood, Reason};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest file that is read, bytes.
pub const MOST_BYTES: u64 = 1 << 26;
/// Elements and texts of all files together, at most.
const MOST_NODES: usize = 2_000_000;
/// Levels of elements: the readers go down by recursion.
const MOST_DEPTH: usize = 300;
/// Files that include each other.
const MOST_FILES: usize = 256;

/// The elements of a file and of those that it includes, in their places.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    files: Vec<PathBuf>,
}

struct Node {
    tag: String,
    file: usize,
    line: usize,
    attributes: Vec<Attribute>,
    children: Vec<usize>,
    /// Somebody knew what it is.
    met: Cell<bool>,
}

struct Attribute {
    name: String,
    value: String,
    read: Cell<bool>,
}

impl Tree {
    /// Makes a tree of a text. `include` is the tag of elements that stand for the children of another file's root.
    pub(crate) fn parse(
        text: &str,
        file: &Path,
        include: Option<&str>,
    ) -> Result<Self, RobotError> {
        let mut tree = Self {
            nodes: Vec::new(),
            files: vec![file.to_owned()],
        };
        tree.add_file(text, 0, include, 0, &mut vec![file.to_owned()])?;
        Ok(tree)
    }

    /// Adds a file and gives its root.
    fn add_file(
        &mut self,
        text: &str,
        file: usize,
        include: Option<&str>,
        depth: usize,
        open: &mut Vec<PathBuf>,
    ) -> Result<usize, RobotError> {
        let options = roxmltree::ParsingOptions {
            // Nothing that a robot needs has one, and entities are a way to make gigabytes of a line.
            allow_dtd: false,
            nodes_limit: MOST_NODES as u32,
            ..Default::default()
        };
        let name = self.files[file].clone();
        let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
            let at = error.pos();
            RobotError::Xml {
                file: name.clone(),
                line: at.row as usize,
                column: at.col as usize,
                message: error.to_string(),
            }
        })?;
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(place, _)| place + 1))
            .collect();
        let line = |node: &roxmltree::Node| {
            let begin = node.range().start;
            starts.partition_point(|start| *start <= begin)
        };
        let root = document.root_element();
        let own_root = self.push(&root, file, line(&root))?;
        // Elements whose children are to be added, with the place of their parent.
        let mut todo = vec![(root, own_root, depth + 1)];
        while let Some((element, own, depth)) = todo.pop() {
            let too_deep = depth > MOST_DEPTH;
            if too_deep && element.children().any(|child| child.is_element()) {
                return Err(RobotError::Structure {
                    place: self.element(own).place(),
                    message: format!("it is {depth} elements deep, expected at most {MOST_DEPTH}"),
                });
            }
            for child in element.children().filter(roxmltree::Node::is_element) {
                if include == Some(child.tag_name().name()) {
                    let added = self.push(&child, file, line(&child))?;
                    let children = self.include(added, include, depth, open)?;
                    self.nodes[own].children.extend(children);
                } else {
                    let added = self.push(&child, file, line(&child))?;
                    self.nodes[own].children.push(added);
                    todo.push((child, added, depth + 1));
                }
            }
        }
        Ok(own_root)
    }

    fn push(
        &mut self,
        node: &roxmltree::Node,
        file: usize,
        line: usize,
    ) -> Result<usize, RobotError> {
        let name = |namespace: Option<&str>, name: &str| match namespace {
            Some(space) => format!("{space}:{name}"),
            None => name.to_owned(),
        };
        let tag = node.tag_name();
        let attributes = node.attributes().map(|attribute| Attribute {
            name: name(attribute.namespace(), attribute.name()),
            value: attribute.value().to_owned(),
            read: Cell::new(false),
        });
        let index = self.nodes.len();
        self.nodes.push(Node {
            tag: name(tag.namespace(), tag.name()),
            file,
            line,
            attributes: attributes.collect(),
            children: Vec::new(),
            met: Cell::new(false),
        });
        if index >= MOST_NODES {
            return Err(RobotError::Structure {
                place: self.element(index).place(),
                message: format!("more than {MOST_NODES} elements"),
            });
        }
        Ok(index)
    }

    /// Reads the file that an element includes; the children of its root.
    fn include(
        &mut self,
        element: usize,
        include: Option<&str>,
        depth: usize,
        open: &mut Vec<PathBuf>,
    ) -> Result<Vec<usize>, RobotError> {
        let of = self.element(element);
        of.meet();
        let named = of.needed("file")?.to_owned();
        // Relative to the file that everything is included by, as the format says.
        let folder = self.files[0].parent().map(Path::to_owned);
        let path = folder.unwrap_or_default().join(&named);
        let wrong = |value: String, bound: &str| Err(of.refuse("file", value, bound));
        if open.contains(&path) {
            return wrong(named, "a file that does not include itself");
        }
        if self.files.len() >= MOST_FILES {
            return wrong(named, "at most 256 files that are included");
        }
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(error) => return wrong(named, &format!("a file that can be read ({error})")),
        };
        self.files.push(path.clone());
        open.push(path);
        let root = self.add_file(&text, self.files.len() - 1, include, depth, open)?;
        open.pop();
        self.nodes[root].met.set(true);
        Ok(std::mem::take(&mut self.nodes[root].children))
    }

    pub(crate) fn root(&self) -> Element<'_> {
        self.element(0)
    }

    pub(crate) fn element(&self, index: usize) -> Element<'_> {
        Element { tree: self, index }
    }

    /// Everything that was not asked for, in the order of the files. `is_known` tells of an element and an attribute why.
    pub(crate) fn unread(
        &self,
        why: impl Fn(Element, Option<&str>) -> Reason,
        list: &mut Vec<NotUnderstood>,
    ) {
        let mut todo = vec![self.root()];
        while let Some(element) = todo.pop() {
            let node = element.node();
            let mut add = |attribute: Option<&str>| {
                list.push(NotUnderstood {
                    place: element.place(),
                    attribute: attribute.map(str::to_owned),
                    reason: why(element, attribute),
                });
            };
            if !node.met.get() {
                add(None);
                continue;
            }
            for attribute in node.attributes.iter().filter(|of| !of.read.get()) {
                add(Some(&attribute.name));
            }
            todo.extend(node.children.iter().rev().map(|child| self.element(*child)));
        }
    }
}

/// Reads a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let bytes = read_bytes(path, MOST_BYTES)?;
    String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())
}

/// Reads a regular file of bounded size: opening a device or a pipe alone may wait without end.
pub(crate) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let found = fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if found.len() > most {
        return Err(format!(
            "it has {} bytes, expected at most {most}",
            found.len()
        ));
    }
    fs::read(path).map_err(|error| error.to_string())
}

/// An element of a tree.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    tree: &'a Tree,
    index: usize,
}

impl<'a> Element<'a> {
    fn node(&self) -> &'a Node {
        &self.tree.nodes[self.index]
    }

    pub(crate) fn tag(&self) -> &'a str {
        &self.node().tag
    }

    pub(crate) fn place(&self) -> Place {
        let node = self.node();
        let named = node.attributes.iter().find(|of| of.name == "name");
        Place {
            file: self.tree.files[node.file].clone(),
            line: node.line,
            element: match named {
                Some(name) => format!("{} \"{}\"", node.tag, name.value),
                None => node.tag.clone(),
            },
        }
    }

    /// It is known what it is.
    pub(crate) fn meet(&self) {
        self.node().met.set(true);
    }

    pub(crate) fn is_met(&self) -> bool {
        self.node().met.get()
    }

    /// It is known, and all of its attributes.
    pub(crate) fn settle(&self) {
        self.meet();
        self.node()
            .attributes
            .iter()
            .for_each(|of| of.read.set(true));
    }

    /// All in it, known or not.
    pub(crate) fn children(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let tree = self.tree;
        self.node()
            .children
            .iter()
            .map(|child| tree.element(*child))
    }

    /// Those with this tag, which is known.
    pub(crate) fn all(&self, tag: &str) -> Vec<Element<'a>> {
        let found: Vec<_> = self.children().filter(|of| of.tag() == tag).collect();
        found.iter().for_each(Element::meet);
        found
    }

    /// The only one with this tag.
    pub(crate) fn one(&self, tag: &str) -> Result<Option<Element<'a>>, RobotError> {
        let found = self.all(tag);
        match found.get(1) {
            None => Ok(found.first().copied()),
            Some(second) => Err(RobotError::Structure {
                place: second.place(),
                message: format!("a second {tag} in {}", self.place().element),
            }),
        }
    }

    /// The value of an attribute, which is known.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.node().attributes.iter().find(|of| of.name == name)?;
        found.read.set(true);
        Some(&found.value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.node().attributes.iter().any(|of| of.name == name)
    }

    pub(crate) fn needed(&self, name: &str) -> Result<&'a str, RobotError> {
        self.get(name).ok_or_else(|| self.missing(name))
    }

    pub(crate) fn missing(&self, what: &str) -> RobotError {
        RobotError::Missing {
            place: self.place(),
            what: what.to_owned(),
        }
    }

    /// A value that is out of range.
    pub(crate) fn refuse(&self, attribute: &str, value: impl ToString, bound: &str) -> RobotError {
        RobotError::Value {
            place: self.place(),
            attribute: attribute.into(),
            value: value.to_string(),
            bound: bound.into(),
        }
    }

    pub(crate) fn wrong(&self, message: impl Into<String>) -> RobotError {
        RobotError::Structure {
            place: self.place(),
            message: message.into(),
        }
    }

    /// Something of it was not taken as it stands.
    pub(crate) fn note(&self, attribute: Option<&str>, reason: Reason) -> NotUnderstood {
        NotUnderstood {
            place: self.place(),
            attribute: attribute.map(str::to_owned),
            reason,
        }
    }
}
