//! `tisane movie`.

use super::arguments::{Verbosity, one_of};
use super::exit_codes::LEFT_OUT;
use super::progress;
use super::screen::{print, say};
use clap::Args;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane_io::atomic::write_atomically;
use tisane_io::directory::{self, bytes};
use tisane_io::lock::Lock;
use tisane_io::regular_file;
use tisane_plot::Theme;
use tisane_plot::movie::{Axes, Centre, Colour, Film, Frames, Settings, default_colour};
use tisane_run::config::MAX_THREADS;

/// Name of the film.
const FILM: &str = "movie.mp4";
/// Name of the film where there is no ffmpeg.
const ANIMATION: &str = "movie.png";
/// Name of the file with all that the frames depend on.
const DESCRIPTION: &str = "movie.json";
/// Seconds of a film without a given length.
const SECONDS: u64 = 10;
/// Range of the sides of a picture, in pixels.
const SIDE: std::ops::RangeInclusive<i64> = 64..=7680;

const PLANES: [(&str, (usize, usize)); 3] = [("xy", (0, 1)), ("xz", (0, 2)), ("yz", (1, 2))];
const AXES: [(&str, Axes); 2] = [("inertial", Axes::Inertial), ("orbit", Axes::Orbit)];
const CENTRES: [(&str, Centre); 3] = [("density", Centre::Density), ("mass", Centre::Mass), ("origin", Centre::Origin)];
const COLOURS: [(&str, Colour); 3] =
    [("speed", Colour::Speed), ("mass", Colour::Mass), ("temperature", Colour::Temperature)];

