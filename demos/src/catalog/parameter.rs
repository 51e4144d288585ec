//! Parameters of the built-in scenes and their values.

use super::{CatalogError, names};
use moreau::scene::nearest_name;
use std::fmt;

/// Something about a scene that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key.
    pub name: &'static str,
    /// What it means, with its unit.
    pub description: &'static str,
    /// Value where none is given; the place of a word in its list.
    pub default: f64,
    /// Values that are allowed.
    pub bound: Bound,
}

impl Parameter {
    /// `key=value` with the default, as it is written in a specification.
    #[must_use]
    pub fn default_pair(&self) -> String {
        let word = match self.bound {
            Bound::Word(words) => words.get(self.default as usize),
            _ => None,
        };
        match word {
            Some(word) => format!("{}={word}", self.name),
            None => format!("{}={}", self.name, self.default),
        }
    }
}

/// Values that a parameter may have. No bound admits infinite numbers or NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Whole numbers from the first to the second.
    Whole(u32, u32),
    /// These values.
    OneOf(&'static [f64]),
    /// Numbers from the first to the second.
    Between(f64, f64),
    /// Numbers greater than this.
    Above(f64),
    /// Numbers not less than this.
    AtLeast(f64),
    /// One of these words. Its value is its place among them.
    Word(&'static [&'static str]),
}

pub(super) const POSITIVE: Bound = Bound::Above(0.0);
pub(super) const AT_LEAST_ZERO: Bound = Bound::AtLeast(0.0);

impl Bound {
    /// True if `value` is allowed.
    #[must_use]
    pub fn admits(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Whole(low, high) => {
                    (f64::from(low)..=f64::from(high)).contains(&value)
                        && value.total_cmp(&value.trunc()).is_eq()
                }
                Self::OneOf(values) => values.iter().any(|v| v.total_cmp(&value).is_eq()),
                Self::Between(low, high) => (low..=high).contains(&value),
                Self::Above(low) => value > low,
                Self::AtLeast(low) => value >= low,
                Self::Word(words) => (0..words.len()).any(|i| (i as f64).total_cmp(&value).is_eq()),
            }
    }

    /// The value that is written so, if it is allowed.
    fn read(self, text: &str) -> Option<f64> {
        let value = match self {
            Self::Word(words) => words.iter().position(|word| *word == text)? as f64,
            _ => text.parse().ok()?,
        };
        self.admits(value).then_some(value)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::OneOf(values) => {
                let values: Vec<_> = values.iter().map(f64::to_string).collect();
                write!(f, "one of {}", values.join(", "))
            }
            Self::Between(low, high) => write!(f, "a number from {low} to {high}"),
            Self::Above(low) => write!(f, "a number > {low}"),
            Self::AtLeast(low) => write!(f, "a number ≥ {low}"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// A value for every parameter of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    parameters: &'static [Parameter],
    values: Vec<Option<f64>>,
}

impl Values {
    /// Reads `key=value,key=value`; what is not given has its default.
    ///
    /// # Errors
    /// [`CatalogError`] if a key is unknown or repeated, or a value outside its bound.
    pub fn parse(
        scene: &'static str,
        parameters: &'static [Parameter],
        pairs: &str,
    ) -> Result<Self, CatalogError> {
        let mut given = Self {
            parameters,
            values: vec![None; parameters.len()],
        };
        for pair in pairs.split(',').map(str::trim) {
            if pair.is_empty() {
                continue;
            }
            let Some((key, text)) = pair.split_once('=') else {
                return Err(CatalogError::NotAPair {
                    scene,
                    text: pair.to_owned(),
                });
            };
            let (key, text) = (key.trim(), text.trim());
            let Some(index) = parameters.iter().position(|p| p.name == key) else {
                return Err(CatalogError::UnknownKey {
                    scene,
                    key: key.to_owned(),
                    known: names(parameters.iter().map(|p| p.name)),
                    nearest: nearest_name(key, parameters.iter().map(|p| p.name)),
                });
            };
            let Parameter { name, bound, .. } = parameters[index];
            let Some(value) = bound.read(text) else {
                return Err(CatalogError::Value {
                    scene,
                    key: name,
                    value: text.to_owned(),
                    bound: bound.to_string(),
                });
            };
            if given.values[index].replace(value).is_some() {
                return Err(CatalogError::Repeated { scene, key: name });
            }
        }
        Ok(given)
    }

    /// The number called `name`; NaN, which no scene starts with, if there is none.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        let found = self.parameters.iter().zip(&self.values);
        found
            .filter(|(parameter, _)| parameter.name == name)
            .map(|(parameter, value)| value.unwrap_or(parameter.default))
            .next()
            .unwrap_or(f64::NAN)
    }

    /// The whole number, or the place of the word, called `name`; 0 if there is none.
    #[must_use]
    pub fn whole(&self, name: &str) -> usize {
        self.number(name) as usize
    }
}
