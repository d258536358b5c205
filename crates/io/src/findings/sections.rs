//! The findings by subject, as the sections of a page.

use super::words::{NONE, count, error, number, percent, short_percent, shortened};
use super::{Ending, Findings, Growth, Interval, LogLine, Section, ShortStep, TextTable, intervals};
use crate::directory::bytes;
use crate::provenance::Change;
use serde_json::Value;
use tisane::force::profile;
use tisane::units::{Dimension, digits, wall_time};

/// Rows of the table over time.
const INTERVALS: usize = 8;
/// Rows of the table of particles where none of them takes much of the work.
const SPREAD: usize = 4;
/// Events that are named of an interval.
const EVENTS: usize = 3;
/// Lines of the log, changes, and files that cannot be read, that are shown.
const LINES: usize = 2;
/// Longest text of them.
const LINE: usize = 160;
/// Phases of a profile that copy between host and device.
const COPIES: [&str; 1] = ["copy_up"];
/// Phases of a profile that are work of the host on subsystems.
const SUBSYSTEMS: [&str; 5] = ["looks", "perturbers", "internal_motion", "coupling", "changes"];

impl Findings {
    /// Returns the sections of the page, without empty ones.
    pub(super) fn sections(&self) -> Vec<Section> {
        let all =
            [self.over_time(), self.shortest_steps(), self.energy_error(), self.speed(), self.files(), self.messages()];
        all.into_iter().filter(|section| !section.is_empty()).collect()
    }

    /// Returns the unit in which times or lengths of about this size are easy to read, and the factor to it.
    fn unit(&self, size: f64, dimension: Dimension) -> (String, f64) {
        self.settings.units.fitting(size, dimension)
    }

    fn over_time(&self) -> Section {
        let mut section = Section::new("Over time: shortest step, mean block, speed, errors of each interval");
        let mut found = intervals::intervals(&self.rows, INTERVALS);
        found.extend(self.since_last_row());
        let Some(shortest) = middle(found.iter().map(|interval| interval.step_min)) else {
            if let Some(row) = self.rows.last() {
                section.fact("diagnostics", format!("one row, at t = {}", self.at(row.time)));
            }
            return section;
        };
        let (unit, factor) = self.unit(shortest, Dimension::TIME);
        let differs = |interval: &Interval| {
            let of_cluster = interval.cluster_energy_error.map(error);
            of_cluster.is_some_and(|of_cluster| of_cluster != error(interval.energy_error))
        };
        let of_cluster = found.iter().any(differs);
        let audited = found.iter().any(|interval| interval.audit.is_some());
        let mut columns = vec![
            format!("to t [{}]", self.settings.units.label(Dimension::TIME)),
            format!("step [{unit}]"),
            "block".into(),
            "wall time".into(),
            "pairs/s".into(),
            "dE/E".into(),
        ];
        columns.extend(of_cluster.then(|| "cluster".into()));
        columns.extend(audited.then(|| "audit".into()));
        let row = |interval: &Interval| {
            let mut cells = vec![
                number(interval.to),
                digits(interval.step_min * factor),
                digits(interval.mean_block),
                wall_time(interval.wall_seconds),
                format!("{:.1e}", interval.pairs_per_second),
                error(interval.energy_error),
            ];
            cells.extend(of_cluster.then(|| interval.cluster_energy_error.map_or(NONE.into(), error)));
            cells.extend(audited.then(|| interval.audit.map_or(NONE.into(), |x| format!("{x:.1e}"))));
            cells
        };
        section.table = Some(TextTable { columns, rows: found.iter().map(row).collect() });
        section
    }

