//! Promise: programs in C and Fortran compile with the header, link with either library, and get the right forces; what is
//! chosen by the environment is obeyed or refused in one line, and nothing else is printed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a static library of Rust needs besides.
const SYSTEM: &[&str] = &["-lpthread", "-ldl", "-lm"];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Folder of this test and of the libraries.
fn libraries() -> PathBuf {
    std::env::current_exe().expect("this program").parent().expect("its folder").into()
}

/// Compiles a program into a file named after this test.
fn compiled(compiler: &str, name: &str, test: &str, options: &[&OsStr]) -> PathBuf {
    let program = libraries().join(format!("g6-{test}"));
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let output = Command::new(compiler)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(include)
        .arg(source(name))
        .arg("-o")
        .arg(&program)
        .args(options)
        .output();
    let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Compiles a program against the shared library.
fn shared(compiler: &str, name: &str, test: &str) -> PathBuf {
    let folder = libraries();
    let mut path = std::ffi::OsString::from("-Wl,-rpath,");
    path.push(&folder);
    compiled(compiler, name, test, &["-L".as_ref(), folder.as_ref(), &path, "-lg6".as_ref(), "-lm".as_ref()])
}

/// Compiles a program against the static library, with more options for the linker.
fn statically(name: &str, test: &str, options: &[&str]) -> PathBuf {
    let library = libraries().join("libg6.a");
    let options = options.iter().map(OsStr::new);
    let all: Vec<&OsStr> = options.chain([library.as_ref()]).chain(SYSTEM.iter().map(OsStr::new)).collect();
    compiled("gcc", name, test, &all)
}

fn run(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TISANE_")) {
        command.env_remove(name);
    }
    // Cargo's search path would find libraries of an earlier build.
    command.env_remove("LD_LIBRARY_PATH").args(arguments).envs(variables.iter().copied());
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    output
}

/// Returns what a program printed.
fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn value(line: &str, name: &str) -> f64 {
    let found = line.split_whitespace().find_map(|word| word.strip_prefix(&format!("{name}=")));
    found.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {line:?}"))
}

/// Checks the line of a client in C and its errors, and that it printed nothing else.
fn check(output: &Output, npipes: f64, max: f64) {
    let (line, errors) = printed(output);
    let ours = f64::from(u8::from(npipes > 48.0));
    let values = ["open", "npipes", "code", "own", "close"].map(|name| value(&line, name));
    assert_eq!(values, [0.0, npipes, 0.0, ours, 0.0], "{line}");
    assert!(value(&line, "error") <= max && errors.is_empty(), "{line} {errors}");
}

#[test]
fn a_program_in_c_links_with_the_shared_library() {
    let program = shared("gcc", "client.c", "shared");
    check(&run(&program, &[], &[]), 48.0, 1e-13);
    check(&run(&program, &[], &[("TISANE_PRECISION", "f64-fast"), ("TISANE_DEVICE", "cpu")]), 48.0, 1e-13);
    for (mode, max) in [("mixed", 1e-4), ("double-float", 1e-4), ("f32-direct", 1e-3)] {
        check(&run(&program, &[], &[("TISANE_PRECISION", mode)]), 48.0, max);
    }
    check(&run(&program, &[], &[("TISANE_NPIPES", "256")]), 256.0, 1e-13);
}

/// A program with the address of every function in the header links with the library.
#[test]
fn the_library_has_every_function_of_the_header() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/g6.h");
    let header = std::fs::read_to_string(header).expect("the header");
    let declared = header.lines().filter(|line| line.starts_with("int ") || line.starts_with("void "));
    let names: Vec<&str> = declared.filter_map(|line| line.split([' ', '(']).nth(1)).collect();
    assert!(names.len() > 60, "{names:?}");
    let file = libraries().join("g6-every-function.c");
    let addresses: String = names.iter().map(|name| format!("(void *){name}, ")).collect();
    let text = format!("#include \"g6.h\"\nvoid *all[] = {{ {addresses} }};\nint main(void) {{ return 0; }}\n");
    std::fs::write(&file, text).expect("a file beside this test");
    run(&shared("gcc", file.to_str().expect("a path"), "every-function"), &[], &[]);
}

#[test]
fn a_program_in_c_links_with_the_static_library() {
    check(&run(&statically("client.c", "static", &[]), &[], &[]), 48.0, 1e-13);
}

/// Rayon's threads stay behind in a fork: the child must get its own.
#[test]
fn a_forked_child_gets_forces_too() {
    let program = shared("gcc", "client.c", "fork");
    let (_, line) = printed(&run(&program, &["fork"], &[]));
    assert!(value(&line, "open") == 0.0 && value(&line, "code") == 0.0 && value(&line, "error") <= 1e-13, "{line}");
}

#[test]
fn a_program_may_have_c_forms_of_its_own() {
    let want = "open=00 npipes=48 only=0 of-two=-2 none=-2 close=00 entered=5";
    assert_eq!(printed(&run(&shared("gcc", "own_forms.c", "own-shared"), &[], &[])), (want.into(), String::new()));
    let program = statically("own_forms.c", "own-static", &["-Wl,--allow-multiple-definition"]);
    assert_eq!(printed(&run(&program, &[], &[])), (want.into(), String::new()));
}

#[test]
fn a_wrong_setting_is_one_line() {
    let program = shared("gcc", "client.c", "settings");
    for (name, wrong, expected) in [
        ("TISANE_PRECISION", "f16", "tisane: g6_open: TISANE_PRECISION=f16: expected one of f32-direct"),
        ("TISANE_DEVICE", "gpu", "tisane: g6_open: TISANE_DEVICE=gpu: expected \"cpu\" or the number of a GPU"),
        ("TISANE_DEVICE", "9999", "tisane: g6_open: CUDA: "),
        ("TISANE_NPIPES", "many", "tisane: g6_open: TISANE_NPIPES=many: expected a number from 1"),
    ] {
        let (line, errors) = printed(&run(&program, &[], &[(name, wrong)]));
        assert_eq!(value(&line, "open"), -1.0);
        assert!(errors.starts_with(expected) && errors.lines().count() == 1, "{errors}");
    }
}

#[test]
fn messages_come_when_they_are_asked_for() {
    let program = shared("gcc", "client.c", "verbose");
    let variables = [("TISANE_VERBOSE", "1"), ("TISANE_PRECISION", "mixed"), ("RAYON_NUM_THREADS", "3")];
    let (_, errors) = printed(&run(&program, &[], &variables));
    assert_eq!(errors, "tisane: cluster 3: CPU with 3 threads, mixed");
}

#[test]
fn a_program_in_fortran_links() {
    if Command::new("gfortran").arg("--version").output().is_err() {
        println!("SKIPPED: there is no gfortran here");
        return;
    }
    let (line, errors) = printed(&run(&shared("gfortran", "client.f90", "fortran"), &[], &[]));
    assert_eq!(errors, "");
    assert!(line.contains("nearest=22 11 list=1 22"), "{line}");
    assert_eq!(["npipes", "code", "error"].map(|name| value(&line, name)), [48.0, 0.0, 0.0], "{line}");
}
