//! The edges from every vertex of a mesh.

use glam::DVec3;
use std::collections::BTreeMap;

/// Edges that are looked at one by one.
const FEW: usize = 16;

/// Rounding of the balls.
const ROUNDING: f64 = 1e-12;

/// The edges from every vertex. Those of a vertex with many are a tree of halves that lie in similar directions.
#[derive(Clone, Debug)]
pub(super) struct Fans {
    /// Edges (m): those of vertex `i` are `edges[starts[i]..starts[i + 1]]`.
    edges: Vec<DVec3>,
    starts: Vec<usize>,
    /// By vertex, balls around the unit vectors along the edges: of all, of the first half, of its first half and so on.
    balls: BTreeMap<usize, Vec<Ball>>,
}

#[derive(Clone, Copy, Debug)]
struct Ball {
    middle: DVec3,
    radius: f64,
    /// Place of the ball of the second half, behind those of the first.
    second: usize,
}

impl Fans {
    /// Fans of `count` vertices, from edges with the numbers of the vertices that they lead from and to (m).
    pub(super) fn new(mut edges: Vec<(usize, usize, DVec3)>, count: usize) -> Self {
        edges.sort_by_key(|&(from, to, _)| (from, to));
        edges.dedup_by_key(|&mut (from, to, _)| (from, to));
        let starts: Vec<usize> = (0..=count)
            .map(|vertex| edges.partition_point(|edge| edge.0 < vertex))
            .collect();
        let mut edges: Vec<DVec3> = edges.into_iter().map(|edge| edge.2).collect();
        let mut balls = BTreeMap::new();
        for vertex in 0..count {
            let fan = &mut edges[starts[vertex]..starts[vertex + 1]];
            if fan.len() > FEW {
                let mut of_fan = Vec::new();
                split(fan, &mut of_fan);
                balls.insert(vertex, of_fan);
            }
        }
        Self {
            edges,
            starts,
            balls,
        }
    }

    /// Edges from a vertex (m).
    pub(super) fn edges(&self, vertex: usize) -> &[DVec3] {
        &self.edges[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// True if no edge from a vertex rises along a unit direction by more than this part of its length.
    pub(super) fn none_rises(&self, vertex: usize, direction: DVec3, part: f64) -> bool {
        let fan = self.edges(vertex);
        match self.balls.get(&vertex) {
            Some(balls) => none_rises(fan, balls, 0, direction, part),
            None => fan.iter().all(|edge| !rises(*edge, direction, part)),
        }
    }
}

/// True if an edge rises along a direction by more than this part of its length.
pub(super) fn rises(edge: DVec3, direction: DVec3, part: f64) -> bool {
    direction.dot(edge) > part * edge.length()
}

/// Orders a fan into halves of similar directions, and appends the balls of it, of its first half, of its second half.
fn split(fan: &mut [DVec3], balls: &mut Vec<Ball>) {
    let along = |edge: &DVec3| edge.normalize_or_zero();
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = fan
        .iter()
        .map(along)
        .fold(none, |(low, high), unit| (low.min(unit), high.max(unit)));
    let middle = 0.5 * (low + high);
    let distances = fan.iter().map(|edge| along(edge).distance(middle));
    let radius = distances.fold(0.0, f64::max);
    let place = balls.len();
    balls.push(Ball {
        middle,
        radius,
        second: 0,
    });
    if fan.len() > FEW {
        let axis = (high - low).max_position();
        let half = fan.len() / 2;
        fan.select_nth_unstable_by(half, |a, b| along(a)[axis].total_cmp(&along(b)[axis]));
        let (first, second) = fan.split_at_mut(half);
        split(first, balls);
        balls[place].second = balls.len();
        split(second, balls);
    }
}

/// The same for a fan whose ball is at a place among those given.
fn none_rises(fan: &[DVec3], balls: &[Ball], place: usize, direction: DVec3, part: f64) -> bool {
    let ball = &balls[place];
    if direction.dot(ball.middle) + ball.radius < part - ROUNDING {
        return true;
    }
    if fan.len() <= FEW {
        return fan.iter().all(|edge| !rises(*edge, direction, part));
    }
    let (first, second) = fan.split_at(fan.len() / 2);
    let halves = [(first, place + 1), (second, ball.second)];
    // First where an edge is more likely to rise.
    let height = |half: usize| direction.dot(balls[halves[half].1].middle);
    let order = if height(0) >= height(1) {
        [0, 1]
    } else {
        [1, 0]
    };
    order.into_iter().all(|half| {
        let (fan, place) = halves[half];
        none_rises(fan, balls, place, direction, part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edges of a hill, a pit, a saddle and a level ring, along many directions.
    #[test]
    fn many_edges_rise_where_one_of_them_does() {
        let mut rising = 0;
        for (slope, waves) in [(-0.3, 0.0), (0.3, 0.0), (0.1, 2.0), (0.0, 0.0), (-0.2, 5.0)] {
            let edge = |k: usize| {
                let angle = k as f64 * 0.37;
                let (sin, cos) = (libm::sin(angle), libm::cos(angle));
                let height = slope * libm::cos(waves * angle);
                (1.0 + k as f64 % 3.0) * DVec3::new(cos, sin, height)
            };
            let edges: Vec<_> = (0..999).map(|k| (0, k + 1, edge(k))).collect();
            let fans = Fans::new(edges, 1000);
            for i in 0..2000 {
                let angle = f64::from(i) * 0.11;
                let lean = f64::from(i % 40) * 0.02;
                let aside = DVec3::new(libm::cos(angle), libm::sin(angle), 0.0);
                let direction = (DVec3::Z + aside * lean).normalize();
                let any = (0..999).any(|k| rises(edge(k), direction, 1e-6));
                assert_eq!(!fans.none_rises(0, direction, 1e-6), any, "{slope} {i}");
                rising += usize::from(any);
            }
        }
        assert!((1000..9500).contains(&rising), "{rising}");
    }
}
