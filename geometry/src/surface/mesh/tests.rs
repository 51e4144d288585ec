//! Triangles, cones and windings of meshes and height fields.

use super::*;
use crate::surface::Field;
use crate::surface::triangle::Rim;

#[test]
fn field_and_mesh_agree_on_triangles_and_cones() {
    let heights: Vec<f64> = (0..12).map(|i| f64::from(i * i % 7) * 0.3).collect();
    let field = Field::new(3.0, 2.0, 4, &heights).unwrap();
    let mut from_field = Vec::new();
    field.visit(
        &Aabb::EVERYTHING.clone(),
        |_| true,
        |id, triangle, _| {
            from_field.push((id, *triangle));
        },
    );
    assert_eq!(from_field.len(), 12);
    // Unwelded copy of the same triangles: welding must recover the neighbours.
    let vertices: Vec<DVec3> = from_field.iter().flat_map(|(_, t)| t.vertices).collect();
    let ids: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mesh = Mesh::new(&vertices, &ids).unwrap();
    for ((_, a), b) in from_field.iter().zip(&mesh.triangles) {
        assert_eq!(a, b);
    }
    let sorted = |mut edges: Vec<DVec3>| {
        edges.iter_mut().for_each(|edge| *edge += DVec3::ZERO);
        edges.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        edges
    };
    for id in 0..12 {
        for corner in 0..3 {
            let of_field = sorted(field.fan(id, corner).collect());
            assert_eq!(of_field, sorted(mesh.fan(id, corner).to_vec()));
        }
    }
}

#[test]
fn flat_edges_permit_only_the_face_normal() {
    let field = Field::new(2.0, 2.0, 3, &[0.0; 9]).unwrap();
    let triangle = field.triangle(0, 1, 1);
    assert_eq!(triangle.normal, DVec3::Z);
    assert!(triangle.permits(DVec3::Z));
    let lean = DVec3::new(0.1, 0.05, 1.0).normalize();
    assert!(!triangle.permits(lean) && !triangle.permits(-DVec3::Z));
}

#[test]
fn bad_surfaces_are_refused() {
    assert!(matches!(
        Field::new(1.0, 1.0, 2, &[0.0; 3]),
        Err(GeometryError::Ragged { count: 3, .. })
    ));
    assert!(matches!(
        Field::new(1.0, 1.0, 2, &[0.0; 2]),
        Err(GeometryError::TooFew { field: "rows", .. })
    ));
    assert!(matches!(
        Field::new(1.0, -1.0, 2, &[0.0; 4]),
        Err(GeometryError::NotPositive {
            field: "y_size",
            ..
        })
    ));
    let square = [DVec3::ZERO, DVec3::X, DVec3::Y];
    assert!(matches!(
        Mesh::new(&square, &[[0, 1, 3]]),
        Err(GeometryError::IndexOutOfRange { index: 3, .. })
    ));
    assert!(matches!(
        Mesh::new(&square, &[[0, 1, 1]]),
        Err(GeometryError::DegenerateTriangle { triangle: 0, .. })
    ));
    assert!(Mesh::new(&square, &[]).is_err());
}

fn soup(triangles: &[[DVec3; 3]]) -> Result<Mesh, GeometryError> {
    let ids: Vec<[u32; 3]> = (0..triangles.len() as u32)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    Mesh::new(&triangles.concat(), &ids)
}

/// Two triangles over a rectangle from `x` and `y`, at height `slope · x` for x > 0.
fn tile(x: [f64; 2], y: [f64; 2], slope: f64) -> [[DVec3; 3]; 2] {
    let at = |i: usize, j: usize| DVec3::new(x[i], y[j], slope * x[i].max(0.0));
    let [a, b, c, d] = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
    [[a, b, c], [a, c, d]]
}

/// The rim of the left tile at x = 0.
fn seam(mesh: &Mesh) -> Vec<Rim> {
    let on_seam = |t: &&SurfaceTriangle| t.vertices.iter().all(|v| v.x <= 1e-6);
    let left = mesh.triangles.iter().filter(on_seam);
    let rims = left.flat_map(|t| t.rims);
    rims.filter(|rim| rim.outward.x > 0.99).collect()
}

fn agree(a: &Rim, b: &Rim) -> bool {
    (a.outward - b.outward).length() < 1e-7
        && (a.cos - b.cos).abs() < 1e-7
        && (a.sin - b.sin).abs() < 1e-7
        && a.rises == b.rises
}

