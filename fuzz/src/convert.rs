//! `tisane convert`: particles of any numbers in any format that is written, as a whole command line. What is accepted
//! reads back to the bit, or rounded as the format rounds; what is refused leaves everything as it was.

use super::is_told;
use arbitrary::{Result, Unstructured};
use clap::Parser;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use tisane::particles::{Particles, components, from_components};
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Unit, Units};
use tisane_cli::{Cli, dispatch};
use tisane_io::formats::{self, FORMATS, FileState};

/// Formats that are written.
const WRITTEN: [&str; 7] = ["amuse", "csv", "gadget", "nbody6", "nemo", "petar", "tipsy"];
const OLD: &[u8] = b"what was there before";
/// Numbers at which something changes: the ends of 4- and 8-byte floats, whole numbers of 32 and 53 bits.
const EDGES: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    1e-3,
    5e-324,
    2.2250738585072014e-308,
    1e-308,
    1e-45,
    1e-46,
    1.1754943508222875e-38,
    3.4028234663852886e38,
    3.402_823_57e38,
    -1e39,
    1e154,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2147483647.0,
    9007199254740993.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.0 / 3.0,
];

/// A state of binary records, to be filled.
static EMPTY: LazyLock<FileState> = LazyLock::new(|| {
    let (folder, text) = super::file("text", b"1 0 0 0 0 0 0\n");
    let binary = folder.path().join("binary");
    formats::write(&binary, "nemo", &formats::read(&text, None).expect("a particle")).expect("a file");
    formats::read(&binary, None).expect("the same particle")
});

/// Units as a user names them.
struct Told {
    words: String,
    /// [`None`]: words that mean nothing.
    units: Option<Units>,
}

/// A file of particles, turned into another.
pub fn convert(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let Ok((state, from, to)) = case(&mut u) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    if is_told(formats::write(&input, from, &state)).is_none() {
        assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "refused, but something was written");
        return;
    }
    let read = is_told(formats::read(&input, Some(from)));
    assert!(read.is_some() || !is_sound(&state), "{from}: {state:?} cannot be read back");
    if let Some(read) = &read {
        comes_back(&state, read, from);
    }
    let Ok(options) = options(&mut u) else { return };
    if options.old {
        fs::write(&output, OLD).expect("a small file");
    }
    let Ok(cli) = Cli::try_parse_from(options.command(&input, from, &output, to)) else { return };
    if is_told(dispatch(cli)).is_none() {
        let there = fs::read(&output).ok();
        assert_eq!(there.as_deref(), options.old.then_some(OLD), "refused, but OUT is another");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1 + usize::from(options.old));
        return;
    }
    assert!(!options.old || options.overwrite, "OUT was replaced");
    let expected = options.applied(read.expect("converted, so it was read"), to);
    comes_back(&expected, &formats::read(&output, Some(to)).expect("what was written"), to);
}

fn case(u: &mut Unstructured<'_>) -> Result<(FileState, &'static str, &'static str)> {
    let (from, to) = (*u.choose(&WRITTEN)?, u.choose(FORMATS)?.name);
    Ok((state(u)?, from, to))
}

fn number(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match u.int_in_range(0..=3u8)? {
        0 => f64::from_bits(u.arbitrary()?),
        1 => *u.choose(&EDGES)?,
        _ => f64::from(u.arbitrary::<i16>()?) / 256.0,
    })
}

fn state(u: &mut Unstructured<'_>) -> Result<FileState> {
    let n = u.int_in_range(0..=4usize)?;
    let mut of = |n: usize| (0..n).map(|_| number(u)).collect::<Result<Vec<f64>>>();
    let (mass, pos, vel) = (of(n)?, of(3 * n)?, of(3 * n)?);
    let mass = if u.ratio(7, 8)? { mass.into_iter().map(f64::abs).collect() } else { mass };
    let mut particles = Particles::new(mass, from_components(&pos), from_components(&vel));
    if u.arbitrary()? {
        particles.id = (0..n).map(|_| u.arbitrary()).collect::<Result<_>>()?;
    }
    let time = if u.arbitrary()? { Some(number(u)?) } else { None };
    let units = match u.int_in_range(0..=3u8)? {
        0 => None,
        1 => Some(stated(u)?),
        _ => told(u)?.units,
    };
    let mut state = EMPTY.clone();
    (state.particles, state.time, state.units) = (particles, time, units);
    Ok(state)
}

