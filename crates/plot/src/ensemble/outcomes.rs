//! Shares of the outcomes of encounters.

use super::members::{Members, page};
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use std::path::Path;

/// Outcomes of an encounter.
const OUTCOMES: [&str; 4] = ["flyby", "exchange", "ionisation", "unresolved"];

/// Returns true if members are encounters of a binary and a star.
pub(super) fn has_encounters(members: &Members<'_>) -> bool {
    members.outcomes.iter().any(|how| OUTCOMES.contains(&how.as_str()))
}

pub(super) fn figure(dir: &Path, members: &Members<'_>) -> Figure {
    let (groups, rows) = (members.groups(), members.sound().collect::<Vec<_>>());
    let x = Axis::categories("", OUTCOMES);
    let mut panel = Panel::new("Outcomes of the encounters", x, Axis::linear("share of the members"));
    for (number, name, rows) in groups.split(&rows).filter(|(.., rows)| !rows.is_empty()) {
        let count = |outcome: &str| rows.iter().filter(|row| members.outcomes[**row] == outcome).count();
        let bars = OUTCOMES.iter().enumerate().map(|(place, outcome)| {
            let (share, low, high) = binomial(count(outcome) as f64, rows.len() as f64);
            ((place as f64, share), (low, high))
        });
        let (points, spread): (Vec<_>, Vec<_>) = bars.unzip();
        let name = if groups.are_one() { String::new() } else { format!("{name} ({} members)", rows.len()) };
        let series = Series::new(name, Mark::Bars, points);
        panel.series.push(Series { spread: Some(spread), colour: Some(number), ..series });
    }
    let caption = members.caption("left out") + "; error bars: 68 % of a binomial distribution (Wilson 1927)";
    page(dir, vec![panel], caption)
}

/// Share of `count` among `all` with its interval at one standard deviation: Wilson (1927), which has a length at 0 and
/// at all, too.
fn binomial(count: f64, all: f64) -> (f64, f64, f64) {
    let share = count / all;
    let centre = (share + 0.5 / all) / (1.0 + 1.0 / all);
    let half = (share * (1.0 - share) / all + 0.25 / (all * all)).sqrt() / (1.0 + 1.0 / all);
    (share, (centre - half).clamp(0.0, share), (centre + half).clamp(share, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_counting() {
        let (share, low, high) = binomial(2000.0, 10_000.0);
        assert!((share - low - 0.004).abs() < 1e-4 && (high - share - 0.004).abs() < 1e-4, "{low} {high}");
        // With no event of 9, one deviation is 1 in 10.
        let (share, low, high) = binomial(0.0, 9.0);
        assert_eq!((share, low), (0.0, 0.0));
        assert!((high - 0.1).abs() < 1e-12);
    }
}