#[test]
fn an_edge_with_a_corner_in_its_middle_has_the_cone_of_a_whole_one() {
    for slope in [-0.5, 0.0, 0.5] {
        for off in [0.0, 1e-9, -1e-9] {
            let left = tile([-2.0, 0.0], [-1.0, 1.0], slope);
            let one = soup(&[left, tile([0.0, 2.0], [-1.0, 1.0], slope)].concat()).unwrap();
            let whole = seam(&one);
            assert_eq!(whole.len(), 1);
            let lower = tile([off, 2.0], [-1.0, 0.3], slope);
            let upper = tile([off, 2.0], [0.3, 1.0], slope);
            let two = soup(&[left, lower, upper].concat()).unwrap();
            let parted = seam(&two);
            assert!(
                parted.len() == 1 && agree(&parted[0], &whole[0]),
                "slope {slope}"
            );
            assert_eq!((two.triangles.len(), two.winding), (6, Winding::default()));
            // And back from the small ones.
            let back = |t: &SurfaceTriangle| {
                let at_seam = t.rims.iter().filter(|rim| rim.outward.x < -0.8);
                let lean = at_seam.map(|rim| libm::atan2(rim.sin, rim.cos));
                lean.collect::<Vec<_>>()
            };
            let right: Vec<f64> = two.triangles[2..].iter().flat_map(back).collect();
            let lean = libm::atan(-slope).max(0.0);
            assert!(right.len() == 2 && right.iter().all(|x| (x - lean).abs() < 1e-7));
        }
    }
}

#[test]
fn an_edge_with_a_neighbour_along_a_part_is_free_elsewhere() {
    let left = tile([-2.0, 0.0], [-1.0, 1.0], 0.0);
    let right = tile([0.0, 2.0], [-0.5, 0.3], 0.0);
    let mesh = soup(&[left, right].concat()).unwrap();
    let seam: Vec<f64> = seam(&mesh).iter().map(|rim| rim.sin).collect();
    assert_eq!(seam, [1.0, 0.0, 1.0]);
    assert_eq!(mesh.triangles.len(), 6);
    let area = |t: &SurfaceTriangle| {
        let [a, b, c] = t.vertices;
        0.5 * (b - a).cross(c - a).length()
    };
    let sum: f64 = mesh.triangles.iter().map(area).sum();
    assert!((sum - 5.6).abs() < 1e-14, "{sum}");
}

#[test]
fn corners_in_the_middle_of_all_edges_part_a_triangle() {
    let hole = [DVec3::ZERO, DVec3::X * 3.0, DVec3::Y * 3.0];
    // Around it: whole, in two and in three parts; the parts fall off by different slopes.
    let mut triangles = vec![hole];
    let mut part = |k: usize, from: f64, to: f64, fall: f64| {
        let (a, b) = (hole[k], hole[(k + 1) % 3]);
        let out = (b - a).cross(DVec3::Z).normalize() - DVec3::Z * fall;
        let (p, q) = (a.lerp(b, from), a.lerp(b, to));
        triangles.push([q, p, 0.5 * (p + q) + out]);
    };
    for (k, from, to, fall) in [
        (0, 0.0, 1.0, 0.1),
        (1, 0.0, 0.4, 0.2),
        (1, 0.4, 1.0, 0.3),
        (2, 0.0, 0.2, 0.4),
        (2, 0.2, 0.7, 0.5),
        (2, 0.7, 1.0, 0.6),
    ] {
        part(k, from, to, fall);
    }
    let mesh = soup(&triangles).unwrap();
    let inner: Vec<_> = mesh
        .triangles
        .iter()
        .filter(|t| t.normal == DVec3::Z)
        .collect();
    let area = |t: &&SurfaceTriangle| {
        let [a, b, c] = t.vertices;
        0.5 * (b - a).cross(c - a).z
    };
    assert!((inner.iter().map(area).sum::<f64>() - 4.5).abs() < 1e-14);
    let mut leans: Vec<f64> = inner
        .iter()
        .flat_map(|t| t.rims)
        .filter(|rim| rim.sin > 0.0)
        .map(|rim| rim.sin / rim.cos)
        .collect();
    leans.sort_by(f64::total_cmp);
    assert_eq!(leans.len(), 6, "{leans:?}");
    for (lean, fall) in leans.iter().zip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) {
        assert!((lean - fall).abs() < 1e-12, "{leans:?}");
    }
}

