//! The parts of a step's time, whatever parts the step times.

use moreau::StepTiming;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;

/// Names and times (ms) of the parts, in the order in which [`StepTiming`] has them, without their
/// total.
pub(super) fn timing_parts(timing: &StepTiming) -> Vec<(String, f64)> {
    // Plain numbers: neither direction fails.
    let json = serde_json::to_string(timing).unwrap_or_default();
    let parts = serde_json::from_str::<Parts>(&json).map_or_else(|_| Vec::new(), |parts| parts.0);
    parts
        .into_iter()
        .filter(|(name, _)| name != "ms_total")
        .filter_map(|(name, ms)| Some((name.strip_prefix("ms_")?.replace('_', " "), ms?)))
        .collect()
}

/// The entries of an object in the order in which they are written.
struct Parts(Vec<(String, Option<f64>)>);

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Parts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
                    entries.push((name, value.as_f64()));
                }
                Ok(Parts(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_in_the_order_of_the_step() {
        let timing = StepTiming {
            ms_total: 9.0,
            ms_detect: 1.5,
            ms_solve: 7.5,
            ..StepTiming::default()
        };
        let parts = timing_parts(&timing);
        let place = |name: &str| parts.iter().position(|(part, _)| part == name);
        assert!(place("detect") < place("assemble") && place("assemble") < place("solve"));
        assert!(place("solve") < place("update") && place("detect").is_some());
        assert_eq!(place("total"), None);
        assert!(parts.contains(&("solve".to_owned(), 7.5)));
    }
}
