//! Promise: the error of every mode is measured against f64, at every output, and a wrong force stops the run.

use crate::faulty;
use crate::program;
use crate::simulated;

use faulty::FaultyEngine;
use program::{Folder, diagnostics, summary};
use simulated::{Blind, CLOCK, hermite4, not_begun, simulation};
use std::time::Duration;
use tisane::diagnostics::force_audit::Auditor;
use tisane::force::canonical::BAG;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, ForceEngine};
use tisane::initial::plummer;
use tisane::integrator::ahmad_cohen::{AhmadCohen, Order, Parameters};
use tisane::propagator::Propagator;
use tisane::{Error, Result};
use tisane_io::checkpoint;
use tisane_run::system::Engines;

const EPSILON: f64 = 1.0 / 256.0;

fn cpu(precision: Precision) -> Box<dyn ForceEngine> {
    cpu::engine(precision, EPSILON, CLOCK, Width::choose().unwrap())
}

/// A run over one dt_max in `mixed`, in which the sources of one bag are too heavy by a part of the given size.
fn run(dir: &std::path::Path, fault: f64, own_field: bool) -> Result<()> {
    let bag = 3 * BAG..4 * BAG;
    let force = Box::new(FaultyEngine::with_wrong_masses(cpu(Precision::Mixed), bag, 1.0 + fault));
    // The field by an engine that is the auditor too, or by the run's own, as on a GPU in f64.
    let f64_path = Some(cpu(Precision::F64));
    let (f64_engine, engine) = if own_field { (None, f64_path) } else { (f64_path, None) };
    let auditor = Some(Auditor { engine, sample: 256, limit: Precision::Mixed.audit_limit() });
    let engines = Engines {
        kind: EngineKind::Cpu,
        propagator: hermite4(force, f64_engine),
        auditor,
        law: None,
        origin: None,
        tide: None,
        epsilon: 0.0,
        evolution: None,
    };
    let begin = (plummer::sample(1024, 1, 0.999), not_begun());
    let mut simulation = simulation(dir, begin, engines, (1, Duration::from_secs(600)));
    let mut series = simulation.start(&mut Blind)?;
    simulation.run(&mut series, &mut Blind).map(|_| ())
}

#[test]
fn a_wrong_bag_stops_the_run_with_a_checkpoint() {
    for own_field in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        run(&dir.path().join("good"), 0.0, own_field).unwrap();
        let error: Error = run(&dir.path().join("bad"), 1e-3, own_field).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("audit") && text.contains("256 particles") && text.contains("1.0e-5"), "{text}");
        assert_eq!(error.exit_code(), 4);
        checkpoint::read(&dir.path().join("bad").join(checkpoint::NEWEST)).unwrap();
    }
}

/// A run of the neighbour scheme over one dt_max by an engine in a mode.
fn run_with_lists(dir: &std::path::Path, precision: Precision, force: Box<dyn ForceEngine>) -> Result<()> {
    let integrator = AhmadCohen::new(Parameters::new(Order::Six, precision), CLOCK);
    let auditor = Some(Auditor { engine: Some(cpu(Precision::F64)), sample: 256, limit: precision.audit_limit() });
    let propagator = Propagator::new(Box::new(integrator), force, cpu(Precision::F64));
    let engines = Engines {
        kind: EngineKind::Cpu,
        propagator,
        auditor,
        law: None,
        origin: None,
        tide: None,
        epsilon: 0.0,
        evolution: None,
    };
    let begin = (plummer::sample(1024, 1, 0.999), not_begun());
    let mut simulation = simulation(dir, begin, engines, (1, Duration::from_secs(600)));
    let mut series = simulation.start(&mut Blind)?;
    simulation.run(&mut series, &mut Blind).map(|_| ())
}

#[test]
fn a_list_without_one_of_its_neighbours_stops_the_run() {
    for precision in [Precision::F64, Precision::Mixed, Precision::F32Chamomile] {
        let dir = tempfile::tempdir().unwrap();
        run_with_lists(&dir.path().join("good"), precision, cpu(precision)).unwrap();
        let short = Box::new(FaultyEngine::with_short_lists(cpu(precision)));
        let error = run_with_lists(&dir.path().join("bad"), precision, short).unwrap_err();
        assert!(error.to_string().contains("audit") && error.exit_code() == 4, "{}: {error}", precision.name());
    }
}

#[test]
fn the_neighbour_scheme_is_audited_in_every_mode() {
    for mode in Precision::ALL.into_iter().filter(|mode| mode.on_cpu() == *mode) {
        let folder = Folder::new(&(config(mode.name()) + "[integrator.ahmad_cohen]\n"));
        folder.tisane(&["run", "run.toml"]).exits(0);
        assert_eq!(column(&folder, "audit_sample"), [256.0; 3], "{}", mode.name());
        let largest = if mode.in_f64() { 1e-12 } else { 1e-3 };
        for name in ["audit_acceleration_max", "audit_jerk_max", "audit_potential_max"] {
            let found = column(&folder, name);
            assert!(found.iter().all(|x| (1e-17..largest).contains(x)), "{} {name}: {found:?}", mode.name());
        }
    }
}

