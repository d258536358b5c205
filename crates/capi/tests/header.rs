//! Promise: `include/tisane.h` is the header of the functions as they are, and lists every symbol of the library.
//! `TISANE_WRITE_HEADER=1 cargo test -p tisane-capi --test header` writes it anew.

use std::path::Path;
use std::{env, fs};

const ABOUT: &str = "/* tisane: direct N-body integrator. Forces and simulations for C, C++ and Fortran.
 *
 * Every function returns a tisane_status; tisane_last_error() has the text of an error. No function prints, and none ends
 * the program. Objects are numbers. All numbers are in units with G = 1, or in those of the simulation's configuration.
 * Link with -ltisane, or see `pkg-config --cflags --libs tisane`.
 *
 * Made by cbindgen from the Rust sources: do not edit.
 */";

const TRAILER: &str = "/** Rows of vectors: double a[n][3]. */
static inline tisane_vectors tisane_rows(const double *a) {
    double *p = (double *)a;
    tisane_vectors v = {p, p + 1, p + 2, 3};
    return v;
}

/** Three columns of numbers. */
static inline tisane_vectors tisane_columns(const double *x, const double *y, const double *z) {
    tisane_vectors v = {(double *)x, (double *)y, (double *)z, 1};
    return v;
}

/** No vectors, where they may be left out. */
static inline tisane_vectors tisane_none(void) {
    tisane_vectors v = {NULL, NULL, NULL, 0};
    return v;
}";

fn header() -> String {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rename = [
        ("TisaneVectors", "tisane_vectors"),
        ("TisaneMeasured", "tisane_measured"),
        ("TisaneGoOn", "tisane_go_on"),
        ("Status", "tisane_status"),
    ];
    let rename = rename.map(|(from, to)| (from.to_owned(), to.to_owned())).into_iter().collect();
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        include_guard: Some("TISANE_H".into()),
        header: Some(ABOUT.into()),
        trailer: Some(TRAILER.into()),
        style: cbindgen::Style::Both,
        usize_is_size_t: true,
        documentation_style: cbindgen::DocumentationStyle::C99,
        line_length: 120,
        export: cbindgen::ExportConfig { rename, ..Default::default() },
        ..Default::default()
    };
    let files = ["status.rs", "arrays.rs", "forces.rs", "simulation.rs", "columns.rs", "stars.rs"];
    let builder = files
        .iter()
        .fold(cbindgen::Builder::new().with_config(config), |builder, file| builder.with_src(sources.join(file)));
    let mut text = Vec::new();
    builder.generate().expect("a header").write(&mut text);
    // The sections on safety are for Rust.
    let text = String::from_utf8(text).expect("UTF-8");
    let mut kept: Vec<&str> = Vec::new();
    let mut skipping = false;
    for line in text.lines() {
        skipping = (skipping || line.trim() == "// # Safety") && line.trim_start().starts_with("//");
        if !skipping {
            kept.push(line);
        } else if kept.last().is_some_and(|last| last.trim() == "//") {
            kept.pop();
        }
    }
    kept.join("\n") + "\n"
}

#[test]
fn the_header_is_that_of_the_functions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tisane.h");
    let made = header();
    if env::var_os("TISANE_WRITE_HEADER").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == made, "the header is stale: TISANE_WRITE_HEADER=1 cargo test -p tisane-capi --test header");
}
