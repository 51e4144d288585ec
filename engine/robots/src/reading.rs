//! What a reader has beside the element that it reads.

use crate::Options;
use crate::report::{NotUnderstood, Reason};
use crate::xml::Element;
use std::path::Path;

pub(crate) struct Reading<'a> {
    pub(crate) file: &'a Path,
    pub(crate) options: &'a Options,
    pub(crate) notes: Vec<NotUnderstood>,
}

impl Reading<'_> {
    /// An element as a whole, with all that it says.
    pub(crate) fn pass(&mut self, element: Element, reason: Reason) {
        element.settle();
        self.note(element.note(None, reason));
    }

    pub(crate) fn leave_out(&mut self, element: Element, why: &str) {
        self.pass(element, Reason::LeftOut(why.to_owned()));
    }

    pub(crate) fn note(&mut self, note: NotUnderstood) {
        self.notes.push(note);
    }
}
