//! Broad phase: which bodies may meet.
//!
//! Every body is followed in a *fat* volume: its [`Extent`] and some slack around it. While it
//! stays inside nothing is done for it. The sorted list of *candidates*, the accepted pairs whose
//! fat volumes meet and of which at least one moves, is kept; only those of bodies that left
//! their fat volume are found anew.
//!
//! | body | kept in | found by |
//! |---|---|---|
//! | about as large as most that move | uniform grid of hashed cells | the cells around |
//! | larger | bounding volume tree | descent |
//! | unbounded | list | comparison with all |
//!
//! The candidates contain every accepted pair whose extents meet, and some more that depend on
//! the history. A caller that wants a pure function of the state filters them by the extents:
//! boxes exactly as [`Aabb::intersects`](crate::Aabb::intersects) does, balls by the distance of their centres.
//!
//! Bodies that do not move cost nothing until something near them does. Bodies to be found anew
//! are worked on in fixed chunks, in parallel if called on a thread of a pool; the chunks are put
//! together in order, so that the list does not depend on the number of threads.

mod bucket;
mod fat;
mod grid;
mod merge;
mod tree;

pub use fat::Extent;

use fat::Fat;
use glam::DVec3;
use grid::{Cells, Grid};
use merge::{Buffers, Pair, as_number};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use tree::Tree;

/// Follows bodies and lists the pairs that may meet, incrementally.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::{Aabb, BroadPhase, Extent};
///
/// let mut broad_phase = BroadPhase::new();
/// broad_phase.resize(3);
/// for (slot, x) in [0.0, 1.5, 9.0].into_iter().enumerate() {
///     let bounds = Aabb::from_center(x * DVec3::X, DVec3::ONE);
///     broad_phase.set_moving(slot, true);
///     broad_phase.follow(slot, &Extent::of_box(bounds, 0.1));
/// }
/// broad_phase.find(&|_, _| true)?;
/// assert_eq!(broad_phase.candidates(), [[0, 1]]);
/// # Ok::<(), moreau_geometry::Crowd>(())
/// ```
#[derive(Default)]
pub struct BroadPhase {
    fat: Vec<Fat>,
    state: Vec<State>,
    grid: Grid,
    tree: Tree,
    unbounded: Vec<u32>,
    /// Bodies to find anew.
    moved: Vec<u32>,
    /// Pairs `[i < j]`, sorted.
    candidates: Vec<Pair>,
    found: Vec<Found>,
    fresh: Vec<Pair>,
    backward: Vec<Pair>,
    buffers: Buffers,
    widths: Vec<f64>,
    /// Number of bodies that move.
    moving: usize,
    /// Bodies found anew since the cell size was last thought over.
    since_choice: usize,
}

/// What is known of a body besides its fat volume.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    place: Place,
    moving: bool,
    moved: bool,
}

/// Where a body is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    #[default]
    Absent,
    Grid,
    Tree,
    Unbounded,
}

impl State {
    /// Of two bodies that both moved, the pair is found from the one of lesser rank.
    fn rank(self) -> u8 {
        match (self.moving, self.place) {
            (true, Place::Grid) => 0,
            (true, _) => 1,
            (false, _) => 2,
        }
    }
}

/// What one chunk of moved bodies found.
#[derive(Default)]
struct Found {
    /// Pairs `[i, j]` found from `i`: sorted.
    forward: Vec<Pair>,
    /// Pairs `[j, i]` found from `i`.
    backward: Vec<Pair>,
}

/// So many bodies are near each other that their pairs are not listed: nothing that could be solved looks like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {most} pairs of bodies are near each other, {pairs} of them of one body")]
pub struct Crowd {
    /// Pairs that would be listed.
    pub most: usize,
    /// Of the bodies looked at, the one with the most pairs.
    pub slot: usize,
    /// Its pairs.
    pub pairs: usize,
}

impl Found {
    fn clear(&mut self) {
        self.forward.clear();
        self.backward.clear();
    }

    fn len(&self) -> usize {
        self.forward.len() + self.backward.len()
    }
}

/// Moved bodies per unit of parallel work.
const CHUNK: usize = 64;

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase")
            .field("bodies", &self.fat.len())
            .field("candidates", &self.candidates.len())
            .finish_non_exhaustive()
    }
}

