//! A wall of boxes that a ball goes through, in a window, with contact forces and joints: the lines of [`Picture`] in pixels of our own.
//!
//! `cargo run --release -p bevy-moreau --features window --example window`, with X11. Bevy's renderer, which would draw gizmos, wants Rust 1.97.

use bevy_app::TaskPoolPlugin;
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::system::NonSendMarker;
use bevy_moreau::moreau::glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use bevy_moreau::moreau::glam::{Mat4, Vec3, Vec4};
use bevy_moreau::prelude::*;
use bevy_moreau::{Line, Picture};
use bevy_time::TimePlugin;
use bevy_transform::prelude::*;
use bevy_window::{PrimaryWindow, Window, WindowPlugin};
use bevy_winit::{DisplayHandleWrapper, WINIT_WINDOWS, WinitPlugin, WinitWindows};
use std::num::NonZeroU32;

fn main() {
    let window = Window {
        title: "Moreau".into(),
        ..Window::default()
    };
    App::new()
        .add_plugins((TaskPoolPlugin::default(), TimePlugin, TransformPlugin))
        .add_plugins((
            bevy_a11y::AccessibilityPlugin,
            bevy_input::InputPlugin,
            WindowPlugin {
                primary_window: Some(window),
                ..WindowPlugin::default()
            },
            WinitPlugin::default(),
        ))
        .add_plugins((MoreauPlugin::default(), DrawingPlugin))
        .add_systems(Startup, build)
        .add_systems(Last, paint)
        .run();
}

fn build(mut commands: Commands) {
    commands.spawn((RigidBody::Static, Collider::half_space(DVec3::Y)));
    let brick = Collider::cuboid(0.4, 0.2, 0.2);
    for row in 0_u8..8 {
        for column in 0_u8..8 {
            let shift = 0.4 * f32::from(row % 2);
            let x = 0.81 * f32::from(column) - 3.2 + shift;
            let at = Transform::from_xyz(x, 0.2 + 0.4 * f32::from(row), 0.0);
            commands.spawn((RigidBody::Dynamic, brick.clone(), at));
        }
    }
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.5),
        Transform::from_xyz(0.0, 2.0, 8.0),
        Twist::linear(0.0, 0.0, -12.0),
    );
    commands.spawn(ball);
    let bob = (
        RigidBody::Dynamic,
        Collider::sphere(0.3),
        Transform::from_xyz(4.0, 2.0, 2.0),
    );
    let bob = commands.spawn(bob).id();
    let pivot = DVec3::new(4.0, 4.0, 2.0);
    commands.spawn(Joint::to_world(bob, JointKind::Ball).at(pivot, DVec3::Z));
}

/// Paints the lines of this frame, on the thread of the window.
fn paint(
    picture: Picture,
    display: Res<DisplayHandleWrapper>,
    windows: Query<(Entity, &Window), With<PrimaryWindow>>,
    _: NonSendMarker,
) -> Result<(), BevyError> {
    let Ok((entity, window)) = windows.single() else {
        return Ok(());
    };
    let size = [window.physical_width(), window.physical_height()];
    let [Some(width), Some(height)] = size.map(NonZeroU32::new) else {
        return Ok(());
    };
    let paint = |windows: &WinitWindows| -> Result<(), softbuffer::SoftBufferError> {
        let Some(window) = windows.get_window(entity) else {
            return Ok(());
        };
        let context = softbuffer::Context::new(&display.0)?;
        let mut surface = softbuffer::Surface::new(&context, &**window)?;
        surface.resize(width, height)?;
        let mut pixels = surface.buffer_mut()?;
        pixels.fill(0);
        let mut canvas = Canvas::new(&mut pixels, size);
        picture.draw(&Drawing::default(), |line| canvas.line(line));
        pixels.present()
    };
    Ok(WINIT_WINDOWS
        .with_borrow(paint)
        .map_err(|error| error.to_string())?)
}

/// Pixels, seen from a place.
struct Canvas<'a> {
    pixels: &'a mut [u32],
    size: [u32; 2],
    view: Mat4,
}

impl<'a> Canvas<'a> {
    fn new(pixels: &'a mut [u32], size: [u32; 2]) -> Self {
        let ratio = size[0] as f32 / size[1] as f32;
        let lens = perspective(0.8, ratio, 0.1, 100.0);
        let view = look_at_mat4(Vec3::new(6.0, 5.0, 12.0), Vec3::Y, Vec3::Y);
        let view = lens * view;
        Self { pixels, size, view }
    }

    /// Clipped at the plane of the eye, and at the borders.
    fn line(&mut self, line: Line) {
        const NEAR: f32 = 0.1;
        let [mut a, mut b] = [line.start, line.end].map(|end| self.view * end.extend(1.0));
        if a.w < NEAR && b.w < NEAR {
            return;
        }
        let cut = |near: Vec4, far: Vec4| near.lerp(far, (NEAR - near.w) / (far.w - near.w));
        if a.w < NEAR {
            a = cut(a, b);
        } else if b.w < NEAR {
            b = cut(b, a);
        }
        let (width, height) = (self.size[0] as f32, self.size[1] as f32);
        let place = |end: Vec4| {
            let x = (end.x / end.w * 0.5 + 0.5) * width;
            let y = (0.5 - end.y / end.w * 0.5) * height;
            (x.clamp(-4096.0, 8192.0), y.clamp(-4096.0, 8192.0))
        };
        let (a, b) = (place(a), place(b));
        let [red, green, blue] = [0, 1, 2].map(|index| {
            let byte = line.color[index].clamp(0.0, 1.0).sqrt() * 255.0;
            byte as u32
        });
        let color = red << 16 | green << 8 | blue;
        let dots = (b.0 - a.0).abs().max((b.1 - a.1).abs()).ceil().max(1.0);
        for dot in 0..=dots as u32 {
            let share = dot as f32 / dots;
            let (x, y) = (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share);
            if (0.0..width).contains(&x) && (0.0..height).contains(&y) {
                let index = y as usize * self.size[0] as usize + x as usize;
                if let Some(pixel) = self.pixels.get_mut(index) {
                    *pixel = color;
                }
            }
        }
    }
}
