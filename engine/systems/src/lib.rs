#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod algebra;
pub mod control;
pub mod error;
pub mod event_driven;
pub mod events_manager;
pub mod integrator;
pub mod interaction;
pub mod law;
pub mod relation;
pub mod report;
#[cfg(feature = "rigid-bodies")]
pub mod rigid_bodies;
pub mod settings;
pub mod simulation;
pub mod solver_choice;
pub mod substeps;
pub mod system;

mod step;

pub use algebra::{Coefficient, Factor, Matrix, Rows};
pub use control::{
    Actuator, Clock, Command, Controller, LinearFeedback, Reading, Reads, Sensor, SlidingMode,
    feedback, zero_order_hold,
};
pub use error::{FieldError, SystemsError};
pub use event_driven::{Accumulation, Event, EventKind, EventReport, EventSettings};
pub use events_manager::{EventsManager, ManagerReport, Occurred, Occurrence, Way};
pub use integrator::{
    Activation, D1Minus, EulerMoreau, Integrator, MassAt, MoreauJean, Resting, RowsAt,
    SchatzmanPaoli, ZeroOrderHold,
};
pub use interaction::{Joins, Outcome, Previous, Reaction, SpawnId};
pub use law::{NonsmoothLaw, Space};
pub use moreau_solvers::SparseMatrix;
pub use relation::Relation;
pub use relation::degree::relative_degree;
pub use relation::first_order::{FirstOrderLinearRelation, FirstOrderRelation};
pub use relation::lagrangian::{LagrangianLinearRelation, LagrangianRelation};
pub use relation::newton_euler::{BodyContact, BodyJoint, ContactPoint, JointKind, Spinning};
pub use report::StepReport;
pub use settings::{Metric, Newton, Projection, Settings};
pub use simulation::SystemsSimulation;
pub use solver_choice::NAMES;
pub use substeps::Substeps;
pub use system::System;
pub use system::finite_differences;
pub use system::first_order::{Dynamics, FirstOrderLinear, FirstOrderModel};
pub use system::lagrangian::{LagrangianLinear, LagrangianModel};
pub use system::newton_euler::{NewtonEuler, Turning};
pub use system::rotation;
pub use system::signal::Signal;
pub use system::state::State;
