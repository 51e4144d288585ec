//! Performance profiles: how many problems each solver solves within a factor of the fastest
//! [Dolan-More02].
//!
//! ```text
//! ρ_s(τ) = |{ p : t_ps ≤ τ · min_σ t_pσ }| / |{ p }|
//! ```
//!
//! `ρ_s(1)` is how often a solver is the fastest, the end of its curve how much it solves at all.

use std::fmt::Write;

/// The profiles of several solvers over the same problems.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformanceProfile {
    /// What the picture says above.
    pub title: String,
    /// Number of problems.
    pub problems: usize,
    /// One curve a solver.
    pub curves: Vec<Curve>,
}

/// One solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the solver.
    pub name: String,
    /// `t_ps / min_σ t_pσ` of the problems that it solved, ascending.
    pub ratios: Vec<f64>,
}

impl PerformanceProfile {
    /// From times, s: one row a problem, one entry a solver, `None` where it did not solve.
    ///
    /// ```
    /// use moreau_demos::PerformanceProfile;
    /// let times = [[Some(1.0), Some(4.0)], [None, Some(3.0)]];
    /// let profile = PerformanceProfile::new("two", &["a", "b"], &times);
    /// let [a, b] = &profile.curves[..] else { panic!() };
    /// assert_eq!([1.0, 4.0].map(|tau| profile.fraction(a, tau)), [0.5, 0.5]);
    /// assert_eq!([1.0, 4.0].map(|tau| profile.fraction(b, tau)), [0.5, 1.0]);
    /// ```
    #[must_use]
    pub fn new(title: &str, names: &[&str], times: &[impl AsRef<[Option<f64>]>]) -> Self {
        // Shorter than any clock tells apart.
        let clocked = |time: f64| time.max(1e-9);
        let mut curves: Vec<_> = names
            .iter()
            .map(|name| Curve {
                name: (*name).to_owned(),
                ratios: Vec::new(),
            })
            .collect();
        for row in times {
            let row = row.as_ref();
            let best = row.iter().flatten().fold(f64::INFINITY, |a, b| a.min(*b));
            for (curve, time) in curves.iter_mut().zip(row) {
                let ratio = time.map(|time| clocked(time) / clocked(best));
                curve.ratios.extend(ratio);
            }
        }
        for curve in &mut curves {
            curve.ratios.sort_by(f64::total_cmp);
        }
        Self {
            title: title.to_owned(),
            problems: times.len(),
            curves,
        }
    }

    /// `ρ_s(τ)`.
    #[must_use]
    pub fn fraction(&self, curve: &Curve, tau: f64) -> f64 {
        let within = curve.ratios.partition_point(|ratio| *ratio <= tau);
        within as f64 / self.problems.max(1) as f64
    }

    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        Picture::new(self).draw()
    }
}

// The picture, in pixels.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 720.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 470.0;

/// Colours that the colour-blind tell apart as well, then dashes.
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
];
const DASHES: [&str; 3] = ["none", "7 3", "2 3"];

struct Picture<'a> {
    profile: &'a PerformanceProfile,
    /// Largest `τ` shown.
    most: f64,
    /// Curves in the order of the legend: what they solve, then how fast.
    order: Vec<usize>,
    text: String,
}

impl<'a> Picture<'a> {
    fn new(profile: &'a PerformanceProfile) -> Self {
        let worst = profile.curves.iter().flat_map(|curve| curve.ratios.last());
        let worst = worst.fold(1.0, |a: f64, b| a.max(*b));
        let mut order: Vec<_> = (0..profile.curves.len()).collect();
        let mean_log = |curve: &Curve| {
            let logs: f64 = curve.ratios.iter().map(|ratio| libm::log10(*ratio)).sum();
            logs / curve.ratios.len().max(1) as f64
        };
        order.sort_by(|a, b| {
            let [a, b] = [a, b].map(|index| &profile.curves[*index]);
            let solved = b.ratios.len().cmp(&a.ratios.len());
            solved.then(mean_log(a).total_cmp(&mean_log(b)))
        });
        Self {
            profile,
            // Room behind the last step, but no more than four decades and a half.
            most: (worst * 1.25).clamp(10.0, 3e4),
            order,
            text: String::new(),
        }
    }

    fn x(&self, tau: f64) -> f64 {
        let along = libm::log10(tau.min(self.most)) / libm::log10(self.most);
        LEFT + (RIGHT - LEFT) * along
    }

    fn y(fraction: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * fraction
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.text += text.as_ref();
        self.text.push('\n');
    }

