//! Promise: what is printed of a system is measured in its own frame: wherever it is, however it moves, in a field, beside
//! others, with one that runs away. Each cluster of a list is told by itself, and a virial ratio is judged where it says something.

use crate::program::{Folder, Said, diagnostics};
use std::fmt::Write as _;
use tisane::initial::{plummer, scaling};
use tisane::particles::{Particles, Vec3};

const UNITS: &str = "[units]\nmass = 'Msun'\nlength = 'pc'\nvelocity = 'km/s'\ntime = 'Myr'\n";
/// G in pc (km/s)² / Msun.
const G: f64 = 0.004_300_917_27;
/// Lines about the inside of a system.
const INTERNAL: [&str; 7] = [
    "half-mass radius",
    "virial radius",
    "virial ratio Q",
    "total energy",
    "crossing time",
    "relaxation time",
    "mean separation",
];

/// A sphere of 100 stars, 100 Msun and 1 pc, in pc and km/s.
fn sphere() -> Particles {
    let mut p = plummer::sample(100, 3, 0.99);
    scaling::to_centre_of_mass(&mut p);
    scaling::rescale(&mut p, 100.0, 1.0, (100.0 * G).sqrt());
    p
}

/// Particles as text with commas: each moved, and its velocity times a factor.
fn csv(p: &Particles, (pos, vel): (Vec3, Vec3), factor: f64) -> String {
    let mut text = "m,x,y,z,vx,vy,vz\n".to_owned();
    for i in 0..p.len() {
        let (x, v) = (p.pos[i] + pos, (p.vel[i] + vel) * factor);
        let _ = writeln!(text, "{},{:?},{:?},{:?},{:?},{:?},{:?}", p.mass[i], x[0], x[1], x[2], v[0], v[1], v[2]);
    }
    text
}

fn of_file(more: &str) -> String {
    format!("[run]\nname = 'x'\nt_end = 10.0\n{UNITS}[initial.file]\npath = 'stars.csv'\n{more}")
}

fn rows(text: &str) -> String {
    format!("m,x,y,z,vx,vy,vz\n{text}\n")
}

fn check(folder: &Folder, sets: &[&str]) -> Said {
    let all: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let said = folder.tisane(&[&["check", "run.toml"], &all[..]].concat()).exits(0);
    // A long line goes on in the next one.
    Said { out: said.out.replace(&format!("\n{:23}", ""), " "), ..said }
}

/// Returns the values of the lines of a name, one for each system.
fn values<'a>(said: &'a Said, name: &str) -> Vec<&'a str> {
    said.out.lines().filter_map(|line| Some(line.trim_start().strip_prefix(name)?.trim())).collect()
}

fn number(said: &Said, name: &str) -> f64 {
    let [value] = values(said, name)[..] else { panic!("no single {name} in\n{}", said.out) };
    value.split(' ').next().unwrap().parse().unwrap()
}

/// Asserts that all numbers about the inside are the same, to 1e-5 as a last digit may be rounded the other way.
#[track_caller]
fn assert_same_numbers(found: &Said, expected: &Said) {
    for name in INTERNAL {
        let words = |said: &Said| values(said, name).join("; ").split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (found_words, expected_words) = (words(found), words(expected));
        let is_same = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= 1e-4 * b.abs(),
            _ => a == b,
        };
        let are_same = found_words.iter().zip(&expected_words).all(|(a, b)| is_same(a, b));
        assert!(
            are_same && found_words.len() == expected_words.len(),
            "{name}: {found_words:?}, not {expected_words:?}\n{}",
            found.out
        );
    }
}

/// Asserts that all numbers about the inside are the same, and that there are no warnings.
#[track_caller]
fn assert_same_inside(found: &Said, expected: &Said) {
    assert_same_numbers(found, expected);
    assert!(!found.out.contains("warning"), "{}", found.out);
}

