//! Findings from directories made by hand, one for each end of a run and each advice.

use super::*;
use crate::checkpoint::{self, Checkpoint, OutputCounts, References, RunState};
use crate::directory::{LOG, SUMMARY};
use crate::file_units::FileUnits;
use crate::history::History;
use crate::lock::{LOCK_FILE, Lock};
use crate::snapshot::{self, Snapshot};
use std::fs;
use tempfile::TempDir;
use tisane::force::Field;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Level, Time};
use tisane::units::Scale;

const CONFIG_TEXT: &str = "[run]\nname = \"made\"\nt_end = 10.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\n\
    velocity = \"km/s\"\ntime = \"Myr\"\n[initial.plummer]\nn = 40\n[integrator.hermite4]\nnu = 0.01\ndt_max = 1.0\n\
    dt_min = 1e-6\n[output]\ninterval = 1.0\nsnapshot_interval = 1.0\n[audit]\nlimit = 1e-5\n";
const HEADER: &str = "time,wall_seconds,block_steps,particle_steps,pair_interactions,clamped_steps,step_min,\
    relative_energy_error,audit_sample,audit_acceleration_max,audit_potential_max";
const STALE: &str = "process 4711 on node17, since 2026-11-21T22:10:05Z";

/// Directory of a run that reached t = 4 of 10, without a summary: 38 particles on a line with long steps, and a binary
/// with short ones.
fn made() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write(CONFIG, CONFIG_TEXT);
    let row = |t: u32, error: f64| {
        let n = 100 * t;
        format!("{t},{},{n},{},{},0,0.001,{error:e},0,0.0,0.0\n", 60 * t, 4 * n, 160 * n)
    };
    let rows: String = [0.0, 1e-9, 2e-9, 3e-7, 3.01e-7].iter().zip(0..).map(|(error, t)| row(t, *error)).collect();
    write("diagnostics.csv", &format!("{HEADER}\n{rows}"));
    write("events.csv", "id,time,kind,members\n0,2,escape,7\n1,3,binary-formed,(38+39)\n");
    write(LOG, "2026-11-22T19:25:24.5Z  INFO process 1 on vm\n2026-11-22T19:25:25.5Z  WARN much softening\n");
    checkpoint::write(dir.path(), &checkpoint(4)).unwrap();
    dir
}

const UNITS: Scale = Scale { mass: 1.0, length: 1.0, velocity: 1.0, time: 1.0 };
const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 };

fn particles() -> Particles {
    let (a, v) = (1e-3, (2.0_f64 / 1e-3).sqrt() / 2.0);
    let mut pos: Vec<Vec3> = (0..38).map(|k| f64::from(k) * 10.0 * Vec3::x()).collect();
    let mut vel = vec![Vec3::zeros(); 38];
    for side in [0.5, -0.5] {
        pos.push(Vec3::new(5.0, side * a, 0.0));
        vel.push(2.0 * side * v * Vec3::x());
    }
    let mut particles = Particles::new(vec![1.0; 40], pos, vel);
    particles.step[38..].fill(Level(10));
    particles
}

fn checkpoint(t: u64) -> Checkpoint {
    let mut particles = particles();
    particles.time.fill(Time::from_dt_max(t));
    let run = RunState {
        now: Time::from_dt_max(t),
        clock: CLOCK,
        scale: UNITS,
        counters: Counters {
            block_steps: 100 * t,
            particle_steps: 400 * t,
            pair_interactions: 16_000 * t,
            ..Counters::default()
        },
        written: OutputCounts::default(),
        references: References::default(),
        orbit: None,
        wall_seconds: 60.0 * t as f64,
    };
    let provenance = Provenance { engine: "cpu".into(), precision: "f64".into(), ..Provenance::default() };
    Checkpoint { particles, run, history: History::default(), provenance }
}

fn write_snapshot(dir: &TempDir, number: u64) {
    let particles = particles();
    let field = Field { acc: vec![Vec3::zeros(); 40], pot: vec![0.0; 40], ..Field::default() };
    let units = FileUnits { units: Settings::parse(CONFIG_TEXT).unwrap().units, scale: UNITS };
    let now = Time::from_dt_max(number);
    let provenance = &checkpoint(0).provenance;
    let made = Snapshot {
        particles: &particles,
        field: &field,
        subsystems: &[],
        stars: &[],
        now,
        clock: &CLOCK,
        units: &units,
        provenance,
    };
    let path = directory::snapshot(dir.path(), number);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    snapshot::write(&path, &made).unwrap();
}