#[test]
fn what_collapses_or_is_there_already_is_dropped() {
    let sheet = tile([0.0, 1.0], [0.0, 1.0], 0.0);
    let one = soup(&sheet).unwrap();
    let [a, b, c] = sheet[0];
    let sliver = [a, a + DVec3::Y * 1e-9, b];
    let cap = [b, a, 0.5 * (a + b) - DVec3::Y * 1e-9];
    let more = soup(&[sheet[0], [b, c, a], sheet[1], sliver, cap]).unwrap();
    assert_eq!(one.triangles, more.triangles);
    // The other way round it is the back of a sheet.
    let both = soup(&[sheet[0], sheet[1], [a, c, b]]).unwrap();
    let sides: Vec<bool> = both.sheets.iter().map(Option::is_some).collect();
    assert_eq!(sides, [true, false, true]);
    assert!(matches!(
        soup(&[[a, b, b + DVec3::Y * 1e-8]]),
        Err(GeometryError::DegenerateTriangle { triangle: 0, .. })
    ));
}

#[test]
fn welding_keeps_what_is_small_on_something_large() {
    // Steps of 1 mm along 2 km, and a lone far triangle.
    let far = DVec3::X * 2e3;
    let mut triangles: Vec<_> = (0..20)
        .flat_map(|i| {
            tile(
                [1e-3 * f64::from(i), 1e-3 * f64::from(i + 1)],
                [0.0, 1e-3],
                0.0,
            )
        })
        .collect();
    triangles.push([far, far + DVec3::X * 1e-3, far + DVec3::Y * 1e-3]);
    let mesh = soup(&triangles).unwrap();
    assert_eq!(mesh.triangles.len(), triangles.len());
}

fn cube(order: [usize; 3]) -> Vec<[DVec3; 3]> {
    let corner = |i: usize| DVec3::from_array([0, 1, 2].map(|bit| (i >> bit & 1) as f64 + 7.0));
    [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ]
    .iter()
    .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
    .map(|t| order.map(|k| corner(t[k])))
    .collect()
}

#[test]
fn the_winding_of_a_mesh_is_known() {
    let sound = cube([0, 1, 2]);
    assert_eq!(soup(&sound).unwrap().winding, Winding::default());
    let inside_out = soup(&cube([0, 2, 1])).unwrap().winding;
    assert!(inside_out.inside_out && inside_out.edges_at_odds == 0);
    for k in 0..12 {
        let mut one = sound.clone();
        one[k].swap(0, 1);
        let winding = soup(&one).unwrap().winding;
        assert_eq!((winding.edges_at_odds, winding.inside_out), (3, false));
        assert!(winding.first.unwrap().contains(&k));
    }
    // A face more does not make up for it, and an open mesh has no inside.
    let mut twice = sound.clone();
    twice.insert(0, sound[11]);
    assert_eq!(soup(&twice).unwrap().winding, Winding::default());
    assert_eq!(
        soup(&cube([0, 2, 1])[1..]).unwrap().winding,
        Winding::default()
    );
    let sheet = tile([0.0, 1.0], [0.0, 1.0], 0.0);
    let back = sheet.map(|[a, b, c]| [a, c, b]);
    assert_eq!(
        soup(&[sheet, back].concat()).unwrap().winding,
        Winding::default()
    );
    // At odds along both parts of an edge.
    let lower = tile([0.0, 2.0], [-1.0, 0.3], 0.0).map(|[a, b, c]| [a, c, b]);
    let upper = tile([0.0, 2.0], [0.3, 1.0], 0.0).map(|[a, b, c]| [a, c, b]);
    let left = tile([-2.0, 0.0], [-1.0, 1.0], 0.0);
    let parted = soup(&[left, lower, upper].concat()).unwrap();
    assert_eq!(parted.winding.edges_at_odds, 2);
}

/// True if the triangles without an edge at the border of their plane are those whose middles are asked for.
fn inner(mesh: &Mesh, holds: impl Fn(DVec3) -> bool) -> bool {
    (0..)
        .zip(&mesh.triangles)
        .all(|(id, triangle): (usize, _)| {
            let middle = triangle.vertices.iter().sum::<DVec3>() / 3.0;
            mesh.levels[id].is_within() == holds(middle)
        })
}

