//! What is no error in a scene, and hardly meant.

use crate::Collider;
use moreau_geometry::Winding;
use std::fmt;

/// Something in a scene that is allowed and hardly meant, with its place; see [`SceneRun::warnings`](super::SceneRun::warnings).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SceneWarning {
    /// The mesh of a body is wound inconsistently or inside out.
    Winding {
        /// The entry of the body, and its name.
        place: String,
        /// What is wrong with its mesh.
        winding: Winding,
    },
}

impl SceneWarning {
    /// What a shape gives rise to. One that cannot be built is an error elsewhere.
    pub(super) fn of_shape(collider: Option<&Collider>, place: &str) -> Option<Self> {
        let winding = collider?.geometry().ok()?.winding();
        (!winding.is_sound()).then(|| Self::Winding {
            place: place.to_owned(),
            winding,
        })
    }
}

impl fmt::Display for SceneWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Winding { place, winding } = self;
        match winding.first {
            Some([one, other]) => {
                let edges = match winding.edges_at_odds {
                    1 => "1 edge lies".to_owned(),
                    several => format!("{several} edges lie"),
                };
                write!(
                    f,
                    "{place}: {edges} between triangles of opposite winding, the first between triangles {one} and {other}: bodies pass \
                     those that face away"
                )
            }
            None => write!(
                f,
                "{place}: the closed mesh faces inwards: bodies outside pass into it"
            ),
        }
    }
}
