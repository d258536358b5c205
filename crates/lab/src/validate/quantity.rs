//! Quantities that checks compare: pure functions of a run.

use super::case::{Check, Over, Quantity};
use super::measure::{Moment, Track};
use crate::study::fit;
use serde::Deserialize;
use std::f64::consts::TAU;
use tisane::compensated_sum::{sum, sum3};
use tisane::diagnostics::orbit::Orbit;
use tisane::diagnostics::structure::lagrangian_radius;
use tisane::particles::{Particles, Vec3};
use tisane_run::config::Real;

impl Quantity {
    /// Returns the quantity of a run that a check asks for. `table` is the text of its table.
    ///
    /// # Errors
    /// Says why the run has no such number: no such particle, no moment in the interval, a table that does not fit.
    pub fn measure(self, track: &Track, check: &Check, table: Option<&str>) -> Result<f64, String> {
        if self == Self::Share {
            return Err("the run is one, and a share is of the members of an ensemble".into());
        }
        let moments = window(track, check)?;
        let Some((first, last)) = moments.first().zip(moments.last()) else {
            return Err("the run has no moment in this interval".into());
        };
        match self {
            Self::Energy => Ok(track.energy),
            Self::EnergyError => Ok(track.energy_error),
            Self::FinalEnergyError => Ok(track.final_energy_error),
            Self::AngularMomentumError => Ok(track.angular_momentum_error),
            Self::PairsPerStep => Ok(track.pairs_per_step),
            Self::Closure => Ok(largest(first.pos.iter().zip(&last.pos).map(|(a, b)| (a - b).norm()))),
            Self::PositionError => Ok(largest(position_errors(moments, table.unwrap_or_default())?.into_iter())),
            Self::MedianPositionError => Ok(median(position_errors(moments, table.unwrap_or_default())?)),
            Self::Period => longitudes(track, moments, check).map(|turned| TAU * (last.time - first.time) / turned),
            Self::PhaseError => {
                let rate = mean_motion(track, first, check)?;
                longitudes(track, moments, check).map(|turned| (turned - rate * (last.time - first.time)).abs())
            }
            _ => {
                let values =
                    moments.iter().map(|moment| self.at(track, moment, check)).collect::<Result<Vec<_>, _>>()?;
                Ok(reduced(check.over.unwrap_or(Over::End), moments, &values))
            }
        }
    }

    /// Returns a quantity that changes in time, at a moment.
    fn at(self, track: &Track, moment: &Moment, check: &Check) -> Result<f64, String> {
        if self == Self::LagrangianRadius {
            let p = Particles::new(track.mass.clone(), moment.pos.clone(), moment.vel.clone());
            let everyone: Vec<u32> = (0..p.len() as u32).collect();
            let (centre, _, _) = centre(track, moment, &everyone)?;
            return Ok(lagrangian_radius(&p, centre, check.fraction.map_or(0.5, Real::get)));
        }
        let (x, v, mu) = relative_motion(track, moment, check)?;
        let orbit = || Orbit::from_state(x, v, mu);
        Ok(match self {
            Self::SemiMajorAxis => orbit().semi_major_axis,
            Self::Eccentricity => orbit().eccentricity,
            Self::Inclination => orbit().inclination.to_degrees(),
            Self::Pericentre => orbit().semi_major_axis * (1.0 - orbit().eccentricity),
            Self::Speed => v.norm(),
            _ => x.norm(),
        })
    }
}

/// Returns the moments that a check uses.
fn window<'a>(track: &'a Track, check: &Check) -> Result<&'a [Moment], String> {
    let (from, to) = (check.from.map_or(f64::NEG_INFINITY, Real::get), check.to.map_or(f64::INFINITY, Real::get));
    let start = track.moments.partition_point(|moment| moment.time < from);
    let end = track.moments.partition_point(|moment| moment.time <= to);
    track.moments.get(start..end).ok_or_else(|| "`to` is before `from`".into())
}

/// Reduces the values at some moments to one number.
pub(super) fn reduced(over: Over, moments: &[Moment], values: &[f64]) -> f64 {
    let first = values.first().copied().unwrap_or(f64::NAN);
    match over {
        Over::Start => first,
        Over::End => values.last().copied().unwrap_or(f64::NAN),
        Over::Smallest => -largest(values.iter().map(|x| -x)),
        Over::Largest => largest(values.iter().copied()),
        Over::Mean => sum(values.iter().copied()) / values.len() as f64,
        Over::TimeOfSmallest => {
            let when = moments.iter().zip(values).min_by(|(_, a), (_, b)| a.total_cmp(b));
            when.map_or(f64::NAN, |(moment, _)| moment.time)
        }
        Over::Change => largest(values.iter().map(|x| (x / first - 1.0).abs())),
    }
}

/// Returns the largest of some numbers; NaN if there are none or one of them is NaN.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.reduce(|a, b| if a.is_nan() || a > b { a } else { b }).unwrap_or(f64::NAN)
}

