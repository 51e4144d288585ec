//! Attributes as values: of an element, or of the classes that stand behind it.

use crate::error::RobotError;
use crate::xml::Element;
use glam::DVec3;

/// An element, and the elements whose attributes are its defaults, the nearest first.
#[derive(Clone)]
pub(crate) struct View<'a> {
    pub(crate) element: Element<'a>,
    pub(crate) behind: Vec<Element<'a>>,
}

impl<'a> From<Element<'a>> for View<'a> {
    fn from(element: Element<'a>) -> Self {
        Self {
            element,
            behind: Vec::new(),
        }
    }
}

impl<'a> View<'a> {
    /// The element that says it, and what it says. All that could have said it are asked.
    fn found(&self, name: &str) -> Option<(Element<'a>, &'a str)> {
        let all = std::iter::once(&self.element).chain(&self.behind);
        let said: Vec<_> = all
            .filter_map(|element| Some((*element, element.get(name)?)))
            .collect();
        said.first().copied()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.found(name).map(|(_, text)| text)
    }

    /// It or one behind it says something; nothing is read by this.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.element.has(name) || self.behind.iter().any(|of| of.has(name))
    }

    /// A value that is out of range, where it was said.
    pub(crate) fn refuse(&self, name: &str, value: impl ToString, bound: &str) -> RobotError {
        let says = self
            .found(name)
            .map_or(self.element, |(element, _)| element);
        says.refuse(name, value, bound)
    }

    /// Numbers, as many as there are.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, RobotError> {
        let Some((element, text)) = self.found(name) else {
            return Ok(None);
        };
        let parse = |word: &str| {
            let number = word.parse::<f64>().ok().filter(|x| x.is_finite());
            number.ok_or_else(|| element.refuse(name, quoted(text), "finite numbers"))
        };
        text.split_whitespace()
            .map(parse)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Exactly so many numbers.
    pub(crate) fn exactly<const N: usize>(
        &self,
        name: &str,
    ) -> Result<Option<[f64; N]>, RobotError> {
        let Some(all) = self.numbers(name)? else {
            return Ok(None);
        };
        match <[f64; N]>::try_from(all) {
            Ok(array) => Ok(Some(array)),
            Err(all) => {
                let value = format!("{} numbers", all.len());
                Err(self.refuse(name, value, &format!("{N} of them")))
            }
        }
    }

    /// At most so many numbers, the others from `default`.
    pub(crate) fn first<const N: usize>(
        &self,
        name: &str,
        default: [f64; N],
    ) -> Result<[f64; N], RobotError> {
        let Some(all) = self.numbers(name)? else {
            return Ok(default);
        };
        if all.len() > N || all.is_empty() {
            let value = format!("{} numbers", all.len());
            return Err(self.refuse(name, value, &format!("1 to {N} of them")));
        }
        let mut array = default;
        array[..all.len()].copy_from_slice(&all);
        Ok(array)
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, RobotError> {
        Ok(self.exactly::<1>(name)?.map(|[x]| x))
    }

    /// A number ≥ 0.
    pub(crate) fn not_negative(&self, name: &str) -> Result<Option<f64>, RobotError> {
        match self.number(name)? {
            Some(x) if x < 0.0 => Err(self.refuse(name, x, "≥ 0")),
            other => Ok(other),
        }
    }

    /// A number > 0.
    pub(crate) fn positive(&self, name: &str) -> Result<Option<f64>, RobotError> {
        match self.number(name)? {
            Some(x) if x <= 0.0 => Err(self.refuse(name, x, "> 0")),
            other => Ok(other),
        }
    }

    pub(crate) fn vector(&self, name: &str) -> Result<Option<DVec3>, RobotError> {
        Ok(self.exactly::<3>(name)?.map(DVec3::from_array))
    }

    /// One of some words, by its place in the list.
    pub(crate) fn word(&self, name: &str, words: &[&str]) -> Result<Option<usize>, RobotError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let found = words.iter().position(|word| *word == text.trim());
        let bound = || format!("one of {}", words.join(", "));
        let found = found.ok_or_else(|| self.refuse(name, quoted(text), &bound()));
        found.map(Some)
    }

    pub(crate) fn yes(&self, name: &str) -> Result<Option<bool>, RobotError> {
        let word = self.word(name, &["false", "true"])?;
        Ok(word.map(|place| place == 1))
    }
}

/// A text between quotation marks, of bounded length.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let short: String = text.chars().take(MOST).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    format!("\"{short}{rest}\"")
}
