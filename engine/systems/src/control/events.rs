//! Event-driven integration from sampling instant to sampling instant.

use super::Control;
use crate::error::{SystemsError, expect_range};
use crate::event_driven::{self, EventKind, EventReport, EventSettings};
use crate::solver_choice::AnySolver;
use crate::step::Plant;
use bevy_ecs::entity::Entity;

/// Advances a plant to `end`, s, with its instruments; without any, at once.
pub(crate) fn advance(
    control: &mut Control,
    plant: &mut Plant,
    end: f64,
    settings: &EventSettings,
    (tolerance, solver): (f64, &mut AnySolver),
) -> Result<EventReport, SystemsError> {
    let bound = "finite and not in the past";
    let holds = end.is_finite() && end >= plant.at.t;
    expect_range("end", end, holds, bound).map_err(SystemsError::Settings)?;
    let mut whole = EventReport {
        converged: true,
        ..EventReport::default()
    };
    let mut resting: Vec<Entity> = Vec::new();
    loop {
        control.act(plant, 0.0)?;
        let (t, next) = (plant.at.t, control.next_after(plant.at.t));
        let until = next.filter(|next| *next < end).unwrap_or(end);
        let left = EventSettings {
            max_steps: settings.max_steps.saturating_sub(whole.steps),
            max_events: settings.max_events.saturating_sub(whole.events.len()),
            ..settings.clone()
        };
        let part = event_driven::advance(plant, until, &left, (tolerance, &mut *solver))?;
        whole.time = part.time;
        whole.converged = part.converged;
        whole.steps += part.steps;
        whole.rejected += part.rejected;
        whole.accumulations += part.accumulations;
        // A part finds contacts closed at its start that the one before left closed: no event.
        let is_news = |event: &event_driven::Event| {
            let again = event.kind == EventKind::Closed && event.time <= t;
            !(again && resting.contains(&event.interaction))
        };
        whole.events.extend(part.events.into_iter().filter(is_news));
        if !whole.converged || until >= end {
            return Ok(whole);
        }
        let closed = plant.links.iter().filter(|link| link.active);
        resting = closed.map(|link| link.entity).collect();
        for block in &mut plant.blocks {
            block.start.copy_from(&block.state);
        }
    }
}
