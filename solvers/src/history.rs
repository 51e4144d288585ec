//! The history of residuals of a solve, in a bounded buffer.

use crate::Residual;

/// One certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Sweeps or iterations done.
    pub iterations: usize,
    /// Factorisations done.
    pub factorizations: usize,
    /// `e_scaled` of the iterate.
    pub scaled: f64,
    /// `e_fclib` of the iterate.
    pub fclib: f64,
}

/// Samples kept at most. When they are full every second one is dropped.
const CAPACITY: usize = 512;

/// Residuals of the iterates judged during a solve, evenly thinned to at most 512.
#[derive(Clone, Debug, Default)]
pub struct History {
    samples: Vec<Sample>,
    stride: usize,
    seen: usize,
}

impl History {
    /// The samples, oldest first.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.samples.reserve(CAPACITY);
        self.stride = 1;
        self.seen = 0;
    }

    pub(crate) fn record(&mut self, iterations: usize, factorizations: usize, at: &Residual) {
        if self.seen.is_multiple_of(self.stride.max(1)) {
            if self.samples.len() == CAPACITY {
                let mut index = 0;
                self.samples.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
            self.samples.push(Sample {
                iterations,
                factorizations,
                scaled: at.scaled,
                fclib: at.fclib,
            });
        }
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_thinned_evenly() {
        let mut history = History::default();
        history.clear();
        for k in 0..5000 {
            history.record(k, 0, &Residual::default());
        }
        let kept: Vec<_> = history.samples().iter().map(|s| s.iterations).collect();
        assert!(kept.len() <= CAPACITY && kept[0] == 0);
        let gaps: Vec<_> = kept.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
    }
}
