//! Triangulated surfaces: meshes and height fields, with the normal cones of their edges.
//!
//! A body that slides over two coplanar triangles must not notice their common edge. So every
//! edge carries the largest angle by which a contact normal may lean over it: the dihedral angle
//! of a convex edge, zero for a flat or concave one, a right angle for a free border. Normals
//! outside this cone belong to a neighbour and are refused ([`SurfaceTriangle::permits`]).
//!
//! Vertices of a mesh that are near each other are one (`weld`), and the neighbour of an edge may be that of a part (`seams`). A triangle
//! is cut only where its neighbours along an edge are not in one plane.

mod seams;
mod weld;

use crate::projection::onto_segment;
use crate::{Aabb, GeometryError, Winding};
use glam::DVec3;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use seams::{Part, Seams};
use smallvec::SmallVec;
use weld::Welded;

/// Angular tolerance of the normal cones (rad): far above rounding, far below any visible edge.
pub(crate) const CONE_TOLERANCE: f64 = 1e-6;

/// The edge `vertices[k] → vertices[k + 1]` of a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rim {
    /// Unit vector in the triangle's plane, across the edge, outward.
    pub(crate) outward: DVec3,
    /// Cosine of the largest lean.
    pub(crate) cos: f64,
    /// Sine of the largest lean.
    pub(crate) sin: f64,
    /// The neighbour rises behind the edge: what is over it is held by both planes.
    pub(crate) rises: bool,
}

impl Rim {
    /// True if the normal, of which `along` is the part along the triangle's, leans over this edge
    /// by no more than it may.
    fn permits(&self, direction: DVec3, along: f64) -> bool {
        let across = direction.dot(self.outward);
        across <= CONE_TOLERANCE || across * self.cos <= along * self.sin + CONE_TOLERANCE
    }
}

/// One triangle of a surface, in the surface's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SurfaceTriangle {
    pub(crate) vertices: [DVec3; 3],
    /// Unit normal on the free side.
    pub(crate) normal: DVec3,
    pub(crate) rims: [Rim; 3],
}

impl SurfaceTriangle {
    /// Triangle with the normals of its neighbours across the three edges (`None` at a border).
    fn new(vertices: [DVec3; 3], normal: DVec3, neighbours: [Option<DVec3>; 3]) -> Self {
        let mut rims = [Rim::default(); 3];
        for (k, rim) in rims.iter_mut().enumerate() {
            let outward = (vertices[(k + 1) % 3] - vertices[k])
                .cross(normal)
                .normalize_or_zero();
            let (cos, sin) = match neighbours[k] {
                None => (0.0, 1.0),
                Some(other) if other.dot(outward) > CONE_TOLERANCE => {
                    (other.dot(normal), other.dot(outward))
                }
                Some(_) => (1.0, 0.0),
            };
            *rim = Rim {
                outward,
                cos,
                sin,
                rises: neighbours[k].is_some_and(|other| other.dot(outward) < -CONE_TOLERANCE),
            };
        }
        Self {
            vertices,
            normal,
            rims,
        }
    }

    /// True if a point is before the triangle's plane, within `margin` (m) of it, and beside it behind edges alone at which the
    /// surface rises: the space there is that before both planes, so that the point gets to this one.
    pub(crate) fn is_ahead(&self, point: DVec3, margin: f64) -> bool {
        let height = self.normal.dot(point - self.vertices[0]);
        let mut beside = false;
        let within = self.rims.iter().zip(&self.vertices).all(|(rim, vertex)| {
            let over = rim.outward.dot(point - *vertex);
            beside |= over > 0.0;
            over <= 0.0 || rim.rises && over <= margin
        });
        within && beside && height >= 0.0 && height <= margin
    }

    /// The point of the triangle that is nearest to `point` (m).
    fn nearest(&self, point: DVec3) -> DVec3 {
        let offset = point - self.vertices[0];
        let mut over = self.rims.iter().zip(&self.vertices);
        if over.all(|(rim, vertex)| rim.outward.dot(point - *vertex) <= 0.0) {
            return point - self.normal * self.normal.dot(offset);
        }
        let [a, b, c] = self.vertices;
        [(b, c), (c, a)]
            .into_iter()
            .map(|(from, to)| onto_segment(point, from, to))
            .fold(onto_segment(point, a, b), |best, next| {
                let nearer = next.distance_squared(point) < best.distance_squared(point);
                if nearer { next } else { best }
            })
    }