fn with_summary(dir: &TempDir, text: &str) {
    fs::write(dir.path().join(SUMMARY), text).unwrap();
}

/// Replaces a text in a file of the run.
fn edit(dir: &TempDir, name: &str, from: &str, to: &str) {
    let path = dir.path().join(name);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

fn page(dir: &TempDir) -> Page {
    Findings::read(dir.path()).unwrap().page()
}

fn commands(page: &Page) -> Vec<&str> {
    page.advice.iter().map(|advice| advice.command.as_str()).collect()
}

/// Returns a fact of a page, by its name.
#[track_caller]
fn fact<'a>(page: &'a Page, name: &str) -> &'a str {
    let mut facts = page.sections.iter().flat_map(|section| &section.facts);
    &facts.find(|(found, _)| found == name).unwrap_or_else(|| panic!("no {name} in\n{}", page.text())).1
}

#[test]
fn a_killed_run_is_explained_in_the_users_units() {
    let dir = made();
    fs::write(dir.path().join(LOCK_FILE), STALE).unwrap();
    let page = page(&dir);
    let answer = "Killed at t = 4 Myr of 10 after 4 min of wall time: process 4711 on node17, since \
                  2026-11-21T22:10:05Z, is gone and left neither a summary nor an error (kill -9, no memory, a batch \
                  system's limit, or the machine went down).";
    assert_eq!(page.answer[0], answer);
    // 2 · 1024 steps of 2 · 1024 + 38; the orbit has a = 0.001 and P = 2π sqrt(a³/2).
    // The mean block so far is of 4: of that two can be half.
    let binary = "At t = 4 Myr one binary takes 98 % of the particle steps and over 99 % of the block steps (of all \
                  particle steps so far at most 50 %): ids 38 + 39, a = 0.00100 pc (206 au), e = 0.000, P = 1.40e-4 Myr \
                  (140 yr); 42700 orbits to t_end.";
    assert_eq!(page.answer[1], binary);
    assert_eq!(
        page.advice[0].text,
        "Go on from the checkpoint at t = 4 Myr. What came after it is computed again, with the same bits:"
    );
    assert_eq!(commands(&page)[0], format!("tisane resume {}", dir.path().display()));
    assert!(page.advice[1].text.starts_with("Each of the 42700 orbits of 38 + 39 to t_end takes steps of its own. "));
    let again = "--set 'integrator={hermite4={nu=0.01,dt_max=1.0}}' --set 'encounters={}' --set softening.epsilon=0";
    assert!(page.advice[1].command.contains(again), "{:?}", page.advice);
    assert_eq!(fact(&page, "wall time"), "60.0 s for 1 Myr at the end, 60.0 s on average");
    assert_eq!(fact(&page, "how it grew"), "half of it or more between two rows");
    assert_eq!(
        fact(&page, "until 3"),
        "+3.0e-7, 99 % of all changes; shortest step 0.00100 Myr (1.00 kyr); binary-formed (38+39)"
    );
    assert_eq!(fact(&page, "19:25:25"), "much softening");
    assert_eq!(fact(&page, "dt_min"), "1.91e-6 Myr (1.91 yr); the shortest step in use is 2^9 times as long");
    let text = page.text();
    let is_command = |line: &str| ["tisane resume", "tisane run"].iter().any(|verb| line.contains(verb));
    assert!(text.lines().all(|line| line.chars().count() <= 80 || is_command(line)), "{text}");
    assert!(text.lines().count() < 60, "{text}");
}

#[test]
fn a_finished_run_needs_nothing() {
    let dir = made();
    with_summary(&dir, "{\"exit_reason\": \"finished\", \"time\": 10.0}");
    let page = page(&dir);
    let answer = "Finished: t = 10 Myr after 4 min of wall time; relative energy error +3.0e-7, at most 3.0e-7.";
    assert_eq!((page.answer[0].as_str(), page.advice.as_slice()), (answer, &[][..]));
}

