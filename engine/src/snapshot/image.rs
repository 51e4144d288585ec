//! All that the future of a simulation depends on.

use super::error::SnapshotError;
use super::format::{Reader, Writer};
use super::substance::{Matter, ReadSubstances, Tables};
use crate::bodies::check::{check_body_state, check_target};
use crate::bodies::memory::{SleepMemory, StateMemory};
use crate::bodies::slot::Slot;
use crate::bodies::user_forces::check_forces;
use crate::bodies::{Bodies, Listing};
use crate::components::{
    BodyForces, BodyId, CouplerTerm, JointAxis, JointId, Made, MaterialPairs, Pose, Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use crate::interactions::warm_start::StoredImpulse;
use crate::joints::memory::JointsMemory;
use crate::joints::{CouplerSpec, JointSpec};
use crate::settings::Settings;
use crate::step::StepState;
use crate::step::memory::{ClockMemory, ContactMemory, ImpulseMemory};
use crate::step::threads::Threads;
use crate::step::touching::TouchingMemory;
use bevy_ecs::entity::Entity;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The world between two steps. Slots are those of the bodies in the order of ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) settings: Settings,
    pub(crate) pairs: MaterialPairs,
    pub(crate) clock: ClockMemory,
    /// The next ids of a body and of a joint.
    pub(crate) next_ids: [u64; 2],
    pub(crate) matter: Arc<Matter>,
    pub(crate) pose: Vec<Pose>,
    pub(crate) twist: Vec<Twist>,
    pub(crate) acting: Acting,
    pub(crate) sleep: SleepMemory,
    pub(crate) joints: JointsMemory,
    pub(crate) machines: Machines,
    pub(crate) impulses: ImpulseMemory,
    pub(crate) touching: TouchingMemory,
    pub(crate) disabled: Disabled,
}

/// Bodies and joints that are in the world and out of the steps, ascending: of these there is nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Disabled {
    pub(crate) bodies: Vec<BodyId>,
    pub(crate) joints: Vec<JointId>,
    /// Couplers of these joints.
    pub(crate) couplers: Vec<JointId>,
}

/// What acts on some of the bodies, ascending.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Acting {
    pub(crate) wrenches: Vec<(Slot, Wrench)>,
    pub(crate) targets: Vec<(Slot, Pose)>,
    /// The mark of a sleeper is there and the body is awake, or the other way round.
    pub(crate) mismarked: Vec<Slot>,
}

/// The joints and couplers of the world, whether they take part or not, in the order of ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machines {
    pub(crate) joints: Vec<JointPart>,
    pub(crate) couplers: Vec<CouplerPart>,
}

/// A joint of the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointPart {
    pub(crate) spec: JointSpec,
    pub(crate) disabled: bool,
    pub(crate) broken: bool,
    pub(crate) name: Option<String>,
}

/// A coupler of the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CouplerPart {
    pub(crate) spec: CouplerSpec,
    pub(crate) disabled: bool,
    pub(crate) name: Option<String>,
}

impl CouplerPart {
    /// Its terms with the entities of its joints.
    pub(crate) fn terms(&self, entity: impl Fn(JointId) -> Option<Entity>) -> Vec<CouplerTerm> {
        let terms = self.spec.terms.iter();
        let terms = terms.filter_map(|(id, axis, ratio): &(JointId, JointAxis, f64)| {
            Some(CouplerTerm {
                joint: entity(*id)?,
                axis: *axis,
                ratio: *ratio,
            })
        });
        terms.collect()
    }
}

