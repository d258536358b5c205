//! `tisane stellar`: the lives of single stars, as tables, CSV and a figure.

mod life;
mod picture;
mod track;

use super::arguments::{Verbosity, one_of};
use super::screen::{print, say};
use clap::Args;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::atomic::check_output_path;
use tisane_plot::{PictureFormat, Theme};
use tisane_stellar::{
    BlackHoleKicks, Kicks, Metallicity, Model, Options, PairInstability, RemnantRecipe, Remnants, Star, WindRecipe,
    Winds,
};
use track::Track;

const EXAMPLES: &str = "Examples:
  tisane stellar 1
  tisane stellar 20 --metallicity 0.001 --remnants fryer2012-delayed
  tisane stellar 1 5 25 --plot lives.png
  tisane stellar 5 --csv - > life.csv";

/// Name of a file that stands for standard output.
const STANDARD_OUTPUT: &str = "-";
/// Advice to those who write the metallicity after the mass.
const NOT_A_MASS: &str = "every number without an option is a mass; the metallicity is --metallicity Z";
/// Masses at birth that the fits are made for, in solar masses.
const FITTED: (f64, f64) = (0.1, 100.0);

/// Arguments of `tisane stellar`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StellarArgs {
    /// Masses at birth, in solar masses: 0.01 to 150, of which the fits are made for 0.1 to 100.
    #[arg(value_name = "MASS", required = true, allow_negative_numbers = true)]
    masses: Vec<f64>,
    /// Metallicity Z, the share of the mass that is neither hydrogen nor helium: 0.0001 to 0.03; 0.02 is the Sun's.
    #[arg(long, value_name = "Z", allow_negative_numbers = true, default_value_t = 0.02)]
    metallicity: f64,
    /// End of the tracks, in Myr after birth.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, default_value_t = 14_000.0)]
    until: f64,
    /// Recipe for winds.
    #[arg(long, value_name = "RECIPE", default_value = WindRecipe::default().name())]
    #[arg(value_parser = one_of(WindRecipe::ALL, WindRecipe::name))]
    winds: WindRecipe,
    /// Factor of Reimers's wind of giants (neta in PeTar and SSE).
    #[arg(long, value_name = "ETA", allow_negative_numbers = true, default_value_t = Winds::default().reimers)]
    reimers: f64,
    /// Recipe for the masses of neutron stars and black holes.
    #[arg(long, value_name = "RECIPE", default_value = RemnantRecipe::default().name())]
    #[arg(value_parser = one_of(RemnantRecipe::ALL, RemnantRecipe::name))]
    remnants: RemnantRecipe,
    /// Treatment of pair instability in heavy helium cores.
    #[arg(long, value_name = "RECIPE", default_value = PairInstability::default().name())]
    #[arg(value_parser = one_of(PairInstability::ALL, PairInstability::name))]
    pair_instability: PairInstability,
    /// No neutron stars from electron capture.
    #[arg(long)]
    no_electron_capture: bool,
    /// Dispersion of kicks at the collapse of iron cores, each component, in km/s.
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true, default_value_t = Kicks::default().sigma)]
    kick_dispersion: f64,
    /// Kicks of black holes.
    #[arg(long, value_name = "KICKS", default_value = BlackHoleKicks::default().name())]
    #[arg(value_parser = one_of(BlackHoleKicks::ALL, BlackHoleKicks::name))]
    black_hole_kicks: BlackHoleKicks,
    /// Seed of the kicks; they depend on the place of the star in the list too.
    #[arg(long, default_value_t = Kicks::default().seed)]
    seed: u64,
    /// Write the tracks as CSV; - prints them in place of the tables.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the tracks into this file, PNG or SVG by the ending of its name.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Theme of the picture: light for paper, dark for screens.
    #[arg(long, default_value = "light", value_parser = one_of(Theme::ALL, Theme::name), requires = "plot")]
    theme: Theme,
    /// Replace the files of --csv and --plot.
    #[arg(long)]
    overwrite: bool,
}

impl StellarArgs {
    fn options(&self) -> Options {
        Options {
            winds: Winds { recipe: self.winds, reimers: self.reimers, ..Winds::default() },
            remnants: Remnants {
                recipe: self.remnants,
                electron_capture: !self.no_electron_capture,
                pair_instability: self.pair_instability,
                ..Remnants::default()
            },
            kicks: Kicks {
                sigma: self.kick_dispersion,
                black_holes: self.black_hole_kicks,
                seed: self.seed,
                ..Kicks::default()
            },
            ..Options::default()
        }
    }

    /// File that the tracks are written to, if it is not standard output.
    fn csv_file(&self) -> Option<&Path> {
        self.csv.as_deref().filter(|path| *path != Path::new(STANDARD_OUTPUT))
    }

    /// Checks that the files may be written, before anything is printed.
    fn check_files(&self) -> Result<()> {
        for path in self.csv_file().into_iter().chain(self.plot.as_deref()) {
            check_output_path(path, None)?;
            if path.exists() && !self.overwrite {
                let problem = "there is such a file already";
                return Err(Error::input(path, problem).with_help("--overwrite replaces it"));
            }
        }
        self.plot.as_deref().map_or(Ok(()), |path| PictureFormat::of(path).map(drop))
    }
}

/// Prints and writes the lives of the stars.
pub fn stellar(args: &StellarArgs, verbosity: Verbosity) -> Result<u8> {
    let refused = |problem: &dyn std::fmt::Display| Error::input("tisane stellar", problem);
    if !(args.until > 0.0 && args.until.is_finite()) {
        return Err(refused(&format!("--until is {}, but must be a time above 0, in Myr", args.until)));
    }
    let model = Model::new(args.metallicity, args.options()).map_err(|e| refused(&e))?;
    let stars = args.masses.iter().zip(1..).map(|(mass, id)| Star::new(&model, id, *mass, 0.0));
    let stars = stars.collect::<std::result::Result<Vec<_>, _>>().map_err(|e| refused(&e).with_help(NOT_A_MASS))?;
    args.check_files()?;
    let tracks: Vec<Track> = stars.into_iter().map(|star| Track::new(&model, star, args.until)).collect();
    let about = life::about(&model);
    if !verbosity.quiet {
        for mass in args.masses.iter().filter(|mass| !(FITTED.0..=FITTED.1).contains(*mass)) {
            let advice = if *mass <= Metallicity::RANGE.1 { format!("; {NOT_A_MASS}") } else { String::new() };
            let (least, greatest) = FITTED;
            say(&format!("{mass} Msun is extrapolated: the fits are made for {least} to {greatest} Msun{advice}"));
        }
    }
    let table = args.csv.as_ref().map(|_| track::table(&tracks, &about));
    let failed = |problem| Error::storage("standard output", problem);
    match &table {
        Some(table) if args.csv_file().is_none() => print(&table.csv().map_err(failed)?)?,
        _ => print(&life::text(&tracks, &about))?,
    };
    if let (Some(path), Some(table)) = (args.csv_file(), &table) {
        table.write_csv(path)?;
        written(path, verbosity);
    }
    if let Some(path) = &args.plot {
        picture::figure(&tracks, &about).write_file(path, args.theme)?;
        written(path, verbosity);
    }
    Ok(0)
}

fn written(path: &Path, verbosity: Verbosity) {
    if !verbosity.quiet {
        say(&format!("written: {}", path.display()));
    }
}
