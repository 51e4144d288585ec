//! Order statistics of measured figures.

/// The median; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let values = sorted(values);
    let n = values.len();
    match n {
        0 => 0.0,
        _ if n.is_multiple_of(2) => 0.5 * (values[n / 2 - 1] + values[n / 2]),
        _ => values[n / 2],
    }
}

/// The least value that 95 % of them do not exceed; 0 of nothing.
pub(crate) fn percentile_95(values: &[f64]) -> f64 {
    let values = sorted(values);
    let rank = (values.len() * 95).div_ceil(100);
    rank.checked_sub(1).map_or(0.0, |index| values[index])
}

/// The largest value, NaN if there is one; 0 of nothing.
pub(crate) fn worst(values: &[f64]) -> f64 {
    sorted(values).last().copied().unwrap_or(0.0)
}

/// In ascending order, NaN last.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values are picked, not computed")]
mod tests {
    use super::*;

    #[test]
    fn median_and_percentile_are_those_of_the_sorted_values() {
        let values: Vec<_> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(median(&values), 10.5);
        assert_eq!(median(&values[..3]), 19.0);
        assert_eq!(percentile_95(&values), 19.0);
        assert_eq!(percentile_95(&values[..1]), 20.0);
        assert_eq!([median(&[]), percentile_95(&[]), worst(&[])], [0.0; 3]);
    }

    #[test]
    fn nan_sorts_last() {
        assert_eq!(worst(&[1.0, 3.0, 2.0]), 3.0);
        assert!(worst(&[1.0, f64::NAN, 2.0]).is_nan());
    }
}
