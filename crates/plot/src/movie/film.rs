//! The film of a run: what its frames share, and each frame as a picture.

use super::canvas::Canvas;
use super::cast::Cast;
use super::framing::{self, Glimpse};
use super::interpolation::{place, rows_in};
use super::map::OrbitMap;
use super::overlay;
use super::settings::{Axes, Colour, Frames, Settings};
use super::shades::{REMNANTS, Shades, TEMPERATURES};
use crate::raster;
use crate::snapshots::Look;
use crate::track::{Along, BETWEEN, Track};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::particles::Vec3;
use tisane::units::{Dimension, twelve_digits};
use tisane_io::atomic::write_atomically;

/// The most particles that shine with full light: of more, each is fainter.
const BRIGHT: f64 = 4000.0;
/// Names of the axes of a map.
const NAMES: [&str; 3] = ["X", "Y", "Z"];
/// Frames for each thread before the next snapshots are read.
const IN_HAND: usize = 2;

/// A film, ready to be rendered.
#[derive(Debug)]
pub struct Film {
    pub(super) settings: Settings,
    glimpses: Vec<Glimpse>,
    /// Half the shorter side of the picture, in the user's unit.
    half: f64,
    /// Range of the colours: speeds in the user's unit, or masses.
    range: (f64, f64),
    /// Orbit of the origin of coordinates, if it moves.
    track: Option<Track>,
}

impl Film {
    /// Reads all snapshots, calls `seen` after each, and returns the problems of those that are left out: damaged ones,
    /// and those of another run.
    ///
    /// # Errors
    /// [`Error::Input`] if none is whole, and for axes along an orbit that the snapshots do not tell.
    pub fn survey(paths: &[PathBuf], settings: Settings, seen: impl Fn() + Sync) -> Result<(Self, Vec<String>)> {
        let (glimpses, left_out) = framing::survey(paths, &settings, seen);
        if glimpses.is_empty() {
            let folder = paths.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
            return Err(Error::input(folder, format!("no snapshot here is whole:\n  {}", left_out.join("\n  "))));
        }
        let track = track(&glimpses);
        if settings.colour == Colour::Temperature && !glimpses.iter().all(|glimpse| glimpse.is_aging) {
            let problem = "the stars of this run do not age, and have no temperatures";
            let help = "take --colour speed or mass; with [stellar_evolution] stars age";
            return Err(Error::input(&glimpses[0].path, problem).with_help(help));
        }
        if settings.axes == Axes::Orbit {
            check_orbit(&glimpses[0], track.as_ref())?;
        }
        let half = glimpses.iter().map(|glimpse| glimpse.half).fold(0.0, f64::max);
        let low = glimpses.iter().map(|glimpse| glimpse.range.0).fold(f64::INFINITY, f64::min);
        let high = glimpses.iter().map(|glimpse| glimpse.range.1).fold(0.0, f64::max);
        Ok((Self { settings, glimpses, half, range: (low, high), track }, left_out))
    }

