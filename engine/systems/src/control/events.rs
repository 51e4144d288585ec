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
    loop {
        control.act(plant, 0.0)?;
        let (t, next) = (plant.at.t, control.next_after(plant.at.t, end)?);
        let until = next.filter(|next| *next < end).unwrap_or(end);
        let left = EventSettings {
            max_steps: settings.max_steps.saturating_sub(whole.steps),
            max_events: settings.max_events.saturating_sub(whole.events.len()),
            ..settings.clone()
        };
        let part = event_driven::advance(
            plant,
            until,
            (&left, &whole.events),
            (tolerance, &mut *solver),
        )?;
        whole.time = part.time;
        whole.converged = part.converged;
        whole.steps += part.steps;
        whole.rejected += part.rejected;
        whole.accumulations += part.accumulations;
        whole.accumulating = part.accumulating;
        for event in part.events {
            let again = event.time <= t && last_kind(&whole, event.interaction) == Some(event.kind);
            if !again {
                whole.events.push(event);
            }
        }
        if !whole.converged || whole.accumulating.is_some() || until >= end {
            return Ok(whole);
        }
        for block in &mut plant.blocks {
            block.start.copy_from(&block.state);
        }
    }
}

/// The last change of an interaction: each part says again how contacts and relays are at its start, which is no event. Of an interaction with several rows some of it
/// may stay.
fn last_kind(report: &EventReport, interaction: Entity) -> Option<EventKind> {
    let is_impact = |kind: EventKind| matches!(kind, EventKind::Impact { .. });
    let mut events = report.events.iter().rev();
    let last = events.find(|event| event.interaction == interaction && !is_impact(event.kind));
    last.map(|event| event.kind)
}