#[test]
fn a_stopped_run_goes_on_and_a_halted_or_running_one_is_left_alone() {
    let dir = made();
    with_summary(&dir, "{\"exit_reason\": \"time-limit\", \"time\": 4.0}");
    let answer = "Stopped at its limit of wall time (time-limit) with a checkpoint: t = 4 Myr of 10 after 4 min of wall \
                  time; about 6 min to go.";
    let stopped = page(&dir);
    assert_eq!((stopped.answer[0].as_str(), commands(&stopped).len()), (answer, 2));
    write_snapshot(&dir, 4);
    let _lock = Lock::take(dir.path()).unwrap();
    let running = page(&dir);
    assert_eq!(running.answer[0], "Runs: t = 4 Myr of 10 after 4 min of wall time; about 6 min to go.");
    assert!(running.answer[1].starts_with("At t = 4 Myr one binary takes 98 %"), "{:?}", running.answer);
    assert!(commands(&running).iter().all(|command| command.is_empty()), "{:?}", running.advice);
    assert!(fact(&running, "last row").ends_with("the one before took 60.0 s"));
    assert!(fact(&running, "free").contains(" at this rate; about "), "{}", fact(&running, "free"));
    edit(&dir, LOG, "much softening", "x: No space left on device; waiting for space (output.on_full = \"wait\")");
    assert!(
        page(&dir).answer[0]
            .starts_with("Waits for space on the disk at t = 4 Myr of 10 after 4 min of wall time: x: No space")
    );
    let mut findings = Findings::read(dir.path()).unwrap();
    findings.ending = Ending::Running { owner: fs::read_to_string(dir.path().join(LOCK_FILE)).unwrap(), halted: true };
    let halted = findings.page();
    assert!(halted.answer[0].starts_with(&format!("Halted: process {} was stopped", std::process::id())));
    assert_eq!(commands(&halted)[0], format!("kill -CONT {}", std::process::id()));
}

#[test]
fn a_checkpoint_after_the_last_row_gives_the_present_speed() {
    let dir = made();
    let mut later = checkpoint(5);
    later.run.wall_seconds = 240.0 + 7200.0;
    later.provenance.changes =
        "[{\"key\": \"integrator.hermite4.nu\", \"from\": 0.02, \"to\": 0.01, \"trajectory\": true, \
        \"block_steps\": 100, \"time\": 1.0, \"made\": \"2026-11-22T19:25:24Z\"}]"
            .into();
    checkpoint::write(dir.path(), &later).unwrap();
    let page = page(&dir);
    assert_eq!(fact(&page, "wall time"), "2 h for 1 Myr at the end, 60.0 s on average");
    assert_eq!(fact(&page, "changed"), "integrator.hermite4.nu from 0.02 to 0.01 at t = 1 Myr");
    let table = page.sections[0].table.as_ref().unwrap();
    assert_eq!(table.columns, ["to t [Myr]", "step [kyr]", "block", "wall time", "pairs/s", "dE/E"]);
    assert_eq!(table.rows.last().unwrap(), &["5", "0.977", "4.00", "2 h", "2.2e0", "–"]);
}

#[test]
fn a_run_that_ended_at_dt_min_is_told_how_to_allow_shorter_steps() {
    let dir = made();
    let summary = "{\"exit_reason\": \"failed\", \"time\": 4.0, \"error\": \"particle 38 needs a step below dt_min\", \
                   \"advice\": \"allow shorter steps: tisane resume x\\nor clamp\"}";
    with_summary(&dir, summary);
    let failed = page(&dir);
    assert_eq!(
        failed.answer[0],
        "Ended by an error at t = 4 Myr of 10 after 4 min of wall time: particle 38 needs a step below dt_min."
    );
    let own: Vec<_> = failed.advice.iter().map(|advice| advice.text.as_str()).collect();
    assert_eq!(own[..2], ["allow shorter steps: tisane resume x", "or clamp"]);
    // Of an older version, without a summary.
    fs::remove_file(dir.path().join(SUMMARY)).unwrap();
    edit(
        &dir,
        LOG,
        " WARN much softening",
        "ERROR particle 38 needs a time step of 1e-13 at time 4, below the floor of 1e-12",
    );
    let resume = format!("tisane resume {}", dir.path().display());
    assert_eq!(commands(&page(&dir))[0], format!("{resume} --set integrator.hermite4.dt_min=9.771e-10"));
    // With the shortest dt_min that there is.
    edit(&dir, CONFIG, "dt_min = 1e-6", "dt_min = \"2^-36\"");
    let older = page(&dir);
    assert!(older.answer[0].contains("below the floor of 1e-12"));
    assert!(older.sections.iter().all(|section| !section.title.starts_with("Warnings")), "told twice");
    assert!(older.advice[0].text.starts_with("dt_min is the shortest that this dt_max allows"), "{:?}", older.advice);
    // It ended before its first checkpoint.
    fs::remove_file(dir.path().join(checkpoint::NEWEST)).unwrap();
    edit(&dir, CONFIG, "dt_min = \"2^-36\"", "dt_min = 1e-6");
    let config = dir.path().join(CONFIG);
    let run = format!("tisane run {} --set integrator.hermite4.dt_min=9.771e-10 --overwrite", config.display());
    assert_eq!(commands(&page(&dir))[0], run);
}