    /// Returns the number of frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        match (self.glimpses.len() as u64 - 1, self.settings.frames) {
            // One moment is one picture.
            (0, _) => 1,
            (_, Frames::Whole(frames)) => frames,
            (intervals, Frames::PerSnapshot(each)) => intervals * each + 1,
        }
    }

    /// Returns all that the frames depend on, as JSON: films of one description have the same frames.
    #[must_use]
    pub fn description(&self) -> String {
        let contents: Vec<&str> = self.glimpses.iter().map(|glimpse| &*glimpse.content).collect();
        let version = tisane_io::provenance::version();
        let all = serde_json::json!({ "version": version, "settings": self.settings, "snapshots": contents });
        format!("{all:#}\n")
    }

    /// The path of a frame.
    #[must_use]
    pub fn path(folder: &Path, frame: u64) -> PathBuf {
        folder.join(format!("frame_{frame:06}.png"))
    }

    /// The snapshot before a frame, the part of the way to the next one, and the frame's time.
    fn moment(&self, frame: u64) -> (usize, f64, f64) {
        let times: Vec<f64> = self.glimpses.iter().map(|glimpse| glimpse.time).collect();
        let last = times.len() - 1;
        if last == 0 {
            return (0, 0.0, times[0]);
        }
        match self.settings.frames {
            Frames::PerSnapshot(each) => {
                let (from, part) = ((frame / each) as usize, (frame % each) as f64 / each as f64);
                let to = times[(from + 1).min(last)];
                (from, part, times[from] + part * (to - times[from]))
            }
            Frames::Whole(frames) => {
                let part = frame as f64 / (frames - 1).max(1) as f64;
                let time = times[0] + part * (times[last] - times[0]);
                if time >= times[last] {
                    return (last, 0.0, times[last]);
                }
                let from = times.partition_point(|t| *t <= time).clamp(1, last) - 1;
                (from, ((time - times[from]) / (times[from + 1] - times[from])).clamp(0.0, 1.0), time)
            }
        }
    }

    /// Returns the time of a frame with its unit, as a label.
    fn time_label(&self, frame: u64) -> String {
        let span = self.glimpses[self.glimpses.len() - 1].time - self.glimpses[0].time;
        let decimals = if span > 0.0 { (3.0 - span.log10().floor()).clamp(0.0, 9.0) as usize } else { 3 };
        let units = &self.glimpses[0].units.units;
        let unit = if units.is_henon() { "" } else { &units.time.name };
        format!("t = {:.decimals$} {unit}", self.moment(frame).2).trim_end().to_owned()
    }

    /// Renders the frames that `folder` lacks, on the threads of the present pool, and calls `done` after each.
    ///
    /// # Errors
    /// [`Error::Input`] if a snapshot can no longer be read, [`Error::Storage`] if a frame cannot be written.
    pub fn render(&self, folder: &Path, done: impl Fn() + Sync) -> Result<()> {
        let wanted: Vec<u64> = (0..self.frames()).filter(|frame| !Self::path(folder, *frame).is_file()).collect();
        let threads = rayon::current_num_threads();
        let mut casts: BTreeMap<usize, Cast> = BTreeMap::new();
        let mut rest = &wanted[..];
        while let Some(first) = rest.first().map(|frame| self.moment(*frame).0) {
            // As many frames as there is work for, of no more snapshots than there are threads.
            let near = rest.partition_point(|frame| self.moment(*frame).0 < first + threads);
            let (now, later) = rest.split_at(near.min(IN_HAND * threads));
            rest = later;
            let from = now.iter().map(|frame| self.moment(*frame).0);
            let mut needed: Vec<usize> = from.flat_map(|i| [i, (i + 1).min(self.glimpses.len() - 1)]).collect();
            needed.sort_unstable();
            needed.dedup();
            casts.retain(|i, _| needed.contains(i));
            needed.retain(|i| !casts.contains_key(i));
            let read = needed.par_iter().map(|&i| Ok((i, self.cast(i)?))).collect::<Result<Vec<_>>>()?;
            casts.extend(read);
            now.par_iter().with_max_len(1).try_for_each(|&frame| {
                self.write(folder, frame, &casts)?;
                done();
                Ok::<(), Error>(())
            })?;
        }
        Ok(())
    }

    fn cast(&self, i: usize) -> Result<Cast> {
        let look = Look::read(&self.glimpses[i].path)?;
        if look.content != self.glimpses[i].content {
            return Err(Error::input(&self.glimpses[i].path, "the snapshot has changed meanwhile"));
        }
        let shade = framing::colours(&look, self.settings.colour).into_iter().map(|x| self.shade(x));
        Ok(Cast::new(&look, self.settings.colour, shade))
    }

    /// Returns the place of a speed or mass in the range of the colours, from 0 to 1.
    fn shade(&self, x: f64) -> f64 {
        let (low, high) = self.range;
        match self.settings.colour {
            Colour::Speed if high > 0.0 => x / high,
            Colour::Mass if high > low && low > 0.0 => (x / low).ln() / (high / low).ln(),
            Colour::Temperature => (x / TEMPERATURES.0).ln() / (TEMPERATURES.1 / TEMPERATURES.0).ln(),
            Colour::Speed | Colour::Mass => 0.5,
        }
    }

    fn write(&self, folder: &Path, frame: u64, casts: &BTreeMap<usize, Cast>) -> Result<()> {
        let path = Self::path(folder, frame);
        let (from, part, _) = self.moment(frame);
        let to = (from + 1).min(self.glimpses.len() - 1);
        let png = self.draw(frame, [from, to], part, [&casts[&from], &casts[&to]]);
        let png = png.map_err(|e| Error::storage(&path, e))?;
        write_atomically(&path, |t| fs::write(t, &png).map_err(|e| Error::storage(t, e)))
    }

    /// A frame as PNG.
    fn draw(&self, frame: u64, [from, to]: [usize; 2], part: f64, [a, b]: [&Cast; 2]) -> Result<Vec<u8>, String> {
        let Settings { width, height, plane, theme, .. } = self.settings;
        let (before, after) = (&self.glimpses[from], &self.glimpses[to]);
        let scale = before.units.scale;
        let h = (after.time - before.time) / scale.time;
        let centre = before.centre + part * (after.centre - before.centre);
        let pixels = 0.5 * width.min(height) as f64 / self.half;
        let orbit = self.track.as_ref().map(|track| track.at(from, part));
        let axes_at = |part: f64| {
            let track = self.track.as_ref().filter(|_| self.settings.axes == Axes::Orbit);
            track.map(|track| Along::new(&track.at(from, part)))
        };
        let (along, along_before) = (axes_at(part), axes_at(0.0));
        let shades = Shades::new(theme, self.settings.colour);
        let amount = (BRIGHT / a.pos.len() as f64).sqrt().min(1.0) as f32;
        let mut canvas = Canvas::new(width, height);
        let next = rows_in(&b.ids, &a.ids);
        for (i, next) in next.enumerate() {
            let (d, axes) = match next {
                Some(k) => (place((a.pos[i], a.vel[i]), (b.pos[k], b.vel[k]), h, part) * scale.length - centre, &along),
                // One that is gone by the next snapshot keeps its place in the picture until then.
                None => (a.pos[i] * scale.length - before.centre, &along_before),
            };
            let d = axes.as_ref().map_or([d.x, d.y, d.z], |axes| axes.of(d)).map(|d| d * pixels);
            let at = (0.5 * width as f64 + d[plane.0], 0.5 * height as f64 - d[plane.1]);
            let (light, remnant) = a.stars[i];
            // A star that has become a black hole by the next snapshot, or is gone, keeps its colour until then.
            let next = next.map(|k| b.shade[k]).filter(|shade| !shade.is_nan()).unwrap_or(a.shade[i]);
            let shade = a.shade[i] + part * (next - a.shade[i]);
            let colour = remnant.map_or_else(|| shades.at(shade), |class| shades.of_remnant(class));
            if light > 0.0 {
                canvas.add(at, amount * light, colour);
            }
        }
        let ink = theme.ink();
        let mut picture = canvas.develop(ink.ground).ok_or("the picture is too large")?;
        let units = &before.units.units;
        let unit = if units.is_henon() { "N-body units" } else { &units.length.name };
        let words = overlay::Words {
            size: (width, height),
            time: self.time_label(frame),
            scale: (pixels, unit),
            colours: &self.legend(),
            remnants: &self.remnants(),
            map: self.track.as_ref().zip(orbit).map(|(track, orbit)| self.map(track, orbit.pos, unit)),
        };
        raster::over(&overlay::svg(&words, &shades, &ink), &mut picture)?;
        picture.encode_png().map_err(|e| format!("the picture cannot be encoded: {e}"))
    }

    /// Map of the orbit with the place now: in the plane of the picture, or from above where its axes turn.
    fn map<'a>(&self, track: &Track, now: Vec3, unit: &'a str) -> OrbitMap<'a> {
        let (x, y) = if self.settings.axes == Axes::Orbit { (0, 1) } else { self.settings.plane };
        let of = |place: Vec3| (place[x], place[y]);
        OrbitMap {
            name: format!("{}–{}", NAMES[x], NAMES[y]),
            curve: track.curve(BETWEEN).into_iter().map(|(_, place)| of(place)).collect(),
            now: of(now),
            unit,
        }
    }

    /// Returns which remnants the film shows, by their places in [`REMNANTS`].
    fn remnants(&self) -> Vec<usize> {
        let is_shown = |k: &usize| self.glimpses.iter().any(|glimpse| glimpse.remnants[*k]);
        let all = 0..REMNANTS.len();
        if self.settings.colour == Colour::Temperature { all.filter(is_shown).collect() } else { Vec::new() }
    }

    /// Meaning of the colours.
    fn legend(&self) -> String {
        let units = &self.glimpses[0].units.units;
        let (what, dimension, low) = match self.settings.colour {
            Colour::Temperature => {
                return format!("temperature {} to {} K", two_digits(self.range.0), two_digits(self.range.1));
            }
            Colour::Speed => ("speed", Dimension::VELOCITY, 0.0),
            Colour::Mass => ("mass", Dimension::MASS, self.range.0),
        };
        let unit = if units.is_henon() { String::new() } else { units.label(dimension) };
        format!("{what} {} to {} {unit}", two_digits(low), two_digits(self.range.1)).trim_end().to_owned()
    }
}