    /// True if a contact normal (unit, away from the surface) may act on this triangle.
    ///
    /// For each edge, the projection of the normal on the plane across it must make an angle with
    /// the triangle's normal of at most the edge's lean: `(l·t) cos ≤ (l·n) sin`.
    pub(crate) fn permits(&self, direction: DVec3) -> bool {
        let along = direction.dot(self.normal);
        along > -CONE_TOLERANCE && self.rims.iter().all(|rim| rim.permits(direction, along))
    }
}

/// The normal cone of a triangle within its surface: that of its edges, and beyond it the cones of
/// its corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone<'a> {
    /// The triangle, in the surface's frame up to a translation.
    pub(crate) triangle: &'a SurfaceTriangle,
    /// The surface that it belongs to.
    pub(crate) surface: &'a Surface,
    /// Its number there.
    pub(crate) id: u32,
}

impl Cone<'_> {
    /// True if a contact normal (unit, away from the surface, in its frame) may act on this
    /// triangle.
    ///
    /// The cones of all three edges are too narrow in two cases. A normal that acts on one edge may
    /// lean a little over another. And at a tip with concave edges a normal may lean over an edge,
    /// since the neighbour behind it falls off sideways: there a normal is permitted if no edge of
    /// the whole surface rises along it from the corner it acts on.
    pub(crate) fn permits(&self, direction: DVec3) -> bool {
        let triangle = self.triangle;
        if triangle.permits(direction) {
            return true;
        }
        let along = direction.dot(triangle.normal);
        if along <= -CONE_TOLERANCE {
            return false;
        }
        let heights = triangle.vertices.map(|v| direction.dot(v));
        let corner = match heights {
            [a, b, c] if a >= b && a >= c => 0,
            [_, b, c] if b >= c => 1,
            _ => 2,
        };
        // The edges that meet there, if they are level.
        for (edge, other) in [
            (corner, (corner + 1) % 3),
            ((corner + 2) % 3, (corner + 2) % 3),
        ] {
            let length = (triangle.vertices[other] - triangle.vertices[corner]).length();
            if heights[corner] - heights[other] <= CONE_TOLERANCE * length
                && triangle.rims[edge].permits(direction, along)
            {
                return true;
            }
        }
        self.surface.edges_all(self.id, corner, |edge| {
            direction.dot(edge) <= CONE_TOLERANCE * edge.length()
        })
    }
}

fn normal_of([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Sides of the sheets around the centre of a solid. A sheet with two sides is two sheets back to back, of which one acts: that on which
/// the centre is where it is nearest. The plane of a triangle alone does not tell: beyond a ridge the centre sinks below it.
pub(crate) struct Sides<'a> {
    point: DVec3,
    sheets: &'a [Sheets],
    known: SmallVec<[Side; 1]>,
}

/// The numbers of the sheets that a triangle and its back belong to, if it is there with the opposite winding too.
type Sheets = Option<[usize; 2]>;

/// Of two sheets back to back, the one that faces the point.
struct Side {
    sheets: [usize; 2],
    facing: usize,
    /// Squared distance of the nearest triangle (m²), and the height of the point over its plane (m).
    square: f64,
    height: f64,
}

impl Sides<'_> {
    fn add(&mut self, id: u32, triangle: &SurfaceTriangle) {
        let Some([own, back]) = self.sheets[id as usize] else {
            return;
        };
        let height = triangle.normal.dot(self.point - triangle.vertices[0]);
        let side = Side {
            sheets: [own.min(back), own.max(back)],
            facing: if height >= 0.0 { own } else { back },
            square: triangle.nearest(self.point).distance_squared(self.point),
            height: height.abs(),
        };
        match self
            .known
            .iter_mut()
            .find(|known| known.sheets == side.sheets)
        {
            Some(known) => {
                // Of triangles that share the nearest point, the one that the point is most before is right.
                let level = (side.square - known.square).abs() <= 1e-9 * known.square;
                let better = if level {
                    side.height > known.height
                } else {
                    side.square < known.square
                };
                if better {
                    *known = side;
                }
            }
            None => self.known.push(side),
        }
    }

    /// True if a triangle acts on the solid.
    pub(crate) fn face(&self, id: u32, triangle: &SurfaceTriangle) -> bool {
        match self.sheets.get(id as usize).copied().flatten() {
            None => true,
            // A sheet that goes over into its own back.
            Some([own, back]) if own == back => {
                triangle.normal.dot(self.point - triangle.vertices[0]) >= 0.0
            }
            Some([own, back]) => {
                let sheets = [own.min(back), own.max(back)];
                let side = self.known.iter().find(|known| known.sheets == sheets);
                side.is_none_or(|side| side.facing == own)
            }
        }
    }
}

