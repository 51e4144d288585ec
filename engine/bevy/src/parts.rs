//! Child colliders: what stands below a body and has a collider but no body of its own is a part of the compound of that body.

use crate::compound::{Own, Part, assemble};
use crate::frame::{Above, Frame};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_transform::components::Transform;
use moreau::{Collider, Material, PartMaterials, PartOf, RigidBody};

/// What the collider of a body was made of.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct Composed {
    own: Own,
    parts: Vec<Part>,
    made: (Option<Collider>, Option<PartMaterials>),
}

impl Composed {
    /// What the body was put back to is no shape of the user's; if it was made of other parts, the compound is made anew of those that are there.
    pub(crate) fn restore(
        &mut self,
        collider: Option<&Collider>,
        materials: Option<&PartMaterials>,
    ) {
        if collider != self.made.0.as_ref() || materials != self.made.1.as_ref() {
            self.made = (collider.cloned(), materials.cloned());
            self.parts.clear();
        }
    }
}

/// Colliders without a body of their own.
type LooseQuery<'w, 's> = Query<'w, 's, Entity, (With<Collider>, Without<RigidBody>)>;

/// What was marked as a part and cannot be one.
type Stale = (With<PartOf>, Or<(With<RigidBody>, Without<Collider>)>);

/// What an entity below a body contributes.
type Below = (
    Option<&'static Transform>,
    Option<&'static Children>,
    Option<&'static Collider>,
    Option<&'static Material>,
    Has<RigidBody>,
);

type BodyShape = (
    Option<&'static Collider>,
    Option<&'static PartMaterials>,
    Option<&'static Material>,
    Option<&'static Composed>,
);

/// The hierarchy, its colliders, and the bodies.
#[derive(SystemParam)]
pub(crate) struct World<'w, 's> {
    above: Above<'w, 's>,
    loose: LooseQuery<'w, 's>,
    stale: Query<'w, 's, Entity, Stale>,
    marks: Query<'w, 's, &'static PartOf>,
    below: Query<'w, 's, Below>,
    bodies: Query<'w, 's, BodyShape, With<RigidBody>>,
    composed: Query<'w, 's, Entity, With<Composed>>,
}

/// Makes the compounds of bodies whose parts, or own shapes, have changed since the last step.
pub(crate) fn compose(world: World, mut commands: Commands) {
    let mut bodies = world.mark(&mut commands);
    bodies.extend(&world.composed);
    bodies.sort_unstable();
    bodies.dedup();
    for body in bodies {
        let mut parts = Vec::new();
        let transform = world.below.get(body).ok().and_then(|(of, ..)| of);
        world.collect(body, Frame::of_body(transform), &mut parts);
        world.renew(body, parts, &mut commands);
    }
}

impl World<'_, '_> {
    /// Marks what is a part of a body, so that the step takes it for no body; the bodies that have parts.
    fn mark(&self, commands: &mut Commands) -> Vec<Entity> {
        for entity in &self.stale {
            commands.entity(entity).try_remove::<PartOf>();
        }
        let mut bodies = Vec::new();
        for part in &self.loose {
            let (body, mark) = (self.above.body_of(part), self.marks.get(part).ok());
            match body {
                Some(above) if mark != Some(&PartOf(above.body)) => {
                    commands.entity(part).try_insert(PartOf(above.body));
                }
                None if mark.is_some() => {
                    commands.entity(part).try_remove::<PartOf>();
                }
                _ => {}
            }
            // What is out of the steps keeps its shape.
            let steps = body.filter(|above| !above.disabled);
            bodies.extend(steps.map(|above| above.body));
        }
        bodies
    }

    /// The parts below `entity`, depth first, in the order of children. Other bodies have their own, and so
    /// have sensors, which are bodies by now.
    fn collect(&self, entity: Entity, frame: Frame, parts: &mut Vec<Part>) {
        let Ok((_, Some(children), ..)) = self.below.get(entity) else {
            return;
        };
        for child in children.iter() {
            let Ok((transform, _, collider, material, is_body)) = self.below.get(child) else {
                continue;
            };
            if is_body {
                continue;
            }
            let frame = transform.map_or(frame, |transform| frame.child(transform));
            if let Some(collider) = collider {
                parts.push(Part {
                    pose: frame.as_pose(),
                    collider: collider.clone(),
                    material: material.copied(),
                });
            }
            self.collect(child, frame, parts);
        }
    }

    /// Gives a body the compound of its own shape and these parts, if it is not the one that it has.
    fn renew(&self, body: Entity, parts: Vec<Part>, commands: &mut Commands) {
        let Ok((collider, materials, material, composed)) = self.bodies.get(body) else {
            commands.entity(body).try_remove::<Composed>();
            return;
        };
        let nothing = Composed::default();
        let known = composed.unwrap_or(&nothing);
        // What is not as it was made is the user's.
        let own = Own {
            collider: newer(collider, &known.made.0, &known.own.collider),
            materials: newer(materials, &known.made.1, &known.own.materials),
            material: material.copied().unwrap_or_default(),
        };
        if composed.is_some() && own == known.own && parts == known.parts {
            return;
        }
        let made = if parts.is_empty() {
            (own.collider.clone(), own.materials.clone())
        } else {
            assemble(&own, &parts)
        };
        let mut body = commands.entity(body);
        put(&mut body, &made.0);
        put(&mut body, &made.1);
        if parts.is_empty() {
            body.try_remove::<Composed>();
        } else {
            body.try_insert(Composed { own, parts, made });
        }
    }
}

/// The user's: what the body has, if it is not what was made for it.
fn newer<T: Clone + PartialEq>(has: Option<&T>, made: &Option<T>, own: &Option<T>) -> Option<T> {
    if has == made.as_ref() {
        own.clone()
    } else {
        has.cloned()
    }
}

fn put<T: Component + Clone>(body: &mut EntityCommands, made: &Option<T>) {
    match made {
        Some(made) => body.try_insert(made.clone()),
        None => body.try_remove::<T>(),
    };
}
