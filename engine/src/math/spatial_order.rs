//! An order of bodies in which neighbours in space are near each other.

use glam::DVec3;

/// Indices of `places` (m), neighbours in space near each other: cut across the longest axis into slices of equal
/// numbers, those into rows, and each row in its order [Leutenegger97, STR].
///
/// The arrays of a step are in the order of [`BodyId`](crate::BodyId), so that results depend on ids and states
/// alone. Bodies that meet should therefore have ids near each other: with ids in random order a step of a
/// hundred thousand spheres takes half as long again and more. Bodies that are placed one row after the other are in
/// such an order already; those that are placed at random are better spawned in this one.
///
/// ```
/// use moreau::prelude::*;
/// let places = [[9.0, 0.0, 1.0], [0.0, 0.0, 1.0], [9.3, 0.0, 1.0], [0.3, 0.0, 1.0]].map(DVec3::from);
/// let order = moreau::spatial_order(&places);
/// assert_eq!(order, [1, 3, 0, 2]);
/// let ball = Collider::sphere(0.1);
/// let bodies = order.iter().map(|k| (RigidBody::Dynamic, ball.clone(), Pose::from_position(places[*k])));
/// Simulation::new(Settings::default())?.spawn_batch(bodies)?;
/// # Ok::<(), StepError>(())
/// ```
#[must_use]
pub fn spatial_order(places: &[DVec3]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    let finite = || places.iter().filter(|place| place.is_finite());
    let low = finite().fold(DVec3::INFINITY, |low, place| low.min(*place));
    let high = finite().fold(DVec3::NEG_INFINITY, |high, place| high.max(*place));
    let extent = high - low;
    let mut axes = [0, 1, 2];
    axes.sort_by(|a, b| extent[*b].total_cmp(&extent[*a]));
    let parts = (libm::cbrt(places.len() as f64).ceil() as usize).max(1);
    let sort = |part: &mut [usize], axis: usize| {
        part.sort_unstable_by(|a, b| {
            let [x, y] = [a, b].map(|k| places[*k][axes[axis]]);
            x.total_cmp(&y).then(a.cmp(b))
        });
    };
    sort(&mut order, 0);
    let slice = places.len().div_ceil(parts).max(1);
    let row = slice.div_ceil(parts);
    for slice in order.chunks_mut(slice) {
        sort(slice, 1);
        for row in slice.chunks_mut(row) {
            sort(row, 2);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lattice of `edge` places along each axis, in an order without any order.
    fn shuffled_lattice(edge: usize) -> Vec<DVec3> {
        let count = edge.pow(3);
        // Multiples of a number without a factor in common with the count are a permutation.
        let index = (0..count).map(|k| k * 7919 % count);
        let at = |k: usize| {
            DVec3::new(
                (k % edge) as f64,
                (k / edge % edge) as f64,
                (k / edge / edge) as f64,
            )
        };
        index.map(at).collect()
    }

    #[test]
    fn neighbours_are_at_most_two_slices_rows_or_places_apart() {
        let edge = 12;
        let places = shuffled_lattice(edge);
        let order = spatial_order(&places);
        let mut rank = vec![usize::MAX; places.len()];
        for (k, place) in order.iter().enumerate() {
            rank[*place] = k;
        }
        assert!(!rank.contains(&usize::MAX), "some place is left out");
        // Along each axis: in the order, and as they were given.
        let (mut farthest, mut given) = ([0; 3], [0; 3]);
        for (i, a) in places.iter().enumerate() {
            for (j, b) in places.iter().enumerate() {
                if let Some(axis) = DVec3::AXES.iter().position(|axis| *a + *axis == *b) {
                    farthest[axis] = rank[i].abs_diff(rank[j]).max(farthest[axis]);
                    given[axis] = i.abs_diff(j).max(given[axis]);
                }
            }
        }
        // All extents are the same: slices of `edge²` places across x, rows of `edge` places across y.
        for (axis, part) in [edge * edge, edge, 1].into_iter().enumerate() {
            assert!(farthest[axis] <= 2 * part, "{axis}: {farthest:?}");
            assert!(given[axis] > 2 * part, "has an order: {given:?}");
        }
    }

    #[test]
    fn every_place_occurs_once_whatever_it_is() {
        let mut places = shuffled_lattice(4);
        places[3] = DVec3::NAN;
        places[9] = DVec3::new(f64::INFINITY, 0.0, f64::NEG_INFINITY);
        places[11] = places[12];
        places[20] = DVec3::splat(1e300);
        for count in [0, 1, 2, 5, 27, 28, 64] {
            let mut order = spatial_order(&places[..count]);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
