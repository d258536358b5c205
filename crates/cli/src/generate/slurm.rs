//! `tisane generate slurm`: a batch script that runs a configuration on one node in as many jobs as it takes.

use crate::arguments::ConfigArgs;
use clap::Args;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane_io::checkpoint::{NEWEST, PREVIOUS};
use tisane_io::directory::{CONFIG, ENSEMBLE, SUMMARY};
use tisane_io::shell;
use tisane_run::config::{Config, Engine, MAX_THREADS, WallTime};

/// Part of a job's time that is left for its begin, the last checkpoint and the next submission, and its bounds.
const RESERVE: u32 = 50;
const LEAST_RESERVE: Duration = Duration::from_secs(2 * 60);
const MOST_RESERVE: Duration = Duration::from_secs(15 * 60);
/// Shortest time of a job.
const SHORTEST: Duration = Duration::from_secs(10 * 60);
/// Cores beside a GPU: with more than these the host is no faster.
const CORES_BESIDE_GPUS: u32 = 16;

#[derive(Debug, Args)]
pub struct SlurmArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Wall time of a job, as 90min or 24h: the limit of the partition.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = WallTime::parse)]
    time_limit: WallTime,
    /// Cores of a job [default: those of a whole node; with GPUs 16].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_THREADS)))]
    cores: Option<u32>,
    /// GPUs of a job, on which the engine cuda computes; 0 for none [default: 1 where force.engine is cuda, else 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=64))]
    gpus: Option<u32>,
}

/// Returns the script.
///
/// # Errors
/// [`Error::Config`] and [`Error::Input`] as for a run of the configuration, and for a job that is too short.
pub fn script(args: &SlurmArgs) -> Result<String> {
    let limit = args.time_limit.get();
    if limit < SHORTEST {
        let problem = format!("--time-limit: expected at least 10min, found {}", args.time_limit);
        return Err(Error::input(&args.config.file, problem));
    }
    let config = Config::from_file(&args.config.file, &args.config.sets)?.config;
    for path in [&args.config.file, &config.output_directory()] {
        if path.to_str().is_none_or(|name| name.contains(char::is_control)) {
            let problem =
                "a batch script cannot name it: expected a name of letters without control characters, in UTF-8";
            return Err(Error::input(path, problem));
        }
    }
    let gpus = args.gpus.unwrap_or(u32::from(config.force.engine == Engine::Cuda));
    let cores = args.cores.or_else(|| (gpus > 0).then_some(CORES_BESIDE_GPUS));
    let directory = config.output_directory();
    let file = shell::argument(&args.config.file);
    let reserve = (limit / RESERVE).clamp(LEAST_RESERVE, MOST_RESERVE);
    let session = session(limit - reserve, cores, (gpus, config.force.engine));
    let sets: String = args.config.sets.iter().map(|set| format!(" --set {}", shell::quoted(set))).collect();
    let resources = resources(cores, gpus);
    let (name, time) = (&config.run.name, slurm_time(limit));
    let dir = shell::argument(&directory);
    Ok(format!(
        "#!/bin/bash
# Runs {file} on one node in as many jobs as it takes. A job stops with a checkpoint before
# its time is over and submits this script again, which goes on with the run in {dir}.
# It ends with any other end of the run: `tisane why {dir}` explains it.
#
# Submit it from this folder with sbatch. What your site needs besides, as partition and account,
# goes into lines of #SBATCH here, and modules before the first command.
#SBATCH --job-name={name}
#SBATCH --nodes=1 --ntasks=1
{resources}
#SBATCH --time={time}
#SBATCH --output={name}.log --open-mode=append

directory={dir}
steps() {{ grep -o '\"block_steps\": *[0-9]*' \"$directory/{SUMMARY}\" 2>/dev/null | head -n 1; }}
before=$(steps)
if [ -e \"$directory/{NEWEST}\" ] || [ -e \"$directory/{PREVIOUS}\" ] || [ -e \"$directory/{ENSEMBLE}\" ]; then
    tisane resume \"$directory\"{session}
elif [ -e \"$directory/{CONFIG}\" ]; then
    # The job before this one ended before its first checkpoint.
    tisane run {file}{sets}{session} --overwrite
else
    tisane run {file}{sets}{session}
fi
code=$?

# The code 3 is that of other stops too, as of a dissolved cluster: only the limit of time goes on, and a job that got on.
if [ $code -eq 3 ] && grep -q '\"exit_reason\": *\"time-limit\"' \"$directory/{SUMMARY}\"; then
    if [ -n \"$before\" ] && [ \"$before\" = \"$(steps)\" ]; then
        echo \"No block step in this job: a job needs a longer --time-limit. Nothing is submitted.\" >&2
        exit 3
    fi
    sbatch --dependency=\"afterany:$SLURM_JOB_ID\" \"$0\"
    code=$?
fi
exit $code
"
    ))
}

/// Returns the lines that ask for cores and GPUs.
fn resources(cores: Option<u32>, gpus: u32) -> String {
    let cores = cores.map_or("#SBATCH --exclusive --mem=0".into(), |n| format!("#SBATCH --cpus-per-task={n}"));
    if gpus > 0 { format!("{cores} --gpus-per-node={gpus}") } else { cores }
}

/// Returns the options of a session.
fn session(limit: Duration, cores: Option<u32>, (gpus, of_config): (u32, Engine)) -> String {
    let limit = format!(" --time-limit {}s", limit.as_secs());
    // Not all clusters bind a job to its cores.
    let threads = cores.map_or(String::new(), |n| format!(" --threads {n}"));
    let engine = match gpus {
        0 if of_config == Engine::Cuda => " --engine cpu",
        0 => "",
        1 => " --engine cuda",
        _ => " --engine cuda --devices all",
    };
    format!("{limit}{threads}{engine}")
}

/// Returns a time as Slurm writes it: days-hours:minutes:seconds.
fn slurm_time(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{days}-{:02}:{:02}:{:02}", rest / 3600, rest % 3600 / 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_slurm_reads_them() {
        let of = |seconds| slurm_time(Duration::from_secs(seconds));
        assert_eq!([of(600), of(86_400), of(93_784)], ["0-00:10:00", "1-00:00:00", "1-02:03:04"]);
    }
}