impl Image {
    pub(super) fn write(&self, writer: &mut Writer) -> Result<(), SnapshotError> {
        let tables = Tables::of(&self.matter)?;
        writer.section("settings", &self.settings)?;
        writer.section("material pairs", &self.pairs)?;
        writer.section("clock", &(self.clock, self.next_ids))?;
        writer.section("shapes", &tables.shapes)?;
        writer.section("substances", tables.substances())?;
        writer.section("bodies", &(&self.matter.bodies, &self.matter.names))?;
        writer.section("poses", &self.pose)?;
        writer.section("twists", &self.twist)?;
        writer.section("forces", &self.acting)?;
        writer.section("rest", &self.sleep)?;
        writer.section("joints", &(&self.joints, &self.machines))?;
        writer.section("contacts", &*self.impulses.contacts.list())?;
        writer.section("sleeping contacts", &*self.impulses.asleep)?;
        writer.section("touching", &self.touching)?;
        writer.section("disabled", &self.disabled)
    }

    pub(super) fn read(reader: &mut Reader) -> Result<Self, SnapshotError> {
        let settings = reader.section("settings")?;
        let pairs = reader.section("material pairs")?;
        let (clock, next_ids) = reader.section("clock")?;
        let shapes = reader.section("shapes")?;
        let substances: ReadSubstances = reader.section("substances")?;
        let (bodies, names) = reader.section("bodies")?;
        let image = Self {
            settings,
            pairs,
            clock,
            next_ids,
            matter: Arc::new(Matter {
                substances: substances.with_shapes(shapes)?,
                bodies,
                names,
            }),
            pose: reader.section("poses")?,
            twist: reader.section("twists")?,
            acting: reader.section("forces")?,
            sleep: reader.section("rest")?,
            joints: Default::default(),
            machines: Default::default(),
            impulses: Default::default(),
            touching: Default::default(),
            disabled: Default::default(),
        };
        let (joints, machines) = reader.section("joints")?;
        let contacts = ContactMemory::Listed(reader.section("contacts")?);
        let asleep = Arc::new(reader.section("sleeping contacts")?);
        let touching = reader.section("touching")?;
        let disabled = reader.section("disabled")?;
        let image = Self {
            touching,
            disabled,
            joints,
            machines,
            impulses: ImpulseMemory { contacts, asleep },
            ..image
        };
        image.check()?;
        Ok(image)
    }

