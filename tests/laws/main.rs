//! Laws of physics that the engine must reproduce, one file per law, with `Accuracy::Reference` unless the
//! law says otherwise. Each module states its law, the closed form and where its tolerance comes from.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a law that cannot set up its scene fails, and measured figures are printed"
)]

mod activation;
mod anymal;
mod applied_effort;
mod armature;
mod asleep_on_joints;
mod at_rest;
mod at_speed;
mod ball_friction;
mod batch;
mod beyond_reach;
mod body_forces;
mod bounce;
mod bouncing_joints;
mod breaking;
mod budgeted;
mod bystanders;
mod carried_springs;
mod certificate;
mod cohesion;
mod combine;
mod compound_rooms;
mod corners;
mod couplers;
mod dampers;
mod delassus;
mod dice;
mod effort;
mod elastic_chains;
mod emitters;
mod energy;
mod events;
mod fast_wheels;
mod forces;
mod frames;
mod free_fall;
mod friction_bound;
mod given_velocities;
mod graded_tower;
mod grain;
mod grasp;

mod heavy_loads;
mod held_rates;
mod hooks;
mod impacts_within_the_step;
mod incline;
mod interactions;
mod invariance;
mod jaws;
mod joint_order;
mod joints;
mod kinematic;
mod ladder;
mod ledger;
mod lifecycle;
mod linked_rings;
mod loaded_machines;
mod lying;
mod machines;
mod material_pairs;
mod meeting;
mod momentum;
mod no_solution;
mod open_faces;
mod part_materials;
mod passing;
mod plastic_spin;
mod pressed_by_forces;
mod projected_spin;
mod projection;
mod random_joints;
mod reference_accuracy;
mod report;
mod rest;
mod rolling;
mod rolling_resistance;
mod rows;
mod scene_files;
mod scenes;
mod scheme;
mod seams;
mod sheets;
mod side_by_side;
mod simbench;
mod sleeping;
mod small_hulls;
mod small_stacks;
mod smooth_axes;
mod spin;
mod stops;
mod struck_ball;
mod structures;
mod support;
mod surfaces;
mod tall;
mod targets;
mod three_balls;
mod tilting;
mod tumbling_discs;
mod turning_pairs;
mod turning_seams;
mod turning_springs;
mod unpushed;
