//! What a reader has beside the element that it reads.

use crate::Options;
use crate::report::NotUnderstood;
use std::path::Path;

pub(crate) struct Reading<'a> {
    pub(crate) file: &'a Path,
    pub(crate) options: &'a Options,
    pub(crate) notes: Vec<NotUnderstood>,
}

impl Reading<'_> {
    pub(crate) fn note(&mut self, note: NotUnderstood) {
        self.notes.push(note);
    }
}
