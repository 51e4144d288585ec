//! Files of box problems: round trips, and what is wrong with a file named by line.

use super::classes::{self, CLASSES};
use crate::complementarity::LcpFile;
use crate::random::Random;
use proptest::prelude::*;

const GOOD: &str =
    "moreau-lcp 1 # two rows\nn 2\nM\n 2 1\n 1 2\nq -5 -6\nlo 0 -inf\nhi inf 3\nz 1 1\n";

#[test]
fn every_problem_survives_its_file() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (n, class) = (random.below(6), CLASSES[random.below(CLASSES.len())]);
        let mut file = LcpFile {
            problem: classes::boxes(class, n, true, &mut random),
            solution: (seed % 2 == 0).then(|| (0..n).map(|_| random.uniform(-1e-9, 1e9)).collect()),
        };
        assert_eq!(LcpFile::parse(&file.text()).unwrap(), file);
        file.problem = classes::problem(class, n, &mut random);
        assert!(!file.text().contains("lo"));
        assert_eq!(LcpFile::parse(&file.text()).unwrap(), file);
    }
}

#[test]
fn what_is_wrong_is_named_by_line_value_and_bound() {
    let wrong = [
        (
            GOOD.replace("moreau-lcp", "lcp"),
            "line 1: the name of the format: found \"lcp\", expected moreau-lcp",
        ),
        (
            GOOD.replace("lcp 1", "lcp 2"),
            "line 1: the version of the format: found \"2\", expected 1",
        ),
        (
            GOOD.replace("n 2", "n -2"),
            "line 2: n: found \"-2\", expected a whole number from 0 to 16384",
        ),
        (
            GOOD.replace("n 2", "n 99999999999"),
            "expected a whole number from 0 to 16384",
        ),
        (
            GOOD.replace("n 2", "n 16384"),
            "line 3: M: 22 numbers, expected 268435456",
        ),
        (
            GOOD.replace(" 1 2\n", " 1 nan\n"),
            "line 5: M: found \"nan\", expected a finite number",
        ),
        (
            GOOD.replace("q -5", "q inf"),
            "line 6: q: found \"inf\", expected a finite number",
        ),
        (
            GOOD.replace(" 1 2\n", " 1\n"),
            "line 6: M: found \"q\", expected a finite number",
        ),
        (
            GOOD.replace("lo 0", "lo x"),
            "line 7: lo: found \"x\", expected a number, inf or -inf",
        ),
        (GOOD.replace("lo 0", "lo nan"), "line 7: lo: found \"nan\""),
        (
            GOOD.replace("lo 0", "lo inf"),
            "lower bound of interaction 0 is inf",
        ),
        (
            GOOD.replace("lo 0 -inf", "lo 0 4"),
            "upper bound of interaction 1 is 3, expected ≥ the lower bound",
        ),
        (GOOD.replace("hi", "lo"), "line 8: lo comes twice"),
        (GOOD.replace("hi", "n"), "line 8: n comes twice"),
        (
            GOOD.replace("hi", "up"),
            "line 8: a part: found \"up\", expected M, q, lo, hi or z",
        ),
        (GOOD.replace("q -5 -6\n", ""), "q is missing"),
        ("moreau-lcp 1".to_owned(), "n is missing"),
        (
            "moreau-lcp 1\nq 1".to_owned(),
            "line 2: a part: found \"q\", expected n",
        ),
        (
            String::new(),
            "line 1: the name of the format: found \"\", expected moreau-lcp",
        ),
        ("x".repeat(1000), "…"),
    ];
    for (text, expected) in wrong {
        let error = LcpFile::parse(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error} / {expected}");
        assert!(error.len() < 300, "{error}");
    }
}

#[test]
fn a_file_cut_anywhere_is_refused_or_complete_but_for_its_end() {
    for end in 0..GOOD.len() {
        if let Ok(file) = LcpFile::parse(&GOOD[..end]) {
            // Only optional parts may be missing.
            assert_eq!(file.problem.len(), 2);
            assert!(end > GOOD.find("q -5 -").unwrap());
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_fail(text in "(moreau-lcp 1\n)?(n [0-9]{1,3}\n)?([Mqzlohi# .0-9einf-]{0,6}[ \n]){0,40}") {
        let _ = LcpFile::parse(&text);
    }

    #[test]
    fn a_changed_byte_is_read_or_refused(at in 0..GOOD.len(), byte in 0_u8..128) {
        let mut bytes = GOOD.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = LcpFile::parse(std::str::from_utf8(&bytes).unwrap());
    }
}
