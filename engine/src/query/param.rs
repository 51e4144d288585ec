//! Questions within systems, and from a simulation.

use super::error::QueryError;
use super::index::QueryIndex;
use super::refresh::{Shapes, Since};
use super::view::Queries;
use crate::components::notices::Notices;
use crate::settings::Settings;
use crate::step::StepState;
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemChangeTick, SystemParam, SystemState};

/// Questions about the bodies of the world, as a parameter of systems: see [`Queries`].
///
/// It reads the components of bodies that say where and what they are, and writes an index of its own: systems with it run one after the other.
/// To ask and to move bodies in one system, put it and the query that moves them into a `ParamSet`.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
///
/// #[derive(Resource, Default)]
/// struct Seen(Option<Entity>);
///
/// fn look_ahead(mut bodies: SpatialQuery, mut seen: ResMut<Seen>) -> Result<(), BevyError> {
///     let ray = Ray::new(DVec3::ZERO, DVec3::X)?.up_to(100.0)?;
///     seen.0 = bodies.view()?.ray(&ray, &QueryFilter::new()).map(|hit| hit.entity);
///     Ok(())
/// }
///
/// let mut simulation = Simulation::new(Settings::default())?;
/// simulation.world_mut().init_resource::<Seen>();
/// simulation.schedule_mut().add_systems(look_ahead.before(StepPhase::Gather));
/// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Pose::at(3.0, 0.0, 0.0)))?;
/// simulation.step()?;
/// assert_eq!(simulation.world().resource::<Seen>().0, Some(ball));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(SystemParam)]
pub struct SpatialQuery<'w, 's> {
    index: ResMut<'w, QueryIndex>,
    notices: Res<'w, Notices>,
    state: Res<'w, StepState>,
    settings: Res<'w, Settings>,
    shapes: Shapes<'w, 's>,
    ticks: SystemChangeTick,
}

impl SpatialQuery<'_, '_> {
    /// The bodies where they are now. Reads what has changed since the last time.
    ///
    /// # Errors
    /// As [`Simulation::queries`](crate::Simulation::queries).
    pub fn view(&mut self) -> Result<Queries<'_>, QueryError> {
        // This very system may write to bodies after it: what it then writes has the tick of now, and must be new next time.
        let before = Tick::new(self.ticks.this_run().get().wrapping_sub(1));
        self.refresh(before)?;
        Ok(Queries::new(&self.index, &self.state, &self.settings))
    }

    fn refresh(&mut self, up_to: Tick) -> Result<(), QueryError> {
        let since = Since {
            known: self.index.known,
            now: self.ticks.this_run(),
        };
        self.index
            .refresh(&self.shapes, &self.notices, since, up_to)
    }
}

/// What a simulation keeps for questions.
pub(crate) struct Asking(SystemState<SpatialQuery<'static, 'static>>);

impl Asking {
    /// The bodies of a world where they are now.
    pub(crate) fn of<'w>(
        asking: &mut Option<Self>,
        world: &'w mut World,
    ) -> Result<Queries<'w>, QueryError> {
        let resources = [
            ("Settings", world.contains_resource::<Settings>()),
            ("StepState", world.contains_resource::<StepState>()),
            ("QueryIndex", world.contains_resource::<QueryIndex>()),
            ("Notices", world.contains_resource::<Notices>()),
        ];
        if let Some((what, _)) = resources.into_iter().find(|(_, present)| !present) {
            return Err(QueryError::NotInstalled { what });
        }
        let own = asking.get_or_insert_with(|| Self(SystemState::new(world)));
        let what = "a resource of the step";
        let param = own.0.get_mut(world);
        let mut param = param.map_err(|_| QueryError::NotInstalled { what })?;
        // Nothing can be written at this tick any more.
        let now = param.ticks.this_run();
        param.refresh(now)?;
        let index = param.index.into_inner();
        let (state, settings) = (param.state.into_inner(), param.settings.into_inner());
        Ok(Queries::new(index, state, settings))
    }
}