/// Returns the orbit that the snapshots tell, if they do.
fn track(glimpses: &[Glimpse]) -> Option<Track> {
    let points = glimpses.iter().map(|glimpse| Some((glimpse.time, glimpse.orbit?))).collect::<Option<_>>()?;
    Some(Track::new(points, glimpses.first()?.units.units.dynamical_time()))
}

/// Checks that the axes along the orbit can be followed from snapshot to snapshot.
fn check_orbit(first: &Glimpse, track: Option<&Track>) -> Result<()> {
    let folder = first.path.parent().unwrap_or(Path::new(""));
    let Some(track) = track else {
        let problem = "the snapshots do not say where the origin of coordinates is in a galaxy";
        let help = "only a run with [orbit] has axes along an orbit; without --frame orbit the axes do not turn";
        return Err(Error::input(folder, problem).with_help(help));
    };
    let Some((from, to)) = track.first_break() else { return Ok(()) };
    let problem = format!(
        "the snapshots at {} and {} are too far apart on the orbit to follow its direction between them",
        twelve_digits(from),
        twelve_digits(to)
    );
    let help = "set a shorter output.snapshot_interval, some 20 snapshots a revolution";
    Err(Error::input(folder, problem).with_help(help))
}

/// A number with two significant digits.
fn two_digits(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let decimals = 1.0 - x.abs().log10().floor();
    match decimals {
        -4.0..=6.0 => format!("{x:.0$}", decimals.max(0.0) as usize),
        _ => format!("{x:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_digits() {
        let written = [0.0, 0.012_34, 1.26, 25.1, 3125.0, 4.2e9, 3e-9].map(two_digits);
        assert_eq!(written, ["0", "0.012", "1.3", "25", "3125", "4.2e9", "3.0e-9"]);
    }
}
