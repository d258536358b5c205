//! Figures of small ensembles made here.

use super::members::{DISSOLVED, FAILED};
use super::*;
use crate::{Figure, Series};
use crate::{Mark, Scale, Theme};
use tisane_io::directory::ENSEMBLE;
use tisane_io::table::{Column, Table, Values};

fn floats(name: &str, unit: &str, of: impl Fn(usize) -> f64, rows: usize) -> Column {
    Column::new(name, unit, "", Values::Floats((0..rows).map(of).collect()))
}

fn counts(name: &str, of: impl Fn(usize) -> u64, rows: usize) -> Column {
    Column::new(name, "", "", Values::Counts((0..rows).map(of).collect()))
}

/// Members of two settings of a key, 10 each. Member 1 fails; of the second setting all others dissolve at 1 … 5.
fn members(outcome: impl Fn(usize) -> &'static str, escape: bool) -> Table {
    let outcomes: Vec<String> = (0..20).map(|k| outcome(k).to_owned()).collect();
    let dissolved: Vec<bool> = outcomes.iter().map(|how| how == DISSOLVED).collect();
    let time = |k: usize| if dissolved[k] { (k % 5 + 1) as f64 } else { 8.0 };
    let mut columns = vec![
        counts("member", |k| k as u64, 20),
        floats("softening.epsilon", "", |k| if k < 10 { 0.5 } else { 0.25 }, 20),
        counts("initial.plummer.seed", |k| 1 + (k % 2) as u64, 20),
        Column::new("outcome", "", "", Values::Text(outcomes.clone())),
        floats("time", "T", time, 20),
        floats("max_energy_error", "1", |k| 1e-6 * (k + 1) as f64, 20),
    ];
    let last = floats("bound_fraction", "1", |k| if dissolved[k] { 0.1 } else { 0.5 }, 20);
    columns.push(if escape { floats("semi_major_axis", "L", |_| f64::NAN, 20) } else { last });
    Table { remarks: vec![("members".into(), "20".into())], columns, ..Table::default() }
}

/// Outputs at 0, 1, … until each member ends. The bound mass at the last is that of the table.
fn series(members: &Table) -> Table {
    let (ends, shares) = (members.numbers("time").unwrap(), members.numbers("bound_fraction").unwrap());
    let rows: Vec<(usize, f64)> =
        (0..20).flat_map(|k| (0..=ends.at(k) as usize).map(move |time| (k, time as f64))).collect();
    let bound = |row: usize| {
        let (member, time) = rows[row];
        2.0 * if time == ends.at(member) { shares.at(member) } else { 1.0 }
    };
    let one = |name: &str, unit: &str| floats(name, unit, |row| rows[row].1 + 1.0, rows.len());
    let columns = vec![
        counts("member", |row| rows[row].0 as u64, rows.len()),
        floats("time", "T", |row| rows[row].1, rows.len()),
        floats("relative_energy_error", "1", |row| -1e-9 * rows[row].1, rows.len()),
        floats("bound_mass", "M", bound, rows.len()),
        one("core_radius", "L"),
        one("lagrangian_radius_0100", "L"),
        one("lagrangian_radius_0500", "L"),
        one("lagrangian_radius_0900", "L"),
    ];
    Table { columns, ..Table::default() }
}

fn directory(members: &Table, series: Option<&Table>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(ENSEMBLE), "{}").unwrap();
    members.write_csv(&dir.path().join("members.csv")).unwrap();
    series.iter().for_each(|table| table.write_csv(&dir.path().join("series.csv")).unwrap());
    dir
}

fn of_clusters(k: usize) -> &'static str {
    match k {
        1 => FAILED,
        10.. => DISSOLVED,
        _ => "finished",
    }
}

fn labels(figure: &Figure) -> Vec<(&str, &str)> {
    figure.panels.iter().map(|panel| (panel.x.label.as_str(), panel.y.label.as_str())).collect()
}

