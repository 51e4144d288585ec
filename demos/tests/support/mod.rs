//! The program from outside.

use std::process::{Command, Output};

pub(crate) fn moreau(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_moreau"))
        .args(arguments)
        .output()
        .unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
