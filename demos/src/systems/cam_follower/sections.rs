//! Sections of the motion after Poincaré, and whether nearby motions stay near.
//!
//! * *Stroboscopic*: gap and its rate once a turn, at the same angle.
//! * *Of impacts*: part of a turn at which an impact falls, and the rate that it has before.

use super::{Cam, add_follower};
use moreau_systems::{
    EventKind, EventSettings, Integrator, Settings, SystemsError, SystemsSimulation,
};
use std::fmt::Write;

/// Sections of a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// Turns a minute.
    pub rpm: f64,
    /// `u − c`, m, and `u̇ − ċ`, m/s, at the begin of each turn.
    pub stroboscopic: Vec<[f64; 2]>,
    /// Part of a turn, and `−ẏ⁻`, m/s, of each impact.
    pub impacts: Vec<[f64; 2]>,
    /// Turns that did not reach their tolerance.
    pub unsolved: usize,
}

/// Impacts below this belong to the end of an accumulation, m/s.
const SLOW: f64 = 1e-2;
/// Of a turn at most.
const MOST_STEPS: usize = 100_000;

impl Sections {
    /// From event to event, from a start `[u, u̇]`; of the first `left_out` turns nothing is kept. Time stepping would hide chaos: it moves every impact to a
    /// grid of times, on which nearby motions become one.
    ///
    /// # Errors
    /// [`SystemsError`] of the integration.
    pub fn of(
        rpm: f64,
        start: [f64; 2],
        [left_out, turns]: [usize; 2],
    ) -> Result<Self, SystemsError> {
        let cam = Cam::new(rpm);
        let mut simulation = SystemsSimulation::new(Settings::new(1e-4))?;
        let integrator = Integrator::moreau_jean(0.5);
        let (follower, _) = add_follower(&mut simulation, cam, start, integrator)?;
        let settings = EventSettings {
            largest_step: cam.period() / 50.0,
            max_steps: MOST_STEPS,
            ..EventSettings::default()
        };
        let mut sections = Self {
            rpm,
            ..Self::default()
        };
        for turn in 1..=left_out + turns {
            let end = turn as f64 * cam.period();
            let report = simulation.advance_by_events(end, &settings)?;
            sections.unsolved += usize::from(!report.converged);
            if turn <= left_out {
                continue;
            }
            for event in report.events {
                if let EventKind::Impact { rate, .. } = event.kind
                    && rate < -SLOW
                {
                    let part = event.time / cam.period();
                    sections.impacts.push([part - part.floor(), -rate]);
                }
            }
            if let Some(state) = simulation.state(follower) {
                let gap = state.q()[0] - cam.height(end);
                let rate = state.v()[0] - cam.rate(end);
                sections.stroboscopic.push([gap, rate]);
            }
        }
        Ok(sections)
    }

    /// Both sections beside each other, as an SVG picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut text = String::new();
        let (width, height) = (2.0 * PANEL + 3.0 * MARGIN, PANEL + 2.0 * MARGIN);
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
        );
        let of = |name: &str| format!("{name}, {} turns a minute", self.rpm);
        let labels = [
            of("stroboscopic"),
            "u − c, m".to_owned(),
            "rate, m/s".to_owned(),
        ];
        panel(&mut text, MARGIN, &self.stroboscopic, &labels);
        let labels = [
            of("impacts"),
            "part of a turn".to_owned(),
            "rate before, m/s".to_owned(),
        ];
        panel(&mut text, 2.0 * MARGIN + PANEL, &self.impacts, &labels);
        text + "</svg>\n"
    }
}

/// Size of a section and of the space around it, in points.
const PANEL: f64 = 420.0;
const MARGIN: f64 = 60.0;

fn range(points: &[[f64; 2]], axis: usize) -> [f64; 2] {
    let values = points.iter().map(|point| point[axis]);
    let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
        [low.min(x), high.max(x)]
    });
    if low > high {
        return [0.0, 1.0];
    }
    let slack = (0.05 * (high - low)).max(1e-6 * high.abs().max(low.abs()).max(1e-3));
    [low - slack, high + slack]
}

/// A frame with its labels and one dot a point.
fn panel(text: &mut String, left: f64, points: &[[f64; 2]], [title, x, y]: &[String; 3]) {
    let [columns, rows] = [range(points, 0), range(points, 1)];
    let bottom = MARGIN + PANEL;
    let _ = writeln!(
        text,
        "<rect x=\"{left}\" y=\"{MARGIN}\" width=\"{PANEL}\" height=\"{PANEL}\" fill=\"none\" stroke=\"black\"/>\n\
         <text x=\"{left}\" y=\"{}\">{title}</text>\n<text x=\"{left}\" y=\"{}\">{x}: {:.4} to {:.4}; {y}: {:.4} to {:.4}, upwards</text>",
        MARGIN - 10.0,
        bottom + 24.0,
        columns[0],
        columns[1],
        rows[0],
        rows[1]
    );
    for [px, py] in points {
        let at = left + PANEL * (px - columns[0]) / (columns[1] - columns[0]);
        let down = bottom - PANEL * (py - rows[0]) / (rows[1] - rows[0]);
        let _ = writeln!(text, "<circle cx=\"{at:.2}\" cy=\"{down:.2}\" r=\"1\"/>");
    }
}
