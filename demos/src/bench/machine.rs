//! What the times were measured on.

use std::fmt;

/// The machine, as far as it can be asked, and the threads that are used of it.
pub(super) struct Machine {
    processor: String,
    cores: usize,
    /// Processes that ran or waited to run before the bench, averaged over a minute.
    load: Option<f64>,
    /// Numbers of threads to be timed: one, then the others in ascending order.
    pub(super) threads: Vec<usize>,
}

impl Machine {
    /// This one. `threads` are compared with one thread; 0 is all cores.
    pub(super) fn this(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = if threads == 0 { cores } else { threads };
        let mut threads = vec![1, most];
        threads.dedup();
        Self {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores,
            load: load(),
            threads,
        }
    }

    /// The largest number of threads that is timed.
    pub(super) fn most_threads(&self) -> usize {
        self.threads.iter().copied().max().unwrap_or(1)
    }
}

/// The processor's name, where the system has a file that says it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads: Vec<_> = self.threads.iter().map(usize::to_string).collect();
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        write!(
            f,
            "Moreau {}, {} build. {}, {} core{}, {}-{}; timed on {} thread{}.",
            env!("CARGO_PKG_VERSION"),
            if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            },
            self.processor,
            self.cores,
            plural(self.cores),
            std::env::consts::OS,
            std::env::consts::ARCH,
            threads.join(" and "),
            plural(self.most_threads()),
        )?;
        if let Some(load) = self.load {
            write!(f, " Load before the bench: {load:.2}.")?;
        }
        if self.load.is_some_and(|load| load > 0.5) {
            write!(
                f,
                "\nOthers are using this machine: the times are too long."
            )?;
        }
        if cfg!(debug_assertions) {
            write!(
                f,
                "\nThis is a debug build: its times say nothing. Use `cargo run --release`."
            )?;
        }
        Ok(())
    }
}
