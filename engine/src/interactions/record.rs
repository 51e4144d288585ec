//! The contacts of a step and what was solved for them.

use super::detected::{Centres, Detected};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::BodyId;
use bevy_ecs::entity::Entity;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// What is kept of the contacts of a step until the next is finished: their rows can be made from it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactRecord {
    /// `I₀`, ordered by pair, at `t_k`.
    pub(crate) found: Vec<Detected>,
    /// `I₁` where it is a part of `I₀`.
    pub(crate) chosen: Option<Vec<Detected>>,
    /// Rows of `I₁` that detection did not find, ascending, with their arms.
    pub(crate) given: Vec<GivenArms>,
    /// `μ`.
    pub(crate) friction: Vec<f64>,
    /// `r`, N·s, contact frames: warm start before the solve, solution after it. With adhesion `r' = r + (a, 0, 0)`.
    pub(crate) impulse: Vec<DVec3>,
    /// `a`, N·s (`step/adhesion.rs`); empty if nothing holds bodies together.
    pub(crate) adhesion: Vec<f64>,
    /// Couples on A about `n`, `t₁`, `t₂`, N·m·s (`step/other_laws.rs`); empty if no contact has another law than Coulomb's.
    pub(crate) couples: Vec<DVec3>,
    /// What the stages of the step that are over did; empty in the first.
    pub(crate) earlier: Vec<Earlier>,
    /// The solution in the inertial frame, in which contact frames may turn: for the next step.
    pub(crate) carried: Vec<DVec3>,
    /// The couples, the same way.
    pub(crate) carried_couples: Vec<DVec3>,
    /// `v_{k+1}` by slot, inertial frame, at the orientation of the drift.
    pub(crate) end: Vec<WorldTwist>,
}

impl ContactRecord {
    /// `I₁`.
    #[inline]
    pub(crate) fn places(&self) -> &[Detected] {
        self.chosen.as_deref().unwrap_or(&self.found)
    }

    /// Pairs in `I₀` of bodies neither of which is a ball. `balls`: radii, m, 0 for all that are none.
    pub(crate) fn pairs_of_others(&self, balls: &[f64]) -> usize {
        let is_ball = |slot: &Slot| balls[*slot] > 0.0;
        let pairs = self.found.chunk_by(|a, b| a.bodies == b.bodies);
        let others = pairs.filter(|rows| !rows[0].bodies.iter().any(is_ball));
        others.count()
    }

    fn clear(&mut self) {
        let Self {
            found,
            chosen,
            given,
            friction,
            impulse,
            adhesion,
            couples,
            earlier,
            carried,
            carried_couples,
            end,
        } = self;
        found.clear();
        *chosen = None;
        given.clear();
        friction.clear();
        impulse.clear();
        adhesion.clear();
        couples.clear();
        earlier.clear();
        carried.clear();
        carried_couples.clear();
        end.clear();
    }

    /// What earlier stages did to a row.
    pub(crate) fn earlier(&self, row: usize) -> Earlier {
        self.earlier.get(row).copied().unwrap_or_default()
    }

    /// A stage is over: its impulses are added to those of the ones before, and the next begins from none.
    pub(crate) fn end_stage(&mut self, impacts: &[bool]) {
        self.earlier.resize(self.impulse.len(), Earlier::default());
        let rows = self.earlier.iter_mut().zip(&mut self.impulse).zip(impacts);
        for ((earlier, impulse), impact) in rows {
            earlier.impact |= *impact && impulse.x > 0.0;
            earlier.impulse += std::mem::take(impulse);
        }
        for (earlier, a) in self.earlier.iter_mut().zip(self.adhesion.drain(..)) {
            earlier.adhesion += a;
        }
        for (earlier, couple) in self.earlier.iter_mut().zip(&mut self.couples) {
            earlier.couple += std::mem::take(couple);
        }
    }

    /// The last stage is over: the impulses are those of the step, and the impacts too.
    pub(crate) fn end_stages(&mut self, impacts: &mut [bool]) {
        if self.earlier.iter().any(|earlier| earlier.adhesion > 0.0) {
            self.adhesion.clear();
            let earlier = self.earlier.iter();
            self.adhesion
                .extend(earlier.map(|earlier| earlier.adhesion));
        }
        if self.earlier.iter().any(|of| of.couple != DVec3::ZERO) {
            self.couples.resize(self.impulse.len(), DVec3::ZERO);
        }
        for (couple, earlier) in self.couples.iter_mut().zip(&self.earlier) {
            *couple += earlier.couple;
        }
        let rows = self.impulse.iter_mut().zip(impacts);
        for (earlier, (impulse, impact)) in self.earlier.drain(..).zip(rows) {
            *impulse += earlier.impulse;
            *impact |= earlier.impact;
        }
    }

