//! Every law: its set, its one-block solve and the derivative of its map.
//!
//! A check is a function of the kind of law; [`every_law`] makes a test of it for each, named `check::law`.

/// A module named for the check, with one test a law.
macro_rules! every_law {
    ($check:ident) => {
        mod $check {
            use super::super::samples::Kind;

            #[test]
            fn coulomb() {
                super::$check(Kind::Coulomb);
            }
            #[test]
            fn planar() {
                super::$check(Kind::Planar);
            }
            #[test]
            fn elliptic() {
                super::$check(Kind::Elliptic);
            }
            #[test]
            fn rolling() {
                super::$check(Kind::Rolling);
            }
            #[test]
            fn spinning() {
                super::$check(Kind::Spinning);
            }
            #[test]
            fn cohesion() {
                super::$check(Kind::Cohesion);
            }
            #[test]
            fn complementarity() {
                super::$check(Kind::Complementarity);
            }
            #[test]
            fn interval() {
                super::$check(Kind::Interval);
            }
            #[test]
            fn ball() {
                super::$check(Kind::Ball);
            }
            #[test]
            fn equality() {
                super::$check(Kind::Equality);
            }
        }
    };
}

mod blocks;
mod derivative;
mod one_block;
mod parameters;
mod rolling_block;
mod samples;
mod sets;
mod solutions;
