//! Advice that follows from the findings, with the commands to do it.

use super::words::{number, percent};
use super::{Advice, Ending, Findings, Growth};
use crate::directory::{self, CONFIG, bytes};
use crate::{lock, shell, snapshot};
use std::path::{Path, PathBuf};
use tisane::diagnostics::cluster::bodies::MIN_BODIES;
use tisane::units::{digits, wall_time};

/// Largest number of pieces of advice.
const MAX: usize = 4;
/// Relative energy error from which a smaller one is advised.
const LARGE_ERROR: f64 = 1e-5;
/// Share of the limit of the audit from which a more precise mode is advised.
const NEAR_LIMIT: f64 = 0.3;
/// Factor by which a shorter dt_min is advised: ten levels.
const SHORTER: f64 = 1024.0;
/// Option for the mode with the most precise forces.
const MORE_PRECISE: &str = " --set force.precision=f64";
/// How a run begins from a snapshot.
const FROM_SNAPSHOT: &str = "in a copy of config.toml, write [initial.file] in place of [initial.…], with";
/// Number of orbits from which the steps of a binary are worth a word.
const MANY_ORBITS: f64 = 1e4;
/// Evaluations of an internal motion in a block step of the run from which they take a good part of its wall time.
const MANY_EVALUATIONS: f64 = 100.0;
/// Least wall time for which a profile is worth its while, in s.
const WORTH_A_PROFILE: f64 = 60.0;

impl Findings {
    /// Returns the advice, the most urgent first.
    pub(super) fn advice(&self) -> Vec<Advice> {
        let mut all = self.about_the_end();
        let others = [
            self.about_the_disk(),
            self.about_the_energy(),
            self.about_the_audit(),
            self.about_clamped_steps(),
            self.about_a_binary(),
            self.about_an_internal_motion(),
            self.about_a_profile(),
        ];
        for advice in others.into_iter().flatten() {
            if advice.command.is_empty() || all.iter().all(|other| other.command != advice.command) {
                all.push(advice);
            }
        }
        all.truncate(MAX);
        all
    }

    /// Returns the command that goes on with the run.
    fn resume(&self, options: &str) -> String {
        format!("tisane resume {}{options}", shell::argument(&self.directory))
    }

    fn has_failed(&self) -> bool {
        matches!(self.ending, Ending::Failed { .. })
    }

    /// Returns what follows from the end of the run: how to go on.
    fn about_the_end(&self) -> Vec<Advice> {
        match &self.ending {
            Ending::Running { owner, halted: true } => {
                let id = lock::process_here(owner).unwrap_or_default();
                vec![Advice { text: "Let the process go on:".into(), command: format!("kill -CONT {id}") }]
            }
            Ending::Running { .. } => vec![],
            Ending::Ended { .. } if self.ending.is_finished() => vec![],
            Ending::Ended { .. } => vec![self.go_on("", ", with the same bits:", "")],
            Ending::Killed { .. } => {
                vec![self.go_on("", ". What came after it is computed again, with the same bits:", "")]
            }
            Ending::Failed { error, advice } if advice.is_empty() => self.about_the_error(error).into_iter().collect(),
            // What the run said at its end, when it knew more than its files hold.
            Ending::Failed { advice, .. } => {
                advice.lines().map(|line| Advice { text: line.to_owned(), command: String::new() }).collect()
            }
        }
    }

    /// Returns advice to go on from the newest checkpoint, with text before and after it and options of the command;
    /// without a checkpoint, from the newest snapshot or anew.
    fn go_on(&self, before: &str, after: &str, options: &str) -> Advice {
        if let Some(checkpoint) = self.checkpoint {
            let text = format!("{before}Go on from the checkpoint at t = {}{after}", self.at(checkpoint.time));
            return Advice { text, command: self.resume(options) };
        }
        // Without a checkpoint the newest state is a snapshot.
        if let Some(steps) = &self.short_steps {
            let path = self.directory.join(directory::SNAPSHOTS).join(&steps.source);
            let text = format!(
                "{before}No checkpoint is valid. Begin anew from the newest snapshot (t = {}): {FROM_SNAPSHOT}",
                self.at(steps.time)
            );
            return Advice { text, command: format!("path = \"{}\"", path.display()) };
        }
        let config = shell::argument(&self.directory.join(CONFIG));
        let text = format!("{before}There is no checkpoint and no snapshot. Start the run anew:");
        Advice { text, command: format!("tisane run {config}{options} --overwrite") }
    }

    /// Returns what follows from the error that ended the run, by its kind.
    fn about_the_error(&self, error: &str) -> Option<Advice> {
        if error.contains("dt_min") || error.contains("below the floor") {
            self.shorter_dt_min("")
        } else if error.starts_with("the energy at time") {
            self.anew()
        } else if error.starts_with("the audit at time") {
            Some(self.go_on("Compute the forces more precisely. ", ":", MORE_PRECISE))
        } else if error.starts_with("cannot write") {
            let free = self.disk.free.map_or(String::new(), |free| format!(" ({} are free now)", bytes(free)));
            Some(self.go_on(&format!("Make space{free}. "), ", with the same bits:", ""))
        } else {
            Some(self.go_on("Remove the cause. ", ":", ""))
        }
    }