    /// The balance is done with `r`: the next step starts from `r'`.
    pub(crate) fn carry_without_adhesion(&mut self) {
        let places = self.chosen.as_deref().unwrap_or(&self.found);
        let rows = places.iter().zip(&self.adhesion).zip(&mut self.carried);
        for ((place, a), carried) in rows {
            *carried += place.normal * *a;
        }
    }

    /// `ρ_A`, `ρ_B` of a row of `I₁`.
    #[inline]
    pub(crate) fn arms(&self, row: usize, centres: Centres) -> [DVec3; 2] {
        let own = own_arms(row, &self.given);
        own.map_or_else(|| self.places()[row].acting_arms(centres), |own| own.arms)
    }
}

/// What the stages of a step that are over did to a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Earlier {
    /// N·s, contact frame.
    pub(crate) impulse: DVec3,
    /// `a`, N·s.
    pub(crate) adhesion: f64,
    /// N·m·s, contact frame.
    pub(crate) couple: DVec3,
    /// The row struck.
    pub(crate) impact: bool,
}

impl Earlier {
    /// There is an impulse.
    pub(crate) fn is_some(&self) -> bool {
        self.impulse != DVec3::ZERO
    }

    /// It is to be remembered.
    pub(crate) fn says_something(&self) -> bool {
        self.is_some() || self.adhesion > 0.0 || self.couple != DVec3::ZERO
    }
}

/// The arms of an interaction that a user added, or that is of bodies that have moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnArms {
    /// `ρ_A`, `ρ_B`, inertial frame, m.
    pub(crate) arms: [DVec3; 2],
    /// The bodies meet within the step: a kinematic one has the velocity of that time, and carries the other nowhere.
    pub(crate) meets: bool,
}

impl OwnArms {
    /// Of bodies as detection found them.
    pub(crate) fn as_found(arms: [DVec3; 2]) -> Self {
        Self { arms, meets: false }
    }
}

/// Those of a row of `I₁` that detection did not find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenArms {
    pub(crate) row: u32,
    pub(crate) own: OwnArms,
}

/// The arms of a row of `I₁` that detection did not find.
#[inline(always)]
pub(crate) fn own_arms(row: usize, given: &[GivenArms]) -> Option<OwnArms> {
    if given.is_empty() {
        return None;
    }
    let at = given.binary_search_by_key(&(row as u32), |given| given.row);
    at.ok().map(|at| given[at].own)
}

/// The contacts of the last step, with what is needed of its bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastContacts {
    pub(crate) record: ContactRecord,
    /// h, s.
    pub(crate) time_step: f64,
    /// Centres of mass at `t_k`, m.
    position: Vec<DVec3>,
    /// Radii of balls, m.
    balls: Vec<f64>,
    /// 1/kg.
    inverse_mass: Vec<f64>,
    pub(crate) ids: Vec<BodyId>,
    pub(crate) entities: Vec<Entity>,
    /// Of the bodies, when those were written.
    pub(crate) epoch: u64,
}

impl LastContacts {
    /// Nothing is left but the buffers.
    pub(crate) fn clear(&mut self) {
        let Self {
            record,
            time_step,
            position,
            balls,
            inverse_mass,
            ids,
            entities,
            epoch,
        } = self;
        record.clear();
        position.clear();
        balls.clear();
        inverse_mass.clear();
        ids.clear();
        entities.clear();
        *epoch = 0;
        *time_step = 0.0;
    }

    /// Takes over the contacts of a finished step, in exchange for the buffers of the one before.
    pub(crate) fn keep(
        &mut self,
        record: &mut ContactRecord,
        time_step: f64,
        centres: Centres,
        bodies: &Bodies,
    ) {
        std::mem::swap(&mut self.record, record);
        self.time_step = time_step;
        if self.epoch == bodies.epoch && self.ids.len() == bodies.len() {
            for slot in &bodies.moving {
                self.position[*slot] = centres.positions[*slot];
            }
        } else {
            self.epoch = bodies.epoch;
            self.position.clear();
            self.position.extend_from_slice(centres.positions);
            self.balls.clear();
            self.balls.extend_from_slice(centres.balls);
            self.inverse_mass.clear();
            self.inverse_mass.extend_from_slice(centres.inverse_mass);
            self.ids.clone_from(&bodies.ids);
            self.entities.clone_from(&bodies.entities);
        }
    }

    pub(crate) fn centres(&self) -> Centres<'_> {
        Centres {
            positions: &self.position,
            balls: &self.balls,
            inverse_mass: &self.inverse_mass,
        }
    }
}
