//! Numbers for people.

/// `value` with an SI prefix and four significant digits: `12.34 mJ`.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 9] = [
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
        (1e-12, "p"),
        (1e-15, "f"),
    ];
    let size = value.abs();
    if size < 1e-18 {
        return format!("0 {unit}");
    }
    if size >= 1e12 {
        return format!("{value:.3e} {unit}").replacen('-', "−", 1);
    }
    let (scale, prefix) = PREFIXES
        .into_iter()
        .find(|(scale, _)| size >= *scale * 0.99995)
        .unwrap_or((1e-15, "f"));
    let scaled = value / scale;
    let decimals = match scaled.abs() {
        s if s >= 999.95 => 0,
        s if s >= 99.995 => 1,
        s if s >= 9.9995 => 2,
        _ => 3,
    };
    // A true minus sign.
    let text = format!("{scaled:.decimals$} {prefix}{unit}");
    text.replacen('-', "−", 1)
}

/// A count with thin groups of three digits: `12 345`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A residual: two significant digits.
pub(crate) fn residual(e: f64) -> String {
    format!("{e:.1e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_four_digits_and_a_prefix() {
        assert_eq!(quantity(0.0, "J"), "0 J");
        assert_eq!(quantity(1.0, "J"), "1.000 J");
        assert_eq!(quantity(-12345.6, "J"), "−12.35 kJ");
        assert_eq!(quantity(0.999_99, "m"), "1.000 m");
        assert_eq!(quantity(3.2e-5, "m"), "32.00 µm");
        assert_eq!(quantity(4e-17, "J"), "0.040 fJ");
        assert_eq!(quantity(2e15, "J"), "2.000e15 J");
        assert_eq!(quantity(f64::NAN, "J"), "NaN fJ");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1234), "1\u{202f}234");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