impl BroadPhase {
    /// The largest number of pairs that are found at once among up to 65,536 bodies; more bodies have [`Self::PAIRS_PER_BODY`].
    pub const MOST_PAIRS: usize = 1 << 22;
    /// Pairs per body where there are more bodies. Equal spheres as close as they can be have six each, and some more within the margins.
    pub const PAIRS_PER_BODY: usize = 64;

    /// Pairs that are found at once among so many bodies.
    #[must_use]
    pub fn most_pairs(bodies: usize) -> usize {
        Self::MOST_PAIRS.max(Self::PAIRS_PER_BODY.saturating_mul(bodies))
    }

    /// Without bodies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows the bodies `0..count`. Those beyond are forgotten; new ones have no extent and do
    /// not move.
    pub fn resize(&mut self, count: usize) {
        for slot in count..self.fat.len() {
            self.leave(slot);
            self.moving -= usize::from(self.state[slot].moving);
        }
        if count < self.fat.len() {
            self.moved.retain(|slot| (*slot as usize) < count);
            self.candidates.retain(|pair| (pair[1] as usize) < count);
        }
        self.fat.resize(count, Fat::NOWHERE);
        self.state.resize(count, State::default());
    }

    /// Tells whether a body moves. Pairs of which neither does are not listed.
    pub fn set_moving(&mut self, slot: usize, moving: bool) {
        if self.state[slot].moving != moving {
            self.state[slot].moving = moving;
            self.moving = self.moving + usize::from(moving) - usize::from(!moving);
            self.touch(slot);
        }
    }

    /// Finds the pairs of a body anew next time: the answer of `accept` may have changed for it.
    pub fn touch(&mut self, slot: usize) {
        if !self.state[slot].moved {
            self.state[slot].moved = true;
            self.moved.push(slot as u32);
        }
    }

    /// The body is known to be about there: to [follow](Self::follow) it to `extent` would change nothing.
    #[must_use]
    pub fn holds(&self, slot: usize, extent: &Extent) -> bool {
        self.fat[slot].suits(extent)
    }

    /// The body is within `extent` now.
    pub fn follow(&mut self, slot: usize, extent: &Extent) {
        if !self.holds(slot, extent) {
            self.renew(slot, extent, DVec3::ZERO);
        }
    }

    /// The body is within `extent` now, which is [not known](Self::holds) of it. Its fat volume leans towards `ahead` (m), where the body will be, as
    /// far as the slack lets it: a body that goes on stays inside for up to twice as long.
    pub fn renew(&mut self, slot: usize, extent: &Extent, ahead: DVec3) {
        self.fat[slot] = Fat::around(extent, ahead);
        self.touch(slot);
    }

    /// The body has no extent any more.
    pub fn forget(&mut self, slot: usize) {
        if self.state[slot].place != Place::Absent || self.fat[slot] != Fat::NOWHERE {
            self.fat[slot] = Fat::NOWHERE;
            self.touch(slot);
        }
    }

    /// Sorted pairs `[i < j]`: all that the last [`find`](Self::find) knew to be near.
    #[must_use]
    pub fn candidates(&self) -> &[[u32; 2]] {
        &self.candidates
    }

    /// Brings the candidates up to date with what was said of the bodies since the last call.
    /// `accept(i, j)`, `i < j`, must give the same answer for a pair until one of the two is
    /// [touched](Self::touch).
    ///
    /// # Errors
    /// [`Crowd`] if more than [`Self::most_pairs`] would come in. The candidates are
    /// as they were, and the next call begins anew.
    pub fn find(&mut self, accept: &(dyn Fn(u32, u32) -> bool + Sync)) -> Result<(), Crowd> {
        if self.moved.is_empty() {
            return Ok(());
        }
        if !self.moved.is_sorted() {
            self.moved.sort_unstable();
        }
        self.place();
        self.query(accept)?;
        for slot in &self.moved {
            self.state[*slot as usize].moved = false;
        }
        self.moved.clear();
        Ok(())
    }

