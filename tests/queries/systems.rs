//! Questions within systems of the user.

use bevy_ecs::prelude::*;
use moreau::prelude::*;

/// What systems saw: distances along x.
#[derive(Resource, Default)]
struct Seen(Vec<f64>);

fn ahead() -> Ray {
    Ray::new(DVec3::ZERO, DVec3::X).unwrap()
}

fn look(mut bodies: SpatialQuery, mut seen: ResMut<Seen>) {
    let hit = bodies.view().unwrap().ray(&ahead(), &QueryFilter::new());
    seen.0
        .push(hit.map_or(f64::INFINITY, |hit| hit.at.distance));
}

/// Looks, moves all bodies by one metre, and looks again.
fn look_and_move(mut both: ParamSet<(SpatialQuery, Query<&mut Pose>)>, mut seen: ResMut<Seen>) {
    for _ in 0..2 {
        let mut bodies = both.p0();
        let hit = bodies.view().unwrap().ray(&ahead(), &QueryFilter::new());
        seen.0
            .push(hit.map_or(f64::INFINITY, |hit| hit.at.distance));
        for mut pose in &mut both.p1() {
            pose.position.x += 1.0;
        }
    }
}

/// Runs, and does not look.
fn idle(_bodies: SpatialQuery) {}

fn world_with_a_ball() -> (World, Entity) {
    let (mut world, mut schedule) = (World::new(), Schedule::default());
    moreau::install(&mut world, &mut schedule, Settings::default()).unwrap();
    world.init_resource::<Seen>();
    let pose = Pose::at(3.0, 0.0, 0.0);
    let ball = world
        .spawn((RigidBody::Kinematic, Collider::sphere(0.5), pose))
        .id();
    (world, ball)
}

#[test]
fn systems_see_what_was_written_before_them() {
    let (mut world, ball) = world_with_a_ball();
    let mut schedule = Schedule::default();
    schedule.add_systems((look, look_and_move, look, idle).chain());
    for round in 0..4 {
        schedule.run(&mut world);
        let start = 2.5 + 2.0 * f64::from(round);
        let seen = std::mem::take(&mut world.resource_mut::<Seen>().0);
        assert_eq!(seen, [start, start, start + 1.0, start + 2.0]);
    }
    // By hand, and a system that did not run meanwhile.
    let mut once = Schedule::default();
    once.add_systems(look);
    world.entity_mut(ball).insert(Pose::at(4.0, 0.0, 0.0));
    once.run(&mut world);
    world.despawn(ball);
    once.run(&mut world);
    assert_eq!(world.resource::<Seen>().0, [3.5, f64::INFINITY]);
}

/// A system that has run since the last look, and did not look, sees what changed before it ran.
#[test]
fn changes_before_an_idle_run_are_seen() {
    #[derive(Resource)]
    struct Looks(bool);
    fn sometimes(mut bodies: SpatialQuery, looks: Res<Looks>, mut seen: ResMut<Seen>) {
        if looks.0 {
            let hit = bodies.view().unwrap().ray(&ahead(), &QueryFilter::new());
            seen.0
                .push(hit.map_or(f64::INFINITY, |hit| hit.at.distance));
        }
    }
    let (mut world, ball) = world_with_a_ball();
    world.insert_resource(Looks(true));
    let mut schedule = Schedule::default();
    schedule.add_systems(sometimes);
    schedule.run(&mut world);
    world.entity_mut(ball).insert(Pose::at(4.0, 0.0, 0.0));
    world.resource_mut::<Looks>().0 = false;
    schedule.run(&mut world);
    world.resource_mut::<Looks>().0 = true;
    schedule.run(&mut world);
    assert_eq!(world.resource::<Seen>().0, [2.5, 3.5]);
}
