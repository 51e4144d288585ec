//! A character pushes a crate, walks up a slope and a flight of stairs and rides on a table that turns. It is a kinematic capsule: queries tell where it may go.
//!
//! `cargo run --release -p moreau --example character`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;
use std::error::Error;

/// Half the length of its axis, its radius, and from its middle to the soles of its feet, m.
const HALF: f64 = 0.5;
const RADIUS: f64 = 0.3;
const SOLE: f64 = HALF + RADIUS;
/// What it keeps away from everything, m.
const SKIN: f64 = 0.01;
/// Highest step that it climbs, m.
const STEP: f64 = 0.3;
/// Cosine of the steepest slope that it walks on: 50°.
const STEEPEST: f64 = 0.643;
/// Force with which it pushes, N.
const PUSH: f64 = 200.0;

struct Character {
    body: Entity,
    shape: Collider,
    /// Vertical velocity, m/s.
    rises: f64,
}

impl Character {
    fn spawn(simulation: &mut Simulation, at: DVec3) -> Result<Self, StepError> {
        let shape = Collider::capsule(HALF, RADIUS);
        // A capsule lies along z: it stands.
        let pose = Pose::from_position(at);
        let body = simulation.spawn((RigidBody::Kinematic, shape.clone(), pose))?;
        Ok(Self {
            body,
            shape,
            rises: 0.0,
        })
    }

    /// How far it may go from `at` by `way`, and what stops it; `through` stops nothing.
    fn cast(
        &self,
        simulation: &mut Simulation,
        at: DVec3,
        way: DVec3,
        through: Option<Entity>,
    ) -> Result<(DVec3, Option<Found<ShapeHit>>), QueryError> {
        let length = way.length();
        if length < 1e-9 {
            return Ok((at, None));
        }
        let not = [self.body, through.unwrap_or(self.body)];
        let sweep = Sweep::new(way)?.up_to(length + SKIN)?.past_overlaps();
        let filter = QueryFilter::new().without(&not).solid();
        let start = Pose::from_position(at);
        let hit = simulation
            .queries()?
            .shape_cast(&self.shape, &start, &sweep, &filter)?;
        let free = hit.as_ref().map_or(length, |hit| {
            // At a slant the skin is farther along the way.
            let slant = -hit.at.normal.dot(sweep.direction());
            (hit.at.distance - SKIN / slant.max(0.1)).clamp(0.0, length)
        });
        Ok((at + sweep.direction() * free, hit))
    }

    /// Moves on by a step, with this horizontal velocity (m/s). What it may stand on is told its way before.
    fn walk(&mut self, simulation: &mut Simulation, wish: DVec3) -> Result<(), Box<dyn Error>> {
        let settings = simulation.settings();
        let h = settings.time_step;
        let pose = simulation.pose(self.body).ok_or("the character is gone")?;
        let mut at = self.out_of_overlaps(simulation, pose.position)?;
        // What rises has left the ground: `rises` above zero is a jump.
        let ground = self.ground(simulation, at)?.filter(|_| self.rises <= 0.0);

        // Along the floor, and along what is in the way.
        let mut way = wish * h;
        if let Some(ground) = &ground {
            way = way.reject_from_normalized(ground.at.normal);
        }
        for _ in 0..4 {
            let (reached, hit) = self.cast(simulation, at, way, None)?;
            way -= reached - at;
            at = reached;
            let Some(hit) = hit else { break };
            self.push(simulation, &hit, wish, h)?;
            if ground.is_some()
                && !is_floor(&hit)
                && let Some(top) = self.climb(simulation, at, way)?
            {
                at = top;
                break;
            }
            // What is too steep to walk on is a wall.
            let normal = if is_floor(&hit) || hit.at.normal.z < 0.0 {
                hit.at.normal
            } else {
                (hit.at.normal * DVec3::new(1.0, 1.0, 0.0)).normalize_or(DVec3::Z)
            };
            way = way.reject_from_normalized(normal);
        }

        // Down to the floor again, or with gravity.
        if ground.is_some() {
            let (reached, hit) = self.cast(simulation, at, DVec3::NEG_Z * STEP, None)?;
            at = if hit.is_some() { reached } else { at };
            self.rises = 0.0;
        } else {
            self.rises += settings.gravity.z * h;
            at = self.fall(simulation, at, h)?;
        }

        // What it stands on carries it through the step, up to what is in the way.
        if let Some(ground) = self.ground(simulation, at)? {
            let point = ground.at.point;
            let carried = carried(simulation, ground.entity, point, h) - point;
            at = self.cast(simulation, at, carried, Some(ground.entity))?.0;
        }
        simulation.move_to(self.body, Pose::from_position(at))?;
        Ok(())
    }