#[test]
fn clusters_have_errors_bands_and_dissolution() {
    let members = members(of_clusters, false);
    let dir = directory(&members, Some(&series(&members)));
    let gallery = figures(dir.path()).unwrap();
    assert!(gallery.missing.is_empty(), "{:?}", gallery.missing);
    let names: Vec<&str> = gallery.figures.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["errors", "bands", "dissolution"]);
    let [(_, errors), (_, bands), (_, dissolution)] = &gallery.figures[..] else { panic!("three figures") };

    assert_eq!(labels(errors), [("largest |ΔE| / |E₀| of a member", "share of members with less")]);
    assert_eq!(
        (errors.panels[0].x.scale, errors.panels[0].title.as_str()),
        (Scale::Log10, "Energy errors, by softening.epsilon")
    );
    assert!(errors.caption.contains("20 members; 1 failed, left out"), "{}", errors.caption);
    let of_errors: Vec<&str> = errors.panels[0].series.iter().map(|series| series.name.as_str()).collect();
    // Values ascend: members 10 to 19 first.
    assert_eq!(of_errors, ["epsilon = 0.25: median 1.55e-5", "", "epsilon = 0.5: median 6.00e-6", ""]);

    let time = "time [N-body units]";
    let radius = (time, "radius [N-body units]");
    let core = (time, "core radius [N-body units]");
    let bound = (time, "bound mass / initial mass");
    assert_eq!(labels(bands), [bound, radius, radius, radius, core, (time, "|ΔE/E₀|")]);
    let [dissolving, staying] = &bands.panels[0].series[..] else { panic!("two lines") };
    assert_eq!((dissolving.name.as_str(), dissolving.mark), ("epsilon = 0.25", Mark::Line));
    // Those that have dissolved keep a tenth: six of ten from 3 on.
    let medians: Vec<f64> = dissolving.points.iter().map(|(_, y)| *y).collect();
    assert_eq!(medians, [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]);
    assert_eq!(dissolving.spread.as_ref().unwrap()[1], (0.1, 1.0));
    assert_eq!(staying.points.len(), 9);
    // Six of ten have an output at 3, four at 4: a line of fewer than five ends.
    assert_eq!(bands.panels[4].series[0].points.len(), 4);
    // The error at the start is zero by definition.
    assert_eq!(bands.panels[5].series[1].points[0].0, 1.0);

    assert_eq!(labels(dissolution), [(time, "share of members not dissolved")]);
    let [fast, marker, slow] = &dissolution.panels[0].series[..] else { panic!("two curves and a median") };
    assert_eq!((fast.mark, fast.points[1]), (Mark::Steps, (1.0, 0.8)));
    assert_eq!(marker.points, [(3.0, 0.5)]);
    assert_eq!((slow.name.as_str(), slow.points.last()), ("epsilon = 0.5: more than half remain", Some(&(8.0, 1.0))));
    for (_, figure) in &gallery.figures {
        assert!(figure.svg(Theme::Light).contains("epsilon"));
    }
    crate::report::write(&dir.path().join("report.html"), dir.path(), &gallery).unwrap();
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("Dissolution") && page.contains("under way"));
}

