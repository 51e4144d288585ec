//! **Law.** Every built-in scene is solved to 1e-4, the default accuracy, in every step of its whole duration.
//!
//! Takes minutes: `cargo test --release -p moreau-tests -- --ignored`. Benchmarks run with 1000 bodies.

#[test]
#[ignore = "minutes: cargo test --release -p moreau-tests -- --ignored"]
fn every_built_in_scene_keeps_its_residual() {
    let mut failures = Vec::new();
    for built_in in moreau_demos::list() {
        // The benchmarks are the scenes with a thousand bodies by default.
        let large = built_in
            .parameters
            .iter()
            .any(|p| p.name == "n" && p.default >= 1000.0);
        let spec = if large {
            format!("{}:n=1000", built_in.name)
        } else {
            built_in.name.to_owned()
        };
        let scene = moreau_demos::built_in(&spec).unwrap();
        let mut run = scene.start().unwrap();
        let (mut worst, mut steps, mut above) = ((0.0, 0), 0, 0);
        while run.simulation.time() < scene.duration {
            let report = run.step().unwrap();
            steps += 1;
            above += usize::from(report.e_scaled.is_nan() || report.e_scaled > 1e-4);
            if report.e_scaled > worst.0 {
                worst = (report.e_scaled, report.step);
            }
        }
        let line = format!(
            "{spec}: e_scaled at most {:.2e} (step {}), {above} of {steps} steps above 1e-4",
            worst.0, worst.1
        );
        println!("{line}");
        if above > 0 {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