fn config(precision: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 0.25\n[initial.plummer]\nn = 300\n[softening]\nepsilon = \"1/256\"\n\
         [force]\nprecision = \"{precision}\"\n[output]\ninterval = \"1/8\"\n"
    )
}

fn column(folder: &Folder, name: &str) -> Vec<f64> {
    diagnostics(&folder.path("runs/r"))[name].iter().map(|x| x.parse().unwrap()).collect()
}

#[test]
fn every_mode_is_audited_and_its_energy_measured_in_f64() {
    let exact = Folder::new(&config("f64"));
    exact.tisane(&["run", "run.toml"]).exits(0);
    assert_eq!(column(&exact, "audit_sample"), [0.0; 3], "the f64 CPU path has nothing to be held against");
    let energy = summary(&exact.path("runs/r"))["energy_initial"].clone();
    // On the CPU f64-fast is f64.
    for mode in Precision::ALL.into_iter().filter(|mode| !mode.in_f64()) {
        let folder = Folder::new(&config(mode.name()));
        folder.tisane(&["run", "run.toml"]).exits(0);
        let said = summary(&folder.path("runs/r"));
        assert_eq!(said["precision"], mode.name());
        assert_eq!(said["energy_initial"], energy, "{}: the same particles have the same energy", mode.name());
        assert_eq!(column(&folder, "audit_sample"), [256.0; 3]);
        for name in ["audit_acceleration", "audit_jerk", "audit_potential"] {
            let [max, rms, p99] = ["max", "rms", "p99"].map(|of| column(&folder, &format!("{name}_{of}")));
            for k in 0..3 {
                assert!(
                    0.0 < rms[k] && rms[k] <= max[k] && p99[k] <= max[k] && max[k] < 1e-3,
                    "{} {name}",
                    mode.name()
                );
            }
        }
    }
}

#[test]
fn the_leapfrog_is_audited_in_what_it_goes_by() {
    let leapfrog = |mode| config(mode) + "[integrator.leapfrog]\ndt = \"1/128\"\n";
    let exact = Folder::new(&leapfrog("f64"));
    exact.tisane(&["run", "run.toml"]).exits(0);
    assert_eq!(column(&exact, "audit_sample"), [0.0; 3], "the f64 CPU path has nothing to be held against");
    assert_eq!(column(&exact, "audit_jerk_max"), [0.0; 3]);
    let of = |folder: &Folder| summary(&folder.path("runs/r"));
    for mode in ["f32-direct", "f32-kahan", "mixed"] {
        let folder = Folder::new(&leapfrog(mode));
        folder.tisane(&["run", "run.toml"]).exits(0);
        assert_eq!(of(&folder)["energy_initial"], of(&exact)["energy_initial"], "{mode}");
        assert_ne!(of(&folder)["state_sha256"], of(&exact)["state_sha256"], "{mode}");
        assert_eq!(column(&folder, "audit_sample"), [256.0; 3]);
        assert!(column(&folder, "audit_acceleration_max").iter().all(|max| (1e-9..1e-3).contains(max)), "{mode}");
        for none in ["audit_jerk_rms", "audit_potential_max"] {
            assert!(column(&folder, none).iter().all(|x| x.is_nan()), "{mode} {none}");
        }
    }
    let folder = Folder::new(&leapfrog("f32-direct"));
    let said = folder.tisane(&["run", "run.toml", "--set", "audit.limit=1e-9"]).exits(4);
    said.says(&["audit at t = 0 T", "acceleration at most"]);
}

#[test]
fn a_limit_below_the_error_of_the_mode_stops_the_run() {
    let folder = Folder::new(&config("f32-direct"));
    let said = folder.tisane(&["run", "run.toml", "--set", "audit.limit=1e-9"]).exits(4);
    said.says(&["audit at t = 0 T", "force.precision", "audit.limit"]);
    folder.tisane(&["run", "run.toml", "--overwrite", "--set", "audit.limit=1e-9", "--set", "audit.sample=0"]).exits(0);
}

#[test]
fn a_mode_resumes_to_the_same_bits_and_audits() {
    let whole = Folder::new(&config("mixed"));
    whole.tisane(&["run", "run.toml"]).exits(0);
    let parts = Folder::new(&config("mixed"));
    parts.tisane(&["run", "run.toml", "--set", "limits.block_steps=100"]).exits(3);
    while parts.tisane(&["resume", "runs/r"]).code == 3 {}
    assert_eq!(summary(&whole.path("runs/r"))["state_sha256"], summary(&parts.path("runs/r"))["state_sha256"]);
    assert_eq!(diagnostics(&whole.path("runs/r")), diagnostics(&parts.path("runs/r")));
}