#[test]
fn members_that_end_without_bound_mass_are_drawn() {
    let mut members = members(of_clusters, false);
    let share = members.columns.iter().position(|column| column.name == "bound_fraction").unwrap();
    // Of the second setting all, of the first member 0, which was never bound.
    members.columns[share] = floats("bound_fraction", "1", |k| if k == 0 || k >= 10 { 0.0 } else { 0.5 }, 20);
    let mut series = series(&members);
    let numbers: Vec<u64> = series.numbers("member").unwrap().iter().map(|number| number as u64).collect();
    let before: Vec<f64> = series.numbers("bound_mass").unwrap().iter().collect();
    let bound = series.columns.iter().position(|column| column.name == "bound_mass").unwrap();
    let of = |row: usize| if numbers[row] == 0 { 0.0 } else { before[row] };
    series.columns[bound] = floats("bound_mass", "M", of, numbers.len());
    let gallery = figures(directory(&members, Some(&series)).path()).unwrap();
    let [gone, staying] = &gallery.figures[1].1.panels[0].series[..] else { panic!("two lines") };
    // Two of ten are gone at 1, four at 2; then most are.
    let values = |series: &Series| series.points.iter().map(|(_, y)| *y).collect::<Vec<_>>();
    assert_eq!((gone.name.as_str(), values(gone)), ("epsilon = 0.25", vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
    assert_eq!(gone.spread.as_ref().unwrap()[1], (0.0, 1.0));
    // One of ten without bound mass counts: the lower end of the band is nine tenths of the way to the next one.
    assert!((staying.spread.as_ref().unwrap()[0].0 - 0.9).abs() < 1e-12);
    assert_eq!(values(staying)[..2], [1.0, 1.0]);
}

/// In a tide the share of a member is of the mass within the tidal radius, which is not that bound alone.
#[test]
fn in_a_tide_the_mass_within_the_tidal_radius_is_drawn() {
    let members = members(of_clusters, false);
    let of_first = |series: &Table| {
        let gallery = figures(directory(&members, Some(series)).path()).unwrap();
        let panel = &gallery.figures[1].1.panels[0];
        let medians: Vec<f64> = panel.series[0].points.iter().map(|(_, y)| *y).collect();
        (panel.y.label.clone(), medians)
    };
    let mut series = series(&members);
    let tidal: Vec<f64> = series.numbers("bound_mass").unwrap().iter().collect();
    let bound = series.columns.iter().position(|column| column.name == "bound_mass").unwrap();
    // An eighth of what is within the tidal radius is bound at the ends, half at the start.
    series.columns[bound] =
        floats("bound_mass", "M", |row| tidal[row] * if tidal[row] < 2.0 { 0.125 } else { 0.5 }, tidal.len());
    let without = of_first(&series);
    assert_eq!(without, ("bound mass / that at the start".to_owned(), vec![1.0, 1.0, 1.0, 0.025, 0.025, 0.025]));
    series.columns.push(floats("tidal_mass", "M", |row| tidal[row], tidal.len()));
    assert_eq!(of_first(&series), ("tidal mass / initial mass".to_owned(), vec![1.0, 1.0, 1.0, 0.1, 0.1, 0.1]));
}

#[test]
fn encounters_have_outcomes_and_say_what_is_missing() {
    let outcome = |k: usize| if k.is_multiple_of(5) { "exchange" } else { "flyby" };
    let dir = directory(&members(outcome, true), None);
    let gallery = figures(dir.path()).unwrap();
    let [(_, errors), (name, outcomes)] = &gallery.figures[..] else { panic!("{:?}", gallery.missing) };
    assert!(errors.panels[0].x.label.contains("binding energy"));
    assert_eq!((*name, gallery.missing[0].0), ("outcomes", "bands"));
    assert!(gallery.missing[0].1.contains("series = true"));
    let panel = &outcomes.panels[0];
    assert_eq!(panel.x.categories, ["flyby", "exchange", "ionisation", "unresolved"]);
    assert_eq!(panel.series[0].points, [(0.0, 0.8), (1.0, 0.2), (2.0, 0.0), (3.0, 0.0)]);
    assert!(panel.series[0].spread.as_ref().unwrap()[2].1 > 0.05, "none of ten is not never");
    assert_eq!(panel.series[1].name, "epsilon = 0.5 (10 members)");
}

#[test]
fn members_that_are_alike_are_one_line() {
    let mut members = members(of_clusters, false);
    let series = series(&members);
    members.columns.remove(1);
    let dir = directory(&members, Some(&series));
    let gallery = figures(dir.path()).unwrap();
    let bands = &gallery.figures[1].1;
    assert_eq!(bands.panels.iter().map(|panel| panel.series.len()).collect::<Vec<_>>(), [1, 3, 1, 1]);
    assert_eq!(bands.panels[1].series[2].name, "90 %");
    assert!(bands.caption.contains("bands: 10 % to 90 %"), "{}", bands.caption);
}

#[test]
fn clusters_whose_stars_age_have_their_mass_binaries_and_remnants() {
    let mut members = members(of_clusters, false);
    let mut series = series(&members);
    let rows = series.columns[0].values.len();
    series.columns.extend([
        floats("stellar_mass", "M", |row| if row == 0 { 4.0 } else { 3.0 }, rows),
        counts("white_dwarfs", |row| row as u64 % 2, rows),
        counts("neutron_stars", |_| 0, rows),
        counts("black_holes", |_| 1, rows),
        counts("bound_binaries", |_| 7, rows),
        floats("cluster_energy_error", "1", |_| -1e-7, rows),
    ]);
    let titles = |members: &Table| {
        let dir = directory(members, Some(&series));
        let (_, bands) = figures(dir.path()).unwrap().figures.swap_remove(1);
        let of_panel = |panel: &crate::figure::Panel| (panel.title.clone(), panel.y.whole);
        (bands.panels.iter().map(of_panel).collect::<Vec<_>>(), bands)
    };
    let (by_key, _) = titles(&members);
    let numbers = ["Bound binaries", "White dwarfs", "Black holes"].map(|title| (title.to_owned(), true));
    assert_eq!(by_key[6..9], numbers, "{by_key:?}");
    members.columns.remove(1);
    let (together, bands) = titles(&members);
    let titles: Vec<&str> = together.iter().map(|(title, _)| title.as_str()).collect();
    let [_, mass, _, _, binaries, remnants, error] = titles[..] else { panic!("{titles:?}") };
    assert_eq!([mass, binaries, remnants], ["Mass of all stars", "Bound binaries", "Remnants"]);
    assert_eq!(error, "Energy error of the bound cluster");
    let names: Vec<&str> = bands.panels[5].series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["White dwarfs", "Black holes"]);
    assert_eq!(bands.panels[1].series[0].points[0].1, 1.0);
    assert!(bands.panels[4].series[0].points.iter().all(|(_, number)| *number == 7.0));
}

#[test]
fn an_ensemble_without_an_end_has_no_figures() {
    let mut table = members(of_clusters, false);
    table.arrange(|_| false, |row| row);
    let dir = directory(&table, None);
    assert!(figures(dir.path()).unwrap_err().to_string().contains("no member"));
    let error = crate::run::figures(dir.path(), &|_| Ok(None)).unwrap_err();
    assert!(error.to_string().contains("ensemble"), "{error}");
}

#[test]
fn keys_with_several_numbers_have_errors_and_times_over_them() {
    // Four perturbations with two nu and two seeds each; the last member fails.
    let outcome = |k: usize| if k == 15 { FAILED } else { "finished" };
    let columns = vec![
        counts("member", |k| k as u64, 16),
        floats("encounters.perturbation", "", |k| [1e-3, 1e-4, 1e-5, 1e-6][k / 4], 16),
        floats("integrator.hermite4.nu", "", |k| [0.01, 0.005][k % 4 / 2], 16),
        counts("initial.plummer.seed", |k| 1 + (k % 2) as u64, 16),
        Column::new("outcome", "", "", Values::Text((0..16).map(|k| outcome(k).to_owned()).collect())),
        floats("time", "T", |_| 8.0, 16),
        floats("max_energy_error", "1", |k| 1e-6 * (k + 1) as f64, 16),
        floats("wall_seconds", "s", |k| 2.0 + k as f64, 16),
    ];
    let dir = directory(&Table { columns, ..Table::default() }, None);
    let gallery = figures(dir.path()).unwrap();
    let (_, sweep) = gallery.figures.iter().find(|(name, _)| *name == "sweep").unwrap();
    // Two nu are curves, and no axis.
    let over = "encounters.perturbation";
    assert_eq!(labels(sweep), [(over, "largest |ΔE| / |E₀|"), (over, "wall time of a member [s]")]);
    assert!(sweep.panels.iter().all(|panel| (panel.x.scale, panel.y.scale) == (Scale::Log10, Scale::Log10)));
    let [fine, coarse] = &sweep.panels[1].series[..] else { panic!("two lines") };
    assert_eq!((fine.name.as_str(), coarse.name.as_str()), ("nu = 0.005", "nu = 0.01"));
    assert_eq!(fine.points, [(1e-6, 16.0), (1e-5, 12.5), (1e-4, 8.5), (1e-3, 4.5)]);
    assert_eq!(coarse.points[0], (1e-6, 14.5));
    assert_eq!(fine.spread.as_ref().unwrap()[1], (12.0, 13.0));
    assert!(sweep.caption.contains("1 failed, left out") && !sweep.caption.contains("%"), "{}", sweep.caption);
}
