//! Tables of text, in the form that a terminal or a Markdown page wants, and their numbers.
//!
//! ```
//! use moreau_demos::table::{Column, Table};
//! let mut table = Table::new(vec![Column::left("scene"), Column::right("ms")]);
//! table.push(["wall", "12.5"].map(str::to_owned).into());
//! assert_eq!(table.text(), "  scene    ms\n  wall   12.5\n");
//! assert_eq!(table.markdown(), "| scene | ms |\n|---|---:|\n| wall | 12.5 |\n");
//! ```

use std::iter;

/// One column: what stands above it, and the side on which its cells are flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    head: String,
    right: bool,
}

impl Column {
    /// A column of words.
    #[must_use]
    pub fn left(head: impl Into<String>) -> Self {
        Self {
            head: head.into(),
            right: false,
        }
    }

    /// A column of numbers.
    #[must_use]
    pub fn right(head: impl Into<String>) -> Self {
        Self {
            head: head.into(),
            right: true,
        }
    }
}

/// Columns and rows. A row that is too short ends with empty cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// No rows yet.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row below the others. Cells beyond the last column are dropped.
    pub fn push(&mut self, mut row: Vec<String>) {
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Head and rows with aligned columns, two spaces apart and indented by two.
    #[must_use]
    pub fn text(&self) -> String {
        let heads: Vec<_> = self.columns.iter().map(|c| c.head.clone()).collect();
        let mut widths = vec![0; self.columns.len()];
        for row in iter::once(&heads).chain(&self.rows) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for row in iter::once(&heads).chain(&self.rows) {
            let mut line = String::new();
            for ((column, width), cell) in self.columns.iter().zip(&widths).zip(row) {
                line += &if column.right {
                    format!("  {cell:>width$}")
                } else {
                    format!("  {cell:<width$}")
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// A Markdown table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            cells.fold("|".to_owned(), |line, cell| {
                format!("{line} {} |", cell.replace('|', "\\|"))
            }) + "\n"
        };
        let mut text = line(&mut self.columns.iter().map(|column| column.head.as_str()));
        text.push('|');
        for column in &self.columns {
            text += if column.right { "---:|" } else { "---|" };
        }
        text.push('\n');
        for row in &self.rows {
            text += &line(&mut row.iter().map(String::as_str));
        }
        text
    }
}

/// A number with three significant digits, but at most three decimals; a dash if it is none.
#[must_use]
pub fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "—".to_owned();
    }
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text == "-0.000" {
        return "0.000".to_owned();
    }
    // A true minus sign.
    text.replacen('-', "−", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(vec![Column::left("a|b"), Column::right("µs")]);
        table.push(vec!["x".to_owned(), "1 000".to_owned(), "lost".to_owned()]);
        table.push(vec!["long word".to_owned()]);
        table
    }

    #[test]
    fn text_is_aligned_and_has_no_trailing_spaces() {
        assert_eq!(
            table().text(),
            "  a|b           µs\n  x          1 000\n  long word\n"
        );
    }

    #[test]
    fn markdown_escapes_bars() {
        assert_eq!(
            table().markdown(),
            "| a\\|b | µs |\n|---|---:|\n| x | 1 000 |\n| long word |  |\n"
        );
    }

    #[test]
    fn numbers_have_three_digits() {
        let texts = [
            123.4,
            12.34,
            1.234,
            0.999_9,
            0.123_4,
            -0.000_1,
            -5.0,
            f64::NAN,
        ];
        let expected = [
            "123", "12.3", "1.23", "1.00", "0.123", "0.000", "−5.00", "—",
        ];
        assert_eq!(texts.map(three_digits), expected);
    }
}
