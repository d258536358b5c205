//! Colours, markers and dashes: after Okabe & Ito (2008), shifted until every colour has a contrast of 3 : 1 with its
//! ground and any two can be told apart with each kind of colour blindness. In grey, markers, dashes and hatching tell
//! series apart.

use super::figure::{Mark, Series, Theme};

/// The colours of a theme.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub ground: &'static str,
    pub text: &'static str,
    /// Small print and theory.
    pub muted: &'static str,
    pub frame: &'static str,
    pub grid: &'static str,
    series: [&'static str; COLOURS],
    /// From little to much: viridis, without the end that is lost on the ground.
    heat: [&'static str; HEAT],
}

const COLOURS: usize = 8;
const HEAT: usize = 7;

const LIGHT: Ink = Ink {
    ground: "#FFFFFF",
    text: "#1A1A1A",
    muted: "#5C6066",
    frame: "#45484D",
    grid: "#E6E7E9",
    // Blue, vermillion, green, purple, black, orange, sky blue, brown.
    series: ["#005A9E", "#AB4C04", "#028B63", "#C768A1", "#222222", "#B98E01", "#4D97DA", "#603C18"],
    heat: ["#7AD151", "#35B779", "#1F9E89", "#26828E", "#31688E", "#3E4A89", "#440154"],
};

const DARK: Ink = Ink {
    ground: "#15181C",
    text: "#E6E8EB",
    muted: "#A0A6AE",
    frame: "#8B9199",
    grid: "#2A2F36",
    // Sky blue, orange, green, pink, white, yellow, vermillion, violet blue.
    series: ["#5FC1EE", "#E69200", "#1EA674", "#D37EAF", "#E8E8E8", "#EEDD58", "#C84B01", "#606CE2"],
    heat: ["#46327E", "#365C8D", "#277F8E", "#1FA187", "#4AC16D", "#A0DA39", "#FDE725"],
};

impl Theme {
    /// Its colours.
    pub(super) const fn ink(self) -> Ink {
        match self {
            Self::Light => LIGHT,
            Self::Dark => DARK,
        }
    }
}

impl Ink {
    /// The colour of a part from 0, little, to 1, much, as `#RRGGBB`.
    pub fn heat(&self, part: f64) -> String {
        let at = part.clamp(0.0, 1.0) * (HEAT - 1) as f64;
        let from = (at as usize).min(HEAT - 2);
        let (low, high) = (rgb(self.heat[from]), rgb(self.heat[from + 1]));
        let [r, g, b] = [0, 1, 2].map(|k| low[k] + (at - from as f64) * (high[k] - low[k]));
        format!("#{:02X}{:02X}{:02X}", r.round() as u8, g.round() as u8, b.round() as u8)
    }
}

/// Red, green and blue of `#RRGGBB`, from 0 to 255.
pub(super) fn rgb(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or(0)))
}

/// The form of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Disc,
    Square,
    Triangle,
    Diamond,
    Wedge,
    Plus,
    Cross,
}

/// As many as have no common factor with the colours: 56 series differ in one or the other.
const SHAPES: [Shape; 7] =
    [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Wedge, Shape::Plus, Shape::Cross];
/// Of plain lines; all longer than those of theory.
const DASHES: [&str; 5] = ["", "11 3", "11 3 2 3", "7 2.5", "11 3 2 3 2 3"];
/// Of theory.
const SHORT_DASH: &str = "3.5 2.5";
/// Angles of the hatching of bars, with the distance of its lines; the first bars have none.
pub(super) const HATCHES: [(&str, f64, f64); 4] =
    [("hatch-1", 45.0, 5.0), ("hatch-2", -45.0, 5.0), ("hatch-3", 0.0, 4.0), ("hatch-4", 90.0, 4.0)];

/// Appearance of a series in a theme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub colour: &'static str,
    pub ground: &'static str,
    pub text: &'static str,
    pub shape: Shape,
    number: usize,
}

impl Look {
    /// The dashes of its line; empty for a solid one.
    pub fn dash(&self, mark: Mark) -> &'static str {
        match mark {
            Mark::Dashed => SHORT_DASH,
            Mark::Line | Mark::Steps => DASHES[self.number % DASHES.len()],
            Mark::Points | Mark::Dots | Mark::LineAndPoints | Mark::Phase | Mark::Bars => "",
        }
    }

    /// The pattern over its bars.
    pub fn hatch(&self) -> Option<&'static str> {
        let (id, ..) = HATCHES[(self.number % (HATCHES.len() + 1)).checked_sub(1)?];
        Some(id)
    }
}

