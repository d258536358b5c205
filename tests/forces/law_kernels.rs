//! Promise: the kernels of a law have the bits of the reference engine. Their pairs and sums are compiled for the host
//! here, with IEEE 1/√ in every mode, as there may be no GPU.

use crate::law_parity::{charged, laws};
use crate::systems::{CLOCK, bits, forces};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tisane::force::cuda::law_type;
use tisane::force::precision::Precision;
use tisane::force::{Block, Forces, reference};
use tisane::law::Law;
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;

/// Number of sums that the program writes for each particle: of a force, and of an acceleration.
const SUMS: usize = 7 + 3;

/// Compiles the kernels of a law for the host; [`None`] where there is no C++ compiler.
fn compile(law: &Law, folder: &Path) -> Option<PathBuf> {
    let (header, program) = (folder.join("law.hpp"), folder.join("kernels"));
    std::fs::write(&header, law_type(law)).unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-I"]).arg(top.join("kernels"));
    compiler.arg(format!("-DUSER_LAW=\"{}\"", header.display()));
    compiler.arg(top.join("tests/forces/kernels_on_host.cpp")).arg("-o").arg(&program);
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

/// Runs the program: returns the forces, and the accelerations of the kernels for these alone.
fn run(program: &Path, precision: Precision, p: &Particles, epsilon: f64) -> (Forces, Vec<Vec3>) {
    let mut numbers = vec![p.len() as f64, epsilon * epsilon];
    for i in 0..p.len() {
        numbers.extend(p.pos[i].iter().chain(&p.vel[i]).chain([&p.mass[i]]));
        numbers.extend(p.columns.iter().map(|column| column.values[i]));
    }
    let mut child = Command::new(program)
        .arg(precision.name().replace('-', "_"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(done.status.success());
    let found: Vec<f64> = done.stdout.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
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