/// A surface in its local frame (m).
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    Mesh(Mesh),
    Field(Field),
}

/// Triangle mesh with a bounding volume tree.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    triangles: Vec<SurfaceTriangle>,
    tree: Bvh,
    bounds: Aabb,
    /// Number of the vertex at each corner; vertices at the same place are one.
    corners: Vec<[usize; 3]>,
    winding: Winding,
    /// Sheets of the triangles; empty if none has two sides.
    sheets: Vec<Sheets>,
    /// Edges from each vertex (m): those of vertex `i` are `fans[starts[i]..starts[i + 1]]`.
    fans: Vec<DVec3>,
    starts: Vec<usize>,
}

/// Regular grid of heights; each cell is two triangles, split along the diagonal from its least
/// corner to its greatest.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    origin: DVec3,
    step: DVec3,
    columns: usize,
    rows: usize,
    heights: Vec<f64>,
    bounds: Aabb,
}

impl Surface {
    pub(crate) fn bounds(&self) -> Aabb {
        match self {
            Self::Mesh(mesh) => mesh.bounds,
            Self::Field(field) => field.bounds,
        }
    }

    /// Calls `visit` with the number and data of every triangle whose box meets `region`.
    pub(crate) fn visit(&self, region: &Aabb, visit: impl FnMut(u32, &SurfaceTriangle)) {
        match self {
            Self::Mesh(mesh) => mesh.visit(region, visit),
            Self::Field(field) => field.visit(region, visit),
        }
    }

    /// On which side of the sheets with two sides that reach into `region` a point is.
    pub(crate) fn sides(&self, region: &Aabb, point: DVec3) -> Sides<'_> {
        let mut sides = Sides {
            point,
            sheets: &[],
            known: SmallVec::new(),
        };
        if let Self::Mesh(mesh) = self
            && !mesh.sheets.is_empty()
        {
            sides.sheets = &mesh.sheets;
            mesh.visit(region, |id, triangle| sides.add(id, triangle));
        }
        sides
    }

    /// How the triangles fit together; a height field faces up throughout.
    pub(crate) fn winding(&self) -> Winding {
        match self {
            Self::Mesh(mesh) => mesh.winding,
            Self::Field(_) => Winding::default(),
        }
    }

    /// True if `holds` does for every edge of the surface from a triangle's corner.
    fn edges_all(&self, id: u32, corner: usize, holds: impl FnMut(DVec3) -> bool) -> bool {
        match self {
            Self::Mesh(mesh) => mesh.fan(id, corner).iter().copied().all(holds),
            Self::Field(field) => field.fan(id, corner).all(holds),
        }
    }
}

