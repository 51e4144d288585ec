use crate::support::*;
#[test]
fn probe_slide() {
    let (mu, k, h) = (0.4, 1e5, 0.005);
    let material = Material { friction: mu, restitution: 0.0, ..Material::default() };
        let settings = Settings { time_step: h, ..reference() };
        let mut simulation = Simulation::new(settings).unwrap();
        ground(&mut simulation, material);
        let start = 1.1 * mu * G / k;
        let mut law = LinearForce::spring(Pose::at(-start, 0.0, 0.1), 0.0, 0.0);
        law.stiffness[0][0] = k;
        for i in 3..6 { law.stiffness[i][i] = 1e3; }
        let body = (RigidBody::Dynamic, Collider::cuboid(0.1,0.1,0.1), Mass::given(1.0, DVec3::splat(0.04/6.0)), Pose::at(0.0,0.0,0.1), material, BodyForces::new(law));
        let body = simulation.spawn(body).unwrap();
        for _ in 0..6 {
            let r = simulation.step().unwrap();
            let p = impulse_on(&simulation, body);
            let x = simulation.pose(body).unwrap();
            println!("force {:e} push {:?} x {:?} v {:?} conv {} loops {} err {:e} e {:e}", k*(x.position.x+start), p/h, x, simulation.twist(body).unwrap(), r.converged, r.force_loops, r.force_error, r.e_scaled);
        }
}
#[derive(Debug)]
struct Cubic(f64);
impl ForceLaw for Cubic { fn wrench(&self, body: &BodyState) -> Wrench { let x = body.position; Wrench { force: x * (-self.0 * x.length_squared()), ..Wrench::default() } } }
#[test]
fn probe_many() {
        let settings = Settings { time_step: 0.005, threads: 1, accuracy: Accuracy::Engineering, ..Settings::default() };
        let mut simulation = Simulation::new(settings).unwrap();
        ground(&mut simulation, Material::default());
        let mut random = Lcg::new(11);
        for i in 0..600 {
            let (row, column) = (i / 40, i % 40);
            let at = DVec3::new(0.4 * f64::from(row), 0.4 * f64::from(column), 0.1);
            let anchor = DVec3::new(0.05, -0.1, 0.1 * random.symmetric());
            let k = libm::pow(10.0, 1.0 + 7.0 * random.uniform());
            let pull = PointSpring { anchor, to: at + anchor+ DVec3::Z * 50.0 /k * random.symmetric(), stiffness:k , damping: 1.0, rest: 0.0 };
            simulation.spawn((RigidBody::Dynamic, Collider::cuboid(0.1,0.1,0.1), Mass::given(1.0, DVec3::splat(0.04/6.0)), Pose::from_position(at), BodyForces::new(pull).and(Cubic(10.0)))).unwrap();
        }
        for _ in 0..10 {
            let t = std::time::Instant::now();
            let r = simulation.step().unwrap();
            println!("{:.1} ms solve {:.1} free {:.2} conv {} {:?} loops {} err {:.1e} e {:.1e} sweeps {} fact {} rounds {} stages {} contacts {}", t.elapsed().as_secs_f64()*1e3, r.timing.ms_solve, r.timing.ms_free, r.converged, r.status, r.force_loops, r.force_error, r.e_scaled, r.sweeps, r.factorizations, r.rounds, r.stages, r.contacts);
        }
}
