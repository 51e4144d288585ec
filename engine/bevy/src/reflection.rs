//! Types for reflection: scenes, inspectors.

use bevy_app::App;

pub(crate) fn register(app: &mut App) {
    app.register_type::<crate::LockedAxes>()
        .register_type::<crate::NoInterpolation>()
        .register_type::<crate::Interpolation>()
        .register_type::<crate::ContactBegan>()
        .register_type::<crate::ContactEnded>()
        .register_type::<crate::SensorEntered>()
        .register_type::<crate::SensorLeft>()
        .register_type::<crate::FellAsleep>()
        .register_type::<crate::Woke>()
        .register_type::<crate::JointBroke>();
}