impl Mesh {
    pub(crate) fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        for (field, count, least) in [
            ("vertices", vertices.len(), 3),
            ("triangles", triangles.len(), 1),
        ] {
            if count < least {
                return Err(GeometryError::TooFew {
                    field,
                    count,
                    least,
                });
            }
        }
        for vertex in vertices {
            crate::error::finite("vertices", *vertex)?;
        }
        for (triangle, ids) in triangles.iter().enumerate() {
            if let Some(&index) = ids.iter().find(|i| **i as usize >= vertices.len()) {
                return Err(GeometryError::IndexOutOfRange {
                    triangle,
                    index,
                    count: vertices.len(),
                });
            }
            let [a, b, c] = ids.map(|i| vertices[i as usize]);
            let double_area = (b - a).cross(c - a).length();
            let longest = [b - a, c - b, a - c]
                .iter()
                .fold(0.0_f64, |longest, edge| longest.max(edge.length_squared()));
            if double_area.is_nan() || double_area <= 1e-12 * longest {
                return Err(GeometryError::DegenerateTriangle {
                    triangle,
                    area: 0.5 * double_area,
                });
            }
        }
        let mut welded = Welded::new(vertices, triangles);
        if welded.triangles.is_empty() {
            let [a, b, c] = triangles[0].map(|i| vertices[i as usize]);
            return Err(GeometryError::DegenerateTriangle {
                triangle: 0,
                area: 0.5 * (b - a).cross(c - a).length(),
            });
        }
        let seams = Seams::new(&mut welded);
        let pieces = pieces(&welded, &seams);
        let sheets = match welded.backs.iter().any(Option::is_some) {
            true => pieces.iter().map(|piece| piece.sheets).collect(),
            false => Vec::new(),
        };
        let (fans, starts) = fans(&pieces, &welded, &seams);
        let boxes: Vec<_> = pieces
            .iter()
            .map(|piece| Aabb::from_points(piece.triangle.vertices).to_parry())
            .collect();
        let all = pieces.iter().flat_map(|piece| piece.triangle.vertices);
        Ok(Self {
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            bounds: Aabb::from_points(all),
            sheets,
            corners: pieces.iter().map(|piece| piece.ids).collect(),
            triangles: pieces.into_iter().map(|piece| piece.triangle).collect(),
            fans,
            starts,
            winding: seams.winding,
        })
    }

    fn fan(&self, id: u32, corner: usize) -> &[DVec3] {
        let vertex = self.corners[id as usize][corner];
        &self.fans[self.starts[vertex]..self.starts[vertex + 1]]
    }

    fn visit(&self, region: &Aabb, mut visit: impl FnMut(u32, &SurfaceTriangle)) {
        let region = region.to_parry();
        for id in self.tree.intersect_aabb(&region) {
            visit(id, &self.triangles[id as usize]);
        }
    }
}

/// A triangle, or a part of one, with the numbers of its corners.
struct Piece {
    triangle: SurfaceTriangle,
    ids: [usize; 3],
    sheets: Sheets,
}

/// The triangles; one with different neighbours behind parts of an edge is cut where these change.
fn pieces(mesh: &Welded, seams: &Seams) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(mesh.triangles.len());
    let sheets = seams.sheets(mesh);
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
            piece.sheets = mesh.backs[t].map(|back| [sheets[t], sheets[back]]);
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

/// The edges from every vertex, one vertex after the other, and where those of each start.
fn fans(pieces: &[Piece], mesh: &Welded, seams: &Seams) -> (Vec<DVec3>, Vec<usize>) {
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
    edges.sort_by_key(|&(from, to, _)| (from, to));
    edges.dedup_by_key(|&mut (from, to, _)| (from, to));
    let starts = (0..=mesh.points.len())
        .map(|vertex| edges.partition_point(|edge| edge.0 < vertex))
        .collect();
    (edges.into_iter().map(|edge| edge.2).collect(), starts)
}

impl Field {
    pub(crate) fn new(
        x_size: f64,
        y_size: f64,
        columns: usize,
        heights: &[f64],
    ) -> Result<Self, GeometryError> {
        crate::error::positive("x_size", x_size)?;
        crate::error::positive("y_size", y_size)?;
        let too_few = |field, count| GeometryError::TooFew {
            field,
            count,
            least: 2,
        };
        if columns < 2 {
            return Err(too_few("columns", columns));
        }
        if !heights.len().is_multiple_of(columns) {
            return Err(GeometryError::Ragged {
                field: "heights",
                count: heights.len(),
                step: columns,
            });
        }
        let rows = heights.len() / columns;
        if rows < 2 {
            return Err(too_few("rows", rows));
        }
        if let Some(&value) = heights.iter().find(|h| !h.is_finite()) {
            return Err(GeometryError::NotFinite {
                field: "heights",
                value,
            });
        }
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let half = 0.5 * DVec3::new(x_size, y_size, 0.0);
        Ok(Self {
            origin: -half,
            step: DVec3::new(
                x_size / (columns - 1) as f64,
                y_size / (rows - 1) as f64,
                0.0,
            ),
            columns,
            rows,
            heights: heights.to_vec(),
            bounds: Aabb::new(-half + DVec3::Z * low, half + DVec3::Z * high),
        })
    }

