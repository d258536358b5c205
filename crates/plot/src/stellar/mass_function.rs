//! Masses of the stars of a snapshot beside those at birth.

use super::super::bins::counting_limits;
use super::super::figure::{Axis, Mark, Panel, Series};
use super::super::snapshots::Look;
use super::classes::{is_filled, of_class};
use tisane_stellar::{Class, Kind};

/// Bins of a factor of ten in mass.
const PER_DECADE: f64 = 6.0;
/// Begin and least end of the axis of the masses of remnants, in solar masses.
const LEAST: f64 = 0.3;
const HEAVY: f64 = 2.5;
/// Room beside the heaviest remnant, as a factor.
const ROOM: f64 = 1.2;
/// Classes of remnants.
const REMNANTS: [Class; 3] = [Class::WhiteDwarf, Class::NeutronStar, Class::BlackHole];

/// Draws the numbers of stars by mass, per decade of mass: those of all stars of the first snapshot at birth, and the present ones
/// of those that are bound, and of the remnants among them.
pub(super) fn panels(first: &Look, newest: &Look) -> Vec<Panel> {
    let x = || Axis::log("mass [Msun]");
    let per_decade = || Axis::log("stars per decade of mass");
    let time = newest.time_label();
    let mut stars = Panel::new(format!("Stars at birth and at {time}"), x(), per_decade());
    let births: Vec<f64> = first.aging.iter().map(|star| star.initial_mass).collect();
    let least = births.iter().copied().filter(|mass| *mass > 0.0).fold(f64::INFINITY, f64::min);
    stars.series.push(stairs("at birth, all", &births, least));
    let has_cluster = newest.systems.bound.is_bound.iter().any(|bound| *bound);
    let present = |of: &dyn Fn(Kind) -> bool| -> Vec<f64> {
        let all = newest.aging.iter().zip(&newest.systems.bound.is_bound);
        let inside = all.filter(|(_, bound)| !has_cluster || **bound).map(|(star, _)| star.state);
        inside.filter(|state| of(state.kind)).map(|state| state.mass).collect()
    };
    let which = if has_cluster { "bound" } else { "all: none is bound" };
    let shining = present(&|kind| !kind.is_remnant());
    stars.series.push(points(format!("stars, {which}"), &shining, least));
    stars.notes.push("errors: Poisson's law (Gehrels 1986)".into());
    let mut remnants = Panel::new(format!("Remnants at {time}, {which}"), x(), per_decade());
    for class in REMNANTS {
        let masses = present(&|kind| kind.class() == Some(class));
        if !masses.is_empty() {
            let series = points(class.plural().into(), &masses, 1.0);
            remnants.series.push(Series { spread: series.spread, ..of_class(class, Mark::Points, series.points) });
        }
    }
    let heaviest = newest.aging.iter().map(|star| star.state).filter(|state| state.kind.is_remnant());
    remnants.x.range = Some((LEAST, ROOM * heaviest.map(|state| state.mass).fold(HEAVY, f64::max)));
    let mut panels = vec![stars];
    panels.extend(Some(remnants).filter(is_filled));
    panels
}

/// Number of stars in a bin of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    /// Lower and upper edge.
    edges: [f64; 2],
    count: f64,
}

impl Bin {
    /// Returns a number of stars per decade of mass.
    fn per_decade(number: f64) -> f64 {
        number * PER_DECADE
    }

    /// Returns the limits of one standard deviation.
    fn limits(&self) -> (f64, f64) {
        let (low, high) = counting_limits(self.count);
        (Self::per_decade(low), Self::per_decade(high))
    }
}

