//! What makes a problem unusable.

/// What makes a problem unusable. Non-convergence is not among these: it is a status.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// Two arrays that describe the same contacts or bodies differ in length.
    #[error("{what}: length {found}, expected {expected}")]
    Length {
        /// Array at fault.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Length that the rest of the problem implies.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} of contact or body {index} is not finite: {value}")]
    NotFinite {
        /// Quantity at fault.
        what: &'static str,
        /// Contact or body index.
        index: usize,
        /// Offending value.
        value: f64,
    },
    /// A friction coefficient is negative.
    #[error("friction of contact {contact} is {value}, expected ≥ 0")]
    Friction {
        /// Contact index.
        contact: usize,
        /// Offending value.
        value: f64,
    },
    /// A parameter of a law is out of its range.
    #[error("{what} of interaction {interaction} is {value}, expected {bound}")]
    Law {
        /// Interaction index.
        interaction: usize,
        /// Parameter at fault.
        what: &'static str,
        /// Offending value.
        value: f64,
        /// Its range.
        bound: &'static str,
    },
    /// A method does not know the law of an interaction.
    #[error("interaction {interaction} has a law that {method} does not support")]
    Unsupported {
        /// Interaction index.
        interaction: usize,
        /// The method.
        method: &'static str,
    },
    /// A problem is too large for a method, or for the dense form.
    #[error("{what}: {found}, at most {bound} are supported")]
    TooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        found: usize,
        /// The bound.
        bound: usize,
    },
    /// A matrix does not have a property that a method needs.
    #[error("{method} needs a matrix that is {property}; row {row} shows that this one is not")]
    Property {
        /// The method.
        method: &'static str,
        /// What the matrix should be.
        property: &'static str,
        /// The first row at fault.
        row: usize,
    },
    /// A block row of `W` has a block in a column that is not there.
    #[error("row {row} has a block in column {column}, expected less than {count}")]
    Column {
        /// Block row.
        row: usize,
        /// Block column.
        column: usize,
        /// Number of contacts.
        count: usize,
    },
    /// An entry of a sparse matrix lies outside it.
    #[error("entry ({row}, {column}) lies outside a matrix of shape {shape:?}")]
    Entry {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Rows and columns of the matrix.
        shape: [usize; 2],
    },
    /// A matrix that has to be invertible is not.
    #[error("{what} is singular")]
    Singular {
        /// Matrix at fault.
        what: &'static str,
    },
    /// A contact names a body that is not there, or the same body twice.
    #[error(
        "contact {contact} joins bodies {bodies:?}, expected two different indices below {count}"
    )]
    Body {
        /// Contact index.
        contact: usize,
        /// The two indices.
        bodies: [u32; 2],
        /// Number of bodies.
        count: usize,
    },
}
