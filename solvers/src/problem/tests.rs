//! Problems of laws that do not fill triples of rows: in the plane, and with equalities between contacts.

mod equality;
mod planar;
