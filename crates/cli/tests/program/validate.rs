//! `tisane validate`: cases from the program and from a folder, verdicts and exit codes, what is missing is said, and a
//! mistake in a case is reported with file, line and key.

use crate::program;
use program::{Folder, Said, wait_until};
use std::fs;
use std::process::Command;
use std::time::Duration;

/// A circular orbit over one period: quick, and right to many digits.
const CONFIG: &str = "[run]\nname = \"orbit\"\nt_end = 6.283185307179586\n[initial.two-body]\n[integrator.hermite4]\n\
                      nu = 1e-3\ndt_max = \"6.283185307179586/64\"\n";
const RUNS: &str = "title = \"An orbit\"\nquick = true\n[[runs]]\nname = \"one\"\nconfig = \"orbit.toml\"\nx = 1\n";
const CHECK: &str = "[[checks]]\nwhat = \"period\"\nrun = \"one\"\nquantity = \"period\"\nbody = [1]\nabout = [0]\n\
                     reference = 6.283185307179586\ntolerance = 1e-5\nkind = \"relative\"\nsource = \"Kepler\"\n";

/// A folder `cases` with one case.
fn folder(case: &str) -> Folder {
    let folder = Folder::new("");
    fs::create_dir_all(folder.path("cases/orbit")).unwrap();
    folder.write("cases/orbit/case.toml", case);
    folder.write("cases/orbit/orbit.toml", CONFIG);
    folder
}

fn validate(case: &str, more: &[&str]) -> (Folder, Said) {
    let folder = folder(case);
    let said = folder.tisane(&[&["validate", "--from", "cases"], more].concat());
    (folder, said)
}

fn case() -> String {
    format!("{RUNS}{CHECK}")
}

#[test]
fn a_case_that_holds_exits_0_and_writes_its_table() {
    let (folder, said) = validate(&case(), &["--output", "out"]);
    said.exits(0).says(&["| orbit | period | 6.283185 |", "| pass |", "1 checks: 1 passed, 0 failed, 0 skipped"]);
    let table = fs::read_to_string(folder.path("out/results.md")).unwrap();
    assert!(
        table.starts_with("| case | quantity | reference | tolerance | measured | verdict | commit | machine |"),
        "{table}"
    );
    let mut csv = csv::Reader::from_path(folder.path("out/results.csv")).unwrap();
    let names: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
    let row = csv.records().next().unwrap().unwrap();
    let at = |name: &str| row[names.iter().position(|n| n == name).unwrap()].to_owned();
    assert_eq!((at("case").as_str(), at("verdict").as_str(), at("source").as_str()), ("orbit", "pass", "Kepler"));
    assert!((at("measured").parse::<f64>().unwrap() / std::f64::consts::TAU - 1.0).abs() < 1e-5);
    assert!(!at("commit").is_empty() && at("machine").contains("threads"));
}

#[test]
fn a_case_that_does_not_hold_exits_4() {
    let (folder, said) =
        validate(&case().replace("6.283185307179586\ntolerance", "6.3\ntolerance"), &["--output", "out"]);
    said.exits(4).says(&["| FAIL |", "1 failed"]);
    assert!(fs::read_to_string(folder.path("out/results.csv")).unwrap().contains("FAIL"));
}

#[test]
fn json_has_every_result() {
    let said = validate(&case(), &["--json"]).1.exits(0);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["rows"][0]["verdict"], "pass");
    assert_eq!(json["rows"][0]["kind"], "relative");
    assert!(json["commit"].is_string() && json["machine"].is_string());
}

#[test]
fn what_is_missing_is_said_and_skipped() {
    let needing = case().replace("[[runs]]", "[needs]\ndata = \"stars.h5\"\n[[runs]]");
    let said = validate(&needing, &["--data", "elsewhere"]).1;
    said.exits(0).says(&["| skipped |", "skipped orbit: needs stars.h5, which is not in elsewhere", "1 skipped"]);
    // On a machine with a GPU this case runs, without one it is skipped: it never fails.
    let needing = case().replace("[[runs]]", "[needs]\ngpu = true\n[[runs]]");
    validate(&needing, &[]).1.exits(0).says(&["0 failed"]);
}

#[test]
fn a_run_that_fails_fails_its_checks_and_no_others() {
    let two = format!(
        "{RUNS}[[runs]]\nname = \"two\"\nconfig = \"orbit.toml\"\nset = [\"integrator.hermite4.dt_min=1e-3\", \
         \"integrator.hermite4.nu=1e-9\"]\n{CHECK}{}",
        CHECK.replace("run = \"one\"", "run = \"two\"")
    );
    validate(&two, &[]).1.exits(4).says(&[
        "1 passed, 1 failed",
        "FAIL orbit: run two: 2 particles need time steps",
        "below dt_min",
    ]);
}

