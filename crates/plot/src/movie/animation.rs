//! Film as an animated PNG, which browsers show: for machines without an encoder of videos.

use super::film::Film;
use resvg::tiny_skia::Pixmap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;
use tisane_io::regular_file;

/// Longest side of a picture in pixels: larger frames are reduced.
const LONGEST_SIDE: u32 = 640;
/// Most pixels of all pictures together, which bounds the file: frames beyond that are left out evenly.
const MAX_PIXELS: u64 = 1 << 25;

/// Size and pictures of a film as an animated PNG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Animation {
    /// Pixels across.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Number of pictures.
    pub pictures: u64,
    /// Every how many frames of the film there is a picture.
    pub every: u64,
    /// Sides of a frame, in pixels.
    frame: [u32; 2],
    /// Pixels of a frame, in each direction, that are one pixel of a picture.
    reduction: u32,
}

impl Film {
    /// Returns the film as an animated PNG.
    #[must_use]
    pub fn animation(&self) -> Animation {
        Animation::of([self.settings.width, self.settings.height].map(|side| side as u32), self.frames())
    }
}

impl Animation {
    fn of(frame: [u32; 2], frames: u64) -> Self {
        let reduction = frame[0].max(frame[1]).div_ceil(LONGEST_SIDE).max(1);
        let [width, height] = frame.map(|side| (side / reduction).max(1));
        let max = MAX_PIXELS / (u64::from(width) * u64::from(height));
        let every = frames.div_ceil(max).max(1);
        Self { width, height, pictures: frames.div_ceil(every), every, frame, reduction }
    }

    /// Writes the frames in `folder`, of which `fps` are shown in a second, to a file. It is played without end.
    ///
    /// # Errors
    /// [`Error::Input`] if a frame is not there or not a picture of the film, [`Error::Storage`] if the file cannot be
    /// written.
    pub fn write(&self, folder: &Path, fps: u16, path: &Path) -> Result<()> {
        write_atomically(path, |temporary| {
            let failed = |e: png::EncodingError| Error::storage(temporary, e);
            let file = fs::File::create(temporary).map_err(|e| Error::storage(temporary, e))?;
            let mut file = BufWriter::new(file);
            let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_compression(png::Compression::High);
            encoder.set_animated(self.pictures as u32, 0).map_err(failed)?;
            encoder.set_frame_delay(u16::try_from(self.every).unwrap_or(u16::MAX), fps).map_err(failed)?;
            let mut writer = encoder.write_header().map_err(failed)?;
            for picture in 0..self.pictures {
                let frame = self.read(&Film::path(folder, picture * self.every))?;
                writer.write_image_data(&self.reduced(&frame)).map_err(failed)?;
            }
            writer.finish().map_err(failed)?;
            file.flush().map_err(|e| Error::storage(temporary, e))
        })
    }

    /// Reads a frame.
    fn read(&self, path: &Path) -> Result<Pixmap> {
        let help = "remove it: the same command renders it again";
        let bytes = regular_file::read(path).map_err(|e| Error::input(path, e).with_help(help))?;
        let frame = Pixmap::decode_png(&bytes)
            .map_err(|e| Error::input(path, format!("not a PNG that can be read: {e}")).with_help(help))?;
        let ([width, height], found) = (self.frame, [frame.width(), frame.height()]);
        if found != self.frame {
            let problem = format!("expected a frame of {width} x {height} pixels, found {} x {}", found[0], found[1]);
            return Err(Error::input(path, problem).with_help(help));
        }
        Ok(frame)
    }

    /// Returns a frame in the size of the animation as rows of RGB: each pixel is the mean of a square of the frame.
    fn reduced(&self, frame: &Pixmap) -> Vec<u8> {
        let (side, wide) = (self.reduction as usize, frame.width() as usize);
        let pixels = frame.pixels();
        let (width, height) = (self.width as usize, self.height as usize);
        let mut rows = Vec::with_capacity(3 * width * height);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let mut sum = [0; 3];
            for pixel in (0..side).flat_map(|row| &pixels[(y * side + row) * wide + x * side..][..side]) {
                let colour = [pixel.red(), pixel.green(), pixel.blue()];
                sum.iter_mut().zip(colour).for_each(|(sum, c)| *sum += u32::from(c));
            }
            rows.extend(sum.map(|sum| (sum / self.reduction.pow(2)) as u8));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resvg::tiny_skia::PremultipliedColorU8;
    use std::io::BufReader;

    /// A frame of 5 x 4 pixels.
    fn frame(blue: u8) -> Pixmap {
        let mut frame = Pixmap::new(5, 4).unwrap();
        for (i, pixel) in frame.pixels_mut().iter_mut().enumerate() {
            *pixel = PremultipliedColorU8::from_rgba(10 * (i % 5) as u8, 20 * (i / 5) as u8, blue, u8::MAX).unwrap();
        }
        frame
    }

    #[test]
    fn size_and_number_of_pictures_are_bounded() {
        let of = |frame, frames| {
            let it = Animation::of(frame, frames);
            assert!(it.pictures * u64::from(it.width * it.height) <= MAX_PIXELS, "{it:?}");
            ([it.width, it.height], it.pictures, it.every)
        };
        assert_eq!(of([160, 90], 7), ([160, 90], 7, 1));
        assert_eq!(of([1280, 720], 250), ([640, 360], 125, 2));
        assert_eq!(of([1500, 750], 2), ([500, 250], 2, 1));
        assert_eq!(of([7680, 64], 1), ([640, 5], 1, 1));
        of([7680, 7680], 999_999);
    }

    #[test]
    fn pictures_are_read_again_as_means_of_squares() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::write(Film::path(dir.path(), number), frame(number as u8).encode_png().unwrap()).unwrap();
        }
        let it = Animation { width: 2, height: 2, pictures: 3, every: 2, frame: [5, 4], reduction: 2 };
        let path = dir.path().join("film.png");
        it.write(dir.path(), 25, &path).unwrap();
        let mut reader = png::Decoder::new(BufReader::new(fs::File::open(&path).unwrap())).read_info().unwrap();
        let control = reader.info().animation_control().copied().unwrap();
        assert_eq!((control.num_frames, control.num_plays), (3, 0));
        for blue in [0, 2, 4] {
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            // The fifth column has no partner.
            assert_eq!(pixels, [5, 10, blue, 25, 10, blue, 5, 50, blue, 25, 50, blue]);
            let shown = reader.info().frame_control().copied().unwrap();
            assert_eq!((shown.delay_num, shown.delay_den), (2, 25));
        }
        let other = Animation { frame: [6, 4], ..it };
        let said = other.write(dir.path(), 25, &path).unwrap_err().to_string();
        assert!(said.contains("frame_000000.png") && said.contains("6 x 4 pixels, found 5 x 4"), "{said}");
    }
}
