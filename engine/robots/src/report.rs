//! What of a file the engine did not take as it stands.

use crate::error::Place;
use std::fmt;

/// Something in a file that was not taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// The element.
    pub place: Place,
    /// The attribute; without one, the element with all that is in it.
    pub attribute: Option<String>,
    /// Why.
    pub reason: Reason,
}

/// Why something was not taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Nothing is known of it: what it changes neither.
    Unknown,
    /// It changes how the robot moves, and was left out.
    LeftOut(String),
    /// It was replaced by something near.
    Replaced(String),
    /// It changes nothing about how bodies move: looks, sensors, how another engine solves.
    NoEffect,
}

impl NotUnderstood {
    /// The robot may move otherwise than the file says.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.reason != Reason::NoEffect
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if let Some(attribute) = &self.attribute {
            write!(f, ": {attribute}")?;
        }
        match &self.reason {
            Reason::Unknown => f.write_str(": not known, left out"),
            Reason::LeftOut(why) => write!(f, ": left out: {why}"),
            Reason::Replaced(by) => write!(f, ": {by}"),
            Reason::NoEffect => f.write_str(": changes no motion"),
        }
    }
}
