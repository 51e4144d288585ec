//! Triangles within a plane of many.
//!
//! Where two bodies touch in a plane, the outermost and the deepest points of contact are points of the solid or of the plane's border. A
//! triangle whose neighbours lie in its plane with theirs has no part in the border: it gives a point only where one of the solid's is
//! over it, however finely the plane is cut.

/// Corners leave the plane of a triangle by no more than this part of a side: far above rounding, far below what a contact tells.
pub(super) const FLAT: f64 = 1e-7;

/// For each of `count` triangles the number of its plane, if all its neighbours lie in that too. `neighbours` says what lies behind all parts of the
/// edges of one, none at a border; `are_level` whether the second of two lies in the plane of the first.
pub(super) fn planes<N>(
    count: usize,
    neighbours: impl Fn(usize) -> N,
    are_level: impl Fn(usize, usize) -> bool,
) -> Vec<Option<u32>>
where
    N: IntoIterator<Item = Option<usize>>,
{
    const NONE: u32 = u32::MAX;
    // The first triangle of the plane that each belongs to.
    let mut planes = vec![NONE; count];
    let mut open = Vec::new();
    for first in 0..count {
        if planes[first] != NONE {
            continue;
        }
        planes[first] = first as u32;
        open.push(first);
        while let Some(triangle) = open.pop() {
            for next in neighbours(triangle).into_iter().flatten() {
                if planes[next] == NONE && are_level(first, next) {
                    planes[next] = first as u32;
                    open.push(next);
                }
            }
        }
    }
    let is_same = |triangle: usize, next: Option<usize>| {
        next.is_some_and(|next| planes[next] == planes[triangle])
    };
    (0..count)
        .map(|triangle| {
            let mut neighbours = neighbours(triangle).into_iter();
            let is_inner = neighbours.all(|next| is_same(triangle, next));
            is_inner.then_some(planes[triangle])
        })
        .collect()
}