    fn shortest_steps(&self) -> Section {
        let Some(steps) = &self.short_steps else { return Section::default() };
        let mut section =
            Section::new(format!("Particles with the most steps at t = {} ({})", self.at(steps.time), steps.source));
        let orbits = || steps.rows.iter().filter_map(|row| row.partner.as_ref()?.orbit);
        let partners = || steps.rows.iter().filter_map(|row| row.partner.as_ref());
        let size = |values: &mut dyn Iterator<Item = f64>| middle(values).unwrap_or(0.0);
        let (step_unit, step) = self.unit(size(&mut steps.rows.iter().map(|row| row.step)), Dimension::TIME);
        let (length_unit, length) = self.unit(size(&mut partners().map(|p| p.separation)), Dimension::LENGTH);
        let (period_unit, period) = self.unit(size(&mut orbits().map(|orbit| orbit.period)), Dimension::TIME);
        let left = self.left();
        let cells = |row: &ShortStep| {
            let Some(partner) = &row.partner else {
                return vec![row.id.to_string(), digits(row.step * step), short_percent(row.share.particle_steps)];
            };
            let ids = format!("{} {} {}", row.id, if partner.mutual { "+" } else { "near" }, partner.id);
            let mut cells = vec![ids, digits(row.step * step), short_percent(row.share.particle_steps)];
            cells.push(digits(partner.separation * length));
            match partner.orbit {
                Some(orbit) => {
                    cells.push(digits(orbit.semi_major_axis * length));
                    cells.push(format!("{:.3}", orbit.eccentricity));
                    cells.push(digits(orbit.period * period));
                    cells.extend(left.map(|left| digits(left / orbit.period)));
                }
                None => cells.push("unbound".into()),
            }
            cells
        };
        let mut columns = vec![
            "particles".into(),
            format!("step [{step_unit}]"),
            "of steps".into(),
            format!("r [{length_unit}]"),
            format!("a [{length_unit}]"),
            "e".into(),
            format!("P [{period_unit}]"),
        ];
        columns.extend(left.map(|_| "orbits left".into()));
        let shown = if steps.is_concentrated() || steps.dominant().is_some() { steps.rows.len() } else { SPREAD };
        section.table = (!steps.rows.is_empty())
            .then(|| TextTable { columns, rows: steps.rows.iter().take(shown).map(cells).collect() });
        if steps.rows.is_empty() {
            let shortest = self.settings.units.readable(steps.shortest, Dimension::TIME);
            section.fact("shortest in use", format!("{shortest}; no particle stands out"));
        }
        if let Some(motion) = &self.internal_motion {
            let text = format!(
                "{} took the most evaluations of forces, {} since t = {}: {} of those of {} here",
                motion.name(),
                digits(motion.evaluations as f64),
                self.at(motion.formed),
                percent(motion.share),
                count(motion.subsystems, "subsystem")
            );
            section.fact("internal motion", text);
        }
        if let Some(floor) = self.settings.scheme.as_ref().and_then(|scheme| scheme.floor()) {
            let ratio = (steps.shortest / floor).log2().round();
            let allowed = self.settings.units.readable(floor, Dimension::TIME);
            let text = match ratio {
                r if r < 0.0 => "the shortest step that is needed is below it".into(),
                0.0 => "the shortest step in use is as short".into(),
                r => format!("the shortest step in use is 2^{r} times as long"),
            };
            section.fact("dt_min", format!("{allowed}; {text}"));
        }
        section
    }

    fn energy_error(&self) -> Section {
        let mut section = Section::new("Energy error");
        let Some(energy) = &self.energy else { return section };
        if self.rows.len() < 2 {
            section.fact("at the last row", "0: the only row is the one at the start");
            return section;
        }
        let (largest, at) = energy.largest;
        section.fact("at the last row", format!("{}, at most {largest:.1e} (t = {})", error(energy.last), self.at(at)));
        if let Some(of_cluster) = energy.last_of_cluster.filter(|of_cluster| error(*of_cluster) != error(energy.last)) {
            let text = format!("{} of the energy of the cluster, binaries as one body each", error(of_cluster));
            section.fact("of the cluster", text);
        }
        let growth = match energy.growth {
            Growth::Rounding => "no more than rounding",
            Growth::Jump => "half of it or more between two rows",
            Growth::Steady => "steadily, in one direction",
            Growth::Scattered => "in both directions, over many intervals",
        };
        section.fact("how it grew", growth);
        for (interval, share) in &energy.contributions {
            let mut seen: Vec<&str> = self.events.between(interval.from, interval.to).collect();
            let more = seen.len().saturating_sub(EVENTS);
            seen.truncate(EVENTS);
            let events = match (seen.join(", "), more) {
                (none, _) if none.is_empty() => none,
                (named, 0) => format!("; {named}"),
                (named, more) => format!("; {named} and {more} more"),
            };
            let shortest = self.settings.units.readable(interval.step_min, Dimension::TIME);
            let changed = error(interval.energy_error);
            let text = format!("{changed}, {} of all changes; shortest step {shortest}{events}", percent(*share));
            section.fact(&format!("until {}", number(interval.to)), text);
        }
        section
    }

