//! The plugin in apps without a window, frame by frame in given time.

mod bodies;
mod drawing;
mod events;
mod frames;
mod hostile;
mod moved;
mod parts;
mod reflection;
mod setting;