#[test]
fn other_errors_have_their_own_advice() {
    for (error, options) in [
        ("cannot write x: No space left on device", ""),
        ("the audit at time 4 found forces with errors", " --set force.precision=f64"),
        ("the GPU was lost", ""),
    ] {
        let dir = made();
        with_summary(&dir, &serde_json::json!({ "exit_reason": "failed", "error": error }).to_string());
        assert_eq!(commands(&page(&dir))[0], format!("tisane resume {}{options}", dir.path().display()), "{error}");
    }
}

#[test]
fn a_lost_energy_begins_anew_from_the_snapshot_before_it() {
    let dir = made();
    [0, 1, 2, 3].iter().for_each(|&number| write_snapshot(&dir, number));
    let error = "the energy at time 4 is off by 1.000e-1 of the total energy at the start";
    with_summary(&dir, &serde_json::json!({ "exit_reason": "failed", "error": error }).to_string());
    let failed = page(&dir);
    let path = directory::snapshot(dir.path(), 2);
    assert_eq!(commands(&failed)[0], format!("path = \"{}\"", path.display()));
    assert!(
        failed.advice[0].text.contains("from t = 2 to 3 Myr") && failed.advice[0].text.contains("nu = 0.0025"),
        "{:?}",
        failed.advice
    );
    // A run that ended well has the same advice if the error is large.
    with_summary(&dir, "{\"exit_reason\": \"finished\"}");
    assert!(page(&dir).advice.is_empty());
    edit(&dir, "diagnostics.csv", "3e-7", "3e-4");
    edit(&dir, "diagnostics.csv", "3.01e-7", "3.01e-4");
    assert_eq!(commands(&page(&dir)), [format!("path = \"{}\"", path.display())]);
}

#[test]
fn a_large_error_that_grows_steadily_asks_for_shorter_steps() {
    let dir = made();
    let rows: String = (0..9).map(|t| format!("{t},{t},{t},{t},{t},0,0.1,{:e},0,0,0\n", 1e-5 * f64::from(t))).collect();
    fs::write(dir.path().join("diagnostics.csv"), format!("{HEADER}\n{rows}")).unwrap();
    with_summary(&dir, "{\"exit_reason\": \"finished\"}");
    // Shorter steps change little where one binary takes them.
    let found = page(&dir).advice;
    let [advice] = &found[..] else { panic!("{found:?}") };
    assert!(
        advice.text.contains("With [encounters] it is a subsystem") && advice.command.contains("--set 'encounters={}'")
    );
    assert!(advice.command.ends_with("-encounters"), "{advice:?}");
    edit(&dir, CONFIG, "[audit]", "[encounters]\nperturbation = 1e-5\n[audit]");
    with_summary(&dir, "{\"exit_reason\": \"interrupted\"}");
    let set = "--set integrator.hermite4.nu=0.0025";
    assert!(commands(&page(&dir)).contains(&format!("tisane resume {} {set}", dir.path().display()).as_str()));
    with_summary(&dir, "{\"exit_reason\": \"finished\"}");
    let (config, output) = (dir.path().join(CONFIG), format!("{}-finer", dir.path().display()));
    assert_eq!(commands(&page(&dir)), [format!("tisane run {} {set} --output {output}", config.display())]);
}

