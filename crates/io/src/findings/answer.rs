//! The answer: what ended the run, or how far it is, and what its work is spent on.

use super::words::{count, error, number, percent};
use super::{Ending, Findings, Share, ShortStep};
use crate::lock;
use tisane::units::{Dimension, digits, wall_time};

/// Largest number of particles of which it is said that they share the work.
const FEW: usize = 10;

impl Findings {
    /// Returns name, directory, number of particles, engine and precision.
    pub(super) fn title(&self) -> String {
        let directory = self.directory.display().to_string();
        let name = self.settings.name.as_deref().filter(|name| !directory.ends_with(*name));
        let mut parts = vec![name.map_or(directory.clone(), |name| format!("{name} in {directory}"))];
        parts.extend(self.short_steps.as_ref().map(|steps| format!("N = {}", steps.n)));
        let [engine, precision, gpu] = &self.engine;
        parts.extend([engine, precision, gpu].into_iter().filter(|text| !text.is_empty()).cloned());
        parts.join(", ")
    }

    /// Returns the answer: the state of the run, and what its work is spent on.
    pub(super) fn answer(&self) -> Vec<String> {
        std::iter::once(self.state()).chain(self.work()).collect()
    }

    /// Returns a time with its unit.
    pub(super) fn at(&self, time: f64) -> String {
        format!("{} {}", number(time), self.settings.units.label(Dimension::TIME))
    }

    /// Returns the sentence about the state of the run.
    fn state(&self) -> String {
        let wall = self.wall_seconds().map_or(String::new(), |wall| format!(" after {} of wall time", wall_time(wall)));
        let of_end = self
            .settings
            .t_end
            .filter(|_| !self.ending.is_finished())
            .map_or(String::new(), |t_end| format!(" of {}", number(t_end)));
        let so_far = match self.reached() {
            Some(time) => format!("t = {}{of_end}{wall}", self.at(time)),
            None => "its start".into(),
        };
        let to_go = self.wall_to_go().map_or(String::new(), |wall| format!("; about {} to go", wall_time(wall)));
        match &self.ending {
            Ending::Running { owner, halted: true } => {
                let id = lock::process_here(owner).unwrap_or_default();
                format!("Halted: process {id} was stopped (SIGSTOP) and waits at {so_far}.")
            }
            Ending::Running { .. } => match self.log.last().filter(|line| line.text.contains("waiting for space")) {
                Some(line) => format!("Waits for space on the disk at {so_far}: {}.", line.text),
                None => format!("Runs: {so_far}{to_go}."),
            },
            Ending::Ended { reason } if reason == "finished" => {
                let energy = self.energy.as_ref().map_or(String::new(), |energy| {
                    format!("; relative energy error {}, at most {:.1e}", error(energy.last), energy.largest.0)
                });
                format!("Finished: {so_far}{energy}.")
            }
            Ending::Ended { reason } => {
                let cause = match reason.as_str() {
                    "interrupted" => "by a signal (interrupted)",
                    "time-limit" => "at its limit of wall time (time-limit)",
                    "collision" => "where two stars touched (collision)",
                    "dissolution" => "where the cluster had dissolved (dissolution)",
                    "block-step-limit" => "at its limit of block steps (block-step-limit)",
                    other => other,
                };
                format!("Stopped {cause} with a checkpoint: {so_far}{to_go}.")
            }
            Ending::Failed { error, .. } => {
                format!("Ended by an error at {so_far}: {}.", error.trim_end_matches('.'))
            }
            Ending::Killed { owner } if owner.is_empty() => {
                format!("Not running, at {so_far}: there is no summary.json, no error in run.log and no lock.")
            }
            Ending::Killed { owner } => format!(
                "Killed at {so_far}: {owner}, is gone and left neither a summary nor an error (kill -9, no memory, a \
                 batch system's limit, or the machine went down)."
            ),
        }
    }

    /// Returns the sentence about what the work is spent on.
    fn work(&self) -> Option<String> {
        let steps = self.short_steps.as_ref()?;
        let at = self.at(steps.time);
        let blocks = |share: &Share, stars: usize| {
            let now = match share.block_steps {
                part if part >= 0.5 => format!(" and {} of the block steps", percent(part)),
                _ => String::new(),
            };
            // The steps of a moment are not those of the whole run.
            let max = self.max_so_far(stars).filter(|max| *max < share.particle_steps);
            let max =
                max.map_or(String::new(), |max| format!(" (of all particle steps so far at most {})", percent(max)));
            now + &max
        };
        let units = &self.settings.units;
        if let Some((row, partner, orbit)) = steps.dominant() {
            let orbits =
                self.left().map_or(String::new(), |left| format!("; {} orbits to t_end", digits(left / orbit.period)));
            return Some(format!(
                "At t = {at} one binary takes {} of the particle steps{}: ids {} + {}, a = {}, e = {:.3}, P = {}{orbits}.",
                percent(row.share.particle_steps),
                blocks(&row.share, 2),
                row.id,
                partner.id,
                units.readable(orbit.semi_major_axis, Dimension::LENGTH),
                orbit.eccentricity,
                units.readable(orbit.period, Dimension::TIME),
            ));
        }
        let group = &steps.group;
        let pairs = if group.pairs > 0 { format!(" ({})", count(group.pairs, "pair")) } else { String::new() };
        let of = format!("{} of {} particles{pairs}", group.particles, steps.n);
        if steps.is_concentrated() {
            let share = percent(group.share.particle_steps);
            let orbit = |row: &ShortStep| Some((row.partner.as_ref()?.id, row.partner.as_ref()?.orbit?));
            let first = steps.rows.first().and_then(|row| Some((row, orbit(row)?)));
            let first = first.map_or(String::new(), |(row, (partner, orbit))| {
                let left = self.left().map(|left| format!(", {} orbits to t_end", digits(left / orbit.period)));
                format!(
                    "; the pair {} + {partner} takes the most, {}: a = {}, P = {}{}",
                    row.id,
                    percent(row.share.particle_steps),
                    units.readable(orbit.semi_major_axis, Dimension::LENGTH),
                    units.readable(orbit.period, Dimension::TIME),
                    left.unwrap_or_default()
                )
            });
            let blocks = blocks(&group.share, group.particles);
            return Some(format!("At t = {at} {of} take {share} of the particle steps{blocks}{first}."));
        }
        let spread = steps.n > FEW && group.particles < steps.n;
        spread.then(|| format!("At t = {at} the work is spread: {of} take half of the particle steps."))
    }
}
