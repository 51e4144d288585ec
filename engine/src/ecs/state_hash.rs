//! A hash of the state, bit by bit, in the order of ids.

use crate::components::{BodyId, Pose, Twist};

/// FNV-1a over 64 bits, fed with whole words: portable and independent of library versions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateHash(u64);

impl StateHash {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn body(&mut self, id: BodyId, pose: &Pose, twist: &Twist) {
        self.word(id.0);
        let p = pose.orientation;
        for v in [pose.position, twist.linear, twist.angular] {
            for x in v.to_array() {
                self.word(x.to_bits());
            }
        }
        for x in [p.x, p.y, p.z, p.w] {
            self.word(x.to_bits());
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