    /// Returns advice to allow shorter steps, after the text `before`.
    fn shorter_dt_min(&self, before: &str) -> Option<Advice> {
        let scheme = self.settings.scheme.as_ref()?;
        let (dt_min, min) = (scheme.dt_min?, scheme.min_dt_min()?);
        if dt_min <= min * 1.5 {
            let text = format!(
                "{before}dt_min is the shortest that this dt_max allows (dt_max/2^36). Begin anew from a snapshot with a \
                 shorter dt_max; or with a softening, which changes binaries that are closer than it."
            );
            return Some(Advice { text, command: String::new() });
        }
        // Rounded upwards, so that it is not below the least.
        let options = format!(" --set {}={:.3e}", scheme.key("dt_min"), (dt_min / SHORTER).max(min) * 1.0005);
        let pace = self.wall_to_go().map_or(":".into(), |wall| {
            format!(". At its last speed, the rest takes {}; shorter steps take longer:", wall_time(wall))
        });
        Some(self.go_on(&format!("{before}Allow shorter steps. "), &pace, &options))
    }

    /// Returns advice to begin anew from the last snapshot before the largest change of the energy.
    fn anew(&self) -> Option<Advice> {
        let (jump, _) = self.energy.as_ref()?.contributions.first()?;
        let (path, time) = self.snapshot_before(jump.from)?;
        let scheme = self.settings.scheme.as_ref();
        let shorter = scheme
            .and_then(|scheme| scheme.accuracy)
            .map_or("shorter steps".into(), |(key, value)| format!("{key} = {}", smaller(key, value)));
        let text = format!(
            "Most of the energy error arose from t = {} to {}. Begin anew from the snapshot before it (t = {}) with \
             {shorter}: {FROM_SNAPSHOT}",
            number(jump.from),
            self.at(jump.to),
            self.at(time)
        );
        Some(Advice { text, command: format!("path = \"{}\"", path.display()) })
    }

    /// Returns the path and the time of the last snapshot at a time or before it.
    fn snapshot_before(&self, time: f64) -> Option<(PathBuf, f64)> {
        let numbers = directory::snapshot_numbers(&self.directory).ok()?;
        let path = |number: u64| directory::snapshot(&self.directory, number);
        let at = |number: u64| snapshot::read_header(&path(number)).ok().map(|header| header.time);
        let before = numbers.partition_point(|&number| at(number).is_some_and(|at| at <= time));
        let number = *numbers.get(before.checked_sub(1)?)?;
        Some((path(number), at(number)?))
    }

    fn about_the_disk(&self) -> Option<Advice> {
        if self.ending.is_finished() || !self.disk.is_short() {
            return None;
        }
        let (free, needed, interval) = (self.disk.free?, self.disk.needed?, self.settings.snapshot_interval?);
        // As many intervals in one as make the snapshots fit.
        let factor = (needed as f64 / free.max(1) as f64).ceil();
        let text = format!(
            "{} are free, the run needs about {}: make space, or write fewer snapshots:",
            bytes(free),
            bytes(needed)
        );
        let options = format!(" --set output.snapshot_interval={}", number(interval * factor));
        Some(Advice { text, command: self.resume(&options) })
    }

    fn about_the_energy(&self) -> Option<Advice> {
        let energy = self.energy.as_ref()?;
        let worst =
            energy.last_of_cluster.map_or(energy.largest.0, |of_cluster| of_cluster.abs().max(energy.largest.0));
        if self.has_failed() || worst.is_nan() || worst <= LARGE_ERROR {
            return None;
        }
        if energy.growth == Growth::Jump {
            return self.anew();
        }
        if let Some(advice) = self.subsystems_for_a_binary() {
            let text =
                format!("The energy error of {worst:.1e} is large, and shorter steps change little. {}", advice.text);
            return Some(Advice { text, ..advice });
        }
        let scheme = self.settings.scheme.as_ref()?;
        let (key, value) = scheme.accuracy?;
        let set = format!("--set {}={}", scheme.key(key), smaller(key, value));
        if !self.ending.is_finished() {
            let text = format!("The energy error of {worst:.1e} is large. Take shorter steps from the checkpoint on:");
            return Some(Advice { text, command: self.resume(&format!(" {set}")) });
        }
        let text = format!("The energy error of {worst:.1e} is large. Run it again with shorter steps:");
        Some(Advice { text, command: self.run_again(&set, "-finer") })
    }

    /// Returns the command that runs the configuration again with other settings, into a directory with an addition to its name.
    fn run_again(&self, set: &str, suffix: &str) -> String {
        let paths = [self.directory.join(CONFIG), with_suffix(&self.directory, suffix)];
        let [config, output] = paths.map(|path| shell::argument(&path));
        format!("tisane run {config} {set} --output {output}")
    }

