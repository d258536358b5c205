//! SVG to pixels.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels of the PNG for each px of the SVG.
const RESOLUTION: f32 = 2.0;

/// One of our SVGs whose letters are outlines: no font is asked for, so the bytes are the same on every machine.
fn tree(svg: &str) -> Result<Tree, String> {
    Tree::from_str(svg, &Options::default()).map_err(|e| format!("the picture cannot be drawn: {e}"))
}

/// Draws one as PNG.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    let size = tree.size().to_int_size().scale_by(RESOLUTION);
    let pixmap = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixmap = pixmap.ok_or("the picture is too large to be drawn")?;
    resvg::render(&tree, Transform::from_scale(RESOLUTION, RESOLUTION), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| format!("the picture cannot be encoded: {e}"))
}

/// Draws one over a picture, a pixel for each px.
pub(super) fn over(svg: &str, picture: &mut Pixmap) -> Result<(), String> {
    resvg::render(&tree(svg)?, Transform::identity(), &mut picture.as_mut());
    Ok(())
}
