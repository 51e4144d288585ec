//! Components seen and changed by reflection.

use crate::setting::{app, ball, pose, run};
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::{Component, World};
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent};
use bevy_moreau::moreau;
use bevy_moreau::prelude::*;
use bevy_reflect::serde::{ReflectSerializer, TypedReflectDeserializer};
use bevy_reflect::structs::Struct;
use bevy_reflect::{GetPath, Reflect, TypeRegistry};
use serde::de::DeserializeSeed;
use std::any::TypeId;

#[test]
fn all_types_of_the_plugin_are_registered() {
    let app = app();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let names = [
        "moreau::components::body::RigidBody",
        "moreau::components::joint::JointForce",
        "moreau::settings::Theta",
        "bevy_moreau::locks::LockedAxes",
    ];
    for name in names {
        assert!(registry.get_with_type_path(name).is_some(), "{name}");
    }
    for component in [
        TypeId::of::<Pose>(),
        TypeId::of::<Collider>(),
        TypeId::of::<Mass>(),
    ] {
        assert!(
            registry
                .get_type_data::<ReflectComponent>(component)
                .is_some()
        );
    }
}

#[test]
fn a_pose_is_changed_by_its_path() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 1.0);
    run(&mut app, 1);
    let mut component = app.world_mut().get_mut::<Pose>(ball).expect("a body");
    let place: &mut DVec3 = component
        .path_mut("position")
        .expect("there is such a field");
    place.x = 4.0;
    run(&mut app, 1);
    assert_eq!(pose(&app, ball).position.x, 4.0);
}

fn round_trip<T: Reflect + PartialEq + std::fmt::Debug + bevy_reflect::FromReflect>(
    registry: &TypeRegistry,
    value: &T,
) {
    let serializer = ReflectSerializer::new(value.as_partial_reflect(), registry);
    let text = serde_json::to_value(&serializer).expect("it is serialised");
    let (_, inner) = text
        .as_object()
        .and_then(|map| map.iter().next())
        .expect("a map of one");
    let kind = registry.get(TypeId::of::<T>()).expect("it is registered");
    let deserializer = TypedReflectDeserializer::new(kind, registry);
    let back = deserializer.deserialize(inner.clone()).expect("it is read");
    assert_eq!(&T::from_reflect(&*back).expect("it is one"), value);
}

#[test]
fn components_come_back_from_files() {
    let app = app();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    round_trip(&registry, &Pose::at(0.1, 0.2, 0.3));
    round_trip(&registry, &Collider::cone(0.5, 0.25));
    round_trip(&registry, &Mass::given(2.0, DVec3::ONE));
    round_trip(&registry, &RigidBody::Kinematic);
    round_trip(&registry, &Settings::default());
    let (axis, effort) = (moreau::JointAxis::RotationZ, 3.0);
    round_trip(
        &registry,
        &JointForces(vec![JointForce::Applied { axis, effort }]),
    );
}

#[test]
fn fields_of_settings_are_seen() {
    let settings = Settings::default();
    let names: Vec<_> = (0..settings.field_len())
        .filter_map(|i| settings.name_at(i))
        .collect();
    assert!(
        names.contains(&"gravity") && names.contains(&"sleeping"),
        "{names:?}"
    );
}

#[test]
fn a_component_is_inserted_by_reflection() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 1.0);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let data = registry.get_type_data::<ReflectComponent>(TypeId::of::<GravityScale>());
    let mut entity = app.world_mut().entity_mut(ball);
    data.expect("it is a component")
        .insert(&mut entity, &GravityScale(0.0), &registry);
    run(&mut app, 10);
    assert_eq!(pose(&app, ball).position.y, 1.0);
}

/// What scenes do: the entities of a file are others in the world.
#[test]
fn joints_follow_entities_that_are_renumbered() {
    let mut world = World::new();
    let [a, b, other] = std::array::from_fn(|_| world.spawn_empty().id());
    let mut renamed = EntityHashMap::default();
    renamed.insert(a, other);
    let mut joint = Joint::new(a, b, JointKind::Ball);
    Component::map_entities(&mut joint, &mut renamed);
    assert_eq!(joint.bodies, [Some(other), Some(b)]);
    let mut gear = Coupler::gear(a, b, 2.0);
    Component::map_entities(&mut gear, &mut renamed);
    assert_eq!([gear.terms[0].joint, gear.terms[1].joint], [b, other]);
    let mut part = PartOf(a);
    Component::map_entities(&mut part, &mut renamed);
    assert_eq!(part, PartOf(other));
}