/// The looks of the series of a panel.
pub(super) fn looks(all: &[Series], ink: &Ink) -> Vec<Look> {
    let mut next = 0;
    let mut of = |series: &Series| {
        let theory = series.mark == Mark::Dashed;
        let number = series.colour.unwrap_or(next);
        next += usize::from(!theory);
        let colour = if theory && series.colour.is_none() { ink.muted } else { ink.series[number % COLOURS] };
        Look { colour, ground: ink.ground, text: ink.text, shape: SHAPES[number % SHAPES.len()], number }
    };
    all.iter().map(&mut of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear red, green and blue of `#RRGGBB`.
    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance([r, g, b]: [f64; 3]) -> f64 {
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Contrast as WCAG 2 has it, 1 to 21.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(linear(a)), luminance(linear(b)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// CIELAB under D65.
    fn lab(rgb: [f64; 3]) -> [f64; 3] {
        let [r, g, b] = rgb;
        let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = f(luminance(rgb));
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Full colour blindness of each kind: Machado, Oliveira & Fernandes (2009).
    const SIGHTS: [(&str, [[f64; 3]; 3]); 4] = [
        ("none", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        ),
        (
            "deuteranopia",
            [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        ),
        (
            "tritanopia",
            [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
        ),
    ];

    fn seen(colour: &str, sight: [[f64; 3]; 3]) -> [f64; 3] {
        let rgb = linear(colour);
        lab(sight.map(|row| row.iter().zip(rgb).map(|(m, c)| m * c).sum::<f64>().clamp(0.0, 1.0)))
    }

    #[test]
    fn everything_stands_out_from_its_ground() {
        for ink in [LIGHT, DARK] {
            for colour in ink.series {
                assert!(contrast(colour, ink.ground) >= 3.0, "{colour} {}", contrast(colour, ink.ground));
            }
            // Text wants more than lines.
            assert!(contrast(ink.text, ink.ground) >= 7.0);
            assert!(contrast(ink.muted, ink.ground) >= 4.5);
            assert!(contrast(ink.frame, ink.ground) >= 3.0);
            assert!(contrast(ink.grid, ink.ground) < 1.5, "a grid that competes with data");
        }
        assert!((contrast("#000000", "#FFFFFF") - 21.0).abs() < 1e-9);
    }

    #[test]
    fn colours_differ_for_every_sight() {
        for ink in [LIGHT, DARK] {
            for (name, sight) in SIGHTS {
                for (i, a) in ink.series.iter().enumerate() {
                    for b in &ink.series[..i] {
                        let [a_lab, b_lab] = [a, b].map(|c| seen(c, sight));
                        let apart = a_lab.iter().zip(b_lab).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(apart >= 12.0, "{a} and {b} are {apart:.1} apart with {name}");
                    }
                }
            }
        }
    }

    #[test]
    fn more_is_further_from_the_ground_for_every_sight() {
        for ink in [LIGHT, DARK] {
            let steps: Vec<String> = (0..=24).map(|k| ink.heat(f64::from(k) / 24.0)).collect();
            assert_eq!([&*steps[0], &*steps[24]], [ink.heat[0], ink.heat[HEAT - 1]]);
            assert!(contrast(&steps[0], ink.ground) >= 1.6, "{}", contrast(&steps[0], ink.ground));
            for (name, sight) in SIGHTS {
                let lightness: Vec<f64> = steps.iter().map(|colour| seen(colour, sight)[0]).collect();
                let falls = lightness.windows(2).all(|pair| pair[1] < pair[0]);
                let rises = lightness.windows(2).all(|pair| pair[1] > pair[0]);
                assert!(if ink.ground == LIGHT.ground { falls } else { rises }, "{name}: {lightness:?}");
            }
        }
    }

    #[test]
    fn series_differ_without_colour() {
        let series = vec![Series::default(); 56];
        let looks = looks(&series, &LIGHT);
        for (i, a) in looks.iter().enumerate() {
            for b in &looks[..i] {
                assert!(a.colour != b.colour || a.shape != b.shape);
            }
        }
        let (first, dashes) = (&looks[..5], looks[..5].iter().map(|look| look.dash(Mark::Line)));
        assert!(first.windows(2).all(|pair| pair[0].shape != pair[1].shape));
        let mut dashes: Vec<_> = dashes.chain([SHORT_DASH]).collect();
        dashes.sort_unstable();
        dashes.dedup();
        assert_eq!(dashes.len(), 6);
        assert_eq!([None, Some("hatch-1")], [looks[0].hatch(), looks[1].hatch()]);
    }

    #[test]
    fn theory_takes_no_colour_away() {
        let theory = Series { mark: Mark::Dashed, ..Series::default() };
        let of_second = Series { colour: Some(1), ..theory.clone() };
        let looks = looks(&[Series::default(), theory, Series::default(), of_second], &DARK);
        assert_eq!(looks.map_colours(), [DARK.series[0], DARK.muted, DARK.series[1], DARK.series[1]]);
    }

    trait Colours {
        fn map_colours(&self) -> Vec<&'static str>;
    }
    impl Colours for Vec<Look> {
        fn map_colours(&self) -> Vec<&'static str> {
            self.iter().map(|look| look.colour).collect()
        }
    }
}
