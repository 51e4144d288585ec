//! The lines as gizmos of Bevy.

use crate::drawing::{Drawing, follow_colliders};
use bevy_app::{App, Plugin, PostUpdate};

/// Draws bodies, contacts, forces and joints, as [`Drawing`] says.
///
/// With the feature `gizmos` it draws with Bevy's, in the group [`Drawing`] of its `GizmoConfigStore`, where it is turned on and off and its
/// colours and widths are; Bevy's `GizmoPlugin` has to be in the app, which `DefaultPlugins` bring. Without the feature it draws nothing by itself: systems with
/// [`Picture`](crate::Picture) do.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrawingPlugin;

impl Plugin for DrawingPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Drawing>()
            .add_systems(PostUpdate, follow_colliders);
    }

    /// Bevy's plugins may be added after this one.
    #[cfg(feature = "gizmos")]
    fn finish(&self, app: &mut App) {
        if app.is_plugin_added::<bevy_gizmos::GizmoPlugin>() {
            bevy::add(app);
        } else {
            log::error!("DrawingPlugin draws nothing: the app has no GizmoPlugin");
        }
    }
}

#[cfg(feature = "gizmos")]
mod bevy {
    use super::*;
    use crate::drawing::Picture;
    use bevy_color::{Color, LinearRgba};
    use bevy_ecs::prelude::*;
    use bevy_gizmos::prelude::*;

    pub(super) fn add(app: &mut App) {
        app.init_gizmo_group::<Drawing>()
            .add_systems(PostUpdate, draw.after(follow_colliders));
    }

    fn draw(picture: Picture, mut gizmos: Gizmos<Drawing>) {
        if !gizmos.config.enabled {
            return;
        }
        let drawing = *gizmos.config_ext;
        picture.draw(&drawing, |line| {
            let [red, green, blue, alpha] = line.color;
            let color = Color::LinearRgba(LinearRgba::new(red, green, blue, alpha));
            gizmos.line(line.start, line.end, color);
        });
    }
}
