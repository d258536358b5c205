//! `tisane plot`.

use super::{one_of, print};
use crate::error::{Error, Result};
use crate::io::columns;
use crate::plot::table::{self, Choice, Source};
use crate::plot::{Figure, Theme, run};
use clap::Args;
use std::path::{Path, PathBuf};

/// The folder of the figures in a run's directory.
const PLOTS: &str = "plots";

/// Which themes to draw.
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
    /// Directories of runs, or tables: diagnostics, results of studies (CSV or HDF5), any CSV with a line of names.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Ground of the pictures: light for paper, dark for screens.
    #[arg(long, default_value = "both", value_parser = one_of(Themes::ALL, Themes::name))]
    theme: Themes,
    /// Folder for the pictures [default: plots/ in the directory of the run, or beside the table].
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

pub fn plot(args: &PlotArgs) -> Result<u8> {
    let figures = if args.y.is_empty() { of_runs(args)? } else { vec![of_columns(args)?] };
    let mut written = String::new();
    for (stem, figure) in figures {
        for path in figure.write(&stem, args.theme.themes())? {
            written += &format!("{}\n", path.display());
        }
    }
    print(&written)
}

/// All figures of every run, by the paths of their files without what follows the name.
fn of_runs(args: &PlotArgs) -> Result<Vec<(PathBuf, Figure)>> {
    let mut figures = Vec::new();
    for path in &args.paths {
        if path.is_file() {
            let table = columns::read(path)?;
            return Err(Error::input(path, "which columns are to be drawn?").with_help(format!(
                "say --y COLUMN and, unless it is the first, --x COLUMN; {}",
                table::listed(&table)
            )));
        }
        for (name, figure) in run::figures(path)? {
            let stem = match &args.output {
                // Runs must not take each other's names.
                Some(folder) if args.paths.len() > 1 => folder.join(format!("{}-{name}", run::name(path))),
                Some(folder) => folder.join(name),
                None => path.join(PLOTS).join(name),
            };
            if figures.iter().any(|(taken, _)| *taken == stem) {
                let problem = format!("another run would write {} too", stem.display());
                return Err(Error::input(path, problem).with_help("draw them one by one, each with its own --output"));
            }
            figures.push((stem, figure));
        }
    }
    Ok(figures)
}

/// The chosen columns of all tables in one figure.
fn of_columns(args: &PlotArgs) -> Result<(PathBuf, Figure)> {
    let source = |path: &PathBuf| -> Result<Source> {
        let (name, table) = if path.is_dir() {
            (run::name(path), run::diagnostics(path)?)
        } else {
            (table::name_of(path), columns::read(path)?)
        };
        Ok(Source { path: path.clone(), name, table })
    };
    let sources = args.paths.iter().map(source).collect::<Result<Vec<_>>>()?;
    let choice =
        Choice { x: args.x.clone(), y: args.y.clone(), by: args.by.clone(), log_x: args.log_x, log_y: args.log_y };
    let figure = table::figure(&sources, &choice)?;
    let first = &args.paths[0];
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None if first.is_dir() => first.join(PLOTS),
        None => first.parent().unwrap_or(Path::new("")).to_owned(),
    };
    Ok((folder.join(table::stem(&sources, &choice)), figure))
}