/// Asserts that the inside is the same, and that the only warning is about digits of positions of the closest pairs.
#[track_caller]
fn assert_same_inside_far_away(found: &Said, expected: &Said) {
    assert_same_numbers(found, expected);
    let warnings: Vec<&str> = found.out.lines().filter(|line| line.starts_with("warning")).collect();
    let far = "warning: positions are too far from the origin for the closest pairs";
    assert!(matches!(warnings[..], [only] if only.starts_with(far)), "{}", found.out);
}

#[test]
fn a_moved_cluster_is_told_as_one_at_rest() {
    let far = (Vec3::new(8500.0, -20.0, 3.0), Vec3::new(10.0, 220.0, -7.0));
    let folder = Folder::new(&of_file(""));
    folder.write("stars.csv", csv(&sphere(), (Vec3::zeros(), Vec3::zeros()), 1.0));
    let at_rest = check(&folder, &[]);
    assert!((number(&at_rest, "virial ratio Q") - 0.5).abs() < 0.05, "{}", at_rest.out);
    assert_eq!(values(&at_rest, "virial ratio Q").len(), 1);
    let proposed = folder.tisane(&["init", "file", "stars.csv"]).exits(0).out;
    folder.write("stars.csv", csv(&sphere(), far, 1.0));
    assert_same_inside(&check(&folder, &[]), &at_rest);
    let inside = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| INTERNAL.iter().any(|name| line.starts_with(&format!("#   {name}"))));
        lines.map(str::to_owned).collect()
    };
    let moved = folder.tisane(&["init", "file", "stars.csv"]).exits(0).out;
    assert_eq!((inside(&moved), inside(&moved).len()), (inside(&proposed), 5));
    // The proposal and the check agree, to the digits of each.
    folder.write("proposed.toml", &moved);
    let checked = folder.tisane(&["check", "proposed.toml"]).exits(0);
    for line in inside(&moved) {
        let (name, value) = line[4..].split_at(18);
        let (value, found) = (value.trim(), values(&checked, name.trim())[0]);
        let first = |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap();
        assert!((first(value) / first(found) - 1.0).abs() < 2e-3, "{name}: {value} {found}");
    }
}

#[test]
fn a_list_of_one_is_told_as_the_cluster_alone_with_and_without_a_field() {
    let list = |moved: &str, field: &str| {
        let model = "[initial.clusters.king]\nn = 200\nw0 = 5.0\nhalf_mass_radius = 1.0\n\
                     [initial.clusters.masses]\nfunction = 'kroupa'\n\
                     [initial.clusters.binaries]\nfraction = 0.2\nsemi_major_axis = 'opik'\na_min = 1e-5\na_max = 1e-3\n";
        format!("[run]\nname = 'x'\nt_end = 10.0\n{UNITS}[[initial.clusters]]\n{moved}{model}{field}")
    };
    let folder = Folder::new(&list("", ""));
    let at_rest = check(&folder, &[]);
    assert!(at_rest.out.contains("(each binary as one body)"), "{}", at_rest.out);
    let orbit = "position = [8500.0, 0.0, 0.0]\nvelocity = [0.0, 220.0, 0.0]\n";
    folder.write("run.toml", list(orbit, ""));
    assert_same_inside_far_away(&check(&folder, &[]), &at_rest);
    folder.write("run.toml", list(orbit, "[encounters]\n[external.point-mass]\nmass = 9.565e10\n"));
    let in_field = check(&folder, &[]);
    assert_same_inside_far_away(&in_field, &at_rest);
    let [energies] = values(&in_field, "in the field")[..] else { panic!("{}", in_field.out) };
    let mass = number(&in_field, "total mass");
    let energy = |at: usize| -> f64 { energies.split(' ').nth(at).unwrap().parse().unwrap() };
    // On a circle the potential energy is twice the kinetic one.
    let [potential, kinetic] = [energy(2), energy(energies.split(' ').count() - 3)];
    assert!((potential / (-mass * 220.0 * 220.0) - 1.0).abs() < 0.01, "{energies}");
    assert!((kinetic / (0.5 * mass * 220.0 * 220.0) - 1.0).abs() < 0.01, "{energies}");
}

