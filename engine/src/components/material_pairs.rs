//! Names of materials, and what holds where two of them meet.

use super::Material;
use crate::error::PairError;
use bevy_ecs::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The name of a material: 1 to [`MaterialName::MOST_BYTES`] bytes of UTF-8. It is held in place, so that a [`Material`] can be copied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(opaque, bevy_reflect::Serialize, bevy_reflect::Deserialize)
)]
pub struct MaterialName {
    /// Zeros at the end.
    bytes: [u8; Self::MOST_BYTES],
    length: u8,
}

impl MaterialName {
    /// The longest name, bytes.
    pub const MOST_BYTES: usize = 31;

    /// A name.
    ///
    /// # Errors
    /// [`PairError::Name`] if it is empty or too long.
    pub fn new(name: &str) -> Result<Self, PairError> {
        if name.is_empty() || name.len() > Self::MOST_BYTES {
            return Err(PairError::Name {
                name: name.to_owned(),
                bytes: name.len(),
            });
        }
        let mut bytes = [0; Self::MOST_BYTES];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        let length = name.len() as u8;
        Ok(Self { bytes, length })
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl FromStr for MaterialName {
    type Err = PairError;

    fn from_str(name: &str) -> Result<Self, PairError> {
        Self::new(name)
    }
}

impl fmt::Display for MaterialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for MaterialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for MaterialName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for MaterialName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// What holds where two materials meet, in the place of what their own numbers combine to. What is `None` combines as ever.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialPair {
    /// The two materials, in any order; the same one twice is the pair of two bodies of it.
    pub between: [MaterialName; 2],
    /// Coulomb coefficient `μ`, in [0, [`Material::MOST_FRICTION`]], also where one of them is frictionless.
    #[serde(default)]
    pub friction: Option<f64>,
    /// Newton's restitution coefficient, in [0, 1].
    #[serde(default)]
    pub restitution: Option<f64>,
    /// Approach speed below which contacts do not bounce, m/s, ≥ 0.
    #[serde(default)]
    pub bounce_threshold: Option<f64>,
    /// Force with which bodies hold together as long as they touch, N, in [0, [`Material::MOST_COHESION`]].
    #[serde(default)]
    pub cohesion: Option<f64>,
    /// Resistance against rolling, m, in [0, [`Material::MOST_RESISTANCE`]].
    #[serde(default)]
    pub rolling_resistance: Option<f64>,
    /// Resistance against spinning, m, in the same bounds.
    #[serde(default)]
    pub spinning_resistance: Option<f64>,
}

impl MaterialPair {
    /// A pair of which nothing is said yet.
    #[must_use]
    pub fn between(one: MaterialName, other: MaterialName) -> Self {
        Self {
            between: [one, other],
            friction: None,
            restitution: None,
            bounce_threshold: None,
            cohesion: None,
            rolling_resistance: None,
            spinning_resistance: None,
        }
    }

    fn key(&self) -> [MaterialName; 2] {
        ordered(self.between)
    }

    /// Every number is within its bounds.
    pub(crate) fn check(&self) -> Result<(), PairError> {
        let most = Material::MOST_FRICTION;
        let numbers = [
            ("friction", self.friction, most, "in [0, 1e3]"),
            ("restitution", self.restitution, 1.0, "in [0, 1]"),
            (
                "bounce threshold",
                self.bounce_threshold,
                f64::MAX,
                "finite and ≥ 0",
            ),
            (
                "cohesion",
                self.cohesion,
                Material::MOST_COHESION,
                "in [0, 1e12]",
            ),
            (
                "rolling resistance",
                self.rolling_resistance,
                Material::MOST_RESISTANCE,
                "in [0, 1e6]",
            ),
            (
                "spinning resistance",
                self.spinning_resistance,
                Material::MOST_RESISTANCE,
                "in [0, 1e6]",
            ),
        ];
        for (field, value, most, bound) in numbers {
            if let Some(value) = value.filter(|value| !(0.0..=most).contains(value)) {
                return Err(PairError::Field {
                    between: Box::new(self.between),
                    field,
                    value,
                    bound,
                });
            }
        }
        Ok(())
    }
}

/// The table of pairs of materials, by their names. A resource; [`Simulation::set_material_pairs`](crate::Simulation::set_material_pairs) checks it first.
/// Bodies whose materials have no name, or none of the table, do not pay for it.
///
/// ```
/// use moreau::prelude::*;
/// let [ice, rubber] = [MaterialName::new("ice")?, MaterialName::new("rubber")?];
/// let mut simulation = Simulation::new(Settings::default())?;
/// simulation.set_material_pairs(MaterialPairs(vec![MaterialPair {
///     friction: Some(0.03),
///     ..MaterialPair::between(ice, rubber)
/// }]))?;
/// let rink = Material { name: Some(ice), ..Material::with_friction(0.1) };
/// simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z), rink))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MaterialPairs(pub Vec<MaterialPair>);

impl MaterialPairs {
    /// Every pair is sound, and in the table once.
    ///
    /// # Errors
    /// [`PairError`] names the first pair at fault, the field, its value and the bound.
    pub fn validate(&self) -> Result<(), PairError> {
        PairTable::of(self).map(|_| ())
    }
}

/// Pairs that are sound, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PairTable {
    pairs: Vec<MaterialPair>,
}

impl PairTable {
    pub(crate) fn of(pairs: &MaterialPairs) -> Result<Self, PairError> {
        pairs.0.iter().try_for_each(MaterialPair::check)?;
        let mut pairs = pairs.0.clone();
        for pair in &mut pairs {
            pair.between = pair.key();
        }
        pairs.sort_by_key(MaterialPair::key);
        let mut neighbours = pairs.windows(2);
        match neighbours.find(|two| two[0].between == two[1].between) {
            Some(two) => Err(PairError::Twice {
                between: Box::new(two[1].between),
            }),
            None => Ok(Self { pairs }),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Some pair holds together.
    pub(crate) fn cohere(&self) -> bool {
        self.pairs.iter().any(|pair| pair.cohesion > Some(0.0))
    }

    /// Some pair has another law than Coulomb's.
    pub(crate) fn have_other_laws(&self) -> bool {
        let resists = |of: &MaterialPair| {
            of.rolling_resistance > Some(0.0) || of.spinning_resistance > Some(0.0)
        };
        self.pairs.iter().any(resists)
    }

    /// What is said of two materials, if both have names.
    pub(crate) fn find(&self, [a, b]: [&Material; 2]) -> Option<&MaterialPair> {
        let key = ordered([a.name?, b.name?]);
        let found = self.pairs.binary_search_by_key(&key, |pair| pair.between);
        found.ok().map(|place| &self.pairs[place])
    }
}

fn ordered([one, other]: [MaterialName; 2]) -> [MaterialName; 2] {
    if one <= other {
        [one, other]
    } else {
        [other, one]
    }
}
