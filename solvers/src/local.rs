//! One contact with all others frozen: the exact solve, and the field's classical ones.

pub mod alart_curnier;
pub mod choice;
pub mod one_contact;
pub mod projection;
pub mod quartic;
