//! Writing SVG: elements, attributes, text.

use super::font::{self, FAMILY, px};
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};

/// Names and values of an element's attributes.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// Form in which letters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// As text, which can be searched and selected; the viewer has the font.
    Text,
    /// As their outlines.
    Outlines,
}

/// A picture being written.
pub(super) struct Svg {
    writer: Writer<Vec<u8>>,
    letters: Letters,
    /// Stands before every id.
    ids: String,
}

/// Position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Appearance of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'a> {
    pub size: f64,
    pub anchor: Anchor,
    pub colour: &'a str,
    /// Class of the element, for style sheets and tests.
    pub class: &'a str,
}

impl Svg {
    /// Begins a picture of a size in px.
    pub fn new(width: f64, height: f64, letters: Letters, ids: &str) -> Self {
        let mut svg = Self { writer: Writer::new_with_indent(Vec::new(), b' ', 1), letters, ids: ids.to_owned() };
        let (w, h) = (px(width), px(height));
        svg.open(
            "svg",
            &[
                ("xmlns", "http://www.w3.org/2000/svg"),
                ("width", &w),
                ("height", &h),
                ("viewBox", &format!("0 0 {w} {h}")),
                ("font-family", &format!("{FAMILY}, Verdana, sans-serif")),
            ],
        );
        svg
    }

    #[allow(clippy::expect_used, reason = "writing to memory does not fail")]
    fn event(&mut self, event: Event<'_>) {
        self.writer.write_event(event).expect("memory takes all that is written");
    }

    /// Begins an element that holds others.
    pub fn open(&mut self, name: &str, attributes: Attributes<'_>) {
        let element = self.element(name, attributes);
        self.event(Event::Start(element));
    }

    /// Ends it.
    pub fn close(&mut self, name: &str) {
        self.event(Event::End(BytesEnd::new(name)));
    }

    /// An element that holds nothing.
    pub fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        let element = self.element(name, attributes);
        self.event(Event::Empty(element));
    }

    /// An element whose id, and whose references to ids, have the picture's own beginning.
    fn element<'a>(&self, name: &'a str, attributes: Attributes<'_>) -> BytesStart<'a> {
        let mut element = BytesStart::new(name);
        for &(key, value) in attributes {
            match value.strip_prefix("url(#") {
                _ if key == "id" => element.push_attribute((key, &*format!("{}{value}", self.ids))),
                Some(id) => element.push_attribute((key, &*format!("url(#{}{id}", self.ids))),
                None => element.push_attribute((key, value)),
            }
        }
        element
    }

    /// An element that holds text.
    pub fn content(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.open(name, attributes);
        self.event(Event::Text(BytesText::new(&legal(text))));
        self.close(name);
    }

    /// A line of text on a base line.
    pub fn text(&mut self, (x, y): (f64, f64), how: Type<'_>, text: &str) {
        self.turned((x, y), how, "", text);
    }

    /// A line of text that reads upwards.
    pub fn upwards(&mut self, (x, y): (f64, f64), how: Type<'_>, text: &str) {
        self.turned((x, y), how, &format!("rotate(-90 {} {})", px(x), px(y)), text);
    }

    fn turned(&mut self, (x, y): (f64, f64), how: Type<'_>, transform: &str, text: &str) {
        let mut attributes = vec![("class", how.class), ("fill", how.colour)];
        if !transform.is_empty() {
            attributes.push(("transform", transform));
        }
        let (anchor, before) = match how.anchor {
            Anchor::Start => ("start", 0.0),
            Anchor::Middle => ("middle", 0.5),
            Anchor::End => ("end", 1.0),
        };
        if self.letters == Letters::Outlines {
            let start = x - before * font::width(text, how.size);
            let path = font::outlines(text, how.size, (start, y));
            attributes.push(("d", &path));
            return self.empty("path", &attributes);
        }
        let (x, y, size) = (px(x), px(y), px(how.size));
        attributes.extend([("x", &*x), ("y", &*y), ("font-size", &*size), ("text-anchor", anchor)]);
        self.content("text", &attributes, text);
    }

    /// Ends the picture.
    #[allow(clippy::expect_used, reason = "everything that was written is text")]
    pub fn finish(mut self) -> String {
        self.close("svg");
        let mut text = String::from_utf8(self.writer.into_inner()).expect("only text was written");
        text.push('\n');
        text
    }
}

/// Characters that XML has no place for become the sign for that.
fn legal(text: &str) -> String {
    let fits = |c: char| !(c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}'));
    text.chars().map(|c| if fits(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}
