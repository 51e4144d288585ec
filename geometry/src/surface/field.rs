//! Height fields.

use super::SurfaceTriangle;
use super::flat::{self, FLAT, Level};
use super::triangle::normal_of;
use crate::query::{SheetTree, Tree};
use crate::{Aabb, GeometryError};
use glam::{DVec2, DVec3};

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
    /// Where the triangles lie in their planes.
    levels: Vec<Level>,
    /// For queries.
    rays: SheetTree,
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
        let mut field = Self {
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
            levels: Vec::new(),
            rays: SheetTree::default(),
        };
        field.levels = flat::levels(
            2 * (rows - 1) * (columns - 1),
            |id, edge| [field.neighbours(id)[edge]],
            |a, b| field.are_level(a, b),
        );
        Ok(field)
    }

    /// The boxes of the cells, two triangles each.
    pub(super) fn tree(&self) -> &Tree {
        self.rays.get(|| {
            let cells = 0..(self.rows - 1) * (self.columns - 1);
            let corners = |triangle: usize| self.corners_of(triangle as u32);
            let boxes = cells.map(|cell| {
                let [low, high] = [corners(2 * cell), corners(2 * cell + 1)];
                Aabb::from_points(low.into_iter().chain(high))
            });
            boxes.collect()
        })
    }

    pub(super) fn corners_of(&self, triangle: u32) -> [DVec3; 3] {
        let (row, column, half) = self.place(triangle as usize);
        self.corners(row, column, half)
    }

    /// Row and column of a triangle's cell, and which of its halves it is.
    fn place(&self, id: usize) -> (usize, usize, usize) {
        let (cell, half) = (id / 2, id % 2);
        let width = self.columns - 1;
        (cell / width, cell % width, half)
    }

    /// Numbers of the triangles behind the three edges of one.
    fn neighbours(&self, id: usize) -> [Option<usize>; 3] {
        let (row, column, half) = self.place(id);
        let width = 2 * (self.columns - 1);
        let (right, up) = (column + 2 < self.columns, row + 2 < self.rows);
        if half == 0 {
            [
                (row > 0).then(|| id + 1 - width),
                right.then(|| id + 3),
                Some(id + 1),
            ]
        } else {
            [
                Some(id - 1),
                up.then(|| id + width - 1),
                (column > 0).then(|| id - 3),
            ]
        }
    }

    /// True if the second of two triangles lies in the plane of the first.
    fn are_level(&self, first: usize, second: usize) -> bool {
        let corners = |id: usize| {
            let (row, column, half) = self.place(id);
            self.corners(row, column, half)
        };
        let [a, b, c] = corners(first);
        // Along x and along y from the least corner to the greatest, in one order or the other.
        let rise = if first.is_multiple_of(2) {
            DVec2::new(b.z - a.z, c.z - b.z)
        } else {
            DVec2::new(b.z - c.z, c.z - a.z)
        };
        let slope = rise / self.step.truncate();
        let near = FLAT * self.step.x.min(self.step.y);
        corners(second).iter().all(|corner| {
            let offset = *corner - a;
            (offset.z - slope.dot(offset.truncate())).abs() <= near
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

    pub(super) fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Edges from a triangle's corner (m).
    pub(super) fn fan(&self, id: u32, corner: usize) -> impl Iterator<Item = DVec3> + '_ {
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

    pub(super) fn triangle(&self, row: usize, column: usize, half: usize) -> SurfaceTriangle {
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

    #[cfg(test)]
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// What [`Surface::visit`](super::Surface::visit) says.
    pub(super) fn visit(
        &self,
        region: &Aabb,
        matters: impl Fn(&[DVec3; 3]) -> bool,
        mut visit: impl FnMut(u32, &SurfaceTriangle, Option<u32>),
    ) {
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
                    let corners = self.corners(row, column, half);
                    if !Aabb::from_points(corners).intersects(region) {
                        continue;
                    }
                    let id = 2 * (row * (self.columns - 1) + column) + half;
                    let plane = self.levels[id].within(&corners, region);
                    if plane.is_none() || matters(&corners) {
                        visit(id as u32, &self.triangle(row, column, half), plane);
                    }
                }
            }
        }
    }
}