    /// Its parts fit together. What single bodies and joints must satisfy is checked as they are restored.
    fn check(&self) -> Result<(), SnapshotError> {
        let malformed = |section, reason: String| Err(SnapshotError::malformed(section, reason));
        let (bodies, substances) = (&self.matter.bodies, self.matter.substances.len());
        let count = bodies.len();
        for (section, found) in [
            ("poses", self.pose.len()),
            ("twists", self.twist.len()),
            ("rest", self.sleep.rest.len()),
        ] {
            if found != count {
                return malformed(section, format!("{found} of {count} bodies"));
            }
        }
        if let Some(pair) = bodies.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return malformed(
                "bodies",
                format!("body {} after body {}", pair[1].0, pair[0].0),
            );
        }
        for (id, substance) in bodies {
            if *id == BodyId::UNASSIGNED || *substance as usize >= substances {
                return malformed(
                    "bodies",
                    format!("body {id} is of kind {substance} of {substances}"),
                );
            }
        }
        let slots = |list: &[Slot]| list.iter().all(|slot| slot.index() < count);
        let of = |list: &[(Slot, Pose)]| list.iter().all(|(slot, _)| slot.index() < count);
        let Acting {
            wrenches,
            targets,
            mismarked,
        } = &self.acting;
        let known = slots(mismarked)
            && of(targets)
            && wrenches.iter().all(|(slot, _)| slot.index() < count)
            && self
                .matter
                .names
                .iter()
                .all(|(slot, _)| slot.index() < count)
            && slots(&self.sleep.touched)
            && slots(&self.sleep.hosts);
        if !known {
            return malformed("forces", format!("of a body beyond the {count} there are"));
        }
        let ClockMemory { t, .. } = self.clock;
        if !(t >= 0.0 && t.is_finite()) {
            return Err(SnapshotError::Value {
                section: "clock",
                field: "time",
                value: t,
                bound: "finite and ≥ 0",
            });
        }
        let impulses = &self.impulses;
        let contacts = impulses.contacts.list();
        contacts
            .iter()
            .chain(&*impulses.asleep)
            .try_for_each(check_impulse)
    }

    /// The step state that goes on from here. `forces_of` gives the forces that the body in a slot has in the world that it is restored to.
    pub(crate) fn state<'w>(
        &self,
        threads: Threads,
        forces_of: impl Fn(BodyId) -> Option<&'w BodyForces>,
    ) -> Result<StepState, SnapshotError> {
        self.settings.validate().map_err(StepError::from)?;
        let listing = self.listing(forces_of)?;
        let states = StateMemory {
            pose: &self.pose,
            twist: &self.twist,
            wrenches: &self.acting.wrenches,
        };
        let bodies = Bodies::remembering(listing, &states, &self.sleep)?;
        let impulses = self.impulses.clone();
        let (joints, touching) = (&self.joints, &self.touching);
        let step = (self.clock, &self.pairs);
        let state = StepState::remembering(threads, step, bodies, (impulses, touching), joints)?;
        Ok(state)
    }

    fn listing<'w>(
        &self,
        forces_of: impl Fn(BodyId) -> Option<&'w BodyForces>,
    ) -> Result<Listing, SnapshotError> {
        let matter = &*self.matter;
        let mut constants = Vec::with_capacity(matter.substances.len());
        for (place, substance) in matter.substances.iter().enumerate() {
            let made = substance.constants().map_err(|source| {
                let mut bodies = matter.bodies.iter();
                let first = bodies.find(|(_, of)| *of as usize == place);
                refused(first.map_or(BodyId::UNASSIGNED, |(id, _)| *id), source)
            });
            constants.push(made?);
        }
        let nothing = Wrench::default();
        let mut wrenches = self.acting.wrenches.iter().peekable();
        let mut listing = Listing::default();
        let states = self.pose.iter().zip(&self.twist);
        for ((slot, (id, place)), (pose, twist)) in (0..).map(Slot).zip(&matter.bodies).zip(states)
        {
            let wrench = wrenches.next_if(|(of, _)| *of == slot);
            let wrench = wrench.map_or(&nothing, |(_, wrench)| wrench);
            check_body_state(pose, twist, wrench).map_err(|source| refused(*id, source))?;
            let substance = &matter.substances[*place as usize];
            let forces = substance.forces(forces_of(*id));
            let forces = forces.map_err(|index| SnapshotError::Force {
                id: *id,
                index,
                count: substance.forces.as_ref().map_or(0, Vec::len),
            })?;
            check_forces(forces.as_ref()).map_err(|source| refused(*id, source))?;
            let made = Made::of(&substance.material, substance.parts.as_ref());
            let constants = constants[*place as usize].clone();
            listing.push(
                (*id, Entity::PLACEHOLDER),
                constants,
                (made, forces.as_ref()),
                None,
            );
        }
        if let Some((slot, _)) = wrenches.next() {
            let reason = format!("the wrench of the body in place {} is out of order", slot.0);
            return Err(SnapshotError::malformed("forces", reason));
        }
        for (slot, target) in &self.acting.targets {
            let kind = listing.constants[slot.index()].kind;
            let id = listing.ids[slot.index()];
            check_target(kind, target).map_err(|source| refused(id, source))?;
        }
        Ok(listing)
    }
}

fn refused(id: BodyId, source: BodyError) -> SnapshotError {
    SnapshotError::Refused(StepError::Body {
        id,
        entity: Entity::PLACEHOLDER,
        source,
    })
}

fn check_impulse(of: &StoredImpulse) -> Result<(), SnapshotError> {
    of.defect().map_or(Ok(()), |(field, value)| {
        Err(SnapshotError::Value {
            section: "contacts",
            field,
            value,
            bound: "in [-1e150, 1e150]",
        })
    })
}
