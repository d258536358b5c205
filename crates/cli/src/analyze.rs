//! `tisane analyze`.

use super::arguments::Verbosity;
use super::exit_codes::LEFT_OUT;
use super::progress;
use super::screen::{print, say};
use clap::Args;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane::tidal_frame::TideSource;
use tisane_io::checkpoint::OutputCounts;
use tisane_io::directory;
use tisane_io::fields::Journal;
use tisane_io::file_units::FileUnits;
use tisane_io::history::History;
use tisane_io::lock::Lock;
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::{self, SnapshotData};
use tisane_run::assemble::{cluster_settings, tide_source};
use tisane_run::cluster::{Journals, TimedSurvey};
use tisane_run::config::{Config, MAX_THREADS};

/// Snapshots per thread that are measured before their rows are written.
const IN_HAND: usize = 2;

#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Directory of a run, or a folder of its snapshots.
    dir: PathBuf,
    /// Folder for the result [default: analysis/ in DIR].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Override a key of the run's configuration, as in --set cluster.neighbours=12; may be given several times.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
    /// Threads [default: one per core]. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_THREADS)))]
    threads: Option<u32>,
}

pub fn analyze(args: &AnalyzeArgs, verbosity: Verbosity) -> Result<u8> {
    let paths = directory::snapshots(&args.dir)?;
    let output = args.output.clone().unwrap_or_else(|| args.dir.join(directory::ANALYSIS));
    check_output(&args.dir, &output)?;
    if args.output.is_none() {
        directory::check_folder(&output)?;
    }
    let (first, left_out) = first_good(&paths)?;
    if let Some(missing) = directory::describe_missing(&paths).filter(|_| !verbosity.quiet) {
        say(&format!("{}: {missing}", args.dir.display()));
    }
    let config = configuration(&args.dir, &first, &args.sets)?;
    std::fs::create_dir_all(&output).map_err(|e| Error::input(&output, e))?;
    let lock = Lock::take(&output)?;
    lock.warning().filter(|_| !verbosity.quiet).iter().for_each(|why| say(why));
    let mut analysis = Analysis {
        journals: Journals::create(&output, &first.units, config.cluster_columns())?,
        tide: tide_source(&config, &first.units.scale)?,
        config,
        units: first.units,
        history: History::default(),
        written: OutputCounts::default(),
        origin: first.provenance,
        left_out,
    };
    on_threads(args.threads.unwrap_or(0) as usize, || analysis.run(&paths, verbosity))?;
    let text = format!(
        "{} of {} snapshots: {} rows about binaries, {} events, in {}\n",
        analysis.written.cluster_rows,
        paths.len(),
        analysis.written.binaries_rows,
        analysis.written.events,
        output.display()
    );
    print(&text)?;
    Ok(if analysis.left_out.is_empty() { 0 } else { LEFT_OUT })
}

/// Refuses the directory of a run as the output: the journals that a run wrote are not replaced.
fn check_output(dir: &Path, output: &Path) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let journal = Journal::Cluster.csv();
    // Of a run, perhaps only the snapshots and this journal were copied to where they are looked at.
    let itself = || real(output).is_some_and(|output| real(dir) == Some(output)) && dir.join(journal).is_file();
    let Some(sign) = directory::run_marker(output).or_else(|| itself().then_some(journal)) else { return Ok(()) };
    let problem = format!("this is the directory of a run, as {sign} shows: the result would replace its {journal}");
    Err(Error::input(output, problem).with_help("give another folder with --output"))
}

/// Returns the first snapshot that is whole, and the errors of those before it.
fn first_good(paths: &[PathBuf]) -> Result<(SnapshotData, Vec<String>)> {
    let mut left_out = Vec::new();
    for path in paths {
        match snapshot::read(path) {
            Ok(data) => return Ok((data, left_out)),
            Err(why) => left_out.push(why.to_string()),
        }
    }
    let folder = paths.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    Err(Error::input(folder, format!("no snapshot here is whole:\n  {}", left_out.join("\n  "))))
}

/// Returns the configuration of the run: the file in its directory, otherwise that in the snapshot.
fn configuration(dir: &Path, snapshot: &SnapshotData, sets: &[String]) -> Result<Config> {
    let file = dir.join(directory::CONFIG);
    if file.is_file() {
        return Ok(Config::from_file(&file, sets)?.config);
    }
    let name = format!("the configuration in the snapshots of {}", dir.display());
    Ok(Config::from_str(&name, &snapshot.provenance.config_resolved, dir, sets)?.config)
}

/// State of an analysis.
struct Analysis {
    config: Config,
    /// Tide on the cluster.
    tide: Option<TideSource>,
    journals: Journals,
    units: FileUnits,
    history: History,
    written: OutputCounts,
    origin: Provenance,
    left_out: Vec<String>,
}

impl Analysis {
    /// Measures the snapshots, a batch for all threads at a time, and writes the rows in their order.
    fn run(&mut self, paths: &[PathBuf], verbosity: Verbosity) -> Result<()> {
        let (bar, lines) = progress::bar(verbosity, paths.len() as u64);
        let reported = self.left_out.len();
        self.left_out.iter().for_each(|why| say(why));
        for batch in paths[reported..].chunks(IN_HAND * rayon::current_num_threads()) {
            let seen: Vec<Result<(TimedSurvey, Provenance)>> =
                batch.par_iter().with_max_len(1).map(|path| self.look(path)).collect();
            for (path, seen) in batch.iter().zip(seen) {
                match seen {
                    Ok((seen, origin)) => {
                        let time = seen.time;
                        self.append(&seen, origin)?;
                        if lines {
                            let unit = &self.units.units.time.name;
                            say(&format!("{}: t = {time} {unit}", path.display()));
                        }
                    }
                    Err(why) => {
                        bar.suspend(|| say(&why.to_string()));
                        self.left_out.push(why.to_string());
                    }
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        self.journals.sync()?;
        self.journals.rewrite(&self.provenance())
    }

    fn look(&self, path: &Path) -> Result<(TimedSurvey, Provenance)> {
        let data = snapshot::read(path)?;
        if data.units != self.units {
            return Err(Error::input(path, "other units than in the snapshots before: of another run"));
        }
        let (settings, origin) = (cluster_settings(&self.config, &data.units.scale), data.provenance.clone());
        Ok((TimedSurvey::from_snapshot(data, &settings, self.tide.as_ref()), origin))
    }

    fn append(&mut self, seen: &TimedSurvey, origin: Provenance) -> Result<()> {
        self.origin = origin;
        (self.history, self.written) = self.journals.append(seen, &self.history, &self.written)?;
        let provenance = self.provenance();
        self.journals.refresh(|| provenance.clone())
    }

    /// Returns the provenance of the last snapshot so far, with the program and the machine of the analysis.
    fn provenance(&self) -> Provenance {
        let here = Provenance::current();
        Provenance {
            version: here.version,
            git_commit: here.git_commit,
            build_rustc: here.build_rustc,
            build_target: here.build_target,
            build_opt_level: here.build_opt_level,
            build_features: here.build_features,
            host: here.host,
            cpu: here.cpu,
            cpu_features: here.cpu_features,
            created: here.created,
            ..self.origin.clone()
        }
    }
}
