//! Bytes as an FCLIB file: a typed error, or a problem that is solved or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use moreau_solvers::fclib::FclibFile;
use moreau_solvers::{Goal, Nsgs, NsgsSettings, Solver};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = FclibFile::from_bytes(bytes) else {
        return;
    };
    let Ok(problem) = file.problem.stored() else {
        return;
    };
    if problem.rows() > 3000 {
        return;
    }
    let mut solver = Nsgs::new(NsgsSettings {
        max_sweeps: 20,
        ..NsgsSettings::default()
    });
    let mut impulse = vec![0.0; problem.rows()];
    if solver.solve(&problem, &mut impulse, &Goal::scaled(1e-8)).is_ok() {
        assert!(impulse.iter().all(|r| !r.is_nan()));
    }
});
