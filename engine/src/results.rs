//! What a step tells: report, energies, contacts.

pub(crate) mod contact_view;
pub(crate) mod energy;
pub(crate) mod events;
pub(crate) mod report;
