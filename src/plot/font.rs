//! The one font of all figures, built in: how wide a text is, and where its lines break.

use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};
use std::sync::OnceLock;

/// Its name, as the SVG asks for it.
pub(super) const FAMILY: &str = "DejaVu Sans";
/// Distance of lines, in font sizes.
pub(super) const LEADING: f64 = 1.25;
/// What follows a text that is cut.
const ELLIPSIS: char = '…';

/// The file.
pub(super) fn bytes() -> &'static [u8] {
    dejavu::sans::regular()
}

/// Advance of the first 2^16 characters at size 1; what the font lacks is drawn as its empty box.
fn advances() -> &'static [f32] {
    static ADVANCES: OnceLock<Vec<f32>> = OnceLock::new();
    ADVANCES.get_or_init(|| {
        let Ok(font) = FontRef::new(bytes()) else { return Vec::new() };
        let metrics = GlyphMetrics::new(&font, Size::new(1.0), LocationRef::default());
        let charmap = font.charmap();
        let of = |c: u32| metrics.advance_width(charmap.map(c).unwrap_or_default()).unwrap_or(WIDEST);
        (0..=0xFFFF).map(of).collect()
    })
}

/// For characters without an advance: no text gets less room than it needs.
const WIDEST: f32 = 1.0;

/// Width of a text in px.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let advances = advances();
    let of = |c: char| advances.get(c as usize).copied().unwrap_or(WIDEST);
    text.chars().map(|c| f64::from(of(c))).sum::<f64>() * size
}

/// Breaks a text into at most `most` lines of a width: between words, within a word that is too long by itself. What does not
/// fit ends in an ellipsis.
pub(super) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size) <= room {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            line.push(c);
            if width(&line, size) > room && line.chars().count() > 1 {
                line.pop();
                lines.push(std::mem::replace(&mut line, c.to_string()));
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if lines.len() > most.max(1) {
        lines.truncate(most.max(1));
        if let Some(last) = lines.last_mut() {
            while !last.is_empty() && width(last, size) + width("…", size) > room {
                last.pop();
            }
            last.push(ELLIPSIS);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_there_and_has_what_labels_need() {
        let font = FontRef::new(bytes()).unwrap();
        let charmap = font.charmap();
        for c in "0123456789⁰¹²³⁴⁵⁶⁷⁸⁹⁻−×ΔδενημσΣ|₀₁₂·∝≤≥√…–[]⟨⟩☉⊙".chars()
        {
            assert!(charmap.map(c).is_some(), "{c}");
        }
        assert_eq!(width("", 12.0), 0.0);
        assert!((width("00", 10.0) - 2.0 * width("0", 10.0)).abs() < 1e-9);
        assert!(width("W", 10.0) > width("i", 10.0));
        assert!(width("\u{1F980}", 10.0) > 0.0);
    }

    #[test]
    fn lines_fit_their_room_and_lose_nothing_but_what_is_cut() {
        let text = "a few words and Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft";
        let lines = wrap(text, 10.0, 90.0, 99);
        assert!(lines.iter().all(|line| width(line, 10.0) <= 90.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        let cut = wrap(text, 10.0, 90.0, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut[1].ends_with('…') && width(&cut[1], 10.0) <= 90.0, "{cut:?}");
        assert!(wrap("  ", 10.0, 90.0, 2).is_empty());
        assert_eq!(wrap("ab", 10.0, 0.0, 9), ["a", "b"]);
    }
}
