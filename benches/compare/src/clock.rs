//! What a step costs: processor time on one thread, wall time on several.

/// How steps are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    /// Wall time.
    Wall,
    /// Processor time of the process, which only the engine whose turn it is uses. Other programs
    /// on the machine disturb it less. On systems without it, wall time.
    Cpu,
}

impl Clock {
    /// A time to take differences of, ms.
    pub(crate) fn now(self) -> f64 {
        let time = match self {
            Self::Wall => wall(),
            Self::Cpu => cpu(),
        };
        time * 1e3
    }
}

/// Seconds since the first call.
fn wall() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(unix)]
fn cpu() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(not(unix))]
fn cpu() -> f64 {
    wall()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_advance_with_work() {
        for clock in [Clock::Wall, Clock::Cpu] {
            let start = clock.now();
            assert!(start >= 0.0);
            while clock.now() <= start {
                std::hint::spin_loop();
            }
        }
    }
}
