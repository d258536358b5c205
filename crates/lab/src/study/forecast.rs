//! Wall time of a run by its own beginning: about half a second of it, or more of a long run, is integrated and extrapolated to the end. Of a system
//! whose first forces alone would take long, a part of the particles is integrated in place of all.

use super::pace::three_digits;
use super::predict::natural_times;
use super::trial;
use super::wall_time::WallTime;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane_run::assemble::{self, MAX_SUMMED, Setup};
use tisane_run::config::Engine;
use tisane_run::help;

/// CPU time for which the beginning is integrated, after the first forces.
const BUDGET: Duration = Duration::from_millis(500);
/// Largest number of particles on a GPU whose first forces are evaluated for a forecast; on the CPU [`MAX_SUMMED`].
const MAX_ON_GPU: usize = 1 << 21;
/// Number of particles that stand for more.
const PART: usize = 1 << 15;
/// Factor within which the wall time by a part of the particles lies.
const WITHIN_BY_PART: f64 = 4.0;

/// Beginning of the forecast of a run that does not come to its end: its error follows.
pub const ENDS_EARLY: &str = "the run would end early";

/// Measures the beginning of about `count` of the particles and returns the wall time of a run of all in s, with what it
/// rests on.
fn by_part(set: &Setup, count: usize) -> Result<(f64, String)> {
    let part = set.part(count);
    let pace = trial::pace(&part, BUDGET)?;
    let [n, of_part] = [set, &part].map(|set| set.particles.len());
    let scheme = set.config.integrator.scheme();
    let power = scheme.growth().unwrap_or(2.0);
    let mut why = format!("from the beginning with {of_part} of the particles, whose time grows as N^{power}");
    let mut shorter = 1.0;
    if scheme.growth().is_none() && scheme.block_steps().is_some() {
        shorter = rate(&natural_times(set)?) / rate(&natural_times(&part)?);
        why += &format!(", and {} times as many steps", three_digits(shorter));
    }
    let ratio = n as f64 / of_part as f64;
    let whole = pace.seconds_per_dt_max() * ratio.powf(power) * shorter;
    Ok((pace.start * ratio * ratio + whole * set.steps_to_end as f64, why))
}

/// Returns the wall time of a run by a part of its particles.
fn forecast_by_part(set: &Setup) -> Result<WallTime> {
    let (seconds, why) = by_part(set, PART)?;
    Ok(WallTime { seconds, within: WITHIN_BY_PART, why: format!(" if it goes on as it begins; {why}") })
}

/// Returns the mean of the inverse natural times: the number of steps of particles is proportional to it.
fn rate(times: &[f64]) -> f64 {
    times.iter().filter(|time| **time > 0.0).map(|time| 1.0 / time).sum::<f64>() / times.len() as f64
}

/// Measures the beginning of a run and returns the wall time of the whole.
///
/// # Errors
/// The reason why it is not known.
pub fn forecast(set: &Setup) -> Result<WallTime, String> {
    let n = set.particles.len();
    let max = if assemble::forecast_engine(&set.config, n) == Engine::Cuda { MAX_ON_GPU } else { MAX_SUMMED };
    if n > max {
        return forecast_by_part(set).map_err(|error| unknown(&error));
    }
    match trial::pace(set, BUDGET) {
        Ok(pace) => {
            let units = set.config.units();
            Ok(pace.wall_time(set.steps_to_end, (set.clock.dt_max * set.scale.time, &units.time.name)))
        }
        Err(error) => Err(unknown(&error)),
    }
}

/// Says why the wall time is not known.
fn unknown(error: &Error) -> String {
    match error {
        Error::StepBelowFloor(_) | Error::Integration { .. } => {
            // In one line.
            let advice =
                help::advice(error).map_or_else(String::new, |advice| format!("; {}", advice.replace('\n', "; ")));
            format!("{ENDS_EARLY}: {error}{advice}")
        }
        _ => format!("not known: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tisane_run::config::Config;

    /// How near the times are is no matter of a test: other work on the machine changes them.
    #[test]
    fn a_part_of_the_particles_stands_for_all() {
        for (scheme, growth) in [("hermite4", "N^2, and"), ("ahmad_cohen", "N^"), ("leapfrog", "N^2")] {
            let step = if scheme == "leapfrog" { "dt = 0.0625" } else { "" };
            let text = format!(
                "run = {{ name = 'p', t_end = 0.125 }}\ninitial.plummer.n = 4096\nsoftening.epsilon = '1/256'\n\
                 force = {{ engine = 'cpu', precision = 'f64' }}\n[integrator.{scheme}]\n{step}\n"
            );
            let set = assemble::prepare(Config::from_str("p", &text, Path::new(""), &[]).unwrap()).unwrap();
            let (seconds, why) = by_part(&set, 1024).unwrap();
            assert!(seconds.is_finite() && seconds > 0.0, "{scheme}: {seconds} s");
            assert!(why.starts_with("from the beginning with 1024 of the particles, whose time grows as "), "{why}");
            assert!(why.contains(growth), "{scheme}: {why}");
        }
    }
}
