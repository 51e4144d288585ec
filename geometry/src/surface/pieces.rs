//! Triangles with the normals of their neighbours, cut where these change along an edge; the edges from every vertex.

use super::SurfaceTriangle;
use super::fan::Fans;
use super::flat::{self, FLAT, Level};
use super::opposed::opposed;
use super::seams::{Part, Seams};
use super::sides::Sheets;
use super::triangle::{CONE_TOLERANCE, normal_of};
use super::weld::Welded;
use glam::DVec3;
use smallvec::SmallVec;

/// A triangle, or a part of one, with the numbers of its corners.
pub(super) struct Piece {
    pub(super) triangle: SurfaceTriangle,
    pub(super) ids: [usize; 3],
    pub(super) sheets: Sheets,
    /// The triangle that it is of.
    pub(super) of: usize,
}

/// The triangles; one with different neighbours behind parts of an edge is cut where these change.
pub(super) fn pieces(mesh: &Welded, seams: &Seams) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(mesh.triangles.len());
    let sheets = seams.sheets(mesh);
    let opposed = match seams.crowded.is_empty() {
        true => vec![false; mesh.triangles.len()],
        false => opposed(mesh),
    };
    for t in 0..mesh.triangles.len() {
        let corners = mesh.corners(t);
        let normal = normal_of(corners);
        let normal_behind =
            |neighbour: Option<usize>| neighbour.map(|other| normal_of(mesh.corners(other)));
        let first = pieces.len();
        if let Some(neighbours) = seams.neighbours(t) {
            pieces.push(Piece {
                triangle: SurfaceTriangle::new(corners, normal, neighbours.map(normal_behind)),
                ids: mesh.triangles[t],
                sheets: None,
                of: 0,
            });
        } else {
            let sides = [0, 1, 2].map(|k| {
                let mut side: Vec<Stretch> = Vec::new();
                for Part { end, at, neighbour } in seams.parts(mesh, t, k) {
                    let (from, to) = (corners[k], corners[(k + 1) % 3]);
                    let here = Stretch {
                        id: end,
                        end: if at < 1.0 { from.lerp(to, at) } else { to },
                        behind: normal_behind(neighbour),
                    };
                    match side.last_mut() {
                        Some(last) if last.continues(&here) => {
                            (last.id, last.end) = (here.id, here.end);
                        }
                        _ => side.push(here),
                    }
                }
                side
            });
            cut(corners, mesh.triangles[t], &sides, normal, &mut pieces);
        }
        for piece in &mut pieces[first..] {
            piece.of = t;
            let own_back = mesh.backs[t].map(|back| [sheets[t], sheets[back]]);
            // It acts on what has its centre before its plane, as where a sheet goes over into its own back.
            piece.sheets = own_back.or(opposed[t].then_some([sheets[t]; 2]));
        }
    }
    pieces
}

/// A part of an edge with one neighbour: its end, and the normal behind it.
#[derive(Clone, Copy)]
struct Stretch {
    id: usize,
    end: DVec3,
    behind: Option<DVec3>,
}

impl Stretch {
    fn continues(&self, next: &Self) -> bool {
        match (self.behind, next.behind) {
            (None, None) => true,
            (Some(a), Some(b)) => (a - b).length() <= CONE_TOLERANCE,
            _ => false,
        }
    }
}

/// Cuts a triangle from its corners to the ends of all stretches of its sides.
fn cut(
    corners: [DVec3; 3],
    ids: [usize; 3],
    sides: &[Vec<Stretch>; 3],
    normal: DVec3,
    pieces: &mut Vec<Piece>,
) {
    let Some(k) = (0..3).find(|k| sides[*k].len() > 1) else {
        let behind = [0, 1, 2].map(|k| sides[k].first().and_then(|stretch| stretch.behind));
        pieces.push(Piece {
            triangle: SurfaceTriangle::new(corners, normal, behind),
            ids,
            sheets: None,
            of: 0,
        });
        return;
    };
    let (next, opposite) = ((k + 1) % 3, (k + 2) % 3);
    let inner = |id: usize, end: DVec3| {
        let behind = Some(normal);
        vec![Stretch { id, end, behind }]
    };
    let (mut from, mut from_id) = (corners[k], ids[k]);
    for (number, stretch) in sides[k].iter().enumerate() {
        let onward = if number + 1 == sides[k].len() {
            sides[next].clone()
        } else {
            inner(ids[opposite], corners[opposite])
        };
        let back = if number == 0 {
            sides[opposite].clone()
        } else {
            inner(from_id, from)
        };
        cut(
            [from, stretch.end, corners[opposite]],
            [from_id, stretch.id, ids[opposite]],
            &[vec![*stretch], onward, back],
            normal,
            pieces,
        );
        (from, from_id) = (stretch.end, stretch.id);
    }
}

/// The edges from every vertex.
pub(super) fn fans(pieces: &[Piece], mesh: &Welded, seams: &Seams) -> Fans {
    let mut edges: Vec<(usize, usize, DVec3)> = Vec::with_capacity(6 * pieces.len());
    for Piece { triangle, ids, .. } in pieces {
        for k in 0..3 {
            let next = (k + 1) % 3;
            let edge = triangle.vertices[next] - triangle.vertices[k];
            edges.push((ids[k], ids[next], edge));
            edges.push((ids[next], ids[k], -edge));
        }
    }
    // From corners in the middle of an edge, the triangle spreads between its own corners.
    for (&(t, _), parts) in &seams.parted {
        for part in &parts[..parts.len() - 1] {
            for id in mesh.triangles[t] {
                edges.push((part.end, id, mesh.points[id] - mesh.points[part.end]));
            }
        }
    }
    Fans::new(edges, mesh.points.len())
}

/// Where the pieces lie in their planes; a piece of a triangle that is cut is alone.
pub(super) fn levels(pieces: &[Piece], mesh: &Welded, seams: &Seams) -> Vec<Level> {
    let mut whole = vec![None; mesh.triangles.len()];
    for same in pieces.chunk_by(|a, b| a.of == b.of) {
        if let [piece] = same {
            whole[piece.of] = Some(&piece.triangle);
        }
    }
    let neighbours = |t: usize, edge: usize| -> SmallVec<[Option<usize>; 2]> {
        match seams.neighbours(t) {
            Some(neighbours) => SmallVec::from_slice(&[neighbours[edge]]),
            None => {
                let parts = seams.parts(mesh, t, edge).into_iter();
                parts.map(|part| part.neighbour).collect()
            }
        }
    };
    let are_level = |a: usize, b: usize| match (whole[a], whole[b]) {
        (Some(a), Some(b)) => a.is_level_with(b, FLAT),
        _ => false,
    };
    let levels = flat::levels(whole.len(), neighbours, are_level);
    let level = |piece: &Piece| match whole[piece.of] {
        Some(_) => levels[piece.of],
        None => Level::alone(piece.of),
    };
    pieces.iter().map(level).collect()
}
