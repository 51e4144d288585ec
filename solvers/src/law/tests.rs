//! Every law: its projection, its one-block solve and the derivative of its map.

mod blocks;
mod rolling_block;