    fn draw(mut self) -> String {
        self.line(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" \
             fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
        ));
        self.line(format!(
            "<text x=\"{LEFT}\" y=\"32\" font-size=\"17\" font-weight=\"bold\">{}</text>",
            escaped(&self.profile.title)
        ));
        self.axes();
        for (place, index) in self.order.clone().into_iter().enumerate() {
            let profile = self.profile;
            self.curve(place, index, &profile.curves[index]);
        }
        self.line("</svg>");
        self.text
    }

    fn axes(&mut self) {
        for tenths in (0..=10).step_by(2) {
            let y = Self::y(f64::from(tenths) / 10.0);
            self.line(format!(
                "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} %</text>",
                LEFT - 8.0,
                y + 4.5,
                tenths * 10
            ));
        }
        // Labels at 1, 2, 5 while they do not crowd each other.
        let steps: &[u32] = if self.most > 2e3 { &[1] } else { &[1, 2, 5] };
        let mut decade = 1_u32;
        while f64::from(decade) <= self.most {
            for step in steps {
                let tick = decade * step;
                if f64::from(tick) > self.most {
                    break;
                }
                let x = self.x(f64::from(tick));
                self.line(format!(
                    "<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"#eee\"/>\
                     <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
                    BOTTOM + 19.0
                ));
            }
            decade *= 10;
        }
        let middle = [0.5 * (LEFT + RIGHT), 0.5 * (TOP + BOTTOM)];
        self.line(format!(
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#444\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">time over the fastest \
             solver's, \u{3c4}</text>\n\
             <text transform=\"translate(22 {:.1}) rotate(-90)\" text-anchor=\"middle\">share of \
             {} problems solved</text>",
            middle[0],
            BOTTOM + 46.0,
            middle[1],
            self.profile.problems
        ));
    }

    /// One curve and its line in the legend; `index` gives the colour, which so does not depend on
    /// the result.
    fn curve(&mut self, place: usize, index: usize, curve: &Curve) {
        let style = format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" stroke-dasharray=\"{}\" \
             stroke-linejoin=\"round\"",
            COLOURS[index % COLOURS.len()],
            DASHES[index / COLOURS.len() % DASHES.len()]
        );
        let mut path = format!(
            "M{:.1} {:.1}",
            LEFT,
            Self::y(self.profile.fraction(curve, 1.0))
        );
        let mut steps = curve.ratios.clone();
        steps.dedup();
        for tau in steps
            .into_iter()
            .filter(|tau| *tau > 1.0 && *tau < self.most)
        {
            let fraction = self.profile.fraction(curve, tau);
            // Writing to a string does not fail.
            let _ = write!(path, "H{:.1}V{:.1}", self.x(tau), Self::y(fraction));
        }
        path += &format!("H{RIGHT}");
        self.line(format!("<path d=\"{path}\" {style}/>"));
        let y = TOP + 34.0 + 22.0 * place as f64;
        if place == 0 {
            let head = TOP + 12.0;
            self.line(format!(
                "<text x=\"{:.1}\" y=\"{head}\" fill=\"#666\">solver</text>\
                 <text x=\"{:.1}\" y=\"{head}\" text-anchor=\"end\" fill=\"#666\">solved</text>",
                RIGHT + 52.0,
                WIDTH - 16.0
            ));
        }
        self.line(format!(
            "<path d=\"M{:.1} {:.1}h28\" {style}/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>\
             <text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
            RIGHT + 16.0,
            y - 4.5,
            RIGHT + 52.0,
            escaped(&curve.name),
            WIDTH - 16.0,
            curve.ratios.len()
        ));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> PerformanceProfile {
        let times = [
            [Some(2.0), Some(1.0), None],
            [Some(0.1), Some(30.0), None],
            [None, None, None],
            [Some(1.0), Some(1.0), None],
        ];
        PerformanceProfile::new("a < b", &["first", "second", "none"], &times)
    }

    #[test]
    fn fractions_count_problems_that_no_solver_solves() {
        let profile = profile();
        assert_eq!(profile.problems, 4);
        let at = |curve: usize, tau| {
            let fraction = profile.fraction(&profile.curves[curve], tau);
            (4.0 * fraction).round() as usize
        };
        assert_eq!([1.0, 1.9, 2.0, 1e9].map(|tau| at(0, tau)), [2, 2, 3, 3]);
        assert_eq!([1.0, 299.0, 301.0].map(|tau| at(1, tau)), [2, 2, 3]);
        assert_eq!(at(2, 1e9), 0);
    }

    #[test]
    fn the_picture_names_every_solver_and_what_it_solved() {
        let svg = profile().svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for part in [
            "a &lt; b",
            ">first<",
            ">second<",
            ">none<",
            ">3<",
            ">0<",
            "4 problems",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // Of nothing it is empty, but a picture.
        let empty: [[Option<f64>; 1]; 0] = [];
        let svg = PerformanceProfile::new("", &["a"], &empty).svg();
        assert!(!svg.contains("NaN"), "{svg}");
    }
}
