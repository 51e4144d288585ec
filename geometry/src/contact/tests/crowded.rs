//! Edges at which more than two triangles meet: what lies behind a sheet does not act on what is before it, and what stands before it does.

use super::*;

type Triangle = [DVec3; 3];

/// Two triangles a cell over the parallelogram from `at` along `u` and `v`, whose normal is that of `u × v`.
fn quads(at: DVec3, u: DVec3, v: DVec3, [columns, rows]: [u32; 2]) -> Vec<Triangle> {
    let corner = |i: u32, j: u32| {
        at + u * (f64::from(i) / f64::from(columns)) + v * (f64::from(j) / f64::from(rows))
    };
    let cells = (0..columns).flat_map(|i| (0..rows).map(move |j| (i, j)));
    cells
        .flat_map(|(i, j)| {
            let [a, b] = [corner(i, j), corner(i + 1, j)];
            let [c, d] = [corner(i + 1, j + 1), corner(i, j + 1)];
            [[a, b, c], [a, c, d]]
        })
        .collect()
}

fn turned(triangles: &[Triangle]) -> Vec<Triangle> {
    triangles.iter().map(|&[a, b, c]| [c, b, a]).collect()
}

/// 4 m by 4 m at z = 0 with an edge along x = 0, facing up.
fn floor(cells: u32) -> Vec<Triangle> {
    let at = DVec3::new(-2.0, -2.0, 0.0);
    quads(at, 4.0 * DVec3::X, 4.0 * DVec3::Y, [cells; 2])
}

/// At x = 0 from the height `from` on, 4 m wide, facing +x.
fn wall(from: f64, height: f64, cells: [u32; 2]) -> Vec<Triangle> {
    let at = DVec3::new(0.0, -2.0, from);
    quads(at, 4.0 * DVec3::Y, height * DVec3::Z, cells)
}

/// A mesh that is placed by its corners.
fn mesh(triangles: &[Triangle], place: &Frame) -> Geometry {
    let vertices = triangles.concat();
    let ids = 0..triangles.len() as u32;
    build(Shape::TriangleMesh {
        vertices: vertices.iter().map(|v| place.transform_point(*v)).collect(),
        triangles: ids.map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
    })
}

fn places() -> [Frame; 3] {
    let arc = DQuat::from_rotation_arc(DVec3::Z, DVec3::new(0.3, -0.2, 0.6).normalize());
    [
        Frame::IDENTITY,
        Frame::new(DVec3::new(3.0, -5.0, 2.0), arc),
        Frame::new(DVec3::new(300.0, 100.0, -700.0), arc),
    ]
}

/// Shapes that lie on z = 0 at these heights.
fn lying() -> Vec<(Geometry, f64)> {
    let hull = [
        (0.12, 0.02, -0.05),
        (-0.1, 0.11, -0.05),
        (-0.09, -0.12, -0.05),
        (0.02, 0.01, 0.15),
    ];
    let points = hull.map(|(x, y, z)| DVec3::new(x, y, z)).to_vec();
    vec![
        (build(Shape::Sphere { radius: 0.1 }), 0.1),
        (cuboid(0.1, 0.1, 0.1), 0.1),
        (cuboid(0.1, 0.08, 0.005), 0.005),
        (
            build(Shape::Cylinder {
                half_height: 0.07,
                radius: 0.07,
            }),
            0.07,
        ),
        (build(Shape::ConvexHull { points }), 0.05),
    ]
}

/// The contacts of a body in the frame of the mesh before it was placed.
fn contacts_at(body: &Geometry, point: DVec3, mesh: &Geometry, place: &Frame) -> Vec<ContactPoint> {
    let pose = place.compose(&Frame::from_position(point));
    let mut all = found(body, &pose, mesh, &Frame::IDENTITY, 0.02);
    for contact in &mut all {
        contact.point = place.inverse_transform_point(contact.point);
        contact.normal = place.inverse_rotate(contact.normal);
    }
    all
}

