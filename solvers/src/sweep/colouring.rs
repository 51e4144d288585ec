//! Colouring of the contact graph, so that contacts of one colour can be solved in any order.
//!
//! Vertices are contacts, edges join contacts that share a body which impulses move. Greedy
//! first-fit in contact order: deterministic, and within a few colours of the largest number of
//! contacts on one body. Gauss–Seidel visits colour after colour; the order is therefore part of
//! the problem, never of the number of threads.
//!
//! ```text
//! contacts   0 1 2 3 4 5 …        order   [ colour 0 | colour 1 | … | overflow ]
//! colours    0 1 0 2 1 0 …        starts    0          n₀         …   n        n_c
//! ```
//!
//! Bodies with more than [`MAX_COLOURS`] contacts (a drum, a plate) put the rest in one overflow
//! range whose contacts may share bodies; it is visited one by one.

use crate::problem::{Contact, InverseMass};

/// Bits of the per-body set of used colours.
pub const MAX_COLOURS: usize = 128;

/// Contacts sorted by colour; within a colour in their given order.
#[derive(Clone, Debug, Default)]
pub struct Colouring {
    order: Vec<u32>,
    starts: Vec<usize>,
    colour: Vec<u8>,
    used: Vec<u128>,
}

const OVERFLOW: u8 = u8::MAX;

impl Colouring {
    /// Colours `contacts`; fixed bodies do not count as shared. Reuses its buffers.
    pub fn update(&mut self, contacts: &[Contact], inverse_mass: &[InverseMass]) {
        self.used.clear();
        self.used.resize(inverse_mass.len(), 0);
        self.colour.clear();
        let mut sizes = [0usize; MAX_COLOURS + 1];
        for contact in contacts {
            let [a, b] = contact.bodies.map(|j| j as usize);
            let (free_a, free_b) = (!inverse_mass[a].is_fixed(), !inverse_mass[b].is_fixed());
            let taken =
                if free_a { self.used[a] } else { 0 } | if free_b { self.used[b] } else { 0 };
            let colour = (!taken).trailing_zeros() as usize;
            if colour == MAX_COLOURS {
                self.colour.push(OVERFLOW);
                sizes[MAX_COLOURS] += 1;
                continue;
            }
            for (body, free) in [(a, free_a), (b, free_b)] {
                if free {
                    self.used[body] |= 1 << colour;
                }
            }
            self.colour.push(colour as u8);
            sizes[colour] += 1;
        }
        self.sort_by_colour(&sizes);
    }

    fn sort_by_colour(&mut self, sizes: &[usize; MAX_COLOURS + 1]) {
        let colours = sizes[..MAX_COLOURS].iter().take_while(|n| **n > 0).count();
        self.starts.clear();
        let mut next = [0usize; MAX_COLOURS + 1];
        let mut begin = 0;
        for (colour, size) in sizes[..colours].iter().enumerate() {
            self.starts.push(begin);
            next[colour] = begin;
            begin += size;
        }
        self.starts.push(begin);
        next[MAX_COLOURS] = begin;
        self.order.clear();
        self.order.resize(self.colour.len(), 0);
        for (contact, colour) in self.colour.iter().enumerate() {
            let slot = &mut next[(*colour as usize).min(MAX_COLOURS)];
            self.order[*slot] = contact as u32;
            *slot += 1;
        }
    }

    /// Contact indices in colour order, overflow last.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Positions in [`Colouring::order`] at which the colours begin, then the end of the last
    /// one: `colours + 1` entries. What follows the last entry is the overflow.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::InverseMass;
    use glam::{DMat3, DVec3};

    fn contact(a: u32, b: u32) -> Contact {
        Contact {
            bodies: [a, b],
            frame: DMat3::IDENTITY,
            arms: [DVec3::ZERO; 2],
            offset: DVec3::ZERO,
            friction: 0.0,
        }
    }

    #[test]
    fn contacts_of_one_colour_share_no_free_body() {
        let free = InverseMass {
            linear: 1.0,
            angular: DMat3::IDENTITY,
        };
        let masses: Vec<_> = (0..40)
            .map(|j| if j == 0 { InverseMass::FIXED } else { free })
            .collect();
        let contacts: Vec<_> = (0..400u32)
            .map(|i| (i * 7 % 40, (i * 13 + 5) % 40))
            .filter(|(a, b)| a != b)
            .map(|(a, b)| contact(a, b))
            .collect();
        let mut colouring = Colouring::default();
        colouring.update(&contacts, &masses);
        let mut all = colouring.order().to_vec();
        all.sort_unstable();
        assert_eq!(all, (0..contacts.len() as u32).collect::<Vec<_>>());
        for range in colouring.starts().windows(2) {
            let mut seen = [false; 40];
            for contact in &colouring.order()[range[0]..range[1]] {
                for body in contacts[*contact as usize].bodies.map(|j| j as usize) {
                    assert!(body == 0 || !seen[body], "body {body} twice in one colour");
                    seen[body] = true;
                }
            }
        }
    }

    #[test]
    fn contacts_beyond_the_colours_of_one_body_overflow() {
        let free = InverseMass {
            linear: 1.0,
            angular: DMat3::IDENTITY,
        };
        let contacts: Vec<_> = (1..=200).map(|j| contact(0, j)).collect();
        let mut colouring = Colouring::default();
        colouring.update(&contacts, &[free; 201]);
        assert_eq!(colouring.starts().last(), Some(&MAX_COLOURS));
        assert_eq!(colouring.order().len(), 200);
    }
}
