//! The plugin in apps without a window, frame by frame in given time.

#![expect(clippy::float_cmp, reason = "to the last bit")]
#![expect(
    clippy::expect_used,
    reason = "what helpers ask for is there in a test"
)]

mod bodies;
mod drawing;
mod events;
mod frames;
mod hostile;
mod moved;
mod parts;
mod reflection;
mod saves;
mod sensors;
mod setting;