    /// Returns advice to make binaries subsystems, where one of them takes most of the steps of a cluster without them.
    fn subsystems_for_a_binary(&self) -> Option<Advice> {
        let steps = self.short_steps.as_ref()?;
        let (row, partner, _) = steps.dominant().filter(|_| steps.n >= MIN_BODIES)?;
        let scheme = self.settings.scheme.as_ref().filter(|_| self.settings.may_have_subsystems)?;
        let dt_max = scheme.dt_max?;
        // Without dt_min; the leapfrog has no accuracy, and no subsystems.
        let keys = match scheme.accuracy {
            Some((key, value)) => format!("{}={{{key}={},dt_max={dt_max:?}}}", scheme.name, number(value)),
            None => format!("hermite4={{dt_max={dt_max:?}}}"),
        };
        let scheme = format!("--set 'integrator={{{keys}}}'");
        let set = format!("{scheme} --set 'encounters={{}}' --set softening.epsilon=0");
        let text = format!(
            "The binary {} + {} is integrated orbit by orbit. With [encounters] it is a subsystem, which takes no such \
             steps. Run it again:",
            row.id, partner.id
        );
        Some(Advice { text, command: self.run_again(&set, "-encounters") })
    }

    fn about_the_audit(&self) -> Option<Advice> {
        let audits = self.rows.iter().filter(|row| row.audit_sample > 0.0).map(|row| row.audit);
        let (limit, worst) = (self.settings.audit_limit?, audits.fold(0.0, f64::max));
        if self.has_failed() || self.ending.is_finished() || worst <= NEAR_LIMIT * limit {
            return None;
        }
        let share = percent(worst / limit);
        let text = format!(
            "The audited forces are off by up to {worst:.1e}, {share} of the error that ends the run. Take a more precise \
             mode:"
        );
        Some(Advice { text, command: self.resume(MORE_PRECISE) })
    }

    fn about_clamped_steps(&self) -> Option<Advice> {
        let clamped = self.rows.last().is_some_and(|row| row.clamped_steps > 0.0);
        let can_go_on = !self.has_failed() && !self.ending.is_finished();
        (clamped && can_go_on).then(|| self.shorter_dt_min("Steps were held at dt_min. ")).flatten()
    }

    fn about_a_binary(&self) -> Option<Advice> {
        let (row, partner, orbit) = self.short_steps.as_ref()?.dominant()?;
        let left = self.left().filter(|left| *left > MANY_ORBITS * orbit.period)?;
        let orbits = digits(left / orbit.period);
        let text =
            format!("Each of the {orbits} orbits of {} + {} to t_end takes steps of its own.", row.id, partner.id);
        match self.subsystems_for_a_binary().filter(|_| !self.ending.is_running()) {
            Some(advice) => Some(Advice { text: format!("{text} {}", advice.text), ..advice }),
            None => Some(Advice { text, command: String::new() }),
        }
    }

    /// Returns advice where the internal motion of one subsystem takes a good part of the wall time.
    fn about_an_internal_motion(&self) -> Option<Advice> {
        let motion = self.internal_motion.as_ref()?;
        let blocks = self.checkpoint?.counters.block_steps.max(1);
        let (per_block, name) = (motion.evaluations as f64 / blocks as f64, motion.name());
        if self.has_failed() || per_block < MANY_EVALUATIONS {
            return None;
        }
        let begins =
            format!("The motion inside of {name} takes {} evaluations of forces in a block step.", digits(per_block));
        let perturbation = self.settings.perturbation.filter(|_| motion.ids.len() == 2);
        Some(match perturbation {
            Some(perturbation) => {
                let set = format!("--set encounters.perturbation={}", number(10.0 * perturbation));
                let text = format!(
                    "{begins} Others disturb this binary, so that its orbits are followed one by one. With a larger \
                     perturbation fewer of them do, at a larger error. Run it again:"
                );
                Advice { text, command: self.run_again(&set, "-perturbation") }
            }
            None => {
                let text = format!(
                    "{begins} Its orbits are followed one by one until it is stable or breaks up. \
                     limits.wall_time ends a run with a checkpoint."
                );
                Advice { text, command: String::new() }
            }
        })
    }

    fn about_a_profile(&self) -> Option<Advice> {
        let profiled = self.summary.as_ref().is_some_and(|summary| summary.get("profile").is_some());
        let worth_it = self.engine[0] == "cuda" && self.wall_seconds()? > WORTH_A_PROFILE && self.left().is_some();
        let stop = if self.ending.is_running() { "Stop the run (Ctrl-C), and measure" } else { "Measure" };
        (worth_it && !profiled).then(|| Advice {
            text: format!("{stop} for ten minutes what its time is spent on:"),
            command: self.resume(" --profile --time-limit 10m"),
        })
    }
}

/// Returns a smaller value of the setting of the accuracy, as a configuration takes it.
fn smaller(key: &str, value: f64) -> String {
    // nu goes with the square of the step, eta with the step.
    let smaller = if key == "nu" { value / 4.0 } else { value * 0.7 };
    number(format!("{smaller:.1e}").parse().unwrap_or(smaller))
}

/// Returns a path with an addition to its name.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}