#[test]
fn the_picture_of_a_moved_cluster_has_its_laws() {
    let list = "[[initial.clusters]]\nposition = [8500.0, 0.0, 0.0]\nvelocity = [0.0, 220.0, 0.0]\n\
        [initial.clusters.king]\nn = 400\nw0 = 5.0\nhalf_mass_radius = 1.0\n\
        [initial.clusters.masses]\nfunction = 'kroupa'\n\
        [initial.clusters.binaries]\nfraction = 0.3\nsemi_major_axis = 'opik'\na_min = 1e-5\na_max = 1e-3\n";
    let text = format!("[run]\nname = 'x'\nt_end = 10.0\n{UNITS}{list}");
    let alone = text.replace("position = [8500.0, 0.0, 0.0]\nvelocity = [0.0, 220.0, 0.0]\n", "");
    let folder = Folder::new(&text);
    let drawn = |text: &str, to: &str| {
        folder.write("run.toml", text);
        folder.tisane(&["check", "run.toml", "--plot", to]).exits(0).says(&["picture"]);
        std::fs::read_to_string(folder.path(&format!("{to}/x-initial.svg"))).unwrap()
    };
    let (moved, alone) = (drawn(&text, "moved"), drawn(&alone, "alone"));
    // Density and dispersion, masses, semi-major axes and eccentricities have one each.
    assert_eq!((moved.matches(">law<").count(), alone.matches(">law<").count()), (5, 5));
    assert!(moved.contains("King model") && !moved.contains("8500") && !moved.contains("8494"));
    // Of several clusters each has a picture.
    folder.write("run.toml", format!("{text}{}", list.replace("n = 400", "n = 300\nseed = 2").replace("8500", "8600")));
    let said = folder.tisane(&["check", "run.toml", "--plot", "two"]).exits(0);
    assert_eq!(values(&said, "picture").len(), 8, "{}", said.out);
    assert!(folder.path("two/x-initial-1.svg").is_file() && folder.path("two/x-initial-2.svg").is_file());
}

#[test]
fn each_cluster_of_a_list_is_told_by_itself() {
    let cluster = |seed: u32, size: f64, place: &str| {
        format!(
            "[[initial.clusters]]\n{place}[initial.clusters.plummer]\nn = 64\nmass = 100.0\nvirial_radius = {size}\n\
             seed = {seed}\n"
        )
    };
    let text = |second: &str| {
        format!("[run]\nname = 'x'\nt_end = 10.0\n{UNITS}{}{}", cluster(1, 1.0, ""), cluster(2, 0.5, second))
    };
    let folder = Folder::new(&text(""));
    for place in [
        "position = [30.0, 0.0, 0.0]\nvelocity = [-50.0, 0.0, 0.0]\n",
        "position = [3.0, 0.0, 0.0]\n",
        // One inside another, and far away at rest.
        "position = [0.1, 0.0, 0.0]\n",
        "position = [1e5, 0.0, 0.0]\nvelocity = [0.0, 200.0, 0.0]\n",
    ] {
        folder.write("run.toml", text(place));
        let said = check(&folder, &[]);
        assert_eq!(values(&said, "virial ratio Q").len(), 2, "{}", said.out);
        for (number, size) in [1.0f64, 0.5].into_iter().enumerate() {
            let first = |name: &str| -> f64 { values(&said, name)[number].split(' ').next().unwrap().parse().unwrap() };
            assert!((first("virial ratio Q") - 0.5).abs() < 0.05, "{place}{}", said.out);
            assert!((first("virial radius") / size - 1.0).abs() < 0.06, "{place}{}", said.out);
            let crossing = 8f64.sqrt() * (size.powi(3) / (100.0 * G)).sqrt() * 0.977_792;
            assert!((first("crossing time") / crossing - 1.0).abs() < 0.08, "{place}{} {crossing}", said.out);
        }
        assert!(!said.out.contains("warning: the") && !said.out.contains("warning: cluster"), "{place}{}", said.out);
    }
    // A mistake in one of them is told.
    let hot = text("position = [30.0, 0.0, 0.0]\n").replace("seed = 2\n", "seed = 2\nvirial_ratio = 0.1\n");
    folder.write("run.toml", hot);
    let said = check(&folder, &[]);
    assert!(said.out.contains("warning: cluster 2: the virial ratio Q = 0.1"), "{}", said.out);
}

