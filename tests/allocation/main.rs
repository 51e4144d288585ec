//! A step in the steady state allocates nothing: all buffers are reused from step to step.
//!
//! Counted over whole steps on one thread, detection and bookkeeping included. The counter counts
//! every request to the allocator, on any thread of the process.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its scene fails"
)]
#![expect(
    unsafe_code,
    reason = "counting allocations takes a global allocator, which is an unsafe trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static REQUESTS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are those of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of `steps` steps of a scene on one thread, after `settling` of them, each with a contact.
fn requests(spec: &str, settling: usize, steps: usize) -> usize {
    let mut scene = moreau_demos::built_in(spec).unwrap();
    scene.settings.threads = 1;
    let mut run = scene.start().unwrap();
    for _ in 0..settling {
        run.step().unwrap();
    }
    let before = REQUESTS.load(Ordering::Relaxed);
    std::hint::black_box(Box::new(scene.seed));
    assert_eq!(
        REQUESTS.load(Ordering::Relaxed),
        before + 1,
        "the counter counts"
    );
    let before = REQUESTS.load(Ordering::Relaxed);
    for _ in 0..steps {
        assert!(run.simulation.step().unwrap().contacts > 0);
    }
    REQUESTS.load(Ordering::Relaxed) - before
}

/// One test: the counter counts the whole process.
#[test]
fn a_settled_step_allocates_nothing() {
    for (spec, settling) in [("stack", 200), ("pour:n=200", 800)] {
        let requests = requests(spec, settling, 50);
        assert_eq!(requests, 0, "allocations in 50 steps of {spec}");
    }
}