/// Units as a file may state them by their sizes.
fn stated(u: &mut Unstructured<'_>) -> Result<Units> {
    let mut unit = || -> Result<Unit> {
        let cgs = f64::from(u.int_in_range(1..=99u8)?) * 10f64.powi(u.int_in_range(-60..=60)?);
        Ok(Unit { name: format!("{cgs:e}"), cgs })
    };
    let [mass, length, velocity, time] = [unit()?, unit()?, unit()?, unit()?];
    let g = 6.6743e-8 * mass.cgs / (length.cgs * velocity.cgs * velocity.cgs);
    Ok(Units::from_sizes([mass, length, velocity, time], g).unwrap_or_else(Units::henon))
}

fn told(u: &mut Unstructured<'_>) -> Result<Told> {
    if u.ratio(1, 8)? {
        let words =
            ["", "henon,", "mass=Msun", "mass=Msun,length=pc", "mass=sun,length=pc,time=s", "=", "mass=g,mass=g"];
        return Ok(Told { words: (*u.choose(&words)?).into(), units: None });
    }
    if u.ratio(1, 4)? {
        return Ok(Told { words: "henon".into(), units: Some(Units::henon()) });
    }
    let (mass, length) = (*u.choose(MassUnit::ALL)?, *u.choose(LengthUnit::ALL)?);
    let (velocity, time) = (*u.choose(VelocityUnit::ALL)?, *u.choose(TimeUnit::ALL)?);
    let start = format!("mass={},length={}", mass.name(), length.name());
    let (words, rates) = match u.int_in_range(0..=2u8)? {
        0 => (format!("{start},velocity={}", velocity.name()), Rates::Velocity(velocity)),
        1 => (format!("{start},time={}", time.name()), Rates::Time(time)),
        _ => (format!("{start},velocity={},time={}", velocity.name(), time.name()), Rates::Both(velocity, time)),
    };
    Ok(Told { words, units: Some(Units::named(mass, length, rates)) })
}

struct Options {
    named: bool,
    units: Option<Told>,
    to_units: Option<Told>,
    old: bool,
    overwrite: bool,
}

fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let mut some = || -> Result<Option<Told>> { Ok(if u.arbitrary()? { Some(told(u)?) } else { None }) };
    let (units, to_units) = (some()?, some()?);
    Ok(Options { named: u.arbitrary()?, units, to_units, old: u.arbitrary()?, overwrite: u.arbitrary()? })
}

impl Options {
    fn command(&self, input: &Path, from: &str, output: &Path, to: &str) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["tisane", "--quiet", "convert"].map(OsString::from).into();
        words.extend([input.into(), output.into(), "--to".into(), to.into()]);
        // nbody6 and petar have the same content: told by name alone.
        if self.named || from == "petar" {
            words.extend(["--from".into(), from.into()]);
        }
        for (option, told) in [("--units", &self.units), ("--to-units", &self.to_units)] {
            words.extend(told.iter().flat_map(|told| [option.into(), OsString::from(&told.words)]));
        }
        words.extend(self.overwrite.then(|| "--overwrite".into()));
        words
    }

    /// What OUT must hold, of what is in IN.
    fn applied(&self, mut state: FileState, to: &str) -> FileState {
        let units = |told: &Option<Told>| told.as_ref().and_then(|told| told.units.clone());
        state.units = state.units.or(units(&self.units));
        let petar = FORMATS.iter().find(|format| format.name == to).filter(|format| format.name == "petar");
        let of_petar = petar.filter(|_| !state.units.as_ref().is_some_and(Units::is_henon)).map(|_| {
            Units::named(
                MassUnit::Msun,
                LengthUnit::Parsec,
                Rates::Both(VelocityUnit::ParsecPerMyr, TimeUnit::Megayear),
            )
        });
        if let Some(wanted) = units(&self.to_units).or(of_petar) {
            let before = (state.particles.mass[0], state.units.clone().expect("converted, so they were known"));
            state.to_units(&wanted).expect("what the command did too");
            let ratio = before.1.mass.cgs / wanted.mass.cgs;
            let (found, expected) = (state.particles.mass[0], before.0 * ratio);
            assert!((found - expected).abs() <= 1.1e-3 * expected.abs() + 1e-300, "{found} instead of {expected}");
        }
        state
    }
}