    fn vertex(&self, row: usize, column: usize) -> DVec3 {
        DVec3::new(
            self.origin.x + self.step.x * column as f64,
            self.origin.y + self.step.y * row as f64,
            self.heights[row * self.columns + column],
        )
    }

    /// Corners of the lower right (`half = 0`) or upper left triangle of a cell.
    fn corners(&self, row: usize, column: usize, half: usize) -> [DVec3; 3] {
        let least = self.vertex(row, column);
        let greatest = self.vertex(row + 1, column + 1);
        if half == 0 {
            [least, self.vertex(row, column + 1), greatest]
        } else {
            [least, greatest, self.vertex(row + 1, column)]
        }
    }

    /// Edges from a triangle's corner.
    fn fan(&self, id: u32, corner: usize) -> impl Iterator<Item = DVec3> + '_ {
        let (cell, half) = (id as usize / 2, id as usize % 2);
        let (up, right) = [[(0, 0), (0, 1), (1, 1)], [(0, 0), (1, 1), (1, 0)]][half][corner];
        let row = cell / (self.columns - 1) + up;
        let column = cell % (self.columns - 1) + right;
        let origin = self.vertex(row, column);
        // Along the sides of the cells and along their diagonals; `step − 1` is the offset.
        [(1, 2), (2, 2), (2, 1), (1, 0), (0, 0), (0, 1)]
            .into_iter()
            .filter_map(move |(up, right)| {
                let row = (row + up).checked_sub(1).filter(|row| *row < self.rows)?;
                let column = (column + right)
                    .checked_sub(1)
                    .filter(|column| *column < self.columns)?;
                Some(self.vertex(row, column) - origin)
            })
    }

    fn triangle(&self, row: usize, column: usize, half: usize) -> SurfaceTriangle {
        let normal = |row: usize, column: usize, half: usize| {
            (row + 1 < self.rows && column + 1 < self.columns)
                .then(|| normal_of(self.corners(row, column, half)))
        };
        let neighbours = if half == 0 {
            [
                row.checked_sub(1).and_then(|row| normal(row, column, 1)),
                normal(row, column + 1, 1),
                normal(row, column, 1),
            ]
        } else {
            [
                normal(row, column, 0),
                normal(row + 1, column, 0),
                column
                    .checked_sub(1)
                    .and_then(|column| normal(row, column, 0)),
            ]
        };
        let corners = self.corners(row, column, half);
        SurfaceTriangle::new(corners, normal_of(corners), neighbours)
    }

    fn visit(&self, region: &Aabb, mut visit: impl FnMut(u32, &SurfaceTriangle)) {
        if !region.intersects(&self.bounds) {
            return;
        }
        // Cells whose closed span meets [low, high] of the region; casts saturate at zero.
        let span = |axis: usize, cells: usize| {
            let low = (region.min[axis] - self.origin[axis]) / self.step[axis];
            let high = (region.max[axis] - self.origin[axis]) / self.step[axis];
            let first = (low.floor() - 1.0).max(0.0) as usize;
            let last = (high.floor() + 1.0).max(0.0) as usize;
            first..last.min(cells - 1) + 1
        };
        for row in span(1, self.rows - 1) {
            for column in span(0, self.columns - 1) {
                for half in 0..2 {
                    if !Aabb::from_points(self.corners(row, column, half)).intersects(region) {
                        continue;
                    }
                    let id = 2 * (row * (self.columns - 1) + column) + half;
                    visit(id as u32, &self.triangle(row, column, half));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_and_mesh_agree_on_triangles_and_cones() {
        let heights: Vec<f64> = (0..12).map(|i| f64::from(i * i % 7) * 0.3).collect();
        let field = Field::new(3.0, 2.0, 4, &heights).unwrap();
        let mut from_field = Vec::new();
        field.visit(&Aabb::EVERYTHING.clone(), |id, triangle| {
            from_field.push((id, *triangle));
        });
        assert_eq!(from_field.len(), 12);
        // Unwelded copy of the same triangles: welding must recover the neighbours.
        let vertices: Vec<DVec3> = from_field.iter().flat_map(|(_, t)| t.vertices).collect();
        let ids: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let mesh = Mesh::new(&vertices, &ids).unwrap();
        for ((_, a), b) in from_field.iter().zip(&mesh.triangles) {
            assert_eq!(a, b);
        }
        let sorted = |mut edges: Vec<DVec3>| {
            edges.iter_mut().for_each(|edge| *edge += DVec3::ZERO);
            edges.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
            edges
        };
        for id in 0..12 {
            for corner in 0..3 {
                let of_field = sorted(field.fan(id, corner).collect());
                assert_eq!(of_field, sorted(mesh.fan(id, corner).to_vec()));
            }
        }
    }

    #[test]
    fn flat_edges_permit_only_the_face_normal() {
        let field = Field::new(2.0, 2.0, 3, &[0.0; 9]).unwrap();
        let triangle = field.triangle(0, 1, 1);
        assert_eq!(triangle.normal, DVec3::Z);
        assert!(triangle.permits(DVec3::Z));
        let lean = DVec3::new(0.1, 0.05, 1.0).normalize();
        assert!(!triangle.permits(lean) && !triangle.permits(-DVec3::Z));
    }

    #[test]
    fn bad_surfaces_are_refused() {
        assert!(matches!(
            Field::new(1.0, 1.0, 2, &[0.0; 3]),
            Err(GeometryError::Ragged { count: 3, .. })
        ));
        assert!(matches!(
            Field::new(1.0, 1.0, 2, &[0.0; 2]),
            Err(GeometryError::TooFew { field: "rows", .. })
        ));
        assert!(matches!(
            Field::new(1.0, -1.0, 2, &[0.0; 4]),
            Err(GeometryError::NotPositive {
                field: "y_size",
                ..
            })
        ));
        let square = [DVec3::ZERO, DVec3::X, DVec3::Y];
        assert!(matches!(
            Mesh::new(&square, &[[0, 1, 3]]),
            Err(GeometryError::IndexOutOfRange { index: 3, .. })
        ));
        assert!(matches!(
            Mesh::new(&square, &[[0, 1, 1]]),
            Err(GeometryError::DegenerateTriangle { triangle: 0, .. })
        ));
        assert!(Mesh::new(&square, &[]).is_err());
    }

    fn soup(triangles: &[[DVec3; 3]]) -> Result<Mesh, GeometryError> {
        let ids: Vec<[u32; 3]> = (0..triangles.len() as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        Mesh::new(&triangles.concat(), &ids)
    }

    /// Two triangles over a rectangle from `x` and `y`, at height `slope · x` for x > 0.
    fn tile(x: [f64; 2], y: [f64; 2], slope: f64) -> [[DVec3; 3]; 2] {
        let at = |i: usize, j: usize| DVec3::new(x[i], y[j], slope * x[i].max(0.0));
        let [a, b, c, d] = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
        [[a, b, c], [a, c, d]]
    }

    /// The rim of the left tile at x = 0.
    fn seam(mesh: &Mesh) -> Vec<Rim> {
        let on_seam = |t: &&SurfaceTriangle| t.vertices.iter().all(|v| v.x <= 1e-6);
        let left = mesh.triangles.iter().filter(on_seam);
        let rims = left.flat_map(|t| t.rims);
        rims.filter(|rim| rim.outward.x > 0.99).collect()
    }

    fn agree(a: &Rim, b: &Rim) -> bool {
        (a.outward - b.outward).length() < 1e-7
            && (a.cos - b.cos).abs() < 1e-7
            && (a.sin - b.sin).abs() < 1e-7
            && a.rises == b.rises
    }

    #[test]
    fn an_edge_with_a_corner_in_its_middle_has_the_cone_of_a_whole_one() {
        for slope in [-0.5, 0.0, 0.5] {
            for off in [0.0, 1e-9, -1e-9] {
                let left = tile([-2.0, 0.0], [-1.0, 1.0], slope);
                let one = soup(&[left, tile([0.0, 2.0], [-1.0, 1.0], slope)].concat()).unwrap();
                let whole = seam(&one);
                assert_eq!(whole.len(), 1);
                let lower = tile([off, 2.0], [-1.0, 0.3], slope);
                let upper = tile([off, 2.0], [0.3, 1.0], slope);
                let two = soup(&[left, lower, upper].concat()).unwrap();
                let parted = seam(&two);
                assert!(
                    parted.len() == 1 && agree(&parted[0], &whole[0]),
                    "slope {slope}"
                );
                assert_eq!((two.triangles.len(), two.winding), (6, Winding::default()));
                // And back from the small ones.
                let back = |t: &SurfaceTriangle| {
                    let at_seam = t.rims.iter().filter(|rim| rim.outward.x < -0.8);
                    let lean = at_seam.map(|rim| libm::atan2(rim.sin, rim.cos));
                    lean.collect::<Vec<_>>()
                };
                let right: Vec<f64> = two.triangles[2..].iter().flat_map(back).collect();
                let lean = libm::atan(-slope).max(0.0);
                assert!(right.len() == 2 && right.iter().all(|x| (x - lean).abs() < 1e-7));
            }
        }
    }

    #[test]
    fn an_edge_with_a_neighbour_along_a_part_is_free_elsewhere() {
        let left = tile([-2.0, 0.0], [-1.0, 1.0], 0.0);
        let right = tile([0.0, 2.0], [-0.5, 0.3], 0.0);
        let mesh = soup(&[left, right].concat()).unwrap();
        let seam: Vec<f64> = seam(&mesh).iter().map(|rim| rim.sin).collect();
        assert_eq!(seam, [1.0, 0.0, 1.0]);
        assert_eq!(mesh.triangles.len(), 6);
        let area = |t: &SurfaceTriangle| {
            let [a, b, c] = t.vertices;
            0.5 * (b - a).cross(c - a).length()
        };
        let sum: f64 = mesh.triangles.iter().map(area).sum();
        assert!((sum - 5.6).abs() < 1e-14, "{sum}");
    }

    #[test]
    fn corners_in_the_middle_of_all_edges_part_a_triangle() {
        let hole = [DVec3::ZERO, DVec3::X * 3.0, DVec3::Y * 3.0];
        // Around it: whole, in two and in three parts; the parts fall off by different slopes.
        let mut triangles = vec![hole];
        let mut part = |k: usize, from: f64, to: f64, fall: f64| {
            let (a, b) = (hole[k], hole[(k + 1) % 3]);
            let out = (b - a).cross(DVec3::Z).normalize() - DVec3::Z * fall;
            let (p, q) = (a.lerp(b, from), a.lerp(b, to));
            triangles.push([q, p, 0.5 * (p + q) + out]);
        };
        for (k, from, to, fall) in [
            (0, 0.0, 1.0, 0.1),
            (1, 0.0, 0.4, 0.2),
            (1, 0.4, 1.0, 0.3),
            (2, 0.0, 0.2, 0.4),
            (2, 0.2, 0.7, 0.5),
            (2, 0.7, 1.0, 0.6),
        ] {
            part(k, from, to, fall);
        }
        let mesh = soup(&triangles).unwrap();
        let inner: Vec<_> = mesh
            .triangles
            .iter()
            .filter(|t| t.normal == DVec3::Z)
            .collect();
        let area = |t: &&SurfaceTriangle| {
            let [a, b, c] = t.vertices;
            0.5 * (b - a).cross(c - a).z
        };
        assert!((inner.iter().map(area).sum::<f64>() - 4.5).abs() < 1e-14);
        let mut leans: Vec<f64> = inner
            .iter()
            .flat_map(|t| t.rims)
            .filter(|rim| rim.sin > 0.0)
            .map(|rim| rim.sin / rim.cos)
            .collect();
        leans.sort_by(f64::total_cmp);
        assert_eq!(leans.len(), 6, "{leans:?}");
        for (lean, fall) in leans.iter().zip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) {
            assert!((lean - fall).abs() < 1e-12, "{leans:?}");
        }
    }

    #[test]
    fn what_collapses_or_is_there_already_is_dropped() {
        let sheet = tile([0.0, 1.0], [0.0, 1.0], 0.0);
        let one = soup(&sheet).unwrap();
        let [a, b, c] = sheet[0];
        let sliver = [a, a + DVec3::Y * 1e-9, b];
        let cap = [b, a, 0.5 * (a + b) - DVec3::Y * 1e-9];
        let more = soup(&[sheet[0], [b, c, a], sheet[1], sliver, cap]).unwrap();
        assert_eq!(one.triangles, more.triangles);
        // The other way round it is the back of a sheet.
        let both = soup(&[sheet[0], sheet[1], [a, c, b]]).unwrap();
        let sides: Vec<bool> = both.sheets.iter().map(Option::is_some).collect();
        assert_eq!(sides, [true, false, true]);
        assert!(matches!(
            soup(&[[a, b, b + DVec3::Y * 1e-8]]),
            Err(GeometryError::DegenerateTriangle { triangle: 0, .. })
        ));
    }

    #[test]
    fn welding_keeps_what_is_small_on_something_large() {
        // Steps of 1 mm along 2 km, and a lone far triangle.
        let far = DVec3::X * 2e3;
        let mut triangles: Vec<_> = (0..20)
            .flat_map(|i| {
                tile(
                    [1e-3 * f64::from(i), 1e-3 * f64::from(i + 1)],
                    [0.0, 1e-3],
                    0.0,
                )
            })
            .collect();
        triangles.push([far, far + DVec3::X * 1e-3, far + DVec3::Y * 1e-3]);
        let mesh = soup(&triangles).unwrap();
        assert_eq!(mesh.triangles.len(), triangles.len());
    }

    fn cube(order: [usize; 3]) -> Vec<[DVec3; 3]> {
        let corner = |i: usize| DVec3::from_array([0, 1, 2].map(|bit| (i >> bit & 1) as f64 + 7.0));
        [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ]
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .map(|t| order.map(|k| corner(t[k])))
        .collect()
    }

    #[test]
    fn the_winding_of_a_mesh_is_known() {
        let sound = cube([0, 1, 2]);
        assert_eq!(soup(&sound).unwrap().winding, Winding::default());
        let inside_out = soup(&cube([0, 2, 1])).unwrap().winding;
        assert!(inside_out.inside_out && inside_out.edges_at_odds == 0);
        for k in 0..12 {
            let mut one = sound.clone();
            one[k].swap(0, 1);
            let winding = soup(&one).unwrap().winding;
            assert_eq!((winding.edges_at_odds, winding.inside_out), (3, false));
            assert!(winding.first.unwrap().contains(&k));
        }
        // A face more does not make up for it, and an open mesh has no inside.
        let mut twice = sound.clone();
        twice.insert(0, sound[11]);
        assert_eq!(soup(&twice).unwrap().winding, Winding::default());
        assert_eq!(
            soup(&cube([0, 2, 1])[1..]).unwrap().winding,
            Winding::default()
        );
        let sheet = tile([0.0, 1.0], [0.0, 1.0], 0.0);
        let back = sheet.map(|[a, b, c]| [a, c, b]);
        assert_eq!(
            soup(&[sheet, back].concat()).unwrap().winding,
            Winding::default()
        );
        // At odds along both parts of an edge.
        let lower = tile([0.0, 2.0], [-1.0, 0.3], 0.0).map(|[a, b, c]| [a, c, b]);
        let upper = tile([0.0, 2.0], [0.3, 1.0], 0.0).map(|[a, b, c]| [a, c, b]);
        let left = tile([-2.0, 0.0], [-1.0, 1.0], 0.0);
        let parted = soup(&[left, lower, upper].concat()).unwrap();
        assert_eq!(parted.winding.edges_at_odds, 2);
    }

    #[test]
    #[ignore = "a measurement: cargo test --release -p moreau-geometry -- --ignored --nocapture fine_mesh"]
    fn the_time_of_a_fine_mesh_grows_with_its_triangles() {
        let best = |count: u32, shift: f64| {
            let size = 10.0 / f64::from(count);
            let mut triangles = Vec::new();
            for i in 0..count {
                let x = [size * f64::from(i), size * f64::from(i + 1)];
                // Every other row has its corners in the middle of its neighbours' edges.
                let off = shift * size * f64::from(i % 2);
                for j in 0..count {
                    let y = [size * f64::from(j) + off, size * f64::from(j + 1) + off];
                    triangles.extend(tile(x, y, 0.0));
                }
            }
            let times = (0..8).map(|_| {
                let start = std::time::Instant::now();
                assert!(soup(&triangles).unwrap().triangles.len() >= triangles.len());
                start.elapsed().as_secs_f64() * 1e3
            });
            times.fold(f64::INFINITY, f64::min)
        };
        for shift in [0.0, 0.5] {
            let [few, many] = [100, 200].map(|count| best(count, shift));
            eprintln!("shift {shift}: 20000 triangles {few:.1} ms, 80000 {many:.1} ms");
            assert!(many < 8.0 * few);
        }
    }
}
