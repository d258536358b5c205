//! The one font of all figures, built in: how wide a text is, where its lines break, what its letters look like.

use std::fmt::Write as _;
use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Its name, as the SVG asks for it.
pub(super) const FAMILY: &str = "DejaVu Sans";
/// Distance of lines, in font sizes.
pub(super) const LEADING: f64 = 1.25;
/// Mark after a text that is cut.
const ELLIPSIS: char = '…';

#[allow(clippy::expect_used, reason = "the font is a part of the program")]
fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(dejavu::sans::regular(), 0).expect("the built-in font is one"))
}

/// The glyph of a character; the font's empty box for what it lacks.
fn glyph(c: char) -> GlyphId {
    face().glyph_index(c).unwrap_or_default()
}

/// Advance of a character at size 1.
fn advance(c: char) -> f64 {
    f64::from(face().glyph_hor_advance(glyph(c)).unwrap_or(0)) / f64::from(face().units_per_em())
}

/// Width of a text in px.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// The outlines of a text whose base line begins at a point, as the data of an SVG path.
pub(super) fn outlines(text: &str, size: f64, (x, y): (f64, f64)) -> String {
    let scale = size / f64::from(face().units_per_em());
    let mut pen = Pen { path: String::new(), x, y, scale };
    for c in text.chars() {
        face().outline_glyph(glyph(c), &mut pen);
        pen.x += advance(c) * size;
    }
    pen.path
}

/// Draws glyphs at a place; the font's y runs upwards.
struct Pen {
    path: String,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn add(&mut self, letter: char, points: &[(f32, f32)]) {
        self.path.push(letter);
        for (u, v) in points {
            let (x, y) = (self.x + self.scale * f64::from(*u), self.y - self.scale * f64::from(*v));
            // Writing to a String cannot fail.
            let _ = write!(self.path, "{} {} ", px(x), px(y));
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.add('M', &[(x, y)]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.add('L', &[(x, y)]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.add('Q', &[(x1, y1), (x, y)]);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.add('C', &[(x1, y1), (x2, y2), (x, y)]);
    }
    fn close(&mut self) {
        self.path.push('Z');
    }
}

/// Breaks a text into at most `max` lines of a width: between words, within a word that is too long by itself. What
/// does not fit ends in an ellipsis.
pub(super) fn wrap(text: &str, size: f64, room: f64, max: usize) -> Vec<String> {
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
    if lines.len() > max.max(1) {
        lines.truncate(max.max(1));
        if let Some(last) = lines.last_mut() {
            while !last.is_empty() && width(last, size) + width("…", size) > room {
                last.pop();
            }
            last.push(ELLIPSIS);
        }
    }
    lines
}

/// A length in hundredths of a px, without idle zeros.
pub(super) fn px(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// From the top of a line to its base line.
pub(super) fn base_line(size: f64) -> f64 {
    0.5 * LEADING * size + 0.36 * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_there_and_has_what_labels_need() {
        for c in "0123456789⁰¹²³⁴⁵⁶⁷⁸⁹⁻−×ΔδενημσΣ|₀₁₂·∝≤≥√ₕᵣₜ…–[]⟨⟩☉⊙".chars()
        {
            assert!(face().glyph_index(c).is_some(), "{c}");
        }
        assert_eq!(width("", 12.0), 0.0);
        assert!((width("00", 10.0) - 2.0 * width("0", 10.0)).abs() < 1e-9);
        assert!(width("W", 10.0) > width("i", 10.0));
        assert!(width("\u{1F980}", 10.0) > 0.0, "what the font lacks has its box");
        let drawn = outlines("1/ν", 10.0, (5.0, 20.0));
        assert_eq!(drawn.matches('M').count(), 3, "{drawn}");
        assert_eq!(outlines(" ", 10.0, (0.0, 0.0)), "");
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
