//! Snapshots that are damaged, cut short, of another format, or hostile: typed errors, and a world that stays as it was. Nothing panics or fills the memory.

use crate::counted::requested;
use crate::support::*;
use moreau::scene::Lcg;
use proptest::prelude::*;

/// Memory, bytes, that reading and restoring a few kilobytes may ask for in all.
const MOST: usize = 1 << 28;

/// Bytes before the sections, and where the checksum is in them.
const HEADER: usize = 40;
const CHECKSUM: std::ops::Range<usize> = 36..40;

/// A world with some of everything.
fn rich() -> Simulation {
    let (mut simulation, ball) = healthy();
    let points = vec![
        DVec3::ZERO,
        DVec3::X * 0.3,
        DVec3::Y * 0.3,
        DVec3::new(0.1, 0.1, 0.4),
    ];
    let part = || Shape::Cuboid {
        half_extents: DVec3::splat(0.1),
    };
    let parts = [-0.2, 0.2].map(|x| (Pose::at(x, 0.0, 0.0), part()));
    let shapes = [
        Collider::convex_hull(points),
        Collider::compound(parts.to_vec()),
        Collider::cone(0.2, 0.2),
    ];
    for (k, shape) in (0..).zip(shapes) {
        let place = Pose::at(f64::from(k) - 3.0, 0.0, 0.4);
        let body = (RigidBody::Dynamic, shape, place);
        simulation.spawn(body).unwrap();
    }
    let spring = PointSpring {
        stiffness: 10.0,
        ..PointSpring::default()
    };
    let link = simulation.spawn((
        RigidBody::Dynamic,
        Collider::capsule(0.2, 0.1),
        Pose::at(2.0, 0.0, 2.0),
        BodyForces::new(spring),
    ));
    let joint = Joint::new(ball, link.unwrap(), JointKind::Revolute);
    let motor = JointForce::Motor {
        axis: JointAxis::RotationZ,
        position: 0.0,
        velocity: 1.0,
        stiffness: 0.0,
        damping: 1.0,
        effort: 10.0,
    };
    let joint = joint.at(DVec3::new(1.0, 0.0, 2.0), DVec3::Y);
    simulation
        .spawn_joint(joint, JointForces(vec![motor]))
        .unwrap();
    let lift = (
        RigidBody::Kinematic,
        Collider::cuboid(0.5, 0.5, 0.1),
        Pose::at(5.0, 0.0, 0.5),
    );
    let lift = simulation.spawn(lift).unwrap();
    for _ in 0..150 {
        simulation.step().unwrap();
    }
    simulation.move_to(lift, Pose::at(5.0, 0.0, 0.51)).unwrap();
    simulation
}

fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// The checksum is that of the bytes.
fn seal(bytes: &mut [u8]) {
    let length = (bytes.len() - HEADER) as u64;
    bytes[28..36].copy_from_slice(&length.to_le_bytes());
    let of = bytes[..CHECKSUM.start].iter().chain(&bytes[HEADER..]);
    let sum = crc32(of.copied());
    bytes[CHECKSUM].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn another_format_and_other_files_are_named() {
    let bytes = rich().snapshot().unwrap().to_bytes().unwrap();
    let error = |bytes: &[u8]| Snapshot::from_bytes(bytes).unwrap_err();
    let with_format = |format: u32| {
        let mut other = bytes.clone();
        other[8..12].copy_from_slice(&format.to_le_bytes());
        error(&other)
    };
    let older = with_format(0);
    assert!(matches!(older, SnapshotError::Older { found: 0, .. }));
    names(&older.to_string(), &["format 0", "moreau 0.1.0", "older"]);
    let newer = with_format(77);
    assert!(matches!(newer, SnapshotError::Newer { found: 77, .. }));
    names(&newer.to_string(), &["format 77", "newer"]);
    names(&error(b"[[bodies]]").to_string(), &["not a snapshot"]);
    names(&error(b"").to_string(), &["not a snapshot"]);
    let most = bytes.len();
    names(
        &error(&bytes[..most - 1]).to_string(),
        &[
            "truncated",
            &format!("{} bytes", most - 1),
            &most.to_string(),
        ],
    );
    let longer = [&bytes[..], &[0]].concat();
    names(&error(&longer).to_string(), &["too long"]);
    // A transfer as text changes line feeds.
    let text: Vec<u8> = bytes
        .iter()
        .map(|b| if *b == b'\n' { b'\r' } else { *b })
        .collect();
    names(&error(&text).to_string(), &["not a snapshot"]);
    let mut damaged = bytes;
    damaged[most / 2] ^= 1;
    names(&error(&damaged).to_string(), &["damaged", "checksum"]);
}

#[test]
fn files_are_replaced_as_a_whole_and_named_in_errors() {
    let folder = std::env::temp_dir().join(format!("moreau-snapshots-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("world.snapshot");
    let simulation = rich();
    let snapshot = simulation.snapshot().unwrap();
    for _ in 0..2 {
        snapshot.write(&file).unwrap();
        let files = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(files, 1, "nothing is left beside it");
    }
    // What a kill left is taken over, and two writers do not mix.
    let partial = folder.join(".world.snapshot.partial");
    std::fs::write(&partial, vec![7; 1 << 20]).unwrap();
    let other = std::fs::File::open(&partial).unwrap();
    other.lock().unwrap();
    let busy = snapshot.write(&file).unwrap_err().to_string();
    names(&busy, &["world.snapshot", "something else is writing it"]);
    drop(other);
    snapshot.write(&file).unwrap();
    assert!(!partial.exists());
    let read = Snapshot::read(&file).unwrap();
    assert_eq!(read.to_bytes().unwrap(), snapshot.to_bytes().unwrap());
    assert_eq!(read.step(), 155);
    assert_eq!(read.bodies().len(), 7);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let error = Snapshot::read(&file).unwrap_err().to_string();
    names(&error, &["world.snapshot", "truncated"]);
    let nowhere = folder.join("no").join("such");
    names(
        &snapshot.write(&nowhere).unwrap_err().to_string(),
        &["such"],
    );
    names(
        &Snapshot::read(&folder).unwrap_err().to_string(),
        &["regular file"],
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A changed byte or a missing end is an error, whatever it is.
    #[test]
    fn damaged_bytes_are_refused(at in 0.0..1.0_f64, flip in 1..=255_u8, cut in any::<bool>()) {
        thread_local! {
            static BYTES: Vec<u8> = rich().snapshot().unwrap().to_bytes().unwrap();
        }
        let mut bytes = BYTES.with(Clone::clone);
        let at = (at * bytes.len() as f64) as usize;
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= flip;
        }
        prop_assert!(Snapshot::from_bytes(&bytes).is_err());
    }
}

/// Bytes with a sound checksum and any content: refused, and the world is as it was; or restored, to a world that steps or refuses to.
#[test]
fn hostile_content_is_refused_or_harmless() {
    let bytes = rich().snapshot().unwrap().to_bytes().unwrap();
    let mut random = Lcg::new(5);
    let (mut refused, mut restored) = (0, 0);
    for round in 0..1500 {
        let mut hostile = bytes.clone();
        let below = |random: &mut Lcg, n: usize| (random.uniform() * n as f64) as usize;
        for _ in 0..1 + below(&mut random, 3) {
            let at = HEADER + below(&mut random, hostile.len() - HEADER);
            match below(&mut random, 5) {
                0 => hostile[at] = 0xff,
                1 => hostile[at] = below(&mut random, 256) as u8,
                2 => {
                    let end = (at + 8).min(hostile.len());
                    let wild = [f64::NAN, f64::INFINITY, -1e300, 1e-300];
                    let wild = wild[below(&mut random, 4)].to_le_bytes();
                    hostile[at..end].copy_from_slice(&wild[..end - at]);
                }
                3 => drop(hostile.remove(at)),
                _ => hostile.insert(at, below(&mut random, 256) as u8),
            }
        }
        seal(&mut hostile);
        let (mut simulation, _) = healthy();
        let before = (simulation.state_hash(), simulation.time());
        let ((), asked) = requested(|| {
            let result = Snapshot::from_bytes(&hostile).and_then(|read| simulation.restore(&read));
            if result.is_err() {
                refused += 1;
                assert_eq!((simulation.state_hash(), simulation.time()), before);
            } else {
                restored += 1;
                let settings = Settings {
                    threads: 1,
                    accuracy: Accuracy::Interactive,
                    ..Settings::default()
                };
                simulation.set_settings(settings).unwrap();
            }
        });
        assert!(asked < MOST, "round {round}: {asked} bytes");
        // It may refuse to.
        let _ = simulation.step();
    }
    assert!(
        refused > 100 && restored > 100,
        "{refused} refused, {restored} restored"
    );
}

/// Impulses and couples that no step leaves are refused in files, by name; given by a user, they are left out, as a start that is no help.
#[test]
fn impulses_to_start_from_that_no_step_leaves() {
    let material = Material {
        rolling_resistance: 1e-3,
        spinning_resistance: 1e-3,
        ..Material::default()
    };
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let floor = Collider::half_space(DVec3::Z);
    simulation
        .spawn((RigidBody::Static, floor, material))
        .unwrap();
    let cube = Collider::cuboid(0.1, 0.1, 0.1);
    let cube = (RigidBody::Dynamic, cube, material, Pose::at(0.0, 0.0, 0.1));
    let cube = simulation.spawn(cube).unwrap();
    simulation.step().unwrap();
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e151];
    let good = simulation.state().unwrap().warm_start();
    assert!(good.contacts.iter().all(|of| of.couple.is_some()));
    for value in wild {
        for field in 0..3 {
            let mut start = good.clone();
            for of in &mut start.contacts {
                match field {
                    0 => of.impulse.y = value,
                    1 => of.couple = Some(DVec3::new(0.0, value, 0.0)),
                    _ => of.arms[1].x = value,
                }
            }
            let mut state = simulation.world_mut().resource_mut::<StepState>();
            state.set_warm_start(start);
            let report = simulation.step().unwrap();
            assert!(report.converged && report.sweeps < 1000, "{value}, {field}");
            assert!(simulation.twist(cube).unwrap().linear.length() < 1e-9);
        }
    }
    // In a file: the first number of a couple is changed.
    let bytes = simulation.snapshot().unwrap().to_bytes().unwrap();
    let couple = simulation.state().unwrap().warm_start().contacts[0].couple;
    let couple = couple.unwrap().x.to_le_bytes();
    let places = (HEADER..bytes.len() - 8).filter(|at| bytes[*at..*at + 8] == couple);
    let mut named = 0;
    for at in places {
        let mut hostile = bytes.clone();
        hostile[at..at + 8].copy_from_slice(&f64::INFINITY.to_le_bytes());
        seal(&mut hostile);
        let read = Snapshot::from_bytes(&hostile).and_then(|read| simulation.restore(&read));
        if let Err(SnapshotError::Value { field, .. }) = read {
            assert!(["impulse", "couple"].contains(&field), "{field}");
            named += 1;
        }
    }
    assert!(named > 0);
}
