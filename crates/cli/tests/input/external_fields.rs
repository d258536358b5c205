//! Promise: every external field of the configuration has the derivatives of its potential, in the user's units, and
//! the reference of keys shows it.

use std::fs;
use std::path::Path;
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};
use tisane_run::assemble::{self, Setup};
use tisane_run::config::{Config, Loaded, json_schema};

fn read(more: &str) -> Loaded {
    let text = format!("[run]\nname = \"x\"\nt_end = 1\n{more}\n");
    Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The configuration with every field of `configs/reference.toml`.
fn with_every_field() -> Config {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/reference.toml");
    let text = fs::read_to_string(path).unwrap();
    let inside =
        text.lines().skip_while(|line| !line.starts_with("#[external.")).take_while(|line| !line.starts_with("# "));
    let fields: Vec<&str> = inside.map(|line| line.trim_start_matches('#')).collect();
    read(&format!("[initial.plummer]\nn = 8\n{}", fields.join("\n"))).config
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

#[test]
fn verify_accelerations_are_gradients_and_jerks_are_time_derivatives() {
    const H: f64 = 1e-4;
    for settings in with_every_field().external.iter() {
        let (field, section) = (settings.build(&Scale::IDENTITY), settings.section());
        for (x, v, t) in [
            (Vec3::new(0.7, -0.4, 1.1), Vec3::new(0.3, 1.2, -0.5), 0.0),
            (Vec3::new(-2.0, 3.0, 0.1), Vec3::new(-1.0, 0.1, 2.0), 1.75),
        ] {
            let slope = |axis: Vec3| (field.pot(x - H * axis, t) - field.pot(x + H * axis, t)) / (2.0 * H);
            let gradient = Vec3::new(slope(Vec3::x()), slope(Vec3::y()), slope(Vec3::z()));
            let acc = field.acc(x, t);
            assert!((acc - gradient).norm() < 1e-6 * acc.norm(), "{section}: {acc} is not {gradient}");
            let change = (field.acc(x + H * v, t + H) - field.acc(x - H * v, t - H)) / (2.0 * H);
            let jerk = field.jerk(x, v, t);
            assert!((jerk - change).norm() < 1e-6 * jerk.norm(), "{section}: {jerk} is not {change}");
        }
    }
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
    let (field, scale) = (set.external_field().unwrap(), set.scale);
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
    assert!(set.external_field().is_none());
    assert!(!set.config.resolved_toml().unwrap().contains("external"));
}