#[test]
fn one_that_runs_away_changes_nothing() {
    let folder = Folder::new(&of_file(""));
    let all = csv(&sphere(), (Vec3::zeros(), Vec3::zeros()), 1.0);
    folder.write("stars.csv", &all);
    let alone = check(&folder, &[]);
    for away in ["1.0,5000.0,0.0,0.0,40.0,0.0,0.0", "1.0,0.0,0.0,1e6,0.0,0.0,900.0", "1.0,-300.0,0.0,0.0,0.0,2.0,0.0"] {
        folder.write("stars.csv", format!("{all}{away}\n"));
        let with = check(&folder, &[]);
        assert_same_inside(&with, &alone);
        assert!(with.out.contains("1 of the 101 particles, unbound"), "{}", with.out);
    }
}

#[test]
fn a_wrong_unit_of_velocity_is_found_in_a_moved_cluster_too() {
    let folder = Folder::new(&of_file(""));
    for moved in [(Vec3::zeros(), Vec3::zeros()), (Vec3::new(8500.0, 0.0, 0.0), Vec3::new(0.0, 220.0, 0.0))] {
        folder.write("stars.csv", csv(&sphere(), moved, 1000.0));
        check(&folder, &[]).says(&["warning: the system is not bound (Q = ", "[units] says?"]);
        folder.write("stars.csv", csv(&sphere(), moved, 10.0));
        check(&folder, &[]).says(&["warning: the system is not bound (Q = ", "[units] says?"]);
        folder.write("stars.csv", csv(&sphere(), moved, 1e-3));
        check(&folder, &[]).says(&["will first collapse, or is the unit of velocity or mass wrong?"]);
        check(&folder, &["external.point-mass.mass=1e10"]);
    }
}

#[test]
fn there_is_no_advice_where_a_virial_ratio_says_nothing() {
    let circle = |r: f64, m: f64, v: f64| format!("{m},{r},0.0,0.0,0.0,{v},0.0");
    let heavy = "4e6,0.0,0.0,0.0,0.0,0.0,0.0";
    // A star at its apocentre, planets of a star, two bodies on an ellipse and on a hyperbola, a binary with a planet.
    let about_heavy: Vec<String> = (1..15).map(|k| circle(f64::from(k), 1.0, 20.0)).collect();
    let (few, many) = (about_heavy[..3].join("\n"), about_heavy.join("\n"));
    let systems = [
        format!("{heavy}\n{few}"),
        format!("{heavy}\n{many}"),
        format!("{}\n{}", circle(0.0, 1.0, 0.0), circle(1e-3, 1.0, 0.2)),
        format!("{}\n{}", circle(0.0, 1.0, 0.0), circle(1e-3, 1.0, 90.0)),
        format!("{}\n{}\n{}", circle(0.0, 1.0, 0.0), circle(1e-4, 1.0, 1.0), circle(0.1, 1e-3, 0.2)),
        circle(0.0, 1.0, 7.0),
    ];
    let folder = Folder::new(&of_file("[integrator.multipoint]\ndt_max = 1e-3\n[output]\ninterval = 1.0\n"));
    for system in systems {
        folder.write("stars.csv", rows(&system));
        let said = check(&folder, &["run.t_end=1.0"]);
        for word in ["collapse", "expand", "not bound", "crossing time"] {
            assert!(!said.out.contains(word), "{system}\n{}", said.out);
        }
    }
    // Massless bodies alone have no energy.
    let massless: Vec<String> = (1..20).map(|k| circle(f64::from(k), 0.0, 2.0)).collect();
    folder.write("stars.csv", rows(&format!("1.0,0.0,0.0,0.0,0.0,0.0,0.0\n{}", massless.join("\n"))));
    let said = check(&folder, &["run.t_end=1.0"]);
    assert_eq!(values(&said, "virial ratio Q"), ["not defined"], "{}", said.out);
    assert!(!said.out.contains("NaN") && !said.out.contains("not bound"), "{}", said.out);
}