/// Counts masses in bins of one width in the logarithm, one of which begins at the mass `from`: so that no bin is filled in part
/// where the masses at birth begin.
fn bins(masses: &[f64], from: f64) -> Vec<Bin> {
    let place = |mass: &f64| ((mass / from).log10() * PER_DECADE).floor();
    let places: Vec<f64> = masses.iter().filter(|mass| **mass > 0.0).map(place).filter(|at| at.is_finite()).collect();
    let (Some(first), Some(last)) =
        (places.iter().copied().min_by(f64::total_cmp), places.iter().copied().max_by(f64::total_cmp))
    else {
        return Vec::new();
    };
    let mut bins: Vec<Bin> = (0..=(last - first) as usize)
        .map(|k| {
            let edges = [0.0, 1.0].map(|beyond| from * 10f64.powf((first + k as f64 + beyond) / PER_DECADE));
            Bin { edges, count: 0.0 }
        })
        .collect();
    for at in places {
        bins[(at - first) as usize].count += 1.0;
    }
    bins
}

/// Returns the bins as stairs with a band; an empty bin is a gap.
fn stairs(name: &str, masses: &[f64], from: f64) -> Series {
    let bins = bins(masses, from);
    let value = |bin: &Bin| if bin.count > 0.0 { Bin::per_decade(bin.count) } else { f64::NAN };
    let (mut points, mut spread) = (Vec::new(), Vec::new());
    for (k, bin) in bins.iter().enumerate() {
        // Where no line begins at the upper edge, that of the bin has an end of its own there.
        let ends = bin.count > 0.0 && bins.get(k + 1).is_none_or(|next| next.count == 0.0);
        for edge in std::iter::once(bin.edges[0]).chain(ends.then_some(bin.edges[1])) {
            points.push((edge, value(bin)));
            spread.push(bin.limits());
        }
    }
    Series { spread: Some(spread), ..Series::new(name, Mark::Steps, points) }
}

/// Returns the bins that are not empty as points in their middle with error bars.
fn points(name: String, masses: &[f64], from: f64) -> Series {
    let bins: Vec<Bin> = bins(masses, from).into_iter().filter(|bin| bin.count > 0.0).collect();
    let middle = |bin: &Bin| (bin.edges[0] * bin.edges[1]).sqrt();
    let points = bins.iter().map(|bin| (middle(bin), Bin::per_decade(bin.count))).collect();
    Series { spread: Some(bins.iter().map(Bin::limits).collect()), ..Series::new(name, Mark::Points, points) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mass_is_in_the_bin_around_it() {
        let masses = [0.1, 0.11, 0.5, 1.0, 1.2, 30.0, 0.0, f64::NAN];
        let found = bins(&masses, 0.1);
        assert_eq!(found.iter().map(|bin| bin.count).sum::<f64>(), 6.0, "without mass there is no bin");
        for bin in &found {
            let inside = masses.iter().filter(|mass| (bin.edges[0]..bin.edges[1]).contains(*mass)).count();
            assert_eq!(bin.count, inside as f64, "{bin:?}");
        }
        assert!(found.windows(2).all(|pair| pair[0].edges[1] == pair[1].edges[0]));
        assert!(bins(&[], 0.1).is_empty());
        // The first bin is whole.
        assert!(found[0].edges[0] == 0.1 && found[0].count == 2.0, "{:?}", found[0]);
    }

    #[test]
    fn the_integral_over_decades_is_the_number_of_stars() {
        let masses: Vec<f64> = (0..1000).map(|k| 10f64.powf(f64::from(k) / 500.0 - 1.0)).collect();
        let series = stairs("", &masses, masses[0]);
        let width = |pair: &[(f64, f64)]| (pair[1].0 / pair[0].0).log10();
        let integral: f64 = series.points.windows(2).map(|pair| pair[0].1 * width(pair)).sum();
        assert!((integral - 1000.0).abs() < 1e-9, "{integral}");
    }

    #[test]
    fn a_bin_before_an_empty_one_has_its_line() {
        // In the bins 0, 2 and 3.
        let Series { points, spread, .. } = stairs("", &[1.0, 10f64.powf(0.4), 4.0], 1.0);
        let lines = points.windows(2).filter(|pair| pair[0].1 == pair[1].1 && pair[0].0 < pair[1].0);
        let begins: Vec<f64> = lines.map(|pair| (pair[0].0.log10() * PER_DECADE).round()).collect();
        assert_eq!((begins, spread.unwrap().len()), (vec![0.0, 2.0, 3.0], points.len()));
    }
}
