//! The plugin in apps without a window, frame by frame in given time.

mod frames;
mod setting;