#[test]
fn a_fit_gives_the_exponent_of_a_power_law() {
    // The period of an orbit goes as a^(3/2).
    let run = |a: &str| {
        format!(
            "[[runs]]\nname = \"{a}\"\nconfig = \"orbit.toml\"\nx = {a}\nset = [\"initial.two-body.semi_major_axis={a}\"]\n"
        )
    };
    let fit = CHECK.replace("run = \"one\"", "fit = [\"1\", \"2\", \"4\"]").replace("6.283185307179586", "1.5");
    let case = format!("title = \"Kepler\"\n{}{}{}{fit}", run("1"), run("2"), run("4"));
    validate(&case, &[]).1.exits(0).says(&["| 1.5 |", "1 passed"]);
}

#[test]
fn the_nearest_case_is_named() {
    let said = Folder::new("").tisane(&["validate", "keppler"]);
    said.exits(2).says(&["there is no such case", "did you mean `kepler`?", "figure-eight"]);
    let (_, said) = validate(&case(), &["orbits"]);
    said.exits(2).says(&["did you mean `orbit`?"]);
    let folder = Folder::new("");
    folder.tisane(&["validate", "--from", "nowhere"]).exits(2).says(&["nowhere", "cannot read it"]);
    folder.tisane(&["validate", "--from", "."]).exits(2).says(&["there is no case in it"]);
}

/// What a mistake in `case.toml` must get: the case with one thing replaced, and what is said about it.
const MISTAKES: [(&str, &str, &[&str]); 22] = [
    (
        "quantity = \"period\"",
        "quantity = \"periode\"",
        &["case.toml:10: checks[1].quantity", "did you mean \"period\"?"],
    ),
    ("kind = \"relative\"", "kind = \"relativ\"", &["case.toml:15: checks[1].kind", "did you mean \"relative\"?"]),
    (
        "run = \"one\"",
        "run = \"on\"",
        &["case.toml:9: checks[1].run", "no run of this case \"on\"", "did you mean \"one\"?"],
    ),
    (
        "config = \"orbit.toml\"",
        "config = \"orbits.toml\"",
        &["case.toml:5: runs[1].config", "did you mean \"orbit.toml\"?"],
    ),
    ("tolerance", "tolerances", &["case.toml:14: checks[1].tolerances: unknown key", "did you mean `tolerance`?"]),
    ("source = \"Kepler\"\n", "", &["checks[1].source: missing key `source`"]),
    ("body = [1]\n", "", &["checks[1].body: missing key `body`: `period` needs it"]),
    ("body = [1]", "body = [9]", &["FAIL orbit: there is no particle 9: the run has 2"]),
    ("body = [1]", "body = [-1]", &["case.toml:11: checks[1].body", "at least 0"]),
    ("body = [1]", "body = 1", &["case.toml:11: checks[1].body: expected a list"]),
    ("about = [0]", "about = [0]\nfraction = 0.5", &["checks[1].fraction: `period` has no use for it"]),
    ("tolerance = 1e-5", "tolerance = -1", &["case.toml:14: checks[1].tolerance: expected at least 0, found -1"]),
    (
        "tolerance = 1e-5\nkind = \"relative\"",
        "tolerance = 0.5\nkind = \"factor\"",
        &["expected at least 1, found 0.5"],
    ),
    ("run = \"one\"\n", "", &["checks[1].run: expected either `run` or `fit`"]),
    ("run = \"one\"", "fit = [\"one\"]", &["checks[1].fit: a power law needs at least two runs"]),
    ("quick = true", "quick = 1", &["case.toml:2: quick: expected true or false, found the number 1"]),
    ("x = 1", "x = \"one\"", &["case.toml:6: runs[1].x", "is not a number"]),
    ("title = \"An orbit\"\n", "", &["title: missing key `title`"]),
    ("quick = true", "quick =", &["case.toml:2", "not valid TOML"]),
    (CHECK, "", &["case.toml: checks: missing"]),
    ("[[runs]]\nname = \"one\"\nconfig = \"orbit.toml\"\nx = 1", "runs = []", &["runs: expected at least one value"]),
    (
        "config = \"orbit.toml\"",
        "config = \"orbit.toml\"\nset = [\"integrator.hermite4.mu=1\"]",
        &["--set", "hermite4.mu"],
    ),
];

