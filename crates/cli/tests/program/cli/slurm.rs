//! Promise: the batch script of `tisane generate slurm` goes on in further jobs until the run has ended, and not longer. A shell
//! stands for Slurm: its `sbatch` counts what is submitted.

use crate::program::{Folder, Said, summary};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const RUN: &str = "[run]\nname = \"spheres\"\nt_end = 1.0\n[initial.plummer]\nn = 64\n[softening]\nepsilon = 0.01\n[output]\ndirectory = \"my runs/1\"\n";

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder with a configuration, its script as `job.sh`, and in `bin` the commands of a cluster. The limit of the first job is a
/// millisecond in place of that of the script.
fn cluster(config: &str, options: &[&str]) -> Folder {
    let folder = Folder::new(config);
    let script = folder.tisane(&[&["generate", "slurm", "run.toml"], options].concat()).exits(0);
    folder.write("job.sh", script.out);
    fs::create_dir(folder.path("bin")).unwrap();
    executable(&folder.path("bin/sbatch"), "#!/bin/bash\necho \"$@\" >> submitted\n");
    let program = env!("CARGO_BIN_EXE_tisane");
    let text = format!(
        "#!/bin/bash\necho \"$@\" >> called\nif [ -n \"$IDLE\" ]; then exit 3; fi\nif [ -n \"$FIRST\" ]; then set -- \"${{@/#*[0-9]s/1ms}}\"; fi\nexec '{program}' -q \"$@\"\n"
    );
    executable(&folder.path("bin/tisane"), &text);
    folder
}

/// What a job says, with its exit code.
fn job(folder: &Folder, first: bool) -> Said {
    job_with(folder, if first { "FIRST" } else { "NEITHER" })
}

/// The same with a variable set: `FIRST` for a short limit, `IDLE` for a job whose program takes no step.
fn job_with(folder: &Folder, variable: &str) -> Said {
    let path = format!("{}:{}", folder.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg("job.sh").current_dir(folder.path("")).env("PATH", path).env("SLURM_JOB_ID", "7").stdin(Stdio::null());
    command.env(variable, "1");
    let said = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: said.status.code().unwrap(), out: text(said.stdout), err: text(said.stderr) }
}

/// Lines of a file of the folder; none where there is no such file.
fn lines(folder: &Folder, name: &str) -> Vec<String> {
    fs::read_to_string(folder.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_job_goes_on_where_the_one_before_it_stopped() {
    let folder = cluster(RUN, &["--time-limit", "10min"]);
    job(&folder, true).exits(0);
    assert_eq!(lines(&folder, "submitted"), ["--dependency=afterany:7 job.sh"]);
    assert_eq!(summary(&folder.path("my runs/1"))["exit_reason"], "time-limit");
    job(&folder, false).exits(0);
    assert_eq!(lines(&folder, "submitted").len(), 1, "the run has ended");
    assert_eq!(
        lines(&folder, "called"),
        ["run run.toml --time-limit 480s", "resume my runs/1 --time-limit 480s"],
        "8 of 10 minutes"
    );
    let ended = summary(&folder.path("my runs/1"));
    assert_eq!(ended["exit_reason"], "finished");
    // The same as in one go.
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    assert_eq!(ended["state_sha256"], summary(&folder.path("whole"))["state_sha256"]);
}

/// What a job cannot begin is not submitted for ever, and what ended before its first checkpoint begins anew.
#[test]
fn a_job_without_a_step_or_a_checkpoint_is_told_apart() {
    let folder = cluster(RUN, &["--time-limit", "10min"]);
    job(&folder, true).exits(0);
    job_with(&folder, "IDLE").exits(3).says(&["No block step in this job"]);
    assert_eq!(lines(&folder, "submitted").len(), 1);
    for name in ["checkpoint.hdf5", "checkpoint.previous.hdf5"] {
        let _ = fs::remove_file(folder.path("my runs/1").join(name));
    }
    job(&folder, false).exits(0);
    assert_eq!(lines(&folder, "called").last().unwrap(), "run run.toml --time-limit 480s --overwrite");
    assert_eq!(summary(&folder.path("my runs/1"))["exit_reason"], "finished");
}

#[test]
fn names_that_would_be_commands_are_refused() {
    let folder = Folder::new(RUN);
    folder.write("a\ntouch b\n.toml", RUN);
    folder.tisane(&["generate", "slurm", "a\ntouch b\n.toml"]).exits(2).says(&["control characters"]);
    let set = "output.directory=\"a\\ntouch b\"";
    folder.tisane(&["generate", "slurm", "run.toml", "--set", set]).exits(2);
    let without =
        folder.tisane(&["generate", "slurm", "run.toml", "--set", "force.engine=cuda", "--gpus", "0"]).exits(0);
    assert!(without.out.contains(" --engine cpu"), "{}", without.out);
}

#[test]
fn other_ends_submit_nothing() {
    // Stopped with the same exit code, but not by the time.
    let stopped = cluster(RUN, &["--set", "limits.block_steps=5"]);
    job(&stopped, false).exits(3);
    assert_eq!(lines(&stopped, "called"), ["run run.toml --set limits.block_steps=5 --time-limit 85500s"]);
    // A configuration that was spoilt after the script was made.
    let spoilt = cluster(RUN, &[]);
    spoilt.write("run.toml", "[run]\n");
    job(&spoilt, false).exits(2).says(&["run.toml"]);
    for folder in [&stopped, &spoilt] {
        assert!(lines(folder, "submitted").is_empty());
    }
}

#[test]
fn a_job_takes_a_node_or_cores_or_gpus() {
    let folder = Folder::new(RUN);
    let script = |options: &[&str]| folder.tisane(&[&["generate", "slurm", "run.toml"], options].concat()).exits(0).out;
    let node = script(&[]);
    assert!(node.contains("\n#SBATCH --exclusive --mem=0\n#SBATCH --time=1-00:00:00\n"), "{node}");
    assert!(node.contains("--job-name=spheres\n") && node.contains("directory='my runs/1'\n"), "{node}");
    let cores = script(&["--cores", "8"]);
    assert!(cores.contains("\n#SBATCH --cpus-per-task=8\n") && cores.contains(" --threads 8\n"), "{cores}");
    let gpus = script(&["--gpus", "2"]);
    assert!(gpus.contains("\n#SBATCH --cpus-per-task=16 --gpus-per-node=2\n"), "{gpus}");
    assert_eq!(gpus.matches(" --engine cuda --devices all\n").count(), 2, "{gpus}");
    let cuda = script(&["--set", "force.engine=cuda"]);
    assert!(cuda.contains("--gpus-per-node=1\n") && cuda.contains(" --engine cuda\n"), "{cuda}");
    folder
        .tisane(&["generate", "slurm", "run.toml", "--time-limit", "5min"])
        .exits(2)
        .says(&["--time-limit: expected at least 10min, found 5m"]);
    folder.tisane(&["generate", "slurm", "none.toml"]).exits(2).says(&["none.toml"]);
}
