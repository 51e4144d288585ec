//! The manager of events: their order and tolerance, and the way through an accumulation and back.

use crate::ball::ball;
use crate::table::read;
use bevy_ecs::entity::Entity;
use moreau_systems::*;

const G: f64 = 9.81;

fn accumulating() -> EventSettings {
    EventSettings {
        accumulation: Some(Accumulation {
            impacts: 10,
            within: 0.2,
        }),
        ..EventSettings::default()
    }
}

/// Height of the ball in closed form; zero after the accumulation at `√(2/g) (1 + e)/(1 − e)`.
fn exact(t: f64) -> f64 {
    let e: f64 = 0.9;
    let fall = (2.0 / G).sqrt();
    if t < fall {
        return 1.0 - 0.5 * G * t * t;
    }
    let (mut begin, mut speed) = (fall, e * G * fall);
    while speed > 1e-14 {
        let flight = 2.0 * speed / G;
        if t < begin + flight {
            return speed * (t - begin) - 0.5 * G * (t - begin) * (t - begin);
        }
        begin += flight;
        speed *= e;
    }
    0.0
}

/// `e = 0.9`: infinitely many impacts until 8.58 s. Ten of them within 0.2 s hand over to steps of 1e-3 s, three slow steps with a force hand back, some ninety
/// steps after the accumulation (a step leaves `e` of the rate), and the ball rests: before, the integration is exact; in between it errs by `h v` with the 0.1 m/s that are left; after it by rounding.
#[test]
fn an_accumulation_is_stepped_through_and_left_again() {
    let (mut simulation, ball, floor) = ball(Settings::new(1e-3), Integrator::moreau_jean(0.5));
    let mut events = EventsManager::new(accumulating());
    events.discretise(0.0, 0.05).unwrap();
    let (mut handed, mut worst) = (Vec::new(), [0.0_f64; 3]);
    for k in 1..=200 {
        let report = events
            .advance(&mut simulation, 0.05 * f64::from(k))
            .unwrap();
        assert!(report.converged);
        for occurrence in report.occurrences {
            if let Occurred::HandedOver(way) = occurrence.what {
                handed.push((occurrence.time, way));
            }
        }
        let part = handed.len().min(2);
        let error = (simulation.state(ball).unwrap().q()[0] - exact(simulation.time())).abs();
        worst[part] = worst[part].max(error);
    }
    println!("before, within, after: {worst:?}; handed over: {handed:?}");
    let [(there, first), (back, second)] = handed[..] else {
        panic!("{handed:?}");
    };
    assert_eq!([first, second], [Way::TimeStepping, Way::Events]);
    let end = (2.0 / G).sqrt() * 1.9 / 0.1;
    assert!(
        there < end && (0.0..0.1).contains(&(back - end)),
        "{there} {back} {end}"
    );
    assert!(
        worst[0] < 1e-9 && worst[1] < 1e-4 && worst[2] < 1e-12,
        "{worst:?}"
    );
    let force = simulation.outcome(floor).unwrap().lambda[0];
    assert!((force - G).abs() < 1e-9, "the floor carries {force} N");
}

/// The same up to 8.5 s beside Siconos' event-driven run (LSODAR between events), whose rows before impacts are left out with it: its tolerance.
#[test]
fn between_impacts_the_ball_is_where_the_reference_has_it() {
    let Some(rows) = read("BouncingBallED.ref") else {
        return;
    };
    let (mut simulation, ball, _) = ball(Settings::new(1e-3), Integrator::moreau_jean(0.5));
    let mut events = EventsManager::new(EventSettings::default());
    let (mut worst, mut compared) = (0.0_f64, 0);
    for row in &rows[1..] {
        // Output times of the reference are multiples of 5 ms; the others are its impacts, to its tolerance.
        let steps = row[0] / 5e-3;
        if (steps - steps.round()).abs() > 1e-6 || row[0] <= simulation.time() {
            continue;
        }
        events.advance(&mut simulation, row[0]).unwrap();
        let q = simulation.state(ball).unwrap().q()[0];
        worst = worst.max((q - row[1]).abs());
        compared += 1;
    }
    println!("{compared} rows: {worst:.1e} m");
    assert!(compared > 1600 && worst < 1e-6, "{worst:e}");
}

