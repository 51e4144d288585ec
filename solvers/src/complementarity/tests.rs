//! Methods for box problems against each other, and against closed forms.

mod classes;
mod examples;
mod lcp_file;
mod lemke;
mod methods;
mod standard;
mod stored;
