//! Warnings about the energy error while a run goes on, long before the limit that ends it.

use tisane::diagnostics::reference::Basis;
use tisane::units::digits;
use tisane_io::fields::DiagnosticsRow;

/// First energy error that is warned of; after it every tenfold one.
const FIRST: f64 = 1e-5;
/// Number of rows over which an error must grow in one direction for a warning.
const ROWS: usize = 8;
/// Energy error at the end of the run that is worth a warning if the growth continues.
const TOO_LARGE: f64 = 1e-4;

/// Digits of a time in a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    Few,
    /// As many as tell two times of rows apart.
    All,
}

/// Energy errors of the rows of a session, relative to the energy of the cluster itself.
#[derive(Clone, Debug)]
pub(super) struct ErrorWatch {
    /// Error from which the next warning is given.
    next: f64,
    /// Times and errors of the last rows.
    last: Vec<(f64, f64)>,
    warned_of_growth: bool,
    has_cluster: bool,
    /// Fewer than ten bodies of the cluster are still bound: no error says anything of it any more.
    dissolved: bool,
}

impl Default for ErrorWatch {
    fn default() -> Self {
        Self { next: FIRST, last: Vec::new(), warned_of_growth: false, has_cluster: false, dissolved: false }
    }
}

impl ErrorWatch {
    /// Takes a row of a run until `end`, whose errors are relative to `basis`, and returns the warnings that it calls for. `time`
    /// formats a time with few digits, or with all.
    pub fn observe(
        &mut self,
        (row, basis): (&DiagnosticsRow, Basis),
        end: f64,
        time: impl Fn(f64, Digits) -> String,
    ) -> Vec<String> {
        let of_cluster = row.cluster_energy_error.filter(|error| !error.is_nan());
        if self.dissolved || (self.has_cluster && of_cluster.is_none()) {
            if !self.dissolved {
                tracing::info!("{}", dissolved(&time(row.time, Digits::Few)));
            }
            self.dissolved = true;
            return Vec::new();
        }
        self.has_cluster = of_cluster.is_some();
        let error = of_cluster.unwrap_or(row.relative_energy_error);
        if self.last.len() > ROWS {
            self.last.remove(0);
        }
        self.last.push((row.time, error));
        let mut found = Vec::new();
        if error.abs() >= self.next {
            while error.abs() >= self.next {
                self.next *= 10.0;
            }
            let whole = row.relative_energy_error;
            let other = match whole == error {
                true => String::new(),
                false => format!(" ({} of the {}, binaries included)", digits(whole), basis.name()),
            };
            found.push(format!(
                "the energy is off by {} of {} at t = {}{other}",
                digits(error),
                if whole == error { format!("the {}", basis.name()) } else { "the energy of the cluster".into() },
                time(row.time, Digits::Few)
            ));
        }
        found.extend(self.growth(end, time));
        found
    }

    /// Warns once of an error that has grown in one direction over the last rows and would be too large at the end.
    fn growth(&mut self, end: f64, time: impl Fn(f64, Digits) -> String) -> Option<String> {
        let [(from, first), .., (to, last)] = self.last[..] else { return None };
        let same_way = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * (last - first) > 0.0;
        if self.warned_of_growth || self.last.len() <= ROWS || !self.last.windows(2).all(same_way) {
            return None;
        }
        let at_end = last + (last - first) / (to - from) * (end - to);
        let too_large = at_end.abs() >= TOO_LARGE && at_end.abs() > 2.0 * last.abs();
        self.warned_of_growth = too_large;
        let same = time(from, Digits::Few) == time(to, Digits::Few);
        let time = |t| time(t, if same { Digits::All } else { Digits::Few });
        too_large.then(|| {
            format!(
                "the energy error grows steadily, from {} to {} between t = {} and {}: at this pace it is {} at t_end; \
                 a higher accuracy of the integrator makes it smaller",
                digits(first),
                digits(last),
                time(from),
                time(to),
                digits(at_end)
            )
        })
    }
}

/// Says that the cluster has dissolved by a time.
fn dissolved(time: &str) -> String {
    format!(
        "the cluster has dissolved at t = {time}: fewer than 10 bodies are bound, and its energy error has no meaning"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(errors: &[f64], end: f64) -> Vec<String> {
        let mut watch = ErrorWatch::default();
        let row = |(k, error): (usize, &f64)| DiagnosticsRow {
            time: k as f64,
            cluster_energy_error: Some(*error),
            relative_energy_error: 1e-3 * error,
            ..Default::default()
        };
        let time = |t: f64, digits| if digits == Digits::All { format!("{t:.3}") } else { format!("{t:.0e}") };
        let rows = errors.iter().enumerate().map(row);
        rows.flat_map(|row| watch.observe((&row, Basis::Total), end, time)).collect()
    }

    #[test]
    fn every_tenfold_error_is_told_once() {
        assert_eq!(warnings(&[0.0, 9e-6, -9e-6, 5e-6], 4.0), [""; 0]);
        let told = warnings(&[0.0, 2e-5, -3e-5, 4e-3, 3e-3, 2e-2], 6.0);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("2.00e-5") && told[0].contains("t = 1e0") && told[0].contains("2.00e-8"), "{told:?}");
        assert!(told[1].contains("0.00400") && told[2].contains("0.0200"), "{told:?}");
    }

    #[test]
    fn a_dissolved_cluster_is_not_warned_of() {
        assert_eq!(warnings(&[0.0, 1e-6, f64::NAN, f64::NAN, 1e-2, 1.3], 5.0), [""; 0]);
        // Without a cluster from the start the errors are those of all bodies.
        let mut watch = ErrorWatch::default();
        let row =
            DiagnosticsRow { cluster_energy_error: Some(f64::NAN), relative_energy_error: 2e-5, ..Default::default() };
        let told = watch.observe((&row, Basis::Internal), 1.0, |_, _| "0".into());
        assert_eq!(told, ["the energy is off by 2.00e-5 of the internal energy at t = 0"]);
    }

    #[test]
    fn steady_growth_is_told_once_where_it_becomes_too_large() {
        let steady: Vec<f64> = (0..20).map(|k| -1e-7 * f64::from(k)).collect();
        let told = warnings(&steady, 2000.0);
        assert!(
            told.len() == 1
                && told[0].contains("steadily, from")
                && told[0].contains("between t = 0e0 and 8e0")
                && told[0].contains("-2.00e-4"),
            "{told:?}"
        );
        assert_eq!(warnings(&steady, 100.0), [""; 0], "small at the end");
        let walk: Vec<f64> = (0..20).map(|k| 1e-7 * f64::from(k + 3 * (k % 2))).collect();
        assert_eq!(warnings(&walk, 2000.0), [""; 0], "not in one direction");
        // Times that few digits do not tell apart.
        let late: Vec<f64> = (0..220).map(|k| -1e-7 * f64::from((k - 200).max(0))).collect();
        let told = warnings(&late, 2000.0);
        assert!(told.len() == 1 && told[0].contains("between t = 200.000 and 208.000"), "{told:?}");
    }
}