/// A force that grows lifts the ball off the floor it came to rest on: the opening is found as a root, where the force has the weight of the ball.
#[test]
fn a_ball_at_rest_is_lifted_when_its_force_is_gone() {
    let (mut simulation, ball, floor) = ball(Settings::new(1e-3), Integrator::moreau_jean(0.5));
    let lifted = LagrangianLinear {
        force: Signal::varying(|t, force| force[0] = 2.0 * G * (t - 9.0).max(0.0) - G),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let system = System::from(lifted);
    simulation.world_mut().entity_mut(ball).insert(system);
    let mut events = EventsManager::new(accumulating());
    let report = events.advance(&mut simulation, 10.0).unwrap();
    assert!(report.converged);
    let opened = report.occurrences.iter().find(|occurrence| {
        matches!(occurrence.what, Occurred::Nonsmooth(Event { interaction, kind: EventKind::Opened, .. })
            if interaction == floor)
    });
    let opened = opened.unwrap();
    assert!((opened.time - 9.5).abs() < 1e-7, "{}", opened.time);
    // ḧ = 2 g (t − 9.5) from rest.
    let height = 2.0 * G * 0.5_f64.powi(3) / 6.0;
    let q = simulation.state(ball).unwrap().q()[0];
    assert!((q - height).abs() < 1e-6, "{q} {height}");
}

/// Three instants in advance at one time are handed out once and in order, those within the tolerance too; what is scheduled late comes at once.
#[test]
fn events_at_one_time_have_an_order() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
    let system = LagrangianLinear::new(Matrix::identity(1));
    let state = State::lagrangian([0.0], [1.0]);
    let integrator = Integrator::moreau_jean(0.5);
    let point = simulation.spawn_system(system, state, integrator).unwrap();
    let sensor = Sensor::linear(point, Matrix::from_rows([[1.0, 0.0]]), Clock::new(0.5));
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let mut events = EventsManager::new(EventSettings::default());
    events.discretise(0.0, 0.25).unwrap();
    for (time, number) in [(0.5 + 1e-13, 2), (0.5, 3), (0.5 - 1e-13, 1), (0.3, 9)] {
        events.schedule(time, number).unwrap();
    }
    let report = events.advance(&mut simulation, 0.5).unwrap();
    let whats: Vec<Occurred> = report.occurrences.iter().map(|own| own.what).collect();
    let expected = [
        Occurred::TimeDiscretisation(0),
        Occurred::Sampling(sensor),
        Occurred::TimeDiscretisation(1),
        Occurred::User(9),
        Occurred::TimeDiscretisation(2),
        Occurred::Sampling(sensor),
        Occurred::User(1),
        Occurred::User(2),
        Occurred::User(3),
    ];
    assert_eq!(whats, expected);
    let times: Vec<f64> = report.occurrences.iter().map(|own| own.time).collect();
    assert!(times.is_sorted());
    assert!(times[4..].iter().all(|time| (time - 0.5).abs() < 1e-12));
    events.schedule(0.1, 4).unwrap();
    let late = events.advance(&mut simulation, 0.5).unwrap().occurrences;
    assert_eq!(late.len(), 1);
    assert_eq!(late[0].what, Occurred::User(4));
    let read = simulation.reading(sensor).unwrap().values[0];
    assert!(
        (read - 0.0).abs() < 1e-12,
        "an advance reads at its begin: {read}"
    );
}

/// Numbers out of range are refused, and nothing moves.
#[test]
fn bad_events_are_refused() {
    let (mut simulation, _, _): (SystemsSimulation, Entity, Entity) =
        ball(Settings::new(1e-3), Integrator::moreau_jean(0.5));
    let mut events = EventsManager::new(EventSettings::default());
    let text = |result: Result<(), SystemsError>| result.unwrap_err().to_string();
    assert!(text(events.discretise(0.0, 0.0)).contains("discretisation.period"));
    assert!(text(events.discretise(f64::NAN, 1.0)).contains("discretisation.start"));
    assert!(text(events.schedule(f64::INFINITY, 1)).contains("event time"));
    let past = events.advance(&mut simulation, -1.0);
    assert!(text(past.map(drop)).contains("end"));
    events.settings.accumulation = Some(Accumulation {
        impacts: 1,
        within: 1.0,
    });
    let few = events.advance(&mut simulation, 1.0);
    assert!(text(few.map(drop)).contains("accumulation.impacts"));
    assert!(simulation.time().abs() < 1e-300);
}
