//! Promise: fields have the potential, acceleration and jerk of an independent computation with 50 digits.
//!
//! The values are in `../shared/data/tides` beside the checkout, computed from the published formulas by finite
//! differences and compared with galpy and gala.

use super::by_hand::field;
use super::dehnen::DehnenSettings;
use super::exponential_disc::{ExponentialDiscSettings, Vertical};
use super::hernquist::HernquistSettings;
use super::isochrone::IsochroneSettings;
use super::jaffe::JaffeSettings;
use super::logarithmic::LogarithmicSettings;
use super::long_murali_bar::LongMuraliBarSettings;
use super::miyamoto_nagai::MiyamotoNagaiSettings;
use super::nfw::NfwSettings;
use super::power_law::PowerLawSettings;
use crate::force::external::field::{ExternalField, FieldSum, tide_times};
use crate::force::external::plummer::Plummer;
use crate::particles::Vec3;
use crate::units::Real;
use std::path::Path;

/// Reads the rows of a table of numbers, with the words before them.
fn table(name: &str, words: usize) -> Option<Vec<(Vec<String>, Vec<f64>)>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tides").join(name);
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: {name} is not in ../shared/data/tides beside this checkout");
        return None;
    };
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers = cells[words..].iter().map(|cell| cell.parse().expect("a number")).collect();
        (cells[..words].iter().map(|word| (*word).to_owned()).collect(), numbers)
    });
    Some(rows.collect())
}

fn real(value: f64) -> Real {
    Real::new(value).expect("a finite number")
}

/// Returns the fields of the table by name, with its parameters.
pub(in crate::force::external) fn named(name: &str) -> Option<Box<dyn ExternalField>> {
    macro_rules! of {
        ($settings:ident { $($key:ident: $value:expr),* }) => {
            field(&$settings { $($key: $value,)* position: [real(0.0); 3], motion: None, variation: None })
        };
    }
    let point = |mass, scale_radius| Box::new(Plummer { mass, position: Vec3::zeros(), scale_radius });
    let dehnen = |slope| of!(DehnenSettings { mass: real(1.0), scale_radius: real(0.8), inner_slope: real(slope) });
    let nfw = |mass, a| of!(NfwSettings { mass: real(mass), scale_radius: real(a) });
    let hernquist = |mass, a| of!(HernquistSettings { mass: real(mass), scale_radius: real(a) });
    let disc =
        |mass, a, b| of!(MiyamotoNagaiSettings { mass: real(mass), scale_length: real(a), scale_height: real(b) });
    let exponential = |mass, h, z| {
        of!(ExponentialDiscSettings {
            mass: real(mass),
            scale_length: real(h),
            scale_height: real(z),
            vertical: Vertical::Sech2
        })
    };
    let bulge = |mass| of!(PowerLawSettings { mass: real(mass), slope: real(1.8), cutoff_radius: real(1.9) });
    Some(match name {
        "point-mass" => point(1.0, 0.0),
        "plummer" => point(1.5, 0.7),
        "hernquist" => hernquist(2.0, 1.2),
        "nfw" => nfw(1.3, 2.0),
        "logarithmic" => of!(LogarithmicSettings {
            speed: real(1.1),
            core_radius: real(0.3),
            flattening_y: real(0.9),
            flattening_z: real(0.8)
        }),
        "isochrone" => of!(IsochroneSettings { mass: real(1.2), scale_radius: real(0.5) }),
        "miyamoto-nagai" => disc(1.0, 0.6, 0.1),
        "dehnen-0.5" => dehnen(0.5),
        "dehnen-1.5" => dehnen(1.5),
        "jaffe" => of!(JaffeSettings { mass: real(1.0), scale_radius: real(0.8) }),
        "power-law-cutoff" => bulge(0.9),
        "mn3-disc" => exponential(1.0, 2.6, 0.3),
        "long-murali-bar" => of!(LongMuraliBarSettings {
            mass: real(1.0),
            half_length: real(3.0),
            width: real(0.5),
            height: real(0.4),
            angle: real(0.0),
            pattern_speed: real(0.0)
        }),
        "mw-potential-2014" => Box::new(FieldSum(vec![
            bulge(0.450_136_537_506_545),
            disc(6.819_390_278_234_676, 3.0, 0.28),
            nfw(43.683_325, 16.0),
        ])),
        "mw-potential-2022" => Box::new(FieldSum(vec![
            exponential(4.7717, 2.6, 0.3),
            hernquist(0.5, 1.0),
            hernquist(0.18142, 0.0688867),
            nfw(55.427, 15.626),
        ])),
        _ => return None,
    })
}

#[test]
fn validate_fields_by_an_independent_computation() {
    let (Some(points), Some(rows)) = (table("points.csv", 0), table("fields.csv", 1)) else { return };
    let mut worst: Vec<(String, [f64; 4])> = Vec::new();
    let mut at_hand: Option<(String, Box<dyn ExternalField>)> = None;
    for (words, row) in rows {
        let name = &words[0];
        if at_hand.as_ref().is_none_or(|(there, _)| there != name) {
            let field = named(name).unwrap_or_else(|| panic!("no field {name}"));
            at_hand = Some((name.clone(), field));
            worst.push((name.clone(), [0.0; 4]));
        }
        let (Some((_, field)), Some((_, errors))) = (&at_hand, worst.last_mut()) else { continue };
        let point = &points[row[0] as usize].1;
        let (x, v) = (Vec3::from_column_slice(&point[1..4]), Vec3::from_column_slice(&point[4..7]));
        let (acc, jerk) = (Vec3::from_column_slice(&row[2..5]), Vec3::from_column_slice(&row[5..8]));
        let found = [
            (field.pot(x, 0.0) - row[1]).abs() / row[1].abs(),
            (field.acc(x, 0.0) - acc).norm() / acc.norm(),
            (field.jerk(x, v, 0.0) - jerk).norm() / jerk.norm(),
            (tide_times(field.tide(x, 0.0), v) - jerk).norm() / jerk.norm(),
        ];
        (0..4).for_each(|k| errors[k] = errors[k].max(found[k]));
    }
    assert_eq!(worst.len(), 15);
    for (name, errors) in worst {
        let shown = errors.map(|error| format!("{error:.1e}"));
        println!("{name}: potential, acceleration, jerk, tensor {shown:?}");
        // The potential of a logarithmic halo passes 0.
        let errors = if name == "logarithmic" { &errors[1..] } else { &errors[..] };
        assert!(errors.iter().all(|error| *error < 1e-12), "{name}: {errors:?}");
    }
}
