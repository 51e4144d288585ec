//! The inner parts of the proximal Newton method: scaling, and the two spaces in which
//! its matrix is built.

pub(crate) mod body_space;
pub(crate) mod contact_space;
pub(crate) mod scaling;
pub(crate) mod space;