#[test]
fn a_triangle_is_within_a_plane_if_its_neighbours_are_in_it_too() {
    let cells = |low: f64, high: f64, slope: f64| -> Vec<[DVec3; 3]> {
        let side = |i: u32, low: f64, high: f64| {
            [i, i + 1].map(|i| low + (high - low) * f64::from(i) / 8.0)
        };
        let cells = (0..8).flat_map(|i| (0..8).map(move |j| (i, j)));
        cells
            .flat_map(|(i, j)| tile(side(i, low, high), side(j, -1.0, 1.0), slope))
            .collect()
    };
    let left = cells(-2.0, 0.0, 0.0);
    let off_border = |p: DVec3, low: f64, columns: f64| {
        // Of the two triangles of a cell one is below and right, one above and left.
        let [x, y] = [(p.x - low) * 4.0, (p.y + 1.0) * 4.0];
        if x.fract() > y.fract() {
            x < columns - 1.0 && y > 1.0
        } else {
            x > 1.0 && y < 7.0
        }
    };
    // Alone, beside a slope, beside more of the plane.
    assert!(inner(&soup(&left).unwrap(), |p| off_border(p, -2.0, 8.0)));
    for slope in [-0.3, 0.3] {
        let bend = soup(&[left.clone(), cells(0.0, 2.0, slope)].concat()).unwrap();
        assert!(inner(&bend, |p| match p.x < 0.0 {
            true => off_border(p, -2.0, 8.0),
            false => off_border(p, 0.0, 8.0),
        }));
    }
    let wide = soup(&[left.clone(), cells(0.0, 2.0, 0.0)].concat()).unwrap();
    assert!(inner(&wide, |p| off_border(p, -2.0, 16.0)));
    // A wall upon the plane bounds it on either side.
    let (a, b) = (DVec3::new(-1.0, -0.25, 0.0), DVec3::new(-1.0, 0.0, 0.0));
    let wall = soup(&[left.clone(), vec![[a, b, b + DVec3::Z]]].concat()).unwrap();
    let count = |mesh: &Mesh| mesh.levels.iter().filter(|level| level.is_within()).count();
    assert_eq!(count(&wall), count(&soup(&left).unwrap()) - 1);
}

#[test]
fn the_planes_of_fields_are_those_of_meshes() {
    // Level, sloping and rough parts.
    let height = |k: usize| match (k % 12, k / 12) {
        (0..5, _) => 0.0,
        (x @ 5..9, _) => 0.1 * (x - 4) as f64,
        (x, y) => 0.01 * ((x * 7 + y * 5) % 11) as f64,
    };
    let heights: Vec<f64> = (0..144).map(height).collect();
    let field = Field::new(3.0, 2.0, 12, &heights).unwrap();
    let mut triangles = Vec::new();
    field.visit(
        &Aabb::EVERYTHING.clone(),
        |_| true,
        |_, t, _| triangles.push(t.vertices),
    );
    let mesh = soup(&triangles).unwrap();
    assert_eq!(field.levels(), mesh.levels);
    let within = mesh.levels.iter().filter(|level| level.is_within()).count();
    assert!((20..200).contains(&within), "{within}");
}

#[test]
#[ignore = "a measurement: cargo test --release -p moreau-geometry -- --ignored --nocapture fine_mesh"]
fn the_time_of_a_fine_mesh_grows_with_its_triangles() {
    let best = |count: u32, shift: f64| {
        let size = 10.0 / f64::from(count);
        let mut triangles = Vec::new();
        for i in 0..count {
            let x = [size * f64::from(i), size * f64::from(i + 1)];
            // Every other row has its corners in the middle of its neighbours' edges.
            let off = shift * size * f64::from(i % 2);
            for j in 0..count {
                let y = [size * f64::from(j) + off, size * f64::from(j + 1) + off];
                triangles.extend(tile(x, y, 0.0));
            }
        }
        let times = (0..8).map(|_| {
            let start = std::time::Instant::now();
            assert!(soup(&triangles).unwrap().triangles.len() >= triangles.len());
            start.elapsed().as_secs_f64() * 1e3
        });
        times.fold(f64::INFINITY, f64::min)
    };
    for shift in [0.0, 0.5] {
        let [few, many] = [100, 200].map(|count| best(count, shift));
        eprintln!("shift {shift}: 20000 triangles {few:.1} ms, 80000 {many:.1} ms");
        assert!(many < 8.0 * few);
    }
}