#[test]
fn audits_clamped_steps_disk_and_an_idle_gpu_are_told() {
    let dir = made();
    with_summary(&dir, "{\"exit_reason\": \"interrupted\"}");
    edit(&dir, "diagnostics.csv", ",0,0.001,3.01e-7,0,0.0,0.0", ",7,0.001,3.01e-7,40,8e-6,nan");
    let resume = format!("tisane resume {}", dir.path().display());
    let audited = page(&dir);
    assert_eq!(fact(&audited, "audit of forces"), "error of at most 8.0e-6, of 1e-5 allowed (t = 4 Myr, 40 particles)");
    assert_eq!(audited.sections[0].table.as_ref().unwrap().columns.last().unwrap(), "audit");
    assert_eq!(
        fact(&audited, "held at dt_min"),
        "7.00 particle steps, most of them from t = 3 to 4 Myr: their errors are not controlled"
    );
    let sets = ["", " --set force.precision=f64", " --set integrator.hermite4.dt_min=9.771e-10"];
    assert_eq!(commands(&audited)[..3], sets.map(|set| format!("{resume}{set}")));
    let mut findings = Findings::read(dir.path()).unwrap();
    findings.rows.iter_mut().for_each(|row| (row.audit_sample, row.clamped_steps) = (0.0, 0.0));
    (findings.disk.free, findings.disk.needed) = (Some(10), Some(25));
    findings.engine = ["cuda".into(), "mixed".into(), "H100".into()];
    let short = findings.page();
    assert!(short.title.ends_with("N = 40, cuda, mixed, H100"), "{}", short.title);
    assert!(fact(&short, "share of the GPU").contains("--profile"));
    assert_eq!(fact(&short, "audit of forces"), "none ([audit] sample = 0)");
    let set = " --set output.snapshot_interval=3";
    assert_eq!(commands(&short)[..2], [resume.clone(), format!("{resume}{set}")]);
    assert_eq!(*commands(&short).last().unwrap(), format!("{resume} --profile --time-limit 10m"));
    let seconds =
        serde_json::json!({ "host": 1.0, "force": 3.0, "looks": 0.5, "changes": 1.5, "copy_up": 2.0, "launch": 2.0 });
    findings.summary = Some(serde_json::json!({ "profile": { "seconds": seconds } }));
    let shares =
        "forces 30 %, subsystems 20 %, copies 20 %, launches and waiting 20 %, host 10 % of 10.0 s of the last session";
    assert_eq!(fact(&findings.page(), "share of the GPU"), shares);
}

#[test]
fn the_error_of_the_cluster_is_shown_where_it_is_recorded() {
    let dir = made();
    let text = fs::read_to_string(dir.path().join("diagnostics.csv")).unwrap();
    let more = |(k, line): (usize, &str)| match k {
        0 => format!("{line},cluster_energy_error\n"),
        k => format!("{line},{:e}\n", 1e-6 * (k - 1) as f64),
    };
    fs::write(dir.path().join("diagnostics.csv"), text.lines().enumerate().map(more).collect::<String>()).unwrap();
    let page = page(&dir);
    assert_eq!(fact(&page, "of the cluster"), "+4.0e-6 of the energy of the cluster, binaries as one body each");
    let table = page.sections[0].table.as_ref().unwrap();
    assert_eq!((table.columns[6].as_str(), table.rows[0][6].as_str()), ("cluster", "+1.0e-6"));
}

#[test]
fn whatever_is_damaged_is_named_and_the_rest_is_told() {
    let dir = made();
    let names = [CONFIG, "diagnostics.csv", "events.csv", SUMMARY, checkpoint::NEWEST];
    assert!(!page(&dir).text().contains("not readable"));
    for name in names {
        let dir = made();
        fs::write(dir.path().join(name), [0xff, 0x00, b'x', b'\n']).unwrap();
        let found = Findings::read(dir.path()).unwrap();
        assert!(found.problems.iter().any(|problem| problem.contains(name)), "{name}: {:?}", found.problems);
        assert!(found.page().text().contains("not readable"), "{name}");
    }
    // All at once.
    for name in names {
        fs::write(dir.path().join(name), [0xff, 0x00, b'x', b'\n']).unwrap();
    }
    let page = page(&dir);
    assert!(page.answer[0].starts_with("Not running, at its start: there is no summary.json"), "{:?}", page.answer);
    assert_eq!(commands(&page).len(), 1);
}

#[test]
fn without_a_checkpoint_the_newest_snapshot_is_taken() {
    let dir = made();
    [3, 4].iter().for_each(|&number| write_snapshot(&dir, number));
    fs::remove_file(dir.path().join(checkpoint::NEWEST)).unwrap();
    fs::remove_file(dir.path().join(CONFIG)).unwrap();
    let found = page(&dir);
    assert!(found.text().contains("Particles with the most steps at t = 4 T (snapshot_0004.hdf5)"), "{}", found.text());
    assert_eq!(commands(&found)[0], format!("path = \"{}\"", directory::snapshot(dir.path(), 4).display()));
    fs::write(directory::snapshot(dir.path(), 4), "damaged").unwrap();
    assert!(page(&dir).text().contains("(snapshot_0003.hdf5)"));
}

#[test]
fn only_the_directory_of_a_run_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (path, why) in [("", "not the output directory of a run"), ("none", "no such run"), ("file", "a file")] {
        let error = Findings::read(&dir.path().join(path)).unwrap_err();
        assert!(error.to_string().contains(why) && error.exit_code() == 2, "{error}");
    }
}
