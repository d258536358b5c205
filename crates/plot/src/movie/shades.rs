//! Colours of a film, from little to much, and of remnants.

use super::settings::Colour;
use crate::figure::Theme;
use crate::palette::rgb;
use tisane_stellar::{Class, State};

/// Temperatures in K at the ends of [`BLACK_BODIES`].
pub(super) const TEMPERATURES: (f64, f64) = (2500.0, 40_000.0);
/// Colours of black bodies in sRGB, as bright as can be, at temperatures from the first to the last with one ratio: Planck's law seen by
/// the observer of CIE 1931 in the fits of Wyman, Sloan & Shirley (2013, JCGT 2(2), 1).
const BLACK_BODIES: [&str; 9] =
    ["#FFA64A", "#FFC98E", "#FFE7D0", "#F3F1FF", "#CDD9FF", "#B8CAFF", "#ABC1FF", "#A3BCFF", "#9EB8FF"];
/// Brightness of them on a light ground, on which they would be lost.
const DIMMED: f64 = 0.62;

/// Classes of remnants, in the order of the colours of remnants.
pub(super) const REMNANTS: [Class; 3] = [Class::WhiteDwarf, Class::NeutronStar, Class::BlackHole];

/// Light of a star of one solar luminosity: that of a particle of a film of speeds. It grows with this power of the luminosity, so that
/// stars of ten magnitudes are seen side by side.
const POWER: f64 = 0.2;
/// The least and the most light of a star.
const LIGHT: (f64, f64) = (0.4, 6.0);

/// The colours from little to much, and those of remnants.
pub(super) struct Shades {
    colours: Vec<[f64; 3]>,
    remnants: [[f64; 3]; REMNANTS.len()],
}

impl Shades {
    fn names(theme: Theme, colour: Colour) -> Vec<&'static str> {
        match (colour, theme) {
            (Colour::Temperature, _) => BLACK_BODIES.to_vec(),
            (_, Theme::Light) => vec!["#0B4FA8", "#7A6E7E", "#B84A00"],
            (_, Theme::Dark) => vec!["#4F9DFF", "#D9E2EC", "#FFA340"],
        }
    }

    pub(super) fn new(theme: Theme, colour: Colour) -> Self {
        let dimmed = if colour == Colour::Temperature && theme == Theme::Light { DIMMED } else { 1.0 };
        // No black body is green or violet.
        let remnants = match theme {
            Theme::Light => ["#028B63", "#A21CAF", "#111111"],
            Theme::Dark => ["#3DDC97", "#E879F9", "#FF4D4D"],
        };
        let colours = Self::names(theme, colour).into_iter().map(|name| rgb(name).map(|c| dimmed * c)).collect();
        Self { colours, remnants: remnants.map(rgb) }
    }

    /// The colour of a part from 0 to 1.
    pub(super) fn at(&self, part: f64) -> [f64; 3] {
        let at = part.clamp(0.0, 1.0) * (self.colours.len() - 1) as f64;
        let from = (at as usize).min(self.colours.len() - 2);
        let (low, high) = (self.colours[from], self.colours[from + 1]);
        [0, 1, 2].map(|k| low[k] + (at - from as f64) * (high[k] - low[k]))
    }

    /// The colour of a remnant by its place in [`REMNANTS`].
    pub(super) fn of_remnant(&self, class: usize) -> [f64; 3] {
        self.remnants[class]
    }
}

/// Returns the place of the class of a remnant in [`REMNANTS`].
pub(super) fn remnant(state: &State) -> Option<usize> {
    REMNANTS.iter().position(|class| state.kind.class() == Some(*class))
}

/// Returns the light of a star; remnants, which are faint, have that of the Sun, and what has left nothing has none.
pub(super) fn light(state: &State) -> f64 {
    match (state.kind.class(), remnant(state)) {
        (None, _) => 0.0,
        (_, Some(_)) => 1.0,
        (Some(_), None) => state.luminosity.powf(POWER).clamp(LIGHT.0, LIGHT.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_run_from_little_to_much() {
        for theme in Theme::ALL {
            let (shades, names) = (Shades::new(theme, Colour::Speed), Shades::names(theme, Colour::Speed));
            assert_eq!([shades.at(-1.0), shades.at(0.5), shades.at(1.0)].to_vec(), names.map_rgb());
        }
        let shades = Shades::new(Theme::Dark, Colour::Temperature);
        assert_eq!((shades.at(0.0), shades.at(1.0)), (rgb("#FFA64A"), rgb("#9EB8FF")));
    }

    trait Rgb {
        fn map_rgb(&self) -> Vec<[f64; 3]>;
    }
    impl Rgb for Vec<&str> {
        fn map_rgb(&self) -> Vec<[f64; 3]> {
            self.iter().map(|name| rgb(name)).collect()
        }
    }

    /// Sensitivity of the observer of CIE 1931: Wyman, Sloan & Shirley (2013), equation 4 and table 1; wavelengths in nm.
    fn observer(wavelength: f64) -> [f64; 3] {
        let lobe = |height: f64, middle: f64, below: f64, above: f64| {
            let width = if wavelength < middle { below } else { above };
            height * (-0.5 * ((wavelength - middle) / width).powi(2)).exp()
        };
        let x = lobe(1.056, 599.8, 37.9, 31.0) + lobe(0.362, 442.0, 16.0, 26.7) + lobe(-0.065, 501.1, 20.4, 26.2);
        let y = lobe(0.821, 568.8, 46.9, 40.5) + lobe(0.286, 530.9, 16.3, 31.1);
        [x, y, lobe(1.217, 437.0, 11.8, 36.0) + lobe(0.681, 459.0, 26.0, 13.8)]
    }

    /// Colour of a black body in sRGB, from 0 to 255.
    fn black_body(temperature: f64) -> [f64; 3] {
        let mut seen = [0.0; 3];
        for wavelength in (360..=830).step_by(2).map(f64::from) {
            let radiance = 1.0 / (wavelength.powi(5) * (14_387_768.8 / (wavelength * temperature)).exp_m1());
            let sensitivity = observer(wavelength);
            (0..3).for_each(|k| seen[k] += radiance * sensitivity[k]);
        }
        let matrix = [[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]];
        let linear = matrix.map(|row| (0..3).map(|k| row[k] * seen[k]).sum::<f64>().max(0.0));
        let brightest = linear.iter().copied().fold(0.0, f64::max);
        linear
            .map(|c| c / brightest)
            .map(|c| 255.0 * if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 })
    }

    #[test]
    fn black_bodies_have_the_colours_of_planck() {
        let shades = Shades::new(Theme::Dark, Colour::Temperature);
        let (low, high) = TEMPERATURES;
        for k in 0..=32 {
            let part = f64::from(k) / 32.0;
            // Between two colours the straight line misses the bend at white.
            let (found, expected) = (shades.at(part), black_body(low * (high / low).powf(part)));
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 12.0, "{part}: {found} {expected}");
            }
        }
    }
}
