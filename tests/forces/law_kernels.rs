//! Promise: the kernels of a law have the bits of the reference engine, and that of an external field those of the field. Their pairs,
//! sums and elementary functions are compiled for the host here, with IEEE 1/√ in every mode, as there may be no GPU.

use crate::law_parity::{charged, laws};
use crate::systems::{CLOCK, bits, forces};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tisane::force::cuda::{field_type, law_type};
use tisane::force::external::{ExternalField, FieldParts, FieldSource, FieldSum, FormulaField, Plummer};
use tisane::force::precision::Precision;
use tisane::force::{Block, Forces, reference};
use tisane::formula::functions;
use tisane::law::Law;
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;

/// Number of sums that the program writes for each particle: of a force, and of an acceleration.
const SUMS: usize = 7 + 3;

/// Compiles the kernels of a law for the host; [`None`] where there is no C++ compiler.
fn compile(law: &Law, folder: &Path) -> Option<PathBuf> {
    compile_with(&law_type(law), ("USER_LAW", "kernels_on_host.cpp"), folder)
}

/// Compiles a program of this folder for the host with the text of a type, whose file has a name; [`None`] where there is no C++
/// compiler.
pub(crate) fn compile_with(text: &str, (name, source): (&str, &str), folder: &Path) -> Option<PathBuf> {
    let (header, program) = (folder.join("type.hpp"), folder.join("kernels"));
    std::fs::write(&header, text).unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-I"]).arg(top.join("crates/force/kernels"));
    compiler.arg(format!("-D{name}=\"{}\"", header.display()));
    compiler.arg(top.join("tests/forces").join(source)).arg("-o").arg(&program);
    match compiler.output() {
        Err(_) => {
            eprintln!("SKIPPED: there is no C++ compiler (c++)");
            None
        }
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            Some(program)
        }
    }
}

/// Returns what the program writes when it reads these numbers.
pub(crate) fn filtered(program: &Path, what: Option<&str>, numbers: &[f64]) -> Vec<f64> {
    let mut child = Command::new(program).args(what).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(done.status.success());
    done.stdout.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

/// Runs the program: returns the forces, and the accelerations of the kernels for these alone.
fn run(program: &Path, precision: Precision, p: &Particles, epsilon: f64) -> (Forces, Vec<Vec3>) {
    let mut numbers = vec![p.len() as f64, epsilon * epsilon];
    for i in 0..p.len() {
        numbers.extend(p.pos[i].iter().chain(&p.vel[i]).chain([&p.mass[i]]));
        numbers.extend(p.columns.iter().map(|column| column.values[i]));
    }
    let found = filtered(program, Some(&precision.name().replace('-', "_")), &numbers);
    assert_eq!(found.len(), SUMS * p.len());
    let (mut out, mut alone) = (Forces::default(), Vec::new());
    for sums in found.chunks_exact(SUMS) {
        let vector = |first: usize| Vec3::new(sums[first], sums[first + 1], sums[first + 2]);
        out.acc.push(vector(0));
        out.jerk.push(vector(3));
        out.pot.push(sums[6]);
        alone.push(vector(7));
    }
    (out, alone)
}

#[test]
fn kernels_of_laws_have_the_bits_of_the_reference_engine() {
    for (name, law) in laws() {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = compile(&law, folder.path()) else { return };
        for precision in Precision::ALL {
            for (n, epsilon) in [(1, 0.0), (2, 0.0), (31, 0.0), (64, 0.01), (65, 0.0), (257, 0.01)] {
                let (mut p, _) = charged(n);
                p.columns.retain(|_| !law.program().columns.is_empty());
                p.time.fill(Time::default());
                let everyone = Block::from_particles(&p, (0..n as u32).collect());
                let mut engine = reference::law_engine(&law, precision, epsilon, CLOCK);
                let want = forces(&mut *engine, &p, Time::default(), &everyone);
                let (found, alone) = run(&program, precision, &p, epsilon);
                assert!(bits(&found) == bits(&want), "{name}, {}, n = {n}", precision.name());
                assert!(alone == want.acc, "{name}, {}, n = {n}: accelerations alone", precision.name());
            }
        }
    }
}

#[test]
fn elementary_functions_of_the_kernels_have_the_bits_of_those_of_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let (_, law) = laws().remove(0);
    let Some(program) = compile(&law, folder.path()) else { return };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -3.0, 2.5, 710.0, -746.0, f64::INFINITY, f64::NEG_INFINITY];
    let special = special.into_iter().chain([f64::NAN, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1.1e12, 1e300]);
    let special: Vec<f64> = special.collect();
    let mut numbers: Vec<f64> = special.iter().flat_map(|&x| special.iter().flat_map(move |&y| [x, y])).collect();
    for _ in 0..200_000 {
        // Of any size, of that of exponents, about 1, and next to a multiple of π/2, where the last digits of π count.
        let turns = f64::from(rng.random_range(-1000..1000)) * std::f64::consts::FRAC_PI_2;
        let any = f64::from_bits(rng.random::<u64>());
        let x = [any, rng.random_range(-750.0..720.0), rng.random_range(0.5..2.0), turns.next_up()];
        x.into_iter().for_each(|x| numbers.extend([x, rng.random_range(-30.0..30.0)]));
    }
    let found = filtered(&program, Some("elementary"), &numbers);
    assert_eq!(found.len(), 6 * numbers.len() / 2);
    for (arguments, found) in numbers.chunks_exact(2).zip(found.chunks_exact(6)) {
        let (x, y) = (arguments[0], arguments[1]);
        let [exp, log] = [functions::exp(x), functions::log(x)];
        let in_f32 = f64::from(functions::exp(x as f32));
        let wanted = [exp, log, functions::sin(x), functions::cos(x), functions::pow(x, y), in_f32];
        let same = |(a, b): (&f64, f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        assert!(found.iter().zip(wanted).all(same), "x = {x:e}, y = {y:e}: {found:?} instead of {wanted:?}");
    }
}

