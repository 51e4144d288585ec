//! Roots within a step, and derivatives by time.

use std::cell::Cell;

/// Points of a step at which events are looked for.
const SAMPLES: u32 = 8;

/// Where `y` comes to zero from above, the first time at which a sample is below `least`; to `least`, if it was not above zero before.
pub(super) fn closing(y: impl Fn(f64) -> f64, least: f64) -> Option<f64> {
    let mut before = 0.0;
    let mut was_open = y(0.0) > 0.0 && least >= 0.0;
    for k in 1..=SAMPLES {
        let sample = f64::from(k) / f64::from(SAMPLES);
        let value = y(sample);
        if value < least {
            if !was_open {
                // It left and came back between two samples: where it was open is found by halving.
                let halves = (1..=60).scan(sample, |part, _| {
                    *part *= 0.5;
                    Some(*part)
                });
                let Some(open) = halves.into_iter().find(|part| y(*part) > 0.0) else {
                    let last = f64::from(k - 1) / f64::from(SAMPLES);
                    return Some(root(|part| y(part) - least, last, sample));
                };
                before = open;
            }
            return Some(root(y, before, sample));
        }
        if value > 0.0 {
            (before, was_open) = (sample, true);
        }
    }
    None
}

/// The root of a function that is positive at `low` and negative at `high`, by bisection: the last point at which it is not negative.
fn root(y: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return low;
        }
        if y(middle) < 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// The first point of a step at which one of some margins is negative, and which.
pub(super) fn first_negative<E>(
    margins: impl Fn(f64) -> Result<Vec<f64>, E>,
) -> Result<Option<(f64, usize)>, E> {
    let negative = |part: f64| -> Result<Option<usize>, E> {
        Ok(margins(part)?.iter().position(|margin| *margin < 0.0))
    };
    let mut low = 0.0;
    for k in 1..=SAMPLES {
        let sample = f64::from(k) / f64::from(SAMPLES);
        let Some(mut which) = negative(sample)? else {
            low = sample;
            continue;
        };
        let mut high = sample;
        while high - low > 1e-15 * high.max(1e-3) {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            match negative(middle)? {
                Some(earlier) => (which, high) = (earlier, middle),
                None => low = middle,
            }
        }
        return Ok(Some((high, which)));
    }
    Ok(None)
}

/// Ratio of the two differences that are compared: no multiple of a half, so that what oscillates with the first step does not look at rest to both.
const RATIO: f64 = 0.6;

/// `ḟ(0)` by two central differences and what they extrapolate to, of `f(τ)`. From the step `first` on steps become shorter until both differences agree, to the rounding of `f`
/// and of what it is made of, `noise`, or are nearest to it: nothing is known of how fast `f` changes.
pub(super) fn by_time<E>(
    first: f64,
    f: impl Fn(f64) -> Result<Vec<f64>, E>,
    noise: impl Fn() -> Result<f64, E>,
) -> Result<Vec<f64>, E> {
    let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let size = Cell::new(0.0_f64);
    let difference = |step: f64| -> Result<Vec<f64>, E> {
        let [before, after] = [f(-step)?, f(step)?];
        size.set(size.get().max(largest(&before)).max(largest(&after)));
        let parts = after.iter().zip(&before);
        Ok(parts.map(|(a, b)| (a - b) / (2.0 * step)).collect())
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    let mut known: Option<f64> = None;
    let mut step = first;
    for _ in 0..14 {
        let [wide, narrow] = [difference(step)?, difference(RATIO * step)?];
        let apart: Vec<f64> = narrow.iter().zip(&wide).map(|(n, w)| n - w).collect();
        let gain = RATIO * RATIO / (1.0 - RATIO * RATIO);
        let value: Vec<f64> = narrow
            .iter()
            .zip(&apart)
            .map(|(n, a)| n + gain * a)
            .collect();
        let miss = largest(&apart);
        let bound = |rounding: f64| 1e-6 * largest(&value) + 4.0 * rounding / step;
        let mut agrees = miss <= bound(f64::EPSILON * size.get());
        if !agrees {
            // What `f` is a small difference of may be rounded more coarsely than `f` itself.
            let found = match known {
                Some(known) => known,
                None => *known.insert(noise()?),
            };
            agrees = miss <= bound(found);
        }
        if agrees || best.as_ref().is_none_or(|(least, _)| miss < *least) {
            best = Some((miss, value));
        }
        if agrees {
            break;
        }
        step *= 0.125;
    }
    Ok(best.map_or_else(Vec::new, |(_, value)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sine, slow or as fast as can be told from its neighbours in time, also one whose period is the first step: to 1e-7 of its rate.
    #[test]
    fn derivatives_of_slow_and_fast_functions() {
        for frequency in [0.0, 1e-3, 1.0, 1e3, 1.047e6, 2.094e6, 1e7, 1e9] {
            let f =
                |t: f64| -> Result<Vec<f64>, ()> { Ok(vec![3.0 + libm::sin(0.3 + frequency * t)]) };
            let exact = frequency * libm::cos(0.3);
            let missed = (by_time(6e-6, f, || Ok(0.0)).unwrap()[0] - exact).abs();
            assert!(missed <= 1e-7 * frequency + 1e-9, "{frequency}: {missed}");
        }
    }

    /// A parabola far away: its rounding, 1e-10, is what the first step makes of it and not what shorter ones would.
    #[test]
    fn rounding_is_not_taken_for_speed() {
        let f = |t: f64| -> Result<Vec<f64>, ()> { Ok(vec![((1e6 + t * t) - 1e6) * 3.0, 0.0]) };
        let missed = by_time(6e-6, f, || Ok(4e-10)).unwrap()[0].abs();
        assert!(missed <= 4.0 * 4e-10 / 6e-6, "{missed}");
    }
}
