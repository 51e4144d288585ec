//! Steps made, the time they have reached, and the stopwatch of the phases.

use crate::results::report::StepTiming;
use std::time::Instant;

#[derive(Debug)]
pub(crate) struct Clock {
    /// Steps made.
    pub(crate) step: u64,
    /// Time at their end, s.
    pub(crate) t: f64,
    /// Phases of this step so far.
    pub(crate) timing: StepTiming,
    /// A step has begun, and has neither ended nor failed.
    pub(crate) runs: bool,
    lap: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            step: 0,
            t: 0.0,
            timing: StepTiming::default(),
            runs: false,
            lap: Instant::now(),
        }
    }
}

impl Clock {
    /// A step begins.
    pub(crate) fn start(&mut self) {
        self.timing = StepTiming::default();
        self.runs = true;
        self.lap = Instant::now();
    }

    /// Milliseconds since the last lap.
    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let elapsed = now.duration_since(self.lap).as_secs_f64() * 1e3;
        self.lap = now;
        elapsed
    }

    /// The last phase of a step ends.
    pub(crate) fn finish(&mut self) -> StepTiming {
        let ms_commit = self.lap();
        self.runs = false;
        let parts = self.timing;
        StepTiming {
            ms_total: parts.ms_gather
                + parts.ms_free
                + parts.ms_detect
                + parts.ms_assemble
                + parts.ms_solve
                + parts.ms_update
                + ms_commit,
            ms_commit,
            ..parts
        }
    }
}
