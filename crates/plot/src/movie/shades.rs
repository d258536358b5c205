//! Colours of a film, from little to much.

use crate::figure::Theme;
use crate::palette::rgb;

/// The colours from little to much.
pub(super) struct Shades([[f64; 3]; 3]);

impl Shades {
    const fn names(theme: Theme) -> [&'static str; 3] {
        match theme {
            Theme::Light => ["#0B4FA8", "#7A6E7E", "#B84A00"],
            Theme::Dark => ["#4F9DFF", "#D9E2EC", "#FFA340"],
        }
    }

    pub(super) fn new(theme: Theme) -> Self {
        Self(Self::names(theme).map(rgb))
    }

    /// The colour of a part from 0 to 1.
    pub(super) fn at(&self, part: f64) -> [f64; 3] {
        let at = 2.0 * part.clamp(0.0, 1.0);
        let (from, to) = if at < 1.0 { (self.0[0], self.0[1]) } else { (self.0[1], self.0[2]) };
        let s = if at < 1.0 { at } else { at - 1.0 };
        [0, 1, 2].map(|k| from[k] + s * (to[k] - from[k]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_run_from_little_to_much() {
        for theme in Theme::ALL {
            let (shades, names) = (Shades::new(theme), Shades::names(theme));
            assert_eq!([shades.at(-1.0), shades.at(0.5), shades.at(1.0)], names.map(rgb));
        }
    }
}
