//! The contacts of a step as data: found, changed by users, solved, and kept for the next step.

pub(crate) mod detected;
pub(crate) mod edit;
pub(crate) mod graph;
pub(crate) mod law;
pub(crate) mod record;
pub(crate) mod warm_start;
