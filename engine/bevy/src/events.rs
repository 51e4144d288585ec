//! What a step began and ended: messages for systems, events for the observers of the entities concerned.

use crate::sensors::Carried;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_reflect::Reflect;
use moreau::glam::DVec3;
use moreau::{ContactEvent, Edge, Joint, JointId, SensorEvent, SleepEvent, StepEvents};
use std::collections::BTreeSet;

/// Two bodies began to touch: see [`StepEvents`].
///
/// One message a pair, with `body` the one of the lesser [`BodyId`](moreau::BodyId). Observers of both are triggered, each as `body`.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Reflect)]
pub struct ContactBegan {
    /// The body.
    #[event_target]
    pub body: Entity,
    /// What it touches.
    pub other: Entity,
    /// Impulse of the step on `body`, inertial frame, N·s.
    pub impulse: DVec3,
    /// Sum of the normal impulses of their contacts in the step, ≥ 0, N·s.
    pub normal_impulse: f64,
}

/// Two bodies do not touch any more; one of them may be gone. As [`ContactBegan`].
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Reflect)]
pub struct ContactEnded {
    /// The body.
    #[event_target]
    pub body: Entity,
    /// What it touched.
    pub other: Entity,
}

/// A sensor began to see a body.
///
/// One message for both. Observers of the sensor are triggered, then those of the body.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct SensorEntered {
    /// Whose observers are triggered: the sensor, and in messages always the sensor, or the body.
    #[event_target]
    pub entity: Entity,
    /// The sensor.
    pub sensor: Entity,
    /// What it sees.
    pub body: Entity,
}

/// A sensor does not see a body any more; one of them may be gone. As [`SensorEntered`].
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct SensorLeft {
    /// Whose observers are triggered: the sensor, and in messages always the sensor, or the body.
    #[event_target]
    pub entity: Entity,
    /// The sensor.
    pub sensor: Entity,
    /// What it saw.
    pub body: Entity,
}

/// A body fell asleep.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct FellAsleep {
    /// The body.
    #[event_target]
    pub body: Entity,
}

/// A body woke.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct Woke {
    /// The body.
    #[event_target]
    pub body: Entity,
}

/// A joint broke: it has [`JointBroken`](moreau::JointBroken) now.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct JointBroke {
    /// The joint.
    #[event_target]
    pub joint: Entity,
}

pub(crate) fn register(app: &mut App) {
    app.add_message::<ContactBegan>()
        .add_message::<ContactEnded>()
        .add_message::<SensorEntered>()
        .add_message::<SensorLeft>()
        .add_message::<FellAsleep>()
        .add_message::<Woke>()
        .add_message::<JointBroke>();
}

/// Where messages and events go.
#[derive(SystemParam)]
pub(crate) struct Out<'w, 's> {
    began: MessageWriter<'w, ContactBegan>,
    ended: MessageWriter<'w, ContactEnded>,
    entered: MessageWriter<'w, SensorEntered>,
    left: MessageWriter<'w, SensorLeft>,
    asleep: MessageWriter<'w, FellAsleep>,
    woke: MessageWriter<'w, Woke>,
    broke: MessageWriter<'w, JointBroke>,
    commands: Commands<'w, 's>,
}

/// Sends what the step that was just made began and ended, in the order of its lists.
pub(crate) fn report(
    events: Option<Res<StepEvents>>,
    joints: Query<(Entity, &JointId), With<Joint>>,
    carried: Query<&Carried>,
    mut own: Local<BTreeSet<[Entity; 2]>>,
    mut out: Out,
) {
    let Some(events) = events else { return };
    for event in &events.contacts {
        out.contact(event);
    }
    for event in &events.sensors {
        // It is always in what carries it. What was not said to begin is not said to end, also of one that is no more.
        let [sensor, body] = event.entities;
        let of_carrier = match event.edge {
            Edge::Begins => {
                let carries = carried.get(sensor).is_ok_and(|carried| carried.by == body);
                // It may be in the list from before a restore.
                if carries {
                    own.insert(event.entities);
                } else {
                    own.remove(&event.entities);
                }
                carries
            }
            Edge::Ends => own.remove(&event.entities),
        };
        if of_carrier {
            continue;
        }
        out.sensor(event);
    }
    for event in &events.sleep {
        out.sleep(event);
    }
    for id in &events.broken_joints {
        if let Some((joint, _)) = joints.iter().find(|(_, own)| *own == id) {
            out.broke.write(JointBroke { joint });
            out.commands.trigger(JointBroke { joint });
        }
    }
}

impl Out<'_, '_> {
    fn contact(&mut self, event: &ContactEvent) {
        let [a, b] = event.entities;
        let of = |body, other, impulse| ContactBegan {
            body,
            other,
            impulse,
            normal_impulse: event.normal_impulse,
        };
        match event.edge {
            Edge::Begins => {
                self.began.write(of(a, b, event.impulse));
                self.commands.trigger(of(a, b, event.impulse));
                self.commands.trigger(of(b, a, -event.impulse));
            }
            Edge::Ends => {
                let of = |body, other| ContactEnded { body, other };
                self.ended.write(of(a, b));
                self.commands.trigger(of(a, b));
                self.commands.trigger(of(b, a));
            }
        }
    }

    fn sensor(&mut self, event: &SensorEvent) {
        let [sensor, body] = event.entities;
        match event.edge {
            Edge::Begins => {
                let of = |entity| SensorEntered {
                    entity,
                    sensor,
                    body,
                };
                self.entered.write(of(sensor));
                self.commands.trigger(of(sensor));
                self.commands.trigger(of(body));
            }
            Edge::Ends => {
                let of = |entity| SensorLeft {
                    entity,
                    sensor,
                    body,
                };
                self.left.write(of(sensor));
                self.commands.trigger(of(sensor));
                self.commands.trigger(of(body));
            }
        }
    }

    fn sleep(&mut self, event: &SleepEvent) {
        let body = event.entity;
        match event.edge {
            Edge::Begins => {
                self.asleep.write(FellAsleep { body });
                self.commands.trigger(FellAsleep { body });
            }
            Edge::Ends => {
                self.woke.write(Woke { body });
                self.commands.trigger(Woke { body });
            }
        }
    }
}
