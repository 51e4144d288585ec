//! A two-link arm whose tip follows half a circle and then slides along the ground, through a finite accumulation of impacts: the example of the survey,
//! with its table I of impacts against the step and the restitution.
//!
//! The controller switches between laws of one form, in the coordinates `p = (x, y)` of the tip [Bourgeot-Brogliato05; Morarescu-Brogliato10],
//!
//! ```text
//! τ = M θ̈_r + C θ̇_r + G − γ₁ Jᵀ s,      θ̇_r = J⁻¹ ṗ_r,   ṗ_r = ṗ_d − γ₂ (p − p_d),   s = ṗ − ṗ_r
//! ```
//!
//! | phase | `p_d` | `s` |
//! |---|---|---|
//! | [`Phase::Free`] | on a circle of 0.1 m about `(0.65, 0)`, once in 10 s | as above |
//! | [`Phase::Approach`], from `y ≤ 0.01` on | slows down for 0.4 s, then `y_d` goes down to `−φ`, `x_d` is frozen | as above |
//! | [`Phase::Impacts`], from the first impact on | `(x*, 0)` | with `γ₂ φ` in the normal: the tip is pressed on the ground |
//! | [`Phase::Held`], from two impacts in a row on | along the ground to where the circle begins | and a force on the ground |
//!
//! with `φ = 100 √V`, `V = ½ sᵀ J⁻ᵀ M J⁻¹ s` where the approach begins. Lengths, masses and gains but `γ₁` are those of Siconos' example of this name: the survey prints none of them.

mod arm;
mod control;

pub use arm::{Arm, Tip};
pub use control::{Phase, tip};

use bevy_ecs::entity::Entity;
use moreau_systems::{
    Integrator, Joins, NonsmoothLaw, Relation, Settings, State, System, SystemsError,
    SystemsSimulation,
};

/// Table I of the survey: the number of impacts for each restitution, with steps of 1e-3, 1e-4, 1e-5 and 1e-6 s.
pub const TABLE: [(f64, [usize; 4]); 5] = [
    (0.2, [3, 5, 6, 8]),
    (0.5, [6, 9, 12, 16]),
    (0.7, [9, 16, 23, 29]),
    (0.9, [23, 40, 64, 81]),
    (0.95, [32, 67, 108, 161]),
];

/// The steps of [`TABLE`], s.
pub const STEPS: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];

/// Angles at the start, rad.
pub const START: [f64; 2] = [0.9, -1.6];

/// The arm under its switching controller.
pub struct Manipulator {
    /// The world.
    pub simulation: SystemsSimulation,
    /// The arm.
    pub arm: Entity,
    /// The tip on the ground.
    pub contact: Entity,
    /// What the controller does now.
    pub phase: Phase,
    /// Impacts of the phase of impacts, of this cycle or the last; of the two in a row that end it the first.
    pub impacts: usize,
    /// The last step had an impact.
    struck: bool,
    /// Steps that did not reach their tolerance.
    pub unsolved: usize,
}

impl Manipulator {
    /// At the start of the first cycle.
    ///
    /// # Errors
    /// [`SystemsError`] if `h`, s, or the restitution is out of its range.
    pub fn new(h: f64, restitution: f64) -> Result<Self, SystemsError> {
        let mut simulation = SystemsSimulation::new(Settings::new(h))?;
        let phase = Phase::Free;
        let arm = simulation.spawn_system(
            System::lagrangian(Arm { phase }),
            State::lagrangian(START, [0.0; 2]),
            Integrator::moreau_jean(0.5),
        )?;
        let contact = simulation.spawn_interaction(
            Joins::one(arm),
            Relation::lagrangian(Tip),
            NonsmoothLaw::NewtonImpact { restitution },
        )?;
        Ok(Self {
            simulation,
            arm,
            contact,
            phase,
            impacts: 0,
            struck: false,
            unsolved: 0,
        })
    }

    /// One step, and then the switch of the controller, if there is one.
    ///
    /// # Errors
    /// [`SystemsError`] as of a step.
    pub fn step(&mut self) -> Result<(), SystemsError> {
        let report = self.simulation.step()?;
        self.unsolved += usize::from(!report.converged);
        let outcome = self.simulation.outcome(self.contact);
        let impulse = outcome.map_or(0.0, |outcome| outcome.lambda.iter().sum());
        let (t, h) = (report.time, self.simulation.settings().h);
        let Some(state) = self.simulation.state(self.arm) else {
            return Ok(());
        };
        let struck = impulse > 0.0;
        if struck && matches!(self.phase, Phase::Approach { .. }) {
            self.impacts = 0;
        }
        let next = self.phase.after(
            (t, h),
            (state.q(), state.v()),
            [struck, self.struck && struck],
        );
        let counts = !matches!(self.phase, Phase::Held { .. } | Phase::Free);
        if struck && counts && !self.struck {
            self.impacts += 1;
        }
        self.struck = struck;
        if let Some(phase) = next {
            self.switch(phase);
        }
        Ok(())
    }

    fn switch(&mut self, phase: Phase) {
        self.phase = phase;
        let system = System::lagrangian(Arm { phase });
        if let Ok(mut arm) = self.simulation.world_mut().get_entity_mut(self.arm) {
            arm.insert(system);
        }
    }

    /// Steps until the tip is held on the ground for the first time, or `end`, s, has come: the number of impacts, if it is held.
    ///
    /// # Errors
    /// [`SystemsError`] as of a step.
    pub fn accumulate(&mut self, end: f64) -> Result<Option<usize>, SystemsError> {
        while self.simulation.time() < end {
            self.step()?;
            if let Phase::Held { .. } = self.phase {
                return Ok(Some(self.impacts));
            }
        }
        Ok(None)
    }
}