    /// Puts every moved body where its fat volume belongs.
    fn place(&mut self) {
        self.since_choice += self.moved.len();
        let too_small = !self.grid.has_room_for(self.fat.len()) || self.is_outgrown();
        if (too_small || self.since_choice > 8 * self.fat.len()) && self.choose_cell(too_small) {
            return;
        }
        let many = self.tree.is_better_settled_once_for(self.moved.len());
        for k in 0..self.moved.len() {
            let slot = self.moved[k] as usize;
            let place = self.place_of(slot);
            if self.state[slot].place != place {
                self.leave(slot);
            }
            let fat = &self.fat[slot];
            match place {
                Place::Grid => self.grid.put(slot, &fat.aabb),
                Place::Tree => self.tree.put(slot, &fat.aabb, many),
                Place::Unbounded if self.state[slot].place != place => {
                    self.unbounded.push(slot as u32);
                }
                Place::Unbounded | Place::Absent => {}
            }
            self.state[slot].place = place;
        }
        self.tree.settle();
    }

    /// An eighth of the moving bodies and more, all at once, no longer fit into a cell: they fall.
    fn is_outgrown(&self) -> bool {
        let moved = self.moved.iter().map(|slot| *slot as usize);
        let leaving = moved.filter(|slot| {
            self.state[*slot].place == Place::Grid && self.place_of(*slot) == Place::Tree
        });
        8 * leaving.count() > self.moving
    }

    fn place_of(&self, slot: usize) -> Place {
        let fat = &self.fat[slot];
        if *fat == Fat::NOWHERE {
            Place::Absent
        } else if !fat.aabb.is_finite() {
            Place::Unbounded
        } else if fat.width() <= self.grid.cell() {
            Place::Grid
        } else {
            Place::Tree
        }
    }

    /// Takes a body out of where it is kept.
    fn leave(&mut self, slot: usize) {
        match self.state[slot].place {
            Place::Absent => {}
            Place::Grid => self.grid.remove(slot),
            Place::Tree => self.tree.remove(slot),
            Place::Unbounded => self.unbounded.retain(|known| *known as usize != slot),
        }
        self.state[slot].place = Place::Absent;
    }