    /// What it stands on.
    fn ground(
        &self,
        simulation: &mut Simulation,
        at: DVec3,
    ) -> Result<Option<Found<ShapeHit>>, QueryError> {
        let (_, hit) = self.cast(simulation, at, DVec3::NEG_Z * 2.0 * SKIN, None)?;
        Ok(hit.filter(is_floor))
    }

    /// Away from what has moved into it.
    fn out_of_overlaps(
        &self,
        simulation: &mut Simulation,
        mut at: DVec3,
    ) -> Result<DVec3, QueryError> {
        let own = [self.body];
        let filter = QueryFilter::new().without(&own).solid();
        for _ in 0..4 {
            let here = Pose::from_position(at);
            let queries = simulation.queries()?;
            let contacts = queries.contacts_of(&self.shape, &here, 0.0, &filter)?;
            let deepest = contacts.iter().min_by(|a, b| a.at.gap.total_cmp(&b.at.gap));
            let Some(contact) = deepest.filter(|contact| contact.at.gap < 0.0) else {
                break;
            };
            at += contact.at.normal * (SKIN - contact.at.gap);
        }
        Ok(at)
    }

    /// Through the air, and down along what is too steep to stand on.
    fn fall(
        &mut self,
        simulation: &mut Simulation,
        from: DVec3,
        h: f64,
    ) -> Result<DVec3, QueryError> {
        let (mut at, mut way) = (from, DVec3::Z * self.rises * h);
        for _ in 0..3 {
            let (reached, hit) = self.cast(simulation, at, way, None)?;
            way -= reached - at;
            at = reached;
            let Some(hit) = hit else { return Ok(at) };
            way = way.reject_from_normalized(hit.at.normal);
            if is_floor(&hit) {
                break;
            }
        }
        // As fast as it got on.
        self.rises = (at.z - from.z) / h;
        Ok(at)
    }

    /// Up by a step, forward, and down onto something that it can stand on.
    fn climb(
        &self,
        simulation: &mut Simulation,
        at: DVec3,
        way: DVec3,
    ) -> Result<Option<DVec3>, QueryError> {
        let (up, _) = self.cast(simulation, at, DVec3::Z * STEP, None)?;
        // Far enough for the round foot to stand on it.
        let ahead = DVec3::new(way.x, way.y, 0.0).normalize_or_zero();
        let (over, wall) = self.cast(simulation, up, ahead * 0.1, None)?;
        if wall.is_some() {
            return Ok(None);
        }
        let (top, floor) = self.cast(simulation, over, DVec3::NEG_Z * (up.z - at.z), None)?;
        let sole = at.z - SOLE - SKIN;
        let stands = floor.is_some_and(|on| is_floor(&on) && on.at.point.z - sole <= STEP + 1e-6);
        Ok((stands && top.z > at.z).then_some(top))
    }

    /// Pushes what is in the way, no harder and no faster than it can.
    fn push(
        &self,
        simulation: &mut Simulation,
        hit: &Found<ShapeHit>,
        wish: DVec3,
        h: f64,
    ) -> Result<(), StepError> {
        let world = simulation.world();
        let body = world.get_entity(hit.entity).ok();
        let parts = body.and_then(|body| body.get_components::<(&RigidBody, &Twist, &Mass)>().ok());
        if let Some((RigidBody::Dynamic, twist, mass)) = parts {
            let along = -hit.at.normal * DVec3::new(1.0, 1.0, 0.0);
            let slower = (wish - twist.linear).dot(along).max(0.0);
            let impulse = (PUSH * h).min(mass.mass() * slower);
            simulation.apply_impulse(hit.entity, along * impulse, hit.at.point)?;
        }
        Ok(())
    }
}

