//! Figures as SVG and as files.

use super::draw;
use super::figure::{Figure, Theme};
use super::raster;
use super::svg::Letters;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;

/// Format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}

impl PictureFormat {
    /// Returns the format that the ending of a file's name says.
    ///
    /// # Errors
    /// [`Error::Input`] if the ending is neither `.svg` nor `.png`.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Error::input(path, "the ending of its name is neither .png nor .svg")
                .with_help("give a name such as figure.png")),
        }
    }
}

impl Figure {
    /// Writes `stem.svg` and `stem.png` for the light theme, `stem-dark.svg` and `stem-dark.png` for the dark one, each
    /// whole or not at all; makes the folder if it is missing. Returns the paths in the order of `themes`.
    ///
    /// # Errors
    /// [`Error::Storage`] if a file cannot be written.
    pub fn write(&self, stem: &Path, themes: &[Theme]) -> Result<Vec<PathBuf>> {
        if let Some(folder) = stem.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| Error::storage(folder, e))?;
        }
        let mut paths = Vec::new();
        for &theme in themes {
            let named = |extension| with_suffix(stem, theme.suffix(), extension);
            let svg = self.svg(theme);
            let png = self.png(theme).map_err(|e| Error::storage(named(".png"), e))?;
            for (path, bytes) in [(named(".svg"), svg.as_bytes()), (named(".png"), &png)] {
                write_atomically(&path, |t| std::fs::write(t, bytes).map_err(|e| Error::storage(t, e)))?;
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// Writes one file for a theme, SVG or PNG by the ending of its name, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Input`] if the name has another ending, [`Error::Storage`] if the file cannot be written.
    pub fn write_file(&self, path: &Path, theme: Theme) -> Result<()> {
        let bytes = match PictureFormat::of(path)? {
            PictureFormat::Svg => self.svg(theme).into_bytes(),
            PictureFormat::Png => self.png(theme).map_err(|e| Error::storage(path, e))?,
        };
        write_atomically(path, |t| std::fs::write(t, &bytes).map_err(|e| Error::storage(t, e)))
    }

    /// The picture as PNG.
    fn png(&self, theme: Theme) -> Result<Vec<u8>, String> {
        raster::png(&draw::figure(self, theme, Letters::Outlines, ""))
    }

    /// The picture as SVG. Text stays text, in DejaVu Sans where the viewer has it.
    #[must_use]
    pub fn svg(&self, theme: Theme) -> String {
        draw::figure(self, theme, Letters::Text, "")
    }

    /// As [`svg`](Self::svg), with `ids` before the name of each element: for several pictures in one page.
    pub(crate) fn svg_of_page(&self, theme: Theme, ids: &str) -> String {
        draw::figure(self, theme, Letters::Text, ids)
    }
}

/// The stem's name as it is, dots in it kept, and what follows it.
fn with_suffix(stem: &Path, theme: &str, extension: &str) -> PathBuf {
    let mut name = stem.file_name().map(OsString::from).unwrap_or_default();
    name.push(theme);
    name.push(extension);
    stem.with_file_name(name)
}
