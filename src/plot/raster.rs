//! SVG to PNG.

use super::font;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::{Arc, OnceLock};

/// Pixels of the PNG for each px of the SVG.
const RESOLUTION: f32 = 2.0;

/// Draws one of our SVGs with the built-in font and no other: the same bytes on every machine.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, String> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(font::bytes().to_vec());
        Arc::new(fonts)
    });
    let options = Options { fontdb: Arc::clone(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| format!("the picture cannot be drawn: {e}"))?;
    let size = tree.size().to_int_size().scale_by(RESOLUTION);
    let pixmap = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixmap = pixmap.ok_or("the picture is too large to be drawn")?;
    resvg::render(&tree, Transform::from_scale(RESOLUTION, RESOLUTION), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| format!("the picture cannot be encoded: {e}"))
}
