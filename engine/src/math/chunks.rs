//! Long loops in fixed chunks, shared among the threads of the pool where there is one.
//!
//! A loop over columns of one length is halved at multiples of [`CHUNK`] rows until the pieces are
//! that short; results of the pieces are added pairwise on the way back. Where it is halved depends
//! on the length alone: sums have one order on any number of threads.

use std::ops::Range;

/// Rows of a piece of work.
pub(crate) const CHUNK: usize = 512;

/// Columns that can be cut in two.
pub(crate) trait Part: Send + Sized {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// The first `at` rows, and the others.
    fn cut(self, at: usize) -> (Self, Self);
}

/// Numbers of rows.
impl Part for Range<u32> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let middle = self.start + at as u32;
        (self.start..middle, middle..self.end)
    }
}

impl<T: Sync> Part for &[T] {
    fn rows(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<T: Send> Part for &mut [T] {
    fn rows(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

macro_rules! columns {
    ($($column:ident),*) => {
        impl<First: Part, $($column: Part),*> Part for (First, $($column),*) {
            fn rows(&self) -> usize {
                self.0.rows()
            }

            #[expect(non_snake_case, reason = "columns are named by their types")]
            fn cut(self, at: usize) -> (Self, Self) {
                let (First, $($column),*) = self;
                let First = First.cut(at);
                $(let $column = $column.cut(at);)*
                ((First.0, $($column.0),*), (First.1, $($column.1),*))
            }
        }
    };
}
columns!(A);
columns!(A, B);
columns!(A, B, C);
columns!(A, B, C, D);
columns!(A, B, C, D, E);

/// `work` on every piece of `part`; what it returns is added up by `add`, in an order that depends on
/// the number of rows alone.
pub(crate) fn fold<P: Part, T: Send>(
    part: P,
    work: &(impl Fn(P) -> T + Sync),
    add: &(impl Fn(T, T) -> T + Sync),
) -> T {
    let rows = part.rows();
    if rows <= CHUNK {
        return work(part);
    }
    let (low, high) = part.cut(rows.div_ceil(2).next_multiple_of(CHUNK));
    let (low, high) = both(|| fold(low, work, add), || fold(high, work, add));
    add(low, high)
}

/// `work` on every piece of `part`.
pub(crate) fn for_each<P: Part>(part: P, work: &(impl Fn(P) + Sync)) {
    fold(part, work, &|(), ()| ());
}

/// Replaces `marks` by what `choose` says of each item.
pub(crate) fn mark<T: Sync>(
    items: &[T],
    choose: &(impl Fn(&T) -> bool + Sync),
    marks: &mut Vec<bool>,
) {
    marks.resize(items.len(), false);
    for_each((items, &mut marks[..]), &|(items, marks): (
        &[T],
        &mut [bool],
    )| {
        for (item, mark) in items.iter().zip(marks) {
            *mark = choose(item);
        }
    });
}

/// True on a thread of a rayon pool with several threads; false on any other thread.
pub(crate) fn is_shared() -> bool {
    rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

/// Both tasks: at the same time within a pool of several threads, one after the other elsewhere.
pub(crate) fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if is_shared() {
        rayon::join(first, second)
    } else {
        (first(), second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_threads() {
        let terms: Vec<f64> = (1..100_000).map(|i| 1.0 / f64::from(i)).collect();
        let sum = || fold(&terms[..], &|part| part.iter().sum::<f64>(), &|a, b| a + b);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let shared = pool.map(|pool| pool.install(sum));
        assert!(shared.is_ok_and(|shared| shared.to_bits() == sum().to_bits()));
    }
}
