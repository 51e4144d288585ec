//! Sparse matrices and their factorisations.

pub mod sparse;

pub(crate) mod block_lu;
pub(crate) mod pseudo_inverse;
pub(crate) mod sparse_lu;
