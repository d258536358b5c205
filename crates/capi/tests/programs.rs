//! Promise: programs in C, C++ and Fortran compile without a warning, get the bits of the program tisane from the shared
//! and the static library, and nothing that they do wrong crashes, leaks or prints. Compilers that are not installed
//! are skipped, and the tests say so.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};
use tempfile::TempDir;
use tisane::time::Time;
use tisane_run::assemble::{self, Session};
use tisane_run::config::Config;

const CONFIGURATION: &str = "
[run]
name = 'sphere'
t_end = 0.5
[initial.plummer]
n = 64
[softening]
epsilon = 0.01
[integrator.multipoint]
dt_max = '1/16'
";

/// What a static library of Rust needs of the system.
const STATIC: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Folder with the libraries under their own names.
fn libraries() -> TempDir {
    let (folder, built) = (tempfile::tempdir().unwrap(), env::current_exe().unwrap());
    let built = built.parent().unwrap();
    for (name, as_what) in [("libtisane_capi.so", "libtisane.so"), ("libtisane_capi.a", "libtisane.a")] {
        fs::copy(built.join(name), folder.path().join(as_what)).expect("cargo has built the library");
    }
    std::os::unix::fs::symlink("libtisane.so", folder.path().join("libtisane.so.1")).unwrap();
    folder
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Expects success without a word on standard error.
fn quiet(command: &mut Command) -> String {
    let out = run(command);
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && error.is_empty(), "{command:?}: {}\n{error}", out.status);
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !there {
        println!("SKIPPED: {program} is not installed");
    }
    there
}

/// Compiles a program of the folder `programs`; returns its path.
fn compiled(folder: &Path, compiler: &str, source: &str, shared: bool) -> PathBuf {
    let program = folder.join(format!("{source}-{compiler}-{shared}"));
    let mut command = Command::new(compiler);
    command
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(home().join("include"));
    if compiler == "gfortran" {
        command.arg("-J").arg(folder).arg(home().join("fortran/tisane.f90"));
    }
    if compiler == "g++" {
        command.args(["-x", "c++"]);
    }
    command.arg(home().join("tests/programs").join(source));
    if compiler == "g++" {
        command.args(["-x", "none"]);
    }
    if shared {
        command.arg("-L").arg(folder).arg("-ltisane").arg(format!("-Wl,-rpath,{}", folder.display()));
    } else {
        command.arg(folder.join("libtisane.a")).args(STATIC);
    }
    quiet(command.arg("-lm"));
    program
}

/// Writes the configuration; returns its path and the hash of the final state of a run with it.
fn configuration(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("sphere.toml");
    fs::write(&path, CONFIGURATION).unwrap();
    let mut setup = assemble::prepare(Config::from_file(&path, &[]).unwrap()).unwrap();
    let mut propagator = assemble::propagator(&setup, Session::default()).unwrap();
    propagator.start(&mut setup.particles).unwrap();
    propagator.advance(&mut setup.particles, Time::from_dt_max(setup.steps_to_end), u64::MAX).unwrap();
    (path, setup.particles.state_sha256(&setup.clock))
}

#[test]
fn programs_in_c_get_the_bits_of_the_program() {
    if !is_there("gcc") {
        return;
    }
    let folder = libraries();
    let (path, hash) = configuration(folder.path());
    let saved = folder.path().join("saved.hdf5");
    for shared in [true, false] {
        let says = quiet(&mut Command::new(compiled(folder.path(), "gcc", "forces.c", shared)));
        assert_eq!(says, "forces: good\n");
        let simulation = compiled(folder.path(), "gcc", "simulation.c", shared);
        let says = quiet(Command::new(simulation).arg(&path).args(["0.5", &hash]).arg(&saved));
        assert_eq!(says, "simulation: good\n");
        let says = quiet(&mut Command::new(compiled(folder.path(), "gcc", "mistakes.c", shared)));
        assert_eq!(says, "mistakes: good\n");
    }
}

#[test]
fn the_header_is_good_for_cpp_and_the_module_for_fortran() {
    let folder = libraries();
    if is_there("g++") {
        assert_eq!(quiet(&mut Command::new(compiled(folder.path(), "g++", "forces.c", true))), "forces: good\n");
    }
    if is_there("gfortran") {
        assert_eq!(
            quiet(&mut Command::new(compiled(folder.path(), "gfortran", "cluster.f90", true))),
            "cluster: good\n"
        );
    }
}

/// Memory that the library keeps for its threads and tables is reachable at the end; nothing else may be left.
#[test]
fn nothing_leaks_and_no_memory_is_read_that_is_not_there() {
    if !is_there("gcc") || !is_there("valgrind") {
        return;
    }
    let folder = libraries();
    let (path, hash) = configuration(folder.path());
    let valgrind = |program: PathBuf, arguments: &[&str]| {
        let mut command = Command::new("valgrind");
        // Instructions that valgrind does not know.
        command.env("TISANE_SIMD", "baseline").env("RAYON_NUM_THREADS", "2");
        command.args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
            "--show-leak-kinds=definite",
        ]);
        let out = run(command.arg(program).args(arguments));
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    };
    let saved = folder.path().join("saved.hdf5");
    valgrind(compiled(folder.path(), "gcc", "forces.c", true), &[]);
    // A forked process loses the memory of the threads that it does not have.
    valgrind(compiled(folder.path(), "gcc", "mistakes.c", true), &["without forks"]);
    let arguments = [path.to_str().unwrap(), "0.5", &hash, saved.to_str().unwrap()];
    valgrind(compiled(folder.path(), "gcc", "simulation.c", true), &arguments);
}

/// Every symbol of the shared library is in the header, and every function of the header in the library.
#[test]
fn symbols_are_those_of_the_header() {
    if !is_there("nm") {
        return;
    }
    let folder = libraries();
    let listed = quiet(Command::new("nm").args(["-D", "--defined-only"]).arg(folder.path().join("libtisane.so")));
    let mut symbols: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    symbols.sort_unstable();
    let header = fs::read_to_string(home().join("include/tisane.h")).unwrap();
    let declared =
        header.lines().filter(|line| !line.starts_with(['/', ' ', '#', 's', '}']) || line.contains(" tisane_last"));
    let name = |line: &'_ str| {
        let (before, _) = line.split_once('(')?;
        before.rsplit([' ', '*']).next().filter(|name| name.starts_with("tisane_")).map(str::to_owned)
    };
    let mut functions: Vec<String> = declared.filter_map(name).collect();
    functions.sort_unstable();
    functions.dedup();
    assert!(functions.len() > 25, "{functions:?}");
    assert_eq!(symbols, functions);
}