#[test]
fn a_mistake_in_a_case_is_told_where_it_was_made() {
    for (right, wrong, expected) in MISTAKES {
        let case = case();
        assert!(case.contains(right), "{right}");
        let said = validate(&case.replacen(right, wrong, 1), &[]).1;
        let code = if expected[0].starts_with("FAIL") { 4 } else { 2 };
        said.exits(code).says(expected);
    }
    let folder = folder(&case());
    folder.write("cases/orbit/orbit.toml", CONFIG.replace("nu =", "mu ="));
    folder
        .tisane(&["validate", "--from", "cases"])
        .exits(2)
        .says(&["cases/orbit/orbit.toml:6: integrator.hermite4.mu"]);
}

#[test]
fn a_table_of_positions_is_compared_row_by_row() {
    let check = "[[checks]]\nwhat = \"x\"\nrun = \"one\"\nquantity = \"position-error\"\ntable = \"t.csv\"\nreference = 0\n\
                 tolerance = 1e-3\nkind = \"absolute\"\nsource = \"Kepler\"\n";
    for (row, code, expected) in [
        ("6.283185307179586,1,-0.5,0,0", 0, "1 passed"),
        ("6.283185307179586,1,-0.6,0,0", 4, "| 0.1"),
        ("6.2,1,-0.5,0,0", 4, "the run has no moment at t = 6.2"),
        ("6.283185307179586,7,-0.5,0,0", 4, "the run has no particle 7"),
        ("6.283185307179586,1,-0.5,0", 4, "the table"),
    ] {
        let folder = folder(&format!("{RUNS}{check}"));
        folder.write("cases/orbit/t.csv", format!("# a remark\ntime,id,x,y,z\n{row}\n"));
        folder.tisane(&["validate", "--from", "cases"]).exits(code).says(&[expected]);
    }
}

/// Rows of a command: the program's own benchmark of forces on very few particles, of which only counts are looked at.
const COMMAND: &str = "title = \"Rows\"\n[[runs]]\nname = \"rows\"\ncommand = [\"bench\", \"force\", \"--json\", \"--n\", \
                       \"64,128,256\", \"--targets\", \"8\", \"--repeat\", \"1\"]\n[[checks]]\nwhat = \"targets\"\nrun = \
                       \"rows\"\nquantity = \"row\"\nvalue = \"/n\"\nrows = [\"n = 128\", \"targets = 8\"]\nreference = 128\n\
                       tolerance = 0\nkind = \"absolute\"\nsource = \"itself\"\n";

#[test]
fn a_command_gives_rows_to_pick_from() {
    let rows = "rows = [\"n = 128\", \"targets = 8\"]\n";
    for (wrong, code, expected) in [
        (rows, 0, "1 passed"),
        ("rows = [\"n = 129\"]\n", 4, "there is no row with n = 129"),
        ("rows = [\"targets = 8\"]\n", 4, "3 rows have targets = 8: `over` says which to take"),
        ("rows = [\"targets = 8\"]\nover = \"largest\"\n", 4, "| 256 |"),
        ("rows = [\"targets = 8\"]\nover = \"mean\"\n", 4, "| 149.3333 |"),
        ("rows = [\"targets = 8\"]\nagainst = \"/n\"\n", 4, "| 1 |"),
        ("rows = [\"targets = 8\"]\nagainst = \"/m\"\n", 4, "a row has no number /m"),
        ("rows = [\"n = 128\", \"targets = 8\"]\nper = \"rows\"\n", 4, "| 1 |"),
        ("rows = [\"n = 128\"]\nbody = [1]\n", 2, "checks[1].body: `row` has no use for it"),
    ] {
        assert!(COMMAND.contains(rows));
        validate(&COMMAND.replace(rows, wrong), &[]).1.exits(code).says(&[expected]);
    }
    let failing = COMMAND.replace("\"--n\"", "\"--m\"");
    validate(&failing, &[])
        .1
        .exits(4)
        .says(&["FAIL orbit: run rows: tisane bench force --json --m", "unexpected argument"]);
    let silent = COMMAND.replace("\"--json\", ", "\"--json\", \"--help\", ");
    validate(&silent, &[]).1.exits(4).says(&["no JSON"]);
    let both = COMMAND.replace("command =", "config = \"orbit.toml\"\ncommand =");
    validate(&both, &[]).1.exits(2).says(&["runs[1]: expected either `config` or `command`"]);
    let of_a_run =
        case().replace("quantity = \"period\"\nbody = [1]\nabout = [0]\n", "quantity = \"row\"\nvalue = \"/n\"\n");
    validate(&of_a_run, &[]).1.exits(2).says(&["checks[1].run: the run \"one\" has no rows: it is a configuration"]);
}

