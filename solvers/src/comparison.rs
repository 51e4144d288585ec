//! The field's textbook methods, to compare with: nothing here is on the way from [`crate::Auto`] to its kernels.
//!
//! | method | |
//! |---|---|
//! | [`ClassicalNsgs`] | block Gauss–Seidel with the options of textbooks: order, relaxation, frozen contacts, local solvers |
//! | [`Nncg`], [`Anderson`] | accelerations of the Gauss–Seidel map |
//! | [`Admm`] | one factorisation, many back-solves |
//! | [`AlartCurnierNewton`] | the classical nonsmooth Newton method, in contact space and in global form |

pub mod admm;
pub mod alart_curnier_newton;
pub mod anderson;
pub mod classical;
pub mod local;
pub mod nncg;

pub(crate) mod fixed_point;

pub use admm::{Admm, AdmmSettings};
pub use alart_curnier_newton::{AlartCurnierNewton, AlartCurnierNewtonSettings};
pub use anderson::{Anderson, AndersonSettings};
pub use classical::options::{Freezing, SweepOrder};
pub use classical::{ClassicalNsgs, ClassicalSettings};
pub use local::LocalSolver;
pub use local::alart_curnier::AlartCurnierSettings;
pub use local::projection::ProjectionSettings;
pub use nncg::{Nncg, NncgSettings};
