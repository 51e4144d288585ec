//! Sorted lists of pairs brought up to date: some are left out, others come in.
//!
//! Long lists are cut into blocks. How many pairs each block keeps is counted first; the blocks of the
//! result are then disjoint slices, which threads fill at the same time.

use rayon::prelude::*;

/// Two slots.
pub(super) type Pair = [u32; 2];

/// Pairs of the old list that a thread takes at a time.
const BLOCK: usize = 8192;

/// Pairs are in the order of these numbers.
pub(super) fn as_number([i, j]: Pair) -> u64 {
    u64::from(i) << 32 | u64::from(j)
}

/// Replaces `list` by the pairs of it that `keep` agrees to and the pairs of `fresh`. Both are sorted and have no
/// pair in common.
pub(super) fn update(
    list: &mut Vec<Pair>,
    keep: impl Fn(&Pair) -> bool + Sync,
    fresh: &[Pair],
    buffers: &mut Buffers,
    shared: bool,
) {
    let Buffers { list: new, kept } = buffers;
    if shared && list.len() > BLOCK {
        let blocks = list.par_chunks(BLOCK);
        let count = |block: &[Pair]| block.iter().filter(|pair| keep(pair)).count();
        blocks.map(count).collect_into_vec(kept);
        new.resize(kept.iter().sum::<usize>() + fresh.len(), [0; 2]);
        fill_blocks((list, kept), fresh, &keep, new);
    } else {
        new.clear();
        merge(list, &keep, fresh, |pair| new.push(pair));
    }
    std::mem::swap(list, new);
}

/// What [`update`] works with.
#[derive(Default)]
pub(super) struct Buffers {
    list: Vec<Pair>,
    /// Pairs that each block keeps.
    kept: Vec<usize>,
}

/// Fills `new` from blocks of a list, of each of which so many pairs are kept.
fn fill_blocks(
    (list, kept): (&[Pair], &[usize]),
    fresh: &[Pair],
    keep: &(impl Fn(&Pair) -> bool + Sync),
    new: &mut [Pair],
) {
    if kept.len() <= 1 {
        let mut room = new.iter_mut();
        merge(list, keep, fresh, |pair| {
            if let Some(place) = room.next() {
                *place = pair;
            }
        });
        return;
    }
    let (kept, kept_after) = kept.split_at(kept.len() / 2);
    let (list, list_after) = list.split_at(kept.len() * BLOCK);
    let first = list_after.first().copied().map_or(u64::MAX, as_number);
    let (fresh, fresh_after) = fresh.split_at(fresh.partition_point(|p| as_number(*p) < first));
    let (new, new_after) = new.split_at_mut(kept.iter().sum::<usize>() + fresh.len());
    rayon::join(
        || fill_blocks((list, kept), fresh, keep, new),
        || fill_blocks((list_after, kept_after), fresh_after, keep, new_after),
    );
}

/// Hands the pairs of `list` that are kept, and those of `fresh`, to `put` in their order.
fn merge(list: &[Pair], keep: &impl Fn(&Pair) -> bool, fresh: &[Pair], mut put: impl FnMut(Pair)) {
    let mut fresh = fresh.iter().copied().peekable();
    for pair in list.iter().filter(|pair| keep(pair)) {
        while let Some(before) = fresh.next_if(|new| as_number(*new) < as_number(*pair)) {
            put(before);
        }
        put(*pair);
    }
    fresh.for_each(put);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_brought_up_to_date_as_the_whole_is() {
        let pairs = |modulus: u32, rest: u32| {
            let all = (0..30_000_u32).map(|n| [n / 100, 1000 + n % 100]);
            all.filter(move |[i, j]| (i * 7 + j) % modulus == rest)
        };
        let keep = |pair: &Pair| !pair[1].is_multiple_of(3);
        let list: Vec<Pair> = pairs(2, 0).collect();
        // Many new ones and few; also before the first and after the last.
        for (modulus, rest) in [(2, 1), (1000, 501), (3000, 2999)] {
            let edges = [[0, 1], [u32::MAX - 1, u32::MAX]];
            let mut fresh: Vec<Pair> = pairs(modulus, rest).chain(edges).collect();
            fresh.sort_unstable();
            let mut expected: Vec<Pair> = list.iter().copied().filter(keep).collect();
            expected.extend(&fresh);
            expected.sort_unstable();
            for shared in [false, true] {
                let mut found = list.clone();
                let mut buffers = Buffers::default();
                update(&mut found, keep, &fresh, &mut buffers, shared);
                assert_eq!(found, expected, "{modulus} {shared}");
            }
        }
    }
}