    /// Thinks over the size of the cells: that of the largest moving bodies, but not beyond four
    /// times the median. Puts all bodies in their places if it changes much, or if `anew`.
    fn choose_cell(&mut self, anew: bool) -> bool {
        self.since_choice = 0;
        let widths = &mut self.widths;
        for all in [false, true] {
            let bodies = self.fat.iter().zip(&self.state);
            let chosen = bodies.filter(|(fat, state)| {
                fat.aabb.is_finite() && *fat != &Fat::NOWHERE && (all || state.moving)
            });
            widths.clear();
            widths.extend(chosen.map(|(fat, _)| fat.width()));
            if !widths.is_empty() {
                break;
            }
        }
        let largest = widths.iter().fold(0.0_f64, |most, w| most.max(*w));
        let middle = widths.len() / 2;
        let median = if widths.is_empty() {
            0.0
        } else {
            *widths.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        // Room for extents that grow with the speed.
        let cell = 1.2 * largest.min(4.0 * median);
        let ratio = cell / self.grid.cell();
        if !anew && ratio > 0.75 && ratio < 1.5 {
            return false;
        }
        self.grid.reset(cell, self.fat.len());
        self.unbounded.clear();
        let mut leaves = Vec::new();
        for slot in 0..self.fat.len() {
            let place = self.place_of(slot);
            self.state[slot].place = place;
            let fat = &self.fat[slot];
            match place {
                Place::Absent => {}
                Place::Grid => self.grid.put(slot, &fat.aabb),
                Place::Tree => leaves.push((slot, fat.aabb.to_parry())),
                Place::Unbounded => self.unbounded.push(slot as u32),
            }
        }
        self.tree.build(leaves);
        true
    }

    /// Replaces the candidates of all moved bodies.
    fn query(&mut self, accept: &(dyn Fn(u32, u32) -> bool + Sync)) -> Result<(), Crowd> {
        let chunks = self.moved.len().div_ceil(CHUNK);
        if self.found.len() < chunks {
            self.found.resize_with(chunks, Found::default);
        }
        let mut found = std::mem::take(&mut self.found);
        let moved = self.moved.iter();
        let still = moved.filter(|i| self.state[**i as usize].moving).count() < self.moving;
        let most = Self::most_pairs(self.fat.len());
        // The sum decides, whichever thread adds to it first.
        let sum = AtomicUsize::new(0);
        let work = |(moved, found): (&[u32], &mut Found)| {
            found.clear();
            for &i in moved {
                let before = found.len();
                self.pairs_of(i, still, accept, found);
                let more = found.len() - before;
                if sum.fetch_add(more, Ordering::Relaxed) + more > most {
                    break;
                }
            }
        };
        // True on a thread of a rayon pool with several threads; false on any other thread.
        let shared = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
        if shared {
            let chunks = self.moved.par_chunks(CHUNK).zip(&mut found[..chunks]);
            chunks.for_each(work);
        } else {
            let chunks = self.moved.chunks(CHUNK).zip(&mut found[..chunks]);
            chunks.for_each(work);
        }
        if sum.into_inner() > most {
            return Err(self.crowd(most, still, accept));
        }
        self.fresh.clear();
        self.backward.clear();
        for found in &found[..chunks] {
            self.fresh.extend_from_slice(&found.forward);
            self.backward.extend_from_slice(&found.backward);
        }
        self.found = found;
        let Self {
            fresh,
            backward,
            buffers,
            state,
            ..
        } = self;
        if shared {
            backward.par_sort_unstable_by_key(|pair| as_number(*pair));
        } else {
            backward.sort_unstable_by_key(|pair| as_number(*pair));
        }
        merge::update(fresh, |_| true, backward, buffers, shared);
        let stays = |pair: &Pair| pair.iter().all(|slot| !state[*slot as usize].moved);
        merge::update(&mut self.candidates, stays, fresh, buffers, shared);
        Ok(())
    }

    /// Why the pairs are not listed, by a sample of the moved bodies.
    fn crowd(&self, most: usize, still: bool, accept: &(dyn Fn(u32, u32) -> bool + Sync)) -> Crowd {
        let mut found = Found::default();
        let mut crowd = Crowd {
            most,
            slot: 0,
            pairs: 0,
        };
        for &i in self.moved.iter().step_by(self.moved.len().div_ceil(CHUNK)) {
            found.clear();
            self.pairs_of(i, still, accept, &mut found);
            if found.len() > crowd.pairs {
                (crowd.slot, crowd.pairs) = (i as usize, found.len());
            }
        }
        crowd
    }

    /// Finds the pairs of the moved body `i`. `still` tells whether a moving body did not.
    fn pairs_of(
        &self,
        i: u32,
        still: bool,
        accept: &(dyn Fn(u32, u32) -> bool + Sync),
        found: &mut Found,
    ) {
        let own = self.state[i as usize];
        // Of a body at rest only the pairs with moving ones are wanted, and those that moved
        // find it themselves.
        if own.place == Place::Absent || !(own.moving || still) {
            return;
        }
        let fat = &self.fat[i as usize];
        let start = found.forward.len();
        let mut add = |j: u32| {
            let other = self.state[j as usize];
            let again = other.moved && (other.rank(), j) <= (own.rank(), i);
            if j != i
                && !again
                && (own.moving || other.moving)
                && fat.meets(&self.fat[j as usize])
                && accept(i.min(j), i.max(j))
            {
                if i < j {
                    found.forward.push([i, j]);
                } else {
                    found.backward.push([j, i]);
                }
            }
        };
        match self.grid.cells_near(&fat.aabb) {
            Cells::Few(range) => self.grid.visit(range, &fat.aabb, &mut add),
            Cells::Many => (0..)
                .zip(&self.state)
                .filter(|(_, state)| state.place == Place::Grid)
                .for_each(|(j, _)| add(j)),
        }
        if own.place == Place::Unbounded {
            (0..)
                .zip(&self.state)
                .filter(|(_, state)| state.place == Place::Tree)
                .for_each(|(j, _)| add(j));
        } else {
            self.tree.visit(&fat.aabb, &mut add);
        }
        self.unbounded.iter().copied().for_each(&mut add);
        found.forward[start..].sort_unstable();
    }
}

#[cfg(test)]
mod tests;
