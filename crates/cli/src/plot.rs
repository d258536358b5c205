//! `tisane plot`.

use super::arguments::{Verbosity, one_of};
use super::exit_codes::LEFT_OUT;
use super::screen::{print, say};
use clap::Args;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::units::Scale;
use tisane_io::directory::{CONFIG, PLOTS, check_folder, no_such_run};
use tisane_io::table;
use tisane_plot::ensemble;
use tisane_plot::run::{self, Gallery};
use tisane_plot::table as figures;
use tisane_plot::table::{Choice, Source};
use tisane_plot::{ClusterTide, Figure, Theme, report};
use tisane_run::assemble::{cluster_settings, tide_source};
use tisane_run::config::Config;

/// Name of the page with all figures of a run.
const REPORT: &str = "report.html";

/// Themes to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Themes {
    Light,
    Dark,
    Both,
}

impl Themes {
    const ALL: [Self; 3] = [Self::Light, Self::Dark, Self::Both];

    const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Both => "both",
        }
    }

    const fn themes(self) -> &'static [Theme] {
        match self {
            Self::Light => &[Theme::Light],
            Self::Dark => &[Theme::Dark],
            Self::Both => &Theme::ALL,
        }
    }
}

#[derive(Debug, Args)]
pub struct PlotArgs {
    /// Directories of runs or ensembles, or tables: diagnostics, results of studies (CSV or HDF5), any CSV with a line of names.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Theme of the pictures: light for paper, dark for screens.
    #[arg(long, default_value = "both", value_parser = one_of(Themes::ALL, Themes::name))]
    theme: Themes,
    /// Folder for the pictures [default: plots/ in the directory of the run, or the folder of the table].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Column of the horizontal axis [default: the first column].
    #[arg(long, value_name = "COLUMN", requires = "y")]
    x: Option<String>,
    /// Columns of the vertical axis; '|COLUMN|' draws absolute values.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    y: Vec<String>,
    /// Draw a series for each value of this column.
    #[arg(long, value_name = "COLUMN", requires = "y")]
    by: Option<String>,
    /// Logarithmic horizontal axis.
    #[arg(long, requires = "y")]
    log_x: bool,
    /// Logarithmic vertical axis.
    #[arg(long, requires = "y")]
    log_y: bool,
}

pub fn plot(args: &PlotArgs, verbosity: Verbosity) -> Result<u8> {
    if !args.y.is_empty() {
        let (stem, figure) = of_columns(args)?;
        return print(&listed(&figure.write(&stem, args.theme.themes())?));
    }
    let mut damaged = false;
    let mut written = String::new();
    for Pages { dir, stems, report, gallery } in of_runs(args)? {
        for (stem, (_, figure)) in stems.iter().zip(&gallery.figures) {
            written += &listed(&figure.write(stem, args.theme.themes())?);
        }
        report::write(&report, &dir, &gallery)?;
        written += &format!("{}\n", report.display());
        damaged |= !gallery.damaged.is_empty();
        gallery.damaged.iter().for_each(|why| say(&format!("left out: {why}")));
        if !verbosity.quiet {
            let report = |(name, why): &(&str, String)| say(&format!("{}: no {name}: {why}", dir.display()));
            gallery.missing.iter().for_each(report);
        }
    }
    print(&written)?;
    Ok(if damaged { LEFT_OUT } else { 0 })
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("{}\n", path.display())).collect()
}

/// Figures of a run with their paths.
struct Pages {
    dir: PathBuf,
    /// Paths of the figures' files without theme and ending, in the order of the figures.
    stems: Vec<PathBuf>,
    report: PathBuf,
    gallery: Gallery,
}

fn of_runs(args: &PlotArgs) -> Result<Vec<Pages>> {
    let mut pages: Vec<Pages> = Vec::new();
    for path in &args.paths {
        if path.is_file() {
            let table = table::read(path)?;
            return Err(Error::input(path, "which columns are to be drawn?").with_help(format!(
                "say --y COLUMN and, unless it is the first, --x COLUMN; {}",
                figures::listed(&table)
            )));
        }
        let place = |name: &str| match &args.output {
            // Runs must not take each other's names.
            Some(folder) if args.paths.len() > 1 => folder.join(format!("{}-{name}", run::name(path))),
            Some(folder) => folder.join(name),
            None => path.join(PLOTS).join(name),
        };
        if args.output.is_none() {
            check_folder(&path.join(PLOTS))?;
        }
        let report = place(REPORT);
        if pages.iter().any(|other| other.report == report) {
            let problem = format!("another run would write {} too", report.display());
            return Err(Error::input(path, problem).with_help("draw them one by one, each with its own --output"));
        }
        let gallery = match ensemble::is_ensemble(path) {
            true => ensemble::figures(path)?,
            false => run::figures(path, &|scale| tide(path, scale))?,
        };
        let stems = gallery.figures.iter().map(|(name, _)| place(name)).collect();
        pages.push(Pages { dir: path.clone(), stems, report, gallery });
    }
    Ok(pages)
}

/// Returns the tide on the cluster of a run for internal units of a scale, if its configuration has one.
fn tide(dir: &Path, scale: &Scale) -> Result<Option<ClusterTide>> {
    let config = dir.join(CONFIG);
    if !config.is_file() {
        return Ok(None);
    }
    let config = Config::from_file(&config, &[])?.config;
    let epsilon = cluster_settings(&config, scale).epsilon;
    Ok(tide_source(&config, scale)?.map(|source| ClusterTide { source, epsilon }))
}

/// Draws the chosen columns of all tables in one figure.
fn of_columns(args: &PlotArgs) -> Result<(PathBuf, Figure)> {
    let source = |path: &PathBuf| -> Result<Source> {
        if !path.exists() && path.extension().is_none() {
            return Err(no_such_run(path));
        }
        let (name, table) = if path.is_dir() {
            (run::name(path), run::diagnostics(path)?)
        } else {
            (figures::name_of(path), table::read(path)?)
        };
        Ok(Source { path: path.clone(), name, table })
    };
    let sources = args.paths.iter().map(source).collect::<Result<Vec<_>>>()?;
    let choice =
        Choice { x: args.x.clone(), y: args.y.clone(), by: args.by.clone(), log_x: args.log_x, log_y: args.log_y };
    let figure = figures::figure(&sources, &choice)?;
    let first = &args.paths[0];
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None if first.is_dir() => first.join(PLOTS),
        None => first.parent().unwrap_or(Path::new("")).to_owned(),
    };
    if args.output.is_none() && first.is_dir() {
        check_folder(&folder)?;
    }
    Ok((folder.join(figures::stem(&sources, &choice)), figure))
}