#[derive(Debug, Args)]
pub struct MovieArgs {
    /// Directory of a run, or a folder of its snapshots.
    dir: PathBuf,
    /// Folder for the frames and the film [default: movie/ in DIR].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Frames per second.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=240))]
    fps: u16,
    /// Frames in all, at equal steps of time [default: 10 seconds].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=999_999))]
    frames: Option<u64>,
    /// Frames from each snapshot to the next.
    #[arg(long, value_name = "K", conflicts_with = "frames", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    per_snapshot: Option<u64>,
    /// Axes: inertial, or of a cluster on an orbit x along it, y outwards and z across.
    #[arg(long, default_value = "inertial", value_parser = one_of(AXES, |axes| axes.0))]
    frame: (&'static str, Axes),
    /// Plane of projection.
    #[arg(long, default_value = "xy", value_parser = one_of(PLANES, |plane| plane.0))]
    plane: (&'static str, (usize, usize)),
    /// Width in pixels.
    #[arg(long, default_value_t = 1280, value_parser = clap::value_parser!(u32).range(SIDE))]
    width: u32,
    /// Height in pixels.
    #[arg(long, default_value_t = 720, value_parser = clap::value_parser!(u32).range(SIDE))]
    height: u32,
    /// Centre of the picture.
    #[arg(long, default_value = "density", value_parser = one_of(CENTRES, |centre| centre.0))]
    centre: (&'static str, Centre),
    /// Quantity shown by colour [default: temperature where stars age, else speed].
    #[arg(long, value_parser = one_of(COLOURS, |colour| colour.0))]
    colour: Option<(&'static str, Colour)>,
    /// Theme of the pictures.
    #[arg(long, default_value = "dark", value_parser = one_of([Theme::Dark, Theme::Light], Theme::name))]
    theme: Theme,
    /// Threads [default: one per core]. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_THREADS)))]
    threads: Option<u32>,
    /// Replace the frames of another film in the folder.
    #[arg(long)]
    overwrite: bool,
}

pub fn movie(args: &MovieArgs, verbosity: Verbosity) -> Result<u8> {
    let paths = directory::snapshots(&args.dir)?;
    let folder = args.output.clone().unwrap_or_else(|| args.dir.join(directory::MOVIE));
    let frames = match (args.frames, args.per_snapshot) {
        (_, Some(each)) => Frames::PerSnapshot(each),
        (frames, None) => Frames::Whole(frames.unwrap_or(SECONDS * u64::from(args.fps))),
    };
    let settings = Settings {
        axes: args.frame.1,
        plane: args.plane.1,
        centre: args.centre.1,
        colour: args.colour.map_or_else(|| default_colour(&paths), |colour| colour.1),
        width: args.width as usize,
        height: args.height as usize,
        theme: args.theme,
        frames,
    };
    on_threads(args.threads.unwrap_or(0) as usize, || {
        let (bar, lines) = progress::bar(verbosity, paths.len() as u64);
        bar.set_message("reading the snapshots");
        let (film, left_out) = Film::survey(&paths, settings, || bar.inc(1))?;
        bar.finish_and_clear();
        left_out.iter().for_each(|why| say(&format!("left out: {why}")));
        if args.output.is_none() {
            directory::check_folder(&folder)?;
        }
        fs::create_dir_all(&folder).map_err(|e| Error::input(&folder, e))?;
        let lock = Lock::take(&folder)?;
        lock.warning().filter(|_| !verbosity.quiet).iter().for_each(|why| say(why));
        prepare(&folder, &film.description(), args.overwrite)?;
        let kept = (0..film.frames()).filter(|frame| Film::path(&folder, *frame).is_file()).count() as u64;
        render(&film, &folder, kept, lines, verbosity)?;
        let fresh = film.frames() - kept;
        let word = if film.frames() == 1 { "frame" } else { "frames" };
        let text = format!("{} {word} in {}, {fresh} rendered now\n", film.frames(), folder.display());
        print(&text)?;
        print(&encode(&film, &folder, args.fps)?)?;
        Ok(if left_out.is_empty() { 0 } else { LEFT_OUT })
    })
}

/// Renders what is missing, with a bar on a terminal and a line every tenth elsewhere.
fn render(film: &Film, folder: &Path, kept: u64, lines: bool, verbosity: Verbosity) -> Result<()> {
    let missing = film.frames() - kept;
    let (bar, _) = progress::bar(verbosity, missing);
    let every = missing.div_ceil(10).max(1);
    film.render(folder, || {
        bar.set_message(format!("{:.1} frames/s", bar.per_sec()));
        bar.inc(1);
        if lines && (bar.position() % every == 0 || bar.position() == missing) {
            let eta = tisane::units::wall_time(bar.eta().as_secs_f64());
            // Frames are rendered side by side: the time of the last is not that of the film.
            say(&format!("frame {} of {missing}, {eta} left", bar.position()));
        }
    })?;
    bar.finish_and_clear();
    Ok(())
}

/// Makes the folder ready: frames of the same film stay, those of another are removed if that was asked for.
fn prepare(folder: &Path, description: &str, overwrite: bool) -> Result<()> {
    let path = folder.join(DESCRIPTION);
    if regular_file::read_to_string(&path).is_ok_and(|before| before == description) {
        return Ok(());
    }
    let frames = frames_in(folder)?;
    if !frames.is_empty() && !overwrite {
        let problem = "the folder holds frames of another film: other settings, other snapshots or another tisane";
        return Err(
            Error::input(folder, problem).with_help("give another with --output, or replace them with --overwrite")
        );
    }
    for path in frames {
        fs::remove_file(&path).map_err(|e| Error::storage(&path, e))?;
    }
    write_atomically(&path, |t| fs::write(t, description).map_err(|e| Error::storage(t, e)))
}

/// Returns the frames in a folder.
fn frames_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| Error::input(folder, e))? {
        let path = entry.map_err(|e| Error::input(folder, e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let digits = name.strip_prefix("frame_").and_then(|rest| rest.strip_suffix(".png"));
        if digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit())) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Makes the film of the frames with ffmpeg; where there is none, makes an animated PNG and says how.
fn encode(film: &Film, folder: &Path, fps: u16) -> Result<String> {
    let (path, frames) = (folder.join(FILM), folder.join("frame_%06d.png"));
    let rate = fps.to_string();
    // Sides of an odd number of pixels have no half for the colours.
    let how = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18"];
    let mut lacking = false;
    let made = write_atomically(&path, |t| {
        let mut command = Command::new("ffmpeg");
        command.args(["-nostdin", "-loglevel", "error", "-y", "-framerate", &rate, "-i"]).arg(&frames).args(how);
        command.args(["-movflags", "+faststart", "-f", "mp4"]).arg(t).stdin(Stdio::null());
        match command.output() {
            Ok(said) if said.status.success() => Ok(()),
            Ok(said) => Err(Error::storage(t, format!("ffmpeg: {}", String::from_utf8_lossy(&said.stderr).trim()))),
            Err(e) => {
                lacking = e.kind() == ErrorKind::NotFound;
                Err(Error::storage("ffmpeg", e))
            }
        }
    });
    match made {
        Ok(()) => Ok(format!("{}\n", path.display())),
        Err(_) if lacking => {
            let animation = folder.join(ANIMATION);
            let it = film.animation();
            it.write(folder, fps, &animation)?;
            let size = fs::metadata(&animation).map_or(0, |file| file.len());
            let left_out = if it.every > 1 { format!(", 1 of {} frames", it.every) } else { String::new() };
            Ok(format!(
                "{}: animated PNG for browsers, {} x {} pixels, {} pictures{left_out}, {}\n\
                 no ffmpeg on the PATH; with it: ffmpeg -framerate {fps} -i {} {} {}\n",
                animation.display(),
                it.width,
                it.height,
                it.pictures,
                bytes(size),
                frames.display(),
                how.join(" "),
                path.display()
            ))
        }
        Err(e) => Err(e),
    }
}