#[test]
fn check_first_row_and_survey_have_one_virial_ratio() {
    let text = "run = { name = 'x', t_end = 0.01 }\n".to_owned()
        + UNITS
        + "[[initial.clusters]]\nposition = [100.0, 0.0, 0.0]\nvelocity = [0.0, 30.0, 0.0]\n\
           [initial.clusters.plummer]\nn = 200\nmass = 100.0\nvirial_radius = 0.5\n\
           [initial.clusters.binaries]\nfraction = 0.3\nsemi_major_axis = 'opik'\na_min = 1e-5\na_max = 3e-4\n\
           [integrator.hermite4]\ndt_max = 0.005\n[output]\ninterval = 0.005\n";
    let folder = Folder::new(&text);
    let said = check(&folder, &[]);
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let rows = diagnostics(&folder.path("r"));
    let column = |name: &str| rows[name].iter().map(|text| text.parse().unwrap()).collect::<Vec<f64>>();
    let (ratio, kinetic, potential) = (column("virial_ratio"), column("kinetic_energy"), column("potential_energy"));
    let cluster = std::fs::read_to_string(folder.path("r/cluster.csv")).unwrap();
    let lines: Vec<Vec<&str>> = cluster.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "virial_ratio").unwrap();
    for (row, line) in ratio.iter().zip(&lines[1..]) {
        let surveyed: f64 = line[column].parse().unwrap();
        assert!((row - surveyed).abs() < 0.01, "{row} {surveyed}");
    }
    // The same bodies, to the digits that are printed.
    assert!((number(&said, "virial ratio Q") - ratio[0]).abs() < 1e-6, "{}", said.out);
    // With the stars of binaries one by one it would be another.
    let all = kinetic[0] / potential[0].abs();
    assert!((all - ratio[0]).abs() > 0.05, "{all}");
}

/// A tail all round the orbit has a hundred times the energy of the cluster that it left, about the centre of both.
#[test]
fn the_energy_error_of_a_cluster_with_a_tail_is_relative_to_the_cluster() {
    let folder = Folder::new("");
    let cluster = plummer::sample(100, 1, 0.999);
    let mut text = csv(&cluster, (100.0 * Vec3::x(), 11.0 * Vec3::y()), 1.0);
    for k in 0..300 {
        let (s, c) = (0.3 + 5.0 * f64::from(k) / 300.0).sin_cos();
        let _ = writeln!(text, "0.001,{},{},0,{},{},0", 100.0 * c, 100.0 * s, -11.0 * s, 11.0 * c);
    }
    folder.write("stars.csv", &text);
    let config = "[run]\nname = 'x'\nt_end = 1\n[initial.file]\npath = 'stars.csv'\n[units]\nsystem = 'henon'\n\
                  [external.point-mass]\nmass = 12100\n[integrator.hermite4]\nnu = 0.1\n[output]\ninterval = 0.25\n";
    let softened = ("[softening]\nepsilon = '1/64'\n", &["cluster_energy_error"][..]);
    let hard = ("[encounters]\n", &["cluster_energy_error", "outer_energy_error"][..]);
    for (section, columns) in [softened, hard] {
        folder.write("run.toml", format!("{config}{section}"));
        folder.tisane(&["run", "run.toml", "-q", "--overwrite", "--output", "o"]).exits(0);
        let rows = diagnostics(&folder.path("o"));
        let number = |text: &String| text.parse::<f64>().expect("a number");
        let last = |name: &str| number(rows[name].last().expect("rows"));
        let change = last("energy") - number(&rows["energy"][0]);
        assert!(change.abs() > 1e-9, "{change:e}");
        for name in columns {
            let scale = change / last(name);
            assert!((0.2..0.35).contains(&scale), "{name}: the energy of the cluster is -1/4, not {scale}");
        }
    }
}