    fn speed(&self) -> Section {
        let mut section = Section::new("Speed and forces");
        let whole = Interval::new(&self.rows).or_else(|| self.since_last_row());
        let unit = self.settings.units.label(Dimension::TIME);
        if let (Some(last), Some(whole)) = (self.last_interval(), whole.filter(|whole| whole.wall_seconds > 0.0)) {
            let [now, mean] = [last, whole].map(|interval| wall_time(interval.wall_per_time()));
            section.fact("wall time", format!("{now} for 1 {unit} at the end, {mean} on average"));
            let intervals = intervals::intervals(&self.rows, INTERVALS).into_iter().chain(self.since_last_row());
            let best = intervals.map(|interval| interval.pairs_per_second).fold(0.0, f64::max);
            let rate = format!("{:.1e} pairs/s on average, {best:.1e} at best", whole.pairs_per_second);
            section.fact("rate", format!("{rate}; {} particles in a block step", digits(whole.mean_block)));
        }
        self.share_of_phases(&mut section);
        if let Some(row) =
            self.rows.iter().filter(|row| row.audit_sample > 0.0).max_by(|a, b| a.audit.total_cmp(&b.audit))
        {
            let limit = self.settings.audit_limit.map_or(String::new(), |limit| format!(", of {limit:.0e} allowed"));
            let text = format!(
                "error of at most {:.1e}{limit} (t = {}, {} particles)",
                row.audit,
                self.at(row.time),
                row.audit_sample
            );
            section.fact("audit of forces", text);
        } else if self.engine[0] != "cuda" && self.engine[1].starts_with("f64") {
            section.fact("audit of forces", "not needed: they are those of the CPU in f64");
        } else if self.rows.len() > 1 {
            section.fact("audit of forces", "none ([audit] sample = 0)");
        }
        if let Some(clamped) = self.rows.last().map(|row| row.clamped_steps).filter(|&n| n > 0.0) {
            let max = intervals::intervals(&self.rows, INTERVALS)
                .into_iter()
                .max_by(|a, b| a.clamped_steps.total_cmp(&b.clamped_steps));
            let text = max
                .map_or(String::new(), |i| format!(", most of them from t = {} to {}", number(i.from), self.at(i.to)));
            section.fact(
                "held at dt_min",
                format!("{} particle steps{text}: their errors are not controlled", digits(clamped)),
            );
        }
        section
    }

    /// Adds the shares of forces, subsystems, copies and the host, where they were measured.
    fn share_of_phases(&self, section: &mut Section) {
        let phases = self.summary.as_ref().and_then(|summary| summary.pointer("/profile/seconds")?.as_object());
        let Some(phases) = phases else {
            if self.engine[0] == "cuda" {
                section
                    .fact("share of the GPU", "not measured: `--profile` measures it, the summary has it at the end");
            }
            return;
        };
        let seconds = |of: &dyn Fn(&str) -> bool| -> f64 {
            phases.iter().filter(|(name, _)| of(name)).filter_map(|(_, value)| Value::as_f64(value)).sum()
        };
        let total = seconds(&|_| true);
        let named = |name: &str| [profile::HOST, profile::LAUNCH, profile::UPDATE].contains(&name);
        let copies = |name: &str| COPIES.contains(&name);
        let subsystems = |name: &str| SUBSYSTEMS.contains(&name);
        let parts = [
            ("forces", seconds(&|name| !named(name) && !copies(name) && !subsystems(name))),
            ("subsystems", seconds(&|name| subsystems(name))),
            ("copies", seconds(&|name| copies(name))),
            ("update", seconds(&|name| name == profile::UPDATE)),
            ("launches and waiting", seconds(&|name| name == profile::LAUNCH)),
            ("host", seconds(&|name| name == profile::HOST)),
        ];
        let parts = parts.iter().filter(|(_, part)| *part > 0.0);
        let text: Vec<String> = parts.map(|(name, part)| format!("{name} {}", percent(part / total))).collect();
        let name = if self.engine[0] == "cuda" { "share of the GPU" } else { "profile" };
        section.fact(name, format!("{} of {} of the last session", text.join(", "), wall_time(total)));
    }

