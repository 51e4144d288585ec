//! Bytes as the body of a snapshot: a typed error, or a world that goes on. Header and checksum are made right, so that what lies behind them is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use moreau::{Settings, Simulation, Snapshot};
use std::sync::OnceLock;

/// Where length, checksum and body begin (`engine/src/snapshot/format.rs`).
const LENGTH: usize = 28;
const CHECKSUM: usize = 36;

/// Magic, format and writer of this version.
fn begin() -> &'static [u8] {
    static BEGIN: OnceLock<Vec<u8>> = OnceLock::new();
    BEGIN.get_or_init(|| {
        let empty = Simulation::new(Settings::default());
        let bytes = empty.map(|empty| empty.snapshot().and_then(|empty| empty.to_bytes()));
        let mut bytes = bytes.ok().and_then(Result::ok).unwrap_or_default();
        bytes.truncate(LENGTH);
        bytes
    })
}

fuzz_target!(|body: &[u8]| {
    let mut bytes = begin().to_vec();
    bytes.extend((body.len() as u64).to_le_bytes());
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..CHECKSUM]);
    sum.update(body);
    bytes.extend(sum.finalize().to_le_bytes());
    bytes.extend(body);
    let Ok(snapshot) = Snapshot::from_bytes(&bytes) else {
        return;
    };
    if snapshot.bodies().len() > 64 {
        return;
    }
    if let Ok(mut simulation) = Simulation::from_snapshot(&snapshot) {
        for _ in 0..3 {
            let _ = simulation.step();
        }
    }
});
