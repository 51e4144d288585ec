//! A step in the steady state allocates nothing: all buffers are reused from step to step. A solve
//! of a stored problem allocates at its start at most, whatever its length.
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

#[path = "../problems/random.rs"]
mod random;
#[path = "../problems/solvers.rs"]
mod solvers;

use moreau_solvers::{
    AlartCurnierNewton, AlartCurnierNewtonSettings, ConeMap, Goal, ProximalNewton,
    ProximalNewtonSettings, Solver, SolverReport, StoredProblem,
};
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

/// What the bodies of a scene do in every step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Touch,
    Sleep,
    /// On joints, without a contact.
    Swing,
}

/// Requests of `steps` steps of a scene on one thread, after `settling` of them.
fn requests(spec: &str, settling: usize, steps: usize, doing: Doing) -> usize {
    let mut scene = moreau_demos::built_in(spec).unwrap();
    scene.settings.threads = 1;
    scene.settings.sleeping.enabled = Some(true);
    if doing != Doing::Sleep {
        // Watched, but no body is ever quiet for long enough.
        scene.settings.sleeping.time = 1e9;
    }
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
        let report = run.simulation.step().unwrap();
        assert_eq!(report.contacts > 0, doing == Doing::Touch);
        assert_eq!(report.sleeping > 0, doing == Doing::Sleep);
    }
    REQUESTS.load(Ordering::Relaxed) - before
}

/// Requests of the third solve of a problem to `tolerance` with one solver, and its report.
fn requests_of_solve(
    solver: &mut dyn Solver,
    problem: &StoredProblem,
    tolerance: f64,
) -> (usize, SolverReport) {
    let mut result = (0, SolverReport::default());
    for _ in 0..3 {
        let mut r = vec![0.0; problem.rows()];
        let before = REQUESTS.load(Ordering::Relaxed);
        let report = solver.solve(problem, &mut r, &Goal::scaled(tolerance));
        let after = REQUESTS.load(Ordering::Relaxed);
        result = (after - before, report.unwrap());
    }
    result
}

/// The solvers of the problem set, and the Newton methods without sweeps before them, so that short
/// solves factorise too.
fn all_solvers() -> Vec<(&'static str, Box<dyn Solver>)> {
    let mut all = solvers::all();
    for map in [ConeMap::AlartCurnier, ConeMap::Cone] {
        let at_once = ProximalNewtonSettings {
            map,
            first_sweeps: 0,
            ..ProximalNewtonSettings::default()
        };
        let solver = ProximalNewton::new(at_once);
        all.push(("proximal-newton at once", Box::new(solver)));
    }
    let at_once = AlartCurnierNewtonSettings {
        first_sweeps: 0,
        ..AlartCurnierNewtonSettings::default()
    };
    let solver = AlartCurnierNewton::new(at_once);
    all.push(("alart-curnier-newton at once", Box::new(solver)));
    all
}

/// The long solve first, so that all buffers have grown before the short one is counted. Both
/// converge, since looking for the reasons of a failure allocates, and both factorise or none does,
/// since the buffers of a Newton method are made when it begins.
fn a_long_solve_allocates_no_more_than_a_short_one() {
    let recipe = random::Recipe {
        bodies: 12,
        contacts: 24,
        joints: &[1, 5],
        redundant: false,
    };
    let (mut failed, mut compared) = (Vec::new(), Vec::new());
    for seed in 0..8 {
        let problem = random::problem(seed, recipe);
        for (name, mut solver) in all_solvers() {
            let (many, long) = requests_of_solve(solver.as_mut(), &problem, 1e-10);
            let (few, short) = requests_of_solve(solver.as_mut(), &problem, 1e-1);
            let more = long.factorizations - short.factorizations;
            let alike = (long.factorizations > 0) == (short.factorizations > 0);
            let longer = long.iterations > short.iterations || more > 0;
            if !(long.converged() && short.converged() && alike && longer) {
                continue;
            }
            // The general sparse factorisation makes one request itself, and ADMM looks for the
            // reasons of a failure at 100 iterations, 200, 400, …
            let general = match name {
                "admm" if long.iterations >= 100 => continue,
                "admm" => more,
                _ => 0,
            };
            compared.push(name);
            if many > few + general {
                failed.push(format!(
                    "{name} on {seed}: {few} requests in {short:?}, {many} in {long:?}"
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    for (name, _) in all_solvers() {
        let always = name == "proximal-newton" || name == "proximal-newton-cone";
        assert!(
            always || compared.contains(&name),
            "{name} was not compared"
        );
    }
}

/// One test: the counter counts the whole process.
#[test]
fn settled_steps_do_not_allocate_and_solves_only_at_their_start() {
    a_long_solve_allocates_no_more_than_a_short_one();
    for (spec, settling, doing) in [
        // Sweeps of the stack alone begin once what is left in it has grown, after 250 steps: their buffers are made then.
        ("stack", 600, Doing::Touch),
        ("pour:n=200", 800, Doing::Touch),
        ("stack", 200, Doing::Sleep),
        ("pendulum", 200, Doing::Swing),
        ("fourbar", 200, Doing::Swing),
        ("chain:n=20", 200, Doing::Swing),
        ("stewart", 200, Doing::Swing),
    ] {
        let requests = requests(spec, settling, 50, doing);
        assert_eq!(requests, 0, "allocations in 50 steps of {spec}, {doing:?}");
    }
}