#[test]
fn the_program_holds_the_cases_of_the_repository() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("validation");
    let folder = Folder::new("");
    let inside = folder.tisane(&["validate", "--list"]).exits(0).out;
    let outside = folder.tisane(&["validate", "--list", "--from", root.to_str().unwrap()]).exits(0).out;
    assert_eq!(inside, outside);
    for entry in fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.join("case.toml").is_file() {
            let name = entry.file_name().unwrap().to_str().unwrap();
            assert!(inside.contains(name), "{name} is not in\n{inside}");
            assert!(entry.join("README.md").is_file(), "{name} has no README.md");
        }
    }
}

#[test]
fn every_configuration_of_the_cases_is_valid() {
    let entries = tisane_lab::validate::library::all(None).unwrap();
    assert!(entries.len() > 8, "only {} cases", entries.len());
    for entry in &entries {
        tisane_lab::validate::run::check_configurations(entry).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
    }
}

#[test]
fn bodies_are_those_of_ids_by_their_masses_and_intervals_have_their_ends() {
    // Three bodies at rest on a line, out of the order of their ids.
    let table = "m,x,y,z,vx,vy,vz,id\n2,4,0,0,0,0,0,2\n3,0,0,0,0,0,0,0\n1,1,0,0,0,0,0,1\n";
    let config = "[run]\nname = \"line\"\nt_end = 0.5\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"line.csv\"\n[softening]\nepsilon = 0.1\n\
                  [integrator.hermite4]\ndt_max = \"1/8\"\n[output]\nsnapshot_interval = \"1/8\"\n";
    let check = |what: &str, bodies: &str, over: &str, reference: &str| {
        format!(
            "[[checks]]\nwhat = \"{what}\"\nrun = \"one\"\nquantity = \"distance\"\n{bodies}\nover = \"{over}\"\nreference = {reference}\n\
             tolerance = 1e-12\nkind = \"absolute\"\nsource = \"by hand\"\n"
        )
    };
    let (far, both) = ("body = [2]\nabout = [0]", "body = [1, 2]\nabout = [0]");
    let near = "body = [1]\nabout = [0]\nto = 0.25\nfrom = 0.125";
    let checks = [
        check("by ids", far, "start", "4"),
        check("centre of mass", both, "start", "3"),
        check("to the end of the interval", near, "time-of-smallest", "0.25"),
    ];
    let folder = folder(&format!("{}{}", RUNS, checks.concat()));
    folder.write("cases/orbit/orbit.toml", config);
    folder.write("cases/orbit/line.csv", table);
    folder.tisane(&["validate", "--from", "cases"]).exits(0).says(&["3 passed, 0 failed"]);
}

#[test]
fn a_signal_keeps_the_cases_that_are_through() {
    // A run of hours, and a command of hours: each must end long before that.
    let long = RUNS.replace("x = 1\n", "set = [\"run.t_end=\\\"6.283185307179586e6\\\"\"]\n");
    let command =
        "title = \"Hours\"\n[[runs]]\nname = \"one\"\ncommand = [\"bench\", \"run\", \"--json\", \"--n\", \"65536\"]\n";
    let check = CHECK.replace("\"period\"\nbody = [1]\nabout = [0]\n", "\"row\"\nvalue = \"/seconds\"\n");
    for middle in [format!("{long}{CHECK}"), format!("{command}{check}")] {
        let folder = Folder::new("");
        for (name, case) in [("a", &case()), ("b", &middle), ("c", &case())] {
            fs::create_dir_all(folder.path("cases").join(name)).unwrap();
            folder.write(&format!("cases/{name}/case.toml"), case);
            folder.write(&format!("cases/{name}/orbit.toml"), CONFIG);
        }
        let said = fs::File::create(folder.path("said")).unwrap();
        let mut child = folder.command(&["validate", "--from", "cases", "--output", "out"]);
        let mut child = child.stdout(said).spawn().unwrap();
        let output = || fs::read_to_string(folder.path("said")).unwrap();
        wait_until("the first case", || output().contains("1 pass"));
        std::thread::sleep(Duration::from_millis(200));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success(), "{}", output());
        let mut ended = None;
        wait_until("the end after a signal", || {
            ended = child.try_wait().unwrap();
            ended.is_some()
        });
        assert_eq!(ended.unwrap().code(), Some(3), "{}", output());
        let table = fs::read_to_string(folder.path("out/results.md")).unwrap();
        assert!(table.contains("| a | period |") && table.contains("1 passed, 0 failed, 2 skipped"), "{table}");
        for case in ["b", "c"] {
            assert!(table.contains(&format!("skipped {case}: stopped on request")), "{table}");
        }
    }
}
