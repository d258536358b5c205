//! Promise: every external field of the configuration has the derivatives of its potential, in the user's units, and
//! the reference of keys shows it.

use std::fs;
use std::path::Path;
use tisane::force::external::{FieldUnits, Tables, TimeTable, tide_times};
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};
use tisane_run::assemble::{self, Setup};
use tisane_run::config::{Config, Loaded, json_schema};

fn read(more: &str) -> Loaded {
    let text = format!("[run]\nname = \"x\"\nt_end = 1\n{more}\n");
    Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Parameters of the formula in the reference.
const PARAMETERS: &str = "parameters = { mass = \"2 Msun\", a = \"0.5 kpc\" }";

/// The configuration with every field of `configs/reference.toml`.
fn with_every_field() -> Config {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/reference.toml");
    let text = fs::read_to_string(path).unwrap();
    let inside =
        text.lines().skip_while(|line| !line.starts_with("#[external.")).take_while(|line| !line.starts_with("# "));
    // One of the ways to give the frequencies of a tide.
    let others = |line: &&str| !["#oort_", "#density", "#radius"].iter().any(|key| line.starts_with(key));
    // One of the ways to move.
    let one_motion = |line: &str| match line.starts_with("motion") {
        true => "motion = { velocity = [0.1, 0.02, -0.05], time = 0.5 }".to_owned(),
        false => line.to_owned(),
    };
    let fields: Vec<String> = inside.filter(others).map(|line| one_motion(line.trim_start_matches('#'))).collect();
    let units = "[units]\nmass = \"Msun\"\nlength = \"kpc\"\nvelocity = \"km/s\"\n";
    let plummer = "[initial.plummer]\nn = 8\nmass = 8.0\nscale_radius = 1.0\n";
    read(&format!("{units}{plummer}{}", fields.join("\n").replace("parameters = {}", PARAMETERS))).config
}

#[test]
fn every_field_is_in_the_reference_under_its_name() {
    let config = with_every_field();
    let sections: Vec<&str> = config.external.iter().map(|field| field.section()).collect();
    let schema = json_schema();
    let known = schema["$defs"]["External"]["properties"].as_object().unwrap();
    assert_eq!(sections.len(), known.len(), "{sections:?}");
    for section in sections {
        assert!(known.contains_key(section.strip_prefix("external.").unwrap()), "{section}");
    }
}

/// A table whose columns are cubic polynomials in the time.
#[derive(Debug)]
struct OneTensor;

impl Tables for OneTensor {
    fn read(&self, path: &str, columns: &[&'static str]) -> Result<TimeTable, String> {
        let t: Vec<f64> = (0..30).map(|k| f64::from(k) / 5.0 - 1.0).collect();
        let column = |k: usize| t.iter().map(|t| (k as f64 - 3.0) + (t - 0.3 * t * t * t) * 0.2 * k as f64).collect();
        let columns: Vec<Vec<f64>> = (0..columns.len()).map(|k| if k == 0 { t.clone() } else { column(k) }).collect();
        Ok(TimeTable { file: path.to_owned(), columns, lines: (2..).take(t.len()).collect() })
    }
}

/// Difference quotient of fourth order.
fn slope(f: impl Fn(f64) -> Vec3) -> Vec3 {
    const H: f64 = 1e-3;
    let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(k * H));
    (a - 8.0 * b + 8.0 * c - d) / (12.0 * H)
}

#[test]
fn verify_accelerations_are_gradients_and_jerks_are_time_derivatives() {
    let config = with_every_field();
    for settings in config.external.iter() {
        let to = FieldUnits { units: &config.units(), scale: &Scale::IDENTITY, tables: &OneTensor };
        let (field, section) = (settings.build(to).unwrap(), settings.section());
        for (x, v, t) in [
            (Vec3::new(0.7, -0.4, 1.1), Vec3::new(0.3, 1.2, -0.5), 0.125),
            (Vec3::new(-2.0, 3.0, 0.1), Vec3::new(-1.0, 0.1, 2.0), 1.75),
        ] {
            let gradient = slope(|h| {
                let pot = |axis: Vec3| field.pot(x + h * axis, t);
                -Vec3::new(pot(Vec3::x()), pot(Vec3::y()), pot(Vec3::z()))
            });
            let close = |what: &str, a: Vec3, b: Vec3| {
                assert!((a - b).norm() < 1e-6 * b.norm(), "{section}, {what}: {a} is not {b}");
            };
            close("acceleration", field.acc(x, t), gradient);
            close("jerk", field.jerk(x, v, t), slope(|h| field.acc(x + h * v, t + h)));
            close("tensor", tide_times(field.tide(x, t), v), slope(|h| field.acc(x + h * v, t)));
            let rate = |x, t| field.rate(x, v, t)[0] * Vec3::x();
            let [now, along] = field.rate(x, v, t);
            let size = field.pot(x, t).abs();
            let change = slope(|h| field.pot(x, t + h) * Vec3::x()).x;
            assert!((now - change).abs() < 1e-7 * size, "{section}, rate: {now} is not {change}");
            let change = slope(|h| rate(x + h * v, t + h)).x;
            assert!((along - change).abs() < 1e-6 * size, "{section}, change of the rate: {along} is not {change}");
        }
    }
}

#[test]
fn a_list_of_fields_is_the_sum_of_its_sections() {
    let disc = |mass: f64, a: f64| format!("miyamoto-nagai]\nmass = {mass}\nscale_length = {a}\nscale_height = 0.5\n");
    let one = |mass, a| setup(&format!("[initial.plummer]\nn = 8\n[external.{}", disc(mass, a))).external_field();
    let both = disc(2.0, 1.0).replacen(']', "]]", 1) + "[[external." + &disc(3.0, 2.0).replacen(']', "]]", 1);
    let list = setup(&format!("[initial.plummer]\nn = 8\n[[external.{both}"));
    let parts = [one(2.0, 1.0), one(3.0, 2.0)].map(|field| field.unwrap().unwrap());
    let (field, x) = (list.external_field().unwrap().unwrap(), Vec3::new(1.0, -2.0, 0.25));
    assert_eq!(field.acc(x, 0.0), parts[0].acc(x, 0.0) + parts[1].acc(x, 0.0));
    // It is written and read again as a list, and a key of it may be set.
    let written = list.config.resolved_toml().unwrap();
    assert_eq!(written.matches("[[external.miyamoto-nagai]]").count(), 2, "{written}");
    let set = "external.miyamoto-nagai[2].mass=4".to_owned();
    let again = Config::from_str("x.toml", &written, Path::new(""), &[set]).unwrap().config;
    let masses: Vec<f64> = again.external.miyamoto_nagai.0.iter().map(|disc| disc.mass.get()).collect();
    assert_eq!(masses, [2.0, 4.0]);
}

#[test]
fn the_tide_at_a_radius_stands_for_the_other_fields() {
    let galaxy = "[initial.plummer]\nn = 8\n[external.point-mass]\nmass = 8.0\n";
    let by_radius = setup(&format!("{galaxy}[external.tide]\nradius = 2.0\n")).external_field().unwrap().unwrap();
    let keys = "omega = 1.0\nkappa = 1.0\nnu = 1.0\n";
    let by_keys = setup(&format!("[initial.plummer]\nn = 8\n[external.tide]\n{keys}"));
    let (by_keys, x) = (by_keys.external_field().unwrap().unwrap(), Vec3::new(0.5, -0.25, 1.0));
    assert!((by_radius.acc(x, 0.7) - by_keys.acc(x, 0.7)).norm() < 1e-15);
}

fn setup(more: &str) -> Setup {
    assemble::prepare(read(more)).unwrap()
}

#[test]
fn verify_a_field_in_units_by_name_has_their_gravitational_constant() {
    let units = "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n";
    let plummer =
        "[initial.plummer]\nn = 100\nmass = 300.0\nscale_radius = 0.3\n[integrator.hermite4]\ndt_max = \"1/64\"\n";
    let set = setup(&format!("{units}{plummer}[external.point-mass]\nmass = 1e6\nposition = [0.0, 3.0, 0.0]\n"));
    let (field, scale) = (set.external_field().unwrap().unwrap(), set.scale);
    assert!(scale.mass != 1.0 && scale.length != 1.0);
    // At (4, 0, 0), 5 pc from the mass.
    let at = 4.0 / scale.length * Vec3::x();
    let g = set.config.units().g();
    let expected = g * 1e6 / 125.0 * Vec3::new(-4.0, 3.0, 0.0);
    let found = field.acc(at, 0.0) * scale.factor(Dimension::ACCELERATION);
    assert!((found - expected).norm() < 1e-14 * expected.norm(), "{found} is not {expected}");
    let found = field.pot(at, 0.0) * scale.factor(Dimension::POTENTIAL);
    assert!((found / (-g * 1e6 / 5.0) - 1.0).abs() < 1e-14, "{found}");
}

#[test]
fn without_a_section_there_is_no_field_and_no_word_of_it() {
    let set = setup("[initial.plummer]\nn = 8\n");
    assert!(set.external_field().unwrap().is_none());
    assert!(!set.config.resolved_toml().unwrap().contains("external"));
}
