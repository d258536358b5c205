//! Light of particles on a picture: each one a spot with a faint halo, added up, and its tone mapped to the ground's.

use crate::palette::rgb;
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

/// Standard deviation of a spot and of its halo, as parts of the height.
const SPOT: f64 = 1.2 / 720.0;
const HALO: f64 = 5.0 / 720.0;
/// Brightness of the halo's middle beside the spot's.
const FAINT: f32 = 0.05;
/// A spot reaches so many standard deviations.
const REACH: f64 = 3.0;
/// Light that is half as bright as can be.
const HALF: f32 = 0.35;

/// Light on a picture.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    /// Amount, and amount times red, green, blue, of each pixel from the upper left on.
    light: Vec<[f32; 4]>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, light: vec![[0.0; 4]; width * height] }
    }

    /// Adds a particle at a point in pixels, y downwards, with a colour.
    pub fn add(&mut self, (x, y): (f64, f64), amount: f32, colour: [f64; 3]) {
        let colour = colour.map(|c| c as f32);
        self.spot((x, y), SPOT * self.height as f64, amount, colour);
        self.spot((x, y), HALO * self.height as f64, amount * FAINT, colour);
    }

    fn spot(&mut self, (x, y): (f64, f64), sigma: f64, amount: f32, [r, g, b]: [f32; 3]) {
        // A picture of few pixels has spots all the same.
        let sigma = sigma.max(0.5);
        let across = profile(x, sigma, self.width);
        for (row, v) in profile(y, sigma, self.height) {
            for &(column, u) in &across {
                let w = amount * u * v;
                let pixel = &mut self.light[row * self.width + column];
                for (sum, part) in pixel.iter_mut().zip([w, w * r, w * g, w * b]) {
                    *sum += part;
                }
            }
        }
    }

    /// The picture on a ground: without light the ground, with more and more of it the mean colour of the particles.
    pub fn develop(&self, ground: &str) -> Option<Pixmap> {
        let mut picture = Pixmap::new(u32::try_from(self.width).ok()?, u32::try_from(self.height).ok()?)?;
        let ground = rgb(ground).map(|c| c as f32);
        for (pixel, [w, r, g, b]) in picture.pixels_mut().iter_mut().zip(&self.light) {
            let bright = w / (w + HALF);
            let of = |k: usize, sum: f32| {
                let mean = if *w > 0.0 { sum / w } else { ground[k] };
                (ground[k] + bright * (mean - ground[k])).round() as u8
            };
            *pixel = PremultipliedColorU8::from_rgba(of(0, *r), of(1, *g), of(2, *b), u8::MAX)?;
        }
        Some(picture)
    }
}

/// The pixels that a spot reaches along one axis, and how bright it is there: 1 in its middle.
fn profile(at: f64, sigma: f64, size: usize) -> Vec<(usize, f32)> {
    if !at.is_finite() {
        return Vec::new();
    }
    let from = (at - REACH * sigma).floor().max(0.0);
    let to = (at + REACH * sigma).ceil().min(size as f64);
    let bright = |pixel: usize| (-0.5 * ((pixel as f64 + 0.5 - at) / sigma).powi(2)).exp() as f32;
    (from as usize..to as usize).map(|pixel| (pixel, bright(pixel))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_shines_where_it_is_and_in_its_colour() {
        let mut canvas = Canvas::new(64, 48);
        canvas.add((20.5, 10.5), 1.0, [255.0, 0.0, 0.0]);
        // Far outside, or nowhere: no light and no panic.
        for outside in [(-900.0, 5.0), (5.0, 1e300), (f64::NAN, 5.0)] {
            canvas.add(outside, 1.0, [0.0, 255.0, 0.0]);
        }
        let picture = canvas.develop("#000000").unwrap();
        let brightest = (0..64 * 48).max_by_key(|i| picture.pixels()[*i].red()).unwrap();
        assert_eq!((brightest % 64, brightest / 64), (20, 10));
        assert!(picture.pixels().iter().all(|pixel| pixel.green() == 0 && pixel.alpha() == u8::MAX));
        assert_eq!(picture.pixel(60, 40).unwrap().red(), 0);
        // More particles at a place are brighter.
        canvas.add((20.5, 10.5), 1.0, [255.0, 0.0, 0.0]);
        let more = canvas.develop("#000000").unwrap();
        assert!(more.pixel(20, 10).unwrap().red() > picture.pixel(20, 10).unwrap().red());
    }
}
