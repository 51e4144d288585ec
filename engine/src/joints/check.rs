//! What a joint must satisfy.

use super::plain::JointSpec;
use crate::components::{JointAxis, JointForce, JointFrames, JointId, JointKind, Pose, RigidBody};
use crate::error::JointError;

/// Checks a joint; `kinds` are those of its bodies.
pub(crate) fn check_joint(
    spec: &JointSpec,
    kinds: [Option<RigidBody>; 2],
) -> Result<(), JointError> {
    if spec.id == JointId::UNASSIGNED {
        return Err(JointError::NoId);
    }
    if spec.bodies[0] == spec.bodies[1] && spec.bodies[0].is_some() {
        return Err(JointError::ItsOwn);
    }
    if !kinds.contains(&Some(RigidBody::Dynamic)) {
        return Err(JointError::NothingToMove);
    }
    match &spec.frames {
        JointFrames::World(frame) => check_frame(frame)?,
        JointFrames::Own(frames) => frames.iter().try_for_each(check_frame)?,
    }
    match spec.kind {
        JointKind::Distance { length } | JointKind::Rope { length } => {
            check(
                "length",
                length,
                length > 0.0 && length.is_finite(),
                "finite and > 0",
            )?;
        }
        JointKind::Screw { lead } => check("lead", lead, lead.is_finite(), "finite")?,
        _ => {}
    }
    if let Some(limit) = &spec.break_limit {
        for (field, value) in [("break force", limit.force), ("break torque", limit.torque)] {
            check(field, value, value >= 0.0, "≥ 0")?;
        }
    }
    let locked = spec.kind.locked();
    for force in &spec.forces {
        let own = force.axis();
        let mut axes = match &own {
            Some(axis) => std::slice::from_ref(axis),
            None => &JointAxis::ROTATIONS,
        }
        .iter();
        if let Some(axis) = axes.find(|axis| locked[axis.place()]) {
            return Err(JointError::Locked { axis: *axis });
        }
        check_force(force)?;
    }
    Ok(())
}

fn check(field: &'static str, value: f64, ok: bool, bound: &'static str) -> Result<(), JointError> {
    if ok {
        Ok(())
    } else {
        Err(JointError::Field {
            field,
            value,
            bound,
        })
    }
}

fn check_frame(frame: &Pose) -> Result<(), JointError> {
    let p = frame.position;
    let first = [p.x, p.y, p.z].into_iter().find(|x| !x.is_finite());
    check(
        "frame position",
        first.unwrap_or(0.0),
        first.is_none(),
        "finite",
    )?;
    let norm = frame.orientation.length();
    // Also false for what is not a number.
    let ok = (norm - 1.0).abs() <= 1e-6;
    check(
        "frame orientation norm",
        norm,
        ok,
        "1 ± 1e-6: was its axis zero?",
    )
}

fn check_force(force: &JointForce) -> Result<(), JointError> {
    const NOT_NEGATIVE: &str = "finite and ≥ 0";
    let finite = |field, x: f64| check(field, x, x.is_finite(), "finite");
    let gain = |field, x: f64| check(field, x, x.is_finite() && x >= 0.0, NOT_NEGATIVE);
    let bound = |field, x: f64| check(field, x, x >= 0.0, "≥ 0");
    match *force {
        JointForce::Limit {
            low,
            high,
            restitution,
            ..
        } => {
            check(
                "low limit",
                low,
                low <= high && low < f64::INFINITY,
                "≤ the high one",
            )?;
            check("high limit", high, high > f64::NEG_INFINITY, "> −∞")?;
            let in_range = (0.0..=1.0).contains(&restitution);
            check("restitution", restitution, in_range, "in [0, 1]")
        }
        JointForce::Spring {
            stiffness,
            damping,
            rest,
            ..
        } => {
            gain("stiffness", stiffness)?;
            gain("damping", damping)?;
            finite("rest", rest)
        }
        JointForce::Motor {
            position,
            velocity,
            stiffness,
            damping,
            effort,
            ..
        } => {
            finite("target position", position)?;
            finite("target velocity", velocity)?;
            gain("stiffness", stiffness)?;
            bound("damping", damping)?;
            bound("effort", effort)
        }
        JointForce::Armature { inertia, .. } => gain("armature", inertia),
        JointForce::Friction { force, .. } => bound("friction force", force),
        JointForce::BallFriction { torque } => bound("friction torque", torque),
        JointForce::Applied { effort, .. } => finite("applied effort", effort),
    }
}