/// Formulas that have all operations between them.
const FORMULAS: [&str; 5] = [
    "-(1 + 0.5*sin(3*t))/sqrt(r^2 + 0.25) + min(x, y)*max(y, z)*1e-3",
    "log(x^2 + 2*y^2 + 3*z^2 + 0.4) + x*y*cos(t) - R^1.7/(1 + r)",
    "exp(-t)*gammap(0.6, r^2)/r - 0.2*(x*cos(2*t) + y*sin(2*t))^2",
    "if(r < 1.2, r^4/(1 + R), r^3*1.2/(1 + R))*t^2 + 2^(-x)",
    // Acceleration and jerk are what is read.
    "-(x^2 + y^2 + z^2)/2",
];

#[test]
fn the_kernel_of_a_field_has_the_bits_of_the_field() {
    let formula = |text: &str| -> Box<dyn ExternalField> {
        let field = FormulaField::new(&FieldSource::new(text, &[]), Vec3::new(0.25, 0.5, -0.125));
        Box::new(field.unwrap_or_else(|it| panic!("{text}: {it}")))
    };
    let sphere = || Plummer { mass: 3.0, position: Vec3::new(0.5, -1.0, 0.25), scale_radius: 0.25 };
    let inner = FieldSum(FORMULAS[3..].iter().map(|text| formula(text)).collect());
    let mut all: Vec<Box<dyn ExternalField>> = FORMULAS[..3].iter().map(|text| formula(text)).collect();
    all.extend([Box::new(sphere()) as Box<dyn ExternalField>, Box::new(inner)]);
    for field in all.into_iter().map(|field| FieldSum(vec![field])) {
        let parts = FieldParts::new(field.parts().unwrap(), sphere().parts()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let text = field_type(&parts);
        let Some(program) = compile_with(&text, ("USER_FIELD", "field_on_host.cpp"), folder.path()) else { return };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let numbers: Vec<f64> = (0..6 * 200).map(|_| rng.random_range(-2.0..2.0)).collect();
        let t = 0.75;
        let found = filtered(&program, None, &[&[t], &numbers[..]].concat());
        assert_eq!(found.len(), 2 * numbers.len());
        for (at, found) in numbers.chunks_exact(6).zip(found.chunks_exact(12)) {
            let (pos, vel) = (Vec3::new(at[0], at[1], at[2]), Vec3::new(at[3], at[4], at[5]));
            for (field, found) in [(&field as &dyn ExternalField, &found[..6]), (&sphere(), &found[6..])] {
                let (acc, jerk) = (field.acc(pos, t), field.jerk(pos, vel, t));
                // A sum begins with 0, so that -0 is 0.
                let want = [acc.x, acc.y, acc.z, jerk.x, jerk.y, jerk.z].map(|of| 0.0 + of);
                assert_eq!(found, want, "at {pos}\n{text}");
            }
        }
    }
}