/// True for a state that has everything that is asked of a file.
fn is_sound(state: &FileState) -> bool {
    let p = &state.particles;
    let mut numbers = p.mass.iter().chain(components(&p.pos)).chain(components(&p.vel)).chain(&state.time);
    let mut ids = p.id.clone();
    ids.sort_unstable();
    ids.dedup();
    let total = p.total_mass();
    numbers.all(|x| x.is_finite())
        && p.mass.iter().all(|m| *m >= 0.0)
        && total > 0.0
        && total.is_finite()
        && ids.len() == p.len()
}

/// Holds what was read to what was written in a format.
fn comes_back(written: &FileState, read: &FileState, format: &str) {
    let bits = |state: &FileState, rounded: bool| {
        let p = &state.particles;
        let numbers = p.mass.iter().chain(components(&p.pos)).chain(components(&p.vel));
        numbers.map(|x| if rounded { f64::from(*x as f32) } else { *x }.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(read, false), bits(written, format == "tipsy"), "{format}: {written:?}");
    let ids = &written.particles.id;
    let kept = match format {
        "amuse" | "csv" | "gadget" => true,
        "nemo" => ids.iter().all(|id| *id < 1 << 31),
        _ => false,
    };
    let expected = if kept { ids.clone() } else { (0..ids.len() as u64).collect() };
    assert_eq!(read.particles.id, expected, "{format}: ids");
    match format {
        "amuse" => assert_eq!(read.time.map(f64::to_bits), written.time.map(f64::to_bits)),
        "nemo" | "tipsy" => assert_eq!(read.time.map(f64::to_bits), Some(written.time.unwrap_or(0.0).to_bits())),
        // So small a number has too few digits, in the units of the state or in those of the file.
        "gadget" if in_gadgets_units(written).is_some_and(|times| times.iter().any(|t| t.abs() < 1e-280)) => {}
        "gadget" => {
            let seconds = |state: &FileState| state.time.unwrap_or(0.0) * state.units.as_ref().expect("units").time.cgs;
            close(seconds(read), seconds(written));
        }
        _ => assert_eq!(read.time, None),
    }
    if let ("amuse" | "gadget", Some(found), Some(expected)) = (format, &read.units, &written.units) {
        assert_eq!(found.is_henon(), expected.is_henon());
        let sizes = |units: &Units| [units.mass.cgs, units.length.cgs, units.velocity.cgs];
        sizes(found).into_iter().zip(sizes(expected)).for_each(|(found, expected)| close(found, expected));
    }
}

/// Returns the time of a state in its own units and in those of Gadget, length / velocity.
fn in_gadgets_units(state: &FileState) -> Option<[f64; 2]> {
    let (time, units) = (state.time?, state.units.as_ref()?);
    Some([time, time * units.time.cgs / (units.length.cgs / units.velocity.cgs)])
}

/// As far as two programs' constants agree.
fn close(found: f64, expected: f64) {
    let same = (found - expected).abs() <= 2.1e-3 * expected.abs() + 1e-300;
    assert!(same || !expected.is_finite(), "{found} instead of {expected}");
}
