//! Words of a text with their lines, comments left out.

use super::LcpFileError;
use crate::complementarity::MAX_DENSE_ROWS;

/// A word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// The words that are left.
pub(super) struct Words<'a> {
    rest: &'a str,
    line: usize,
}

/// Characters of a word that an error shows.
const SHOWN: usize = 40;

/// A word, shortened for an error.
pub(super) fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            line: 1,
        }
    }

    /// The next word; none at the end.
    pub(super) fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let start = self.rest.find(|c: char| !c.is_ascii_whitespace());
            let (blank, rest) = self.rest.split_at(start.unwrap_or(self.rest.len()));
            self.line += blank.bytes().filter(|byte| *byte == b'\n').count();
            self.rest = rest;
            let ends = |c: char| c.is_ascii_whitespace() || c == '#';
            if let Some(comment) = rest.strip_prefix('#') {
                let end = comment.find('\n').unwrap_or(comment.len());
                self.rest = &comment[end..];
                continue;
            }
            if rest.is_empty() {
                return None;
            }
            let (text, rest) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
            self.rest = rest;
            return Some(Word {
                text,
                line: self.line,
            });
        }
    }

    /// A word that must be this one.
    pub(super) fn expect(
        &mut self,
        expected: &'static str,
        what: &'static str,
    ) -> Result<(), LcpFileError> {
        let word = self.next();
        match word {
            Some(word) if word.text == expected => Ok(()),
            _ => Err(self.wrong(word, what, expected)),
        }
    }

    /// The number of rows, within [`MAX_DENSE_ROWS`].
    pub(super) fn count(&mut self) -> Result<usize, LcpFileError> {
        let word = self.next();
        let n = word.and_then(|word| word.text.parse::<usize>().ok());
        n.filter(|n| *n <= MAX_DENSE_ROWS)
            .ok_or_else(|| self.wrong(word, "n", "a whole number from 0 to 16384"))
    }

    /// So many numbers, infinite ones if they are allowed.
    pub(super) fn numbers(
        &mut self,
        what: &'static str,
        count: usize,
        infinite: bool,
    ) -> Result<Vec<f64>, LcpFileError> {
        // A number and what separates it take two bytes.
        let room = self.rest.len().div_ceil(2);
        if count > room {
            return Err(LcpFileError::Count {
                line: self.line,
                what,
                found: room,
                expected: count,
            });
        }
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            let Some(word) = self.next() else {
                return Err(LcpFileError::Count {
                    line: self.line,
                    what,
                    found: numbers.len(),
                    expected: count,
                });
            };
            let number = word.text.parse::<f64>().ok();
            let allowed = |x: &f64| x.is_finite() || infinite && x.is_infinite();
            let Some(number) = number.filter(allowed) else {
                let expected = if infinite {
                    "a number, inf or -inf"
                } else {
                    "a finite number"
                };
                return Err(self.wrong(Some(word), what, expected));
            };
            numbers.push(number);
        }
        Ok(numbers)
    }

    fn wrong(
        &self,
        word: Option<Word>,
        what: &'static str,
        expected: &'static str,
    ) -> LcpFileError {
        LcpFileError::Word {
            line: word.map_or(self.line, |word| word.line),
            what,
            found: word.map_or_else(String::new, |word| shortened(word.text)),
            expected,
        }
    }
}