/// It can stand on that.
fn is_floor(hit: &Found<ShapeHit>) -> bool {
    hit.at.normal.z >= STEEPEST
}

/// Where a point of a body is at the end of the step, if nothing stops the body.
fn carried(simulation: &Simulation, body: Entity, point: DVec3, h: f64) -> DVec3 {
    let now = simulation.pose(body).unwrap_or_default();
    let end = match simulation.world().get::<KinematicTarget>(body) {
        Some(target) => target.0,
        None => {
            let twist = simulation.twist(body).unwrap_or_default();
            let (linear, angular) = twist.in_inertial_frame(now.orientation);
            let turned = DQuat::from_scaled_axis(angular * h) * now.orientation;
            Pose::from_position(now.position + linear * h).with_orientation(turned)
        }
    };
    let own = now.orientation.conjugate() * (point - now.position);
    end.position + end.orientation * own
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut simulation = Simulation::new(Settings::default())?;
    let fixed = |half: DVec3| (RigidBody::Static, Collider::cuboid(half.x, half.y, half.z));
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    // A slope of 20°, then stairs of 18 cm.
    let tilt = DQuat::from_rotation_y(-20_f64.to_radians());
    let slope = Pose::at(4.0, 0.0, 0.0).with_orientation(tilt);
    simulation.spawn((fixed(DVec3::new(1.0, 1.0, 0.1)), slope))?;
    for step in 0..4_u32 {
        let top = 0.45 + 0.18 * f64::from(step);
        let stair = fixed(DVec3::new(0.6, 1.0, 0.5 * top));
        let at = 5.4 + 0.4 * f64::from(step);
        simulation.spawn((stair, Pose::at(at, 0.0, 0.5 * top)))?;
    }
    let table = (
        RigidBody::Kinematic,
        Collider::cylinder(0.1, 1.5),
        Pose::at(8.7, 0.6, 0.89),
        Twist::from_inertial_frame(DVec3::ZERO, DVec3::Z, DQuat::IDENTITY),
    );
    simulation.spawn(table)?;
    let load = (
        RigidBody::Dynamic,
        Collider::cuboid(0.25, 0.25, 0.25),
        Mass::scaled_to(20.0),
        Pose::at(1.5, 0.0, 0.25),
    );
    let load = simulation.spawn(load)?;
    // It is to push the crate by its own force, not as a body that nothing stops.
    let groups = |memberships, mask| CollisionGroups { memberships, mask };
    let mut walker = Character::spawn(&mut simulation, DVec3::Z * (SOLE + SKIN))?;
    simulation.set(walker.body, groups(2, 0));
    let (mut say, mut rides) = (-1.0, false);
    while simulation.time() < 14.0 {
        // Round the crate once it was pushed for a while, and as far as the table, on which it stands.
        let y = if simulation.time() < 2.0 { 0.0 } else { 0.6 };
        let at = simulation.pose(walker.body).unwrap_or_default().position;
        let wish = DVec3::new(1.2, (4.0 * (y - at.y)).clamp(-1.0, 1.0), 0.0);
        rides |= at.x > 8.0;
        let wish = if rides { DVec3::ZERO } else { wish };
        walker.walk(&mut simulation, wish)?;
        simulation.step()?;
        if simulation.time() - say >= 1.0 {
            say = simulation.time();
            let place = simulation.pose(walker.body).map(|pose| pose.position);
            let load = simulation.pose(load).map(|pose| pose.position.x);
            println!("{say:.1} s: it is at {place:.2?}, the crate at {load:.2?} m");
        }
    }
    Ok(())
}