/// Every shape at many places about x = 0 on a mesh that is level there, sunk in by rounding or by more: only the normal of the floor acts, by the
/// gap that it has, and it does at all.
fn is_smooth(triangles: &[Triangle]) {
    let mut wrong = Vec::new();
    for place in places() {
        let mesh = mesh(triangles, &place);
        for (number, (body, height)) in lying().iter().enumerate() {
            for gap in [-1e-4, -1e-6, 0.0, 1e-6, 1e-3] {
                for k in -130_i32..=130 {
                    // Some at the very edge, and over corners of the mesh.
                    let x = 1e-3 * f64::from(k) + if k % 3 == 0 { 3e-7 } else { 0.0 };
                    let y = [0.0, 0.17, 0.5 - 0.1, -0.25][k.unsigned_abs() as usize % 4];
                    let all = contacts_at(body, DVec3::new(x, y, height + gap), &mesh, &place);
                    let least = all.iter().fold(1.0_f64, |least, c| least.min(c.gap));
                    let is_level = |c: &ContactPoint| (c.normal - DVec3::Z).length() < 1e-9;
                    if !all.iter().all(is_level) || (least - gap).abs() > 1e-9 {
                        wrong.push(format!("{number} at {x} {y}, gap {gap}: {all:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong[0]);
}

#[test]
fn a_wall_under_a_floor_does_not_act_on_what_is_on_it() {
    for (floor_cells, cells) in [(16, [1, 1]), (16, [16, 8]), (2, [16, 8]), (10, [16, 100])] {
        let wall = wall(-1.0, 1.0, cells);
        for walls in [
            wall.clone(),
            turned(&wall),
            [wall.clone(), turned(&wall)].concat(),
        ] {
            is_smooth(&[floor(floor_cells), walls].concat());
        }
    }
}

#[test]
fn walls_under_a_floor_with_two_sides_do_not_act_on_what_is_on_it() {
    let floor = [floor(16), turned(&floor(16))].concat();
    let wall = wall(-1.0, 1.0, [16, 4]);
    is_smooth(&[floor.clone(), wall.clone()].concat());
    is_smooth(&[floor, wall.clone(), turned(&wall)].concat());
}

/// Ribs that slant down from the edge on both sides, among them one a tenth of a degree under the floor.
#[test]
fn slanted_ribs_under_a_floor_do_not_act_on_what_is_on_it() {
    let (edge, along) = (DVec3::new(0.0, -2.0, 0.0), 4.0 * DVec3::Y);
    for angle in [0.1_f64, 20.0, 45.0, 80.0, 135.0, 179.9] {
        let angle = -angle.to_radians();
        let down = DVec3::new(libm::cos(angle), 0.0, libm::sin(angle));
        let rib = quads(edge, down, along, [2, 16]);
        is_smooth(&[floor(16), rib.clone()].concat());
        is_smooth(&[floor(16), turned(&rib)].concat());
    }
}

/// The six sides of a box, facing out.
fn cuboid_mesh(low: DVec3, high: DVec3, cells: u32) -> Vec<Triangle> {
    let size = high - low;
    let [x, y, z] = [DVec3::X * size.x, DVec3::Y * size.y, DVec3::Z * size.z];
    [
        quads(low, y, x, [cells; 2]),
        quads(low + z, x, y, [cells; 2]),
        quads(low, x, z, [cells; 2]),
        quads(low + y, z, x, [cells; 2]),
        quads(low, z, y, [cells; 2]),
        quads(low + x, y, z, [cells; 2]),
    ]
    .concat()
}

#[test]
fn boxes_welded_in_a_row_are_smooth() {
    let low = |x: f64| DVec3::new(x, -2.0, -1.0);
    let left = cuboid_mesh(low(-2.0), DVec3::new(0.0, 2.0, 0.0), 4);
    let right = cuboid_mesh(low(0.0), DVec3::new(2.0, 2.0, 0.0), 4);
    is_smooth(&[left, right].concat());
}

/// True if some contact is along a direction.
fn acts(all: &[ContactPoint], direction: DVec3) -> bool {
    let along = |c: &ContactPoint| (c.normal - direction).length() < 1e-9;
    all.iter().any(along)
}

/// Bodies on a floor beside a wall that stands there, at x = 0, touch the floor, and the wall on the sides that it faces alone. `faces` says so of
/// the right side and of the left one.
fn stops(triangles: &[Triangle], faces: [Option<bool>; 2]) {
    for place in places() {
        let mesh = mesh(triangles, &place);
        for (number, (body, height)) in lying().iter().enumerate() {
            let half = body.aabb(&Frame::IDENTITY);
            for off in [-1e-4, 0.0, 1e-6, 1e-3] {
                for k in 0..40 {
                    let y = 0.023 * f64::from(k) - 0.4;
                    let sides = [(faces[0], 1.0, -half.min.x), (faces[1], -1.0, half.max.x)];
                    for (facing, side, reach) in sides {
                        let Some(facing) = facing else { continue };
                        let at = DVec3::new(side * (reach + off), y, *height);
                        let all = contacts_at(body, at, &mesh, &place);
                        let case = || format!("{number} at {at}: {all:?}");
                        assert!(acts(&all, DVec3::Z), "{}", case());
                        // The hull stands on a corner there, and may lean on an edge of its own.
                        let along = all.iter().map(|c| side * c.normal.x).fold(0.0, f64::max);
                        assert_eq!(along > 0.5, facing, "{}", case());
                        assert!(facing || along < 1e-9, "{}", case());
                    }
                }
            }
        }
    }
}

#[test]
fn a_wall_that_stands_on_a_floor_acts_on_the_side_it_faces() {
    for cells in [[1, 1], [16, 4], [10, 3]] {
        let wall = wall(0.0, 1.0, cells);
        stops(
            &[floor(16), wall.clone()].concat(),
            [Some(true), Some(false)],
        );
        stops(
            &[floor(16), turned(&wall)].concat(),
            [Some(false), Some(true)],
        );
        stops(
            &[floor(16), wall.clone(), turned(&wall)].concat(),
            [Some(true); 2],
        );
        let both = [floor(16), turned(&floor(16))].concat();
        stops(
            &[both, wall.clone(), turned(&wall)].concat(),
            [Some(true); 2],
        );
    }
}

/// As where two sheets cross.
#[test]
fn a_wall_through_a_floor_acts_above_it() {
    let wall = wall(-1.0, 2.0, [16, 8]);
    stops(
        &[floor(16), wall.clone()].concat(),
        [Some(true), Some(false)],
    );
    stops(
        &[floor(16), wall.clone(), turned(&wall)].concat(),
        [Some(true); 2],
    );
}

#[test]
fn a_box_on_a_floor_of_its_mesh_acts_on_what_is_beside_it() {
    let standing = cuboid_mesh(DVec3::new(0.0, -2.0, 0.0), DVec3::new(1.0, 2.0, 1.0), 4);
    stops(&[floor(16), standing.clone()].concat(), [None, Some(true)]);
    // Without a bottom, and with the floor left out under it.
    let open: Vec<Triangle> = standing
        .into_iter()
        .filter(|t| t.iter().any(|v| v.z > 0.0))
        .collect();
    stops(&[floor(16), open.clone()].concat(), [None, Some(true)]);
    let outside: Vec<Triangle> = floor(16)
        .into_iter()
        .filter(|t| t.iter().any(|v| v.x < 0.0 || v.x > 1.0))
        .collect();
    stops(&[outside, open].concat(), [None, Some(true)]);
}

/// Bodies under the floor, which faces up alone, beside a wall that hangs from it, and at the foot of a cliff with a rib behind it.
#[test]
fn a_wall_under_a_floor_acts_on_what_is_under_it() {
    for place in places() {
        let hanging = mesh(&[floor(16), wall(-1.0, 1.0, [16, 4])].concat(), &place);
        let cliff: Vec<Triangle> = [floor(16), wall(-1.0, 1.0, [16, 4])]
            .concat()
            .into_iter()
            .filter(|t| t.iter().all(|v| v.x <= 0.0))
            .collect();
        let slant = DVec3::new(-1.0, 0.0, -1.0);
        let rib = quads(DVec3::new(0.0, -2.0, 0.0), slant, 4.0 * DVec3::Y, [4, 16]);
        let cliff = mesh(&[cliff, rib.clone(), turned(&rib)].concat(), &place);
        for (body, _) in &lying() {
            let reach = -body.aabb(&Frame::IDENTITY).min.x;
            for mesh in [&hanging, &cliff] {
                for z in [-0.2, -0.5, -0.8] {
                    for k in 0..20 {
                        let at = DVec3::new(reach, 0.05 * f64::from(k) - 0.5, z);
                        let all = contacts_at(body, at, mesh, &place);
                        assert!(acts(&all, DVec3::X), "{at}: {all:?}");
                        assert!(all.iter().all(|c| acts(&[*c], DVec3::X)), "{at}: {all:?}");
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p moreau-geometry -- --ignored --nocapture time_of_many_walls"]
fn time_of_many_walls_at_an_edge() {
    for count in [10, 100, 1000] {
        for alternating in [false, true] {
            let fan = (0..count).flat_map(|k| {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(count);
                let length = 0.5 + 0.5 * f64::from(k * 7919 % 101) / 101.0;
                let away = length * DVec3::new(libm::cos(angle), 0.0, libm::sin(angle));
                let blade = quads(DVec3::NEG_Y, 2.0 * DVec3::Y, away, [1, 1]);
                if alternating && k % 2 == 0 {
                    turned(&blade)
                } else {
                    blade
                }
            });
            let fan: Vec<Triangle> = fan.collect();
            let start = std::time::Instant::now();
            let fan = mesh(&fan, &Frame::IDENTITY);
            let built = start.elapsed().as_secs_f64() * 1e3;
            for (body, height) in &lying() {
                let start = std::time::Instant::now();
                let place = DVec3::new(0.03, 0.1, *height);
                let points = contacts_at(body, place, &fan, &Frame::IDENTITY).len();
                let time = start.elapsed().as_secs_f64() * 1e3;
                eprintln!(
                    "{count} {alternating}: built {built:.1} ms, {time:.2} ms, {points} points"
                );
            }
        }
    }
}
