//! Clusters that have not dissolved yet.

use super::members::{DISSOLVED, Members, page, short};
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use crate::over_time::Run;
use std::path::Path;
use tisane_io::table::Table;

pub(super) fn figure(dir: &Path, members: &Members<'_>, series: Option<&Table>) -> Result<Figure, String> {
    if members.count(DISSOLVED) == 0 {
        return Err("no member has dissolved".into());
    }
    let label = Run { table: members.table }.label("time", "time").unwrap_or_default();
    let y = Axis { range: Some((0.0, 1.04)), ..Axis::linear("share of members not dissolved") };
    let mut panel = Panel::new("Dissolution", Axis::linear(label), y);
    let of_series = series.and_then(|table| table.numbers("time")).and_then(|times| times.iter().reduce(f64::min));
    let start = of_series.unwrap_or(0.0);
    let (groups, rows) = (members.groups(), (0..members.outcomes.len()).collect::<Vec<_>>());
    for (number, name, rows) in groups.split(&rows) {
        let ends = rows.iter().map(|&row| (members.times[row], members.outcomes[row] == DISSOLVED));
        let survival = Survival::new(start, ends.collect());
        let name = [name, &*survival.describe()].join(if name.is_empty() { "" } else { ": " });
        let points = survival.steps.iter().map(|step| (step.time, step.share)).collect();
        let spread = survival.steps.iter().map(|step| step.ends()).collect();
        let series = Series::new(name, Mark::Steps, points);
        panel.series.push(Series { spread: Some(spread), colour: Some(number), ..series });
        if let Some(median) = survival.first_below(|step| step.share) {
            let marker = Series::new("", Mark::Points, vec![(median, 0.5)]);
            panel.series.push(Series { colour: Some(number), ..marker });
        }
    }
    let note = "dissolved: with less bound mass, in a tide within the tidal radius, than ensemble.bound_fraction of the initial mass";
    panel.notes.push(note.into());
    let caption = members.caption("counted up to then")
        + "; Kaplan & Meier (1958): members that end otherwise count up to their end; bands: one standard error \
           (Greenwood), which gives that of a median (marker)";
    Ok(page(dir, vec![panel], caption))
}

/// Share that holds from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    time: f64,
    share: f64,
    error: f64,
}

impl Step {
    fn ends(&self) -> (f64, f64) {
        ((self.share - self.error).max(0.0), (self.share + self.error).min(1.0))
    }
}

/// Share of members not yet dissolved: the estimate of Kaplan & Meier (1958).
struct Survival {
    steps: Vec<Step>,
}

impl Survival {
    /// Makes the estimate of the times at which members ended, and whether they dissolved then.
    fn new(start: f64, mut ends: Vec<(f64, bool)>) -> Self {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut steps = vec![Step { time: start, share: 1.0, error: 0.0 }];
        let (mut left, mut share, mut sum) = (ends.len() as f64, 1.0, 0.0);
        for same in ends.chunk_by(|a, b| a.0 == b.0) {
            let dissolved = same.iter().filter(|(_, dissolved)| *dissolved).count() as f64;
            if dissolved > 0.0 {
                share *= 1.0 - dissolved / left;
                // Of the last ones there is no variance, and none is left.
                sum += if left > dissolved { dissolved / (left * (left - dissolved)) } else { 0.0 };
                steps.push(Step { time: same[0].0, share, error: share * sum.sqrt() });
            }
            left -= same.len() as f64;
        }
        if let (Some(last), Some((end, _))) = (steps.last().copied(), ends.last()) {
            steps.push(Step { time: end.max(last.time), ..last });
        }
        Self { steps }
    }

    /// Returns the time from which on at most half of the members are left, by a share.
    fn first_below(&self, share: impl Fn(&Step) -> f64) -> Option<f64> {
        self.steps.iter().find(|step| share(step) <= 0.5).map(|step| step.time)
    }

    /// Describes the median with its error.
    fn describe(&self) -> String {
        let median = self.first_below(|step| step.share);
        let [low, high] = [self.first_below(|step| step.ends().0), self.first_below(|step| step.ends().1)];
        match (median, low, high) {
            (Some(median), Some(low), Some(high)) => {
                format!("median {} ({} to {})", short(median), short(low), short(high))
            }
            (Some(median), Some(low), None) => format!("median {} (at least {})", short(median), short(low)),
            _ => "more than half remain".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_errors_are_those_of_kaplan_and_meier() {
        // Members at 1 (dissolved), 2 (left), 3 (dissolved twice), 4 (left).
        let ends = vec![(3.0, true), (1.0, true), (4.0, false), (2.0, false), (3.0, true)];
        let found = Survival::new(0.0, ends);
        let shares: Vec<(f64, f64)> = found.steps.iter().map(|step| (step.time, step.share)).collect();
        let third = 0.8 * (1.0 - 2.0 / 3.0);
        assert_eq!(shares, [(0.0, 1.0), (1.0, 0.8), (3.0, third), (4.0, third)]);
        // Without a member that left, Greenwood's error is the binomial one.
        assert!((found.steps[1].error - (0.8f64 * 0.2 / 5.0).sqrt()).abs() < 1e-12);
        assert!((found.steps[2].error - third * (0.05f64 + 2.0 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(found.describe(), "median 3.00 (3.00 to 3.00)");
    }

    #[test]
    fn medians_have_errors() {
        let ends = (1..=100).map(|k| (f64::from(k), true)).collect();
        let found = Survival::new(0.0, ends);
        assert_eq!(found.first_below(|step| step.share), Some(50.0));
        assert_eq!(found.describe(), "median 50.0 (46.0 to 55.0)");
        assert_eq!(found.steps.last().unwrap().share, 0.0);
        let few = Survival::new(0.0, vec![(1.0, true), (2.0, false), (2.0, false)]);
        assert_eq!(few.describe(), "more than half remain");
    }
}