/// Returns position and velocity of the centre of mass of some particles, and their mass; massless ones have equal
/// weights.
fn centre(track: &Track, moment: &Moment, ids: &[u32]) -> Result<(Vec3, Vec3, f64), String> {
    let n = track.mass.len();
    if let Some(id) = ids.iter().find(|&&id| id as usize >= n) {
        return Err(format!("there is no particle {id}: the run has {n}, counted from 0"));
    }
    let mass = sum(ids.iter().map(|&id| track.mass[id as usize]));
    let weight = |id: u32| if mass > 0.0 { track.mass[id as usize] / mass } else { 1.0 / ids.len() as f64 };
    let mean = |column: &[Vec3]| sum3(ids.iter().map(|&id| weight(id) * column[id as usize]));
    Ok((mean(&moment.pos), mean(&moment.vel), mass))
}

/// Returns relative position, relative velocity, and G times both masses.
fn relative_motion(track: &Track, moment: &Moment, check: &Check) -> Result<(Vec3, Vec3, f64), String> {
    let (x1, v1, m1) = centre(track, moment, &check.about)?;
    let (x2, v2, m2) = centre(track, moment, &check.body)?;
    Ok((x2 - x1, v2 - v1, track.g * (m1 + m2)))
}

/// Returns the mean motion of the orbit at a moment, in radians per unit of time of the run.
fn mean_motion(track: &Track, moment: &Moment, check: &Check) -> Result<f64, String> {
    let (x, v, mu) = relative_motion(track, moment, check)?;
    let a = Orbit::from_state(x, v, mu).semi_major_axis;
    if a > 0.0 {
        Ok((mu / a.powi(3)).sqrt() / track.dynamical_time)
    } else {
        Err(format!("the orbit is not bound at t = {}", moment.time))
    }
}

/// Returns the angle by which the mean longitude grows from the first moment to the last. The number of whole turns
/// between two moments is that of the mean motion.
fn longitudes(track: &Track, moments: &[Moment], check: &Check) -> Result<f64, String> {
    let mut turns = Vec::new();
    for pair in moments.windows(2) {
        let longitude = |moment: &Moment| -> Result<f64, String> {
            let (x, v, mu) = relative_motion(track, moment, check)?;
            Ok(Orbit::from_state(x, v, mu).mean_longitude)
        };
        let rate = 0.5 * (mean_motion(track, &pair[0], check)? + mean_motion(track, &pair[1], check)?);
        let expected = rate * (pair[1].time - pair[0].time);
        let found = longitude(&pair[1])? - longitude(&pair[0])?;
        turns.push(found + TAU * ((expected - found) / TAU).round());
    }
    Ok(sum(turns.into_iter()))
}

/// Row of a table of positions.
#[derive(Deserialize)]
struct Place {
    time: f64,
    id: usize,
    x: f64,
    y: f64,
    z: f64,
}

/// Returns the distances of particles from their places in a table.
fn position_errors(moments: &[Moment], table: &str) -> Result<Vec<f64>, String> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(table.as_bytes());
    let mut errors = Vec::new();
    for row in reader.deserialize::<Place>() {
        let row = row.map_err(|e| format!("the table: {e}"))?;
        let close = |moment: &&Moment| (moment.time - row.time).abs() <= 1e-9 * row.time.abs().max(1.0);
        let moment = moments.iter().find(close).ok_or_else(|| format!("the run has no moment at t = {}", row.time))?;
        let found = moment.pos.get(row.id).ok_or_else(|| format!("the run has no particle {}", row.id))?;
        errors.push((found - Vec3::new(row.x, row.y, row.z)).norm());
    }
    Ok(errors)
}

/// Returns the median of some numbers, of an even count the upper one of the two; NaN if there are none or one of them is
/// NaN.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let last_is_nan = values.last().is_none_or(|last| last.is_nan());
    values.get(values.len() / 2).filter(|_| !last_is_nan).copied().unwrap_or(f64::NAN)
}

/// Returns the exponent p of the power law y ∝ x^p through points; NaN where they have none, or one of them is not positive.
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let positive = points.iter().all(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite());
    fit::power(points).filter(|_| positive).map_or(f64::NAN, |law| law.exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_of_many_by_hand() {
        let moments: Vec<Moment> =
            [0.0, 1.0, 2.0].map(|time| Moment { time, pos: Vec::new(), vel: Vec::new() }).to_vec();
        let values = [2.0, 1.0, 3.0];
        for (over, expected) in [
            (Over::Start, 2.0),
            (Over::End, 3.0),
            (Over::Smallest, 1.0),
            (Over::Largest, 3.0),
            (Over::Mean, 2.0),
            (Over::TimeOfSmallest, 1.0),
            (Over::Change, 0.5),
        ] {
            assert_eq!(reduced(over, &moments, &values), expected, "{over:?}");
        }
        assert!(reduced(Over::Largest, &moments, &[1.0, f64::NAN, 2.0]).is_nan(), "a NaN must not pass for small");
        assert!(reduced(Over::Smallest, &moments, &[1.0, f64::NAN, 2.0]).is_nan(), "nor for large");
    }

    #[test]
    fn a_median_has_no_nan() {
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(vec![4.0, 1.0, 2.0, 3.0])), (2.0, 3.0));
        assert!(median(vec![1.0, f64::NAN, 2.0]).is_nan() && median(Vec::new()).is_nan());
    }

    #[test]
    fn the_exponent_of_an_exact_power_law() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 5.0].map(|x: f64| (x, 3.0 * x.powf(-1.25))).to_vec();
        assert!((exponent(&points) + 1.25).abs() < 1e-14);
        assert!(exponent(&[(2.0, 1.0), (2.0, 3.0)]).is_nan(), "one abscissa has no slope");
    }
}