    fn files(&self) -> Section {
        let mut section = Section::new("Disk and checkpoints");
        let disk = &self.disk;
        let kinds = disk.kinds.iter().map(|(kind, n, size)| format!("{kind} {} ({n})", bytes(*size)));
        section.fact("used", format!("{}: {}", bytes(disk.total()), kinds.collect::<Vec<_>>().join(", ")));
        if let Some(free) = disk.free {
            let needed = disk.needed.filter(|_| !self.ending.is_finished());
            let needed = needed.map_or(String::new(), |n| format!("; about {} more to t_end", bytes(n)));
            let lasts = disk.bytes_per_second.filter(|rate| self.ending.is_running() && *rate > 0.0);
            let lasts =
                lasts.map_or(String::new(), |rate| format!(", full in {} at this rate", wall_time(free as f64 / rate)));
            section.fact("free", format!("{}{lasts}{needed}", bytes(free)));
        }
        let valid =
            self.checkpoint.map_or("none is valid".into(), |checkpoint| format!("t = {}", self.at(checkpoint.time)));
        let text = match disk.checkpoints.as_slice() {
            [] => "none".into(),
            [(name, size, age), others @ ..] => {
                let others = others.first().map_or(String::new(), |(name, ..)| format!(", and {name}"));
                format!("{valid}; {name} ({}), written {} ago{others}", bytes(*size), wall_time(*age))
            }
        };
        section.fact("checkpoint", text);
        if let Some(age) = disk.last_row.filter(|_| self.ending.is_running()) {
            let before = Interval::new(self.rows.get(self.rows.len().saturating_sub(2)..).unwrap_or_default());
            let before =
                before.map_or(String::new(), |i| format!("; the one before took {}", wall_time(i.wall_seconds)));
            section.fact("last row", format!("written {} ago{before}", wall_time(age)));
        }
        for problem in self.problems.iter().take(LINES) {
            section.fact("not readable", shortened(problem, LINE));
        }
        if let Some(more) = self.problems.len().checked_sub(LINES).filter(|&more| more > 0) {
            section.fact("not readable", format!("and {more} more"));
        }
        for Change { key, from, to, time, .. } in self.changes.iter().rev().take(LINES).rev() {
            let [from, to] = [from, to].map(|value| value.as_f64().map_or_else(|| value.to_string(), number));
            section.fact("changed", format!("{key} from {from} to {to} at t = {}", self.at(*time)));
        }
        section
    }

    fn messages(&self) -> Section {
        let mut section = Section::new("Warnings and errors of the last session (run.log)");
        // The error that ended the run is in the answer.
        let named = |text: &str| matches!(&self.ending, Ending::Failed { error, .. } if error == text);
        let lines: Vec<&LogLine> = self.log.iter().filter(|line| !named(&line.text)).collect();
        for line in lines.iter().rev().take(LINES).rev() {
            section.fact(line.time.split(' ').next_back().unwrap_or_default(), shortened(&line.text, LINE));
        }
        if let Some(more) = lines.len().checked_sub(LINES).filter(|&more| more > 0) {
            section.fact("before", format!("{more} more"));
        }
        section
    }
}

/// Returns the middle one of some numbers in order.
fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
