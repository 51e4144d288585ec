//! Asks for memory ahead of its use: the one place of this crate with unsafe code.
//!
//! Why: the lanes of some ten thousand contacts do not fit the caches of a core. Processors fetch ahead by themselves, but
//! start anew on every page of memory, which holds three or four groups of eight contacts. With the request a sweep over
//! 228,000 contacts takes 10 to 12 instead of 18 to 21 ns a contact on one thread, over 75,000 contacts 7.6 instead of 10
//! (`benches/README.md`). There is no safe form of it in the standard library.

#![allow(
    unsafe_code,
    reason = "a hint to the processor takes an address; measured above"
)]

/// Bytes that are fetched together.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Tells the processor that `value` will be read soon. Changes nothing that a program can see.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: the instruction is in the baseline of x86-64; a hint reads nothing, writes nothing and does not fault,
            // whatever the address. This one lies within `value`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
