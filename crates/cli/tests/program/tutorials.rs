//! Promise: the commands of the tutorials and of the list of problems work as written. Each block of commands ends with
//! the exit code in the comment of its last line, 0 without one, and prints what the block of text after it shows.

use crate::program::{Folder, Said, finish, with_default_signals};
use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A block of code of a page.
struct Block {
    /// Language after the fence.
    language: String,
    text: String,
    /// Line of the page where it begins, for messages.
    line: usize,
}

/// The fenced blocks of a page, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for (k, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), found.last_mut().filter(|_| inside)) {
            (Some(_), Some(_)) => inside = false,
            (Some(language), None) => {
                inside = true;
                found.push(Block { language: language.to_owned(), text: String::new(), line: k + 1 });
            }
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(!inside, "a fence is not closed");
    found
}

/// Runs commands in a folder as a shell does that stops at the first that fails, with both outputs in one. `python` goes before
/// the places where programs are searched.
fn sh(folder: &Folder, commands: &str, python: &str) -> Said {
    let mut command = with_default_signals("sh");
    let program = Path::new(env!("CARGO_BIN_EXE_tisane")).parent().unwrap().display();
    let others = python.to_owned() + &std::env::var("PATH").unwrap_or_default();
    command.args(["-e", "-c", &format!("exec 2>&1\n{commands}")]).stdin(Stdio::null());
    command.current_dir(folder.path("")).env("PATH", format!("{program}:{others}"));
    // A performance model of this user would change what is said of wall times.
    command.env("XDG_CONFIG_HOME", folder.path("config")).env_remove("TISANE_MODEL").env_remove("TISANE_SIMD");
    finish(command)
}

/// The exit code that the comment of the last line of commands names.
fn expected_code(commands: &str) -> i32 {
    let last = commands.trim_end().lines().last().unwrap_or_default();
    last.split_once("# exit code ").map_or(0, |(_, code)| code.trim().parse().unwrap())
}

/// Returns true if `output` has the parts of `shown` between its ellipses, in order. White space does not count: lines
/// break elsewhere where a number in them is longer.
fn shows(output: &str, shown: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let output = plain(output);
    let mut rest = output.as_str();
    plain(shown).split('…').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Finds a Python with the package and matplotlib: that of the machine, or that of `scripts/check/python`. Returns what goes before
/// the places where programs are searched.
fn python_with_package() -> Option<String> {
    let of_check = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/python/bin");
    let has_it = |place: &String| {
        let places = place.clone() + &std::env::var("PATH").unwrap_or_default();
        let mut python = Command::new("sh");
        python.args(["-c", "python3 -c 'import matplotlib, tisane'"]).env("PATH", places);
        python.output().is_ok_and(|said| said.status.success())
    };
    [String::new(), format!("{}:", of_check.display())].into_iter().find(has_it)
}

/// Follows a page of the guide in `folder`: writes its files (blocks that begin with `# NAME`), runs its commands. Those of
/// scripts that need the Python package are left out where there is none.
fn follow(page: &str, folder: &Folder) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let mut last: Option<Said> = None;
    let (mut ran, mut compared) = (0, 0);
    let needs_package =
        |name: &&&str| fs::read_to_string(folder.path(name)).is_ok_and(|text| text.contains("import tisane"));
    let mut with_package: Vec<String> = EXAMPLES.iter().filter(needs_package).map(|&name| name.to_owned()).collect();
    let python = OnceCell::new();
    for Block { language, text, line } in blocks(&text) {
        let name = text.lines().next().and_then(|first| first.strip_prefix("# ")).filter(|name| name.contains('.'));
        match (language.as_str(), last.take()) {
            ("sh", _) => {
                let needs_package = with_package.iter().any(|script| text.contains(script));
                let python = if needs_package { python.get_or_init(python_with_package) } else { &Some(String::new()) };
                let Some(python) = python else {
                    eprintln!("SKIPPED: {page}:{line} needs Python with the package of scripts/check/python");
                    continue;
                };
                let said = sh(folder, &text, python);
                assert_eq!(said.code, expected_code(&text), "{page}:{line}:\n{text}ended with\n{}", said.out);
                last = Some(said);
                ran += 1;
            }
            ("text", Some(said)) => {
                assert!(shows(&said.out, &text), "{page}:{line}: the commands before it print\n{}", said.out);
                compared += 1;
            }
            (_, _) => {
                if let Some(name) = name.filter(|name| !name.contains(' ')) {
                    folder.write(name, &text);
                    if text.contains("import tisane") {
                        with_package.push(name.to_owned());
                    }
                }
            }
        }
    }
    assert!(ran >= 4 && compared >= 1, "{page}: only {ran} blocks of commands and {compared} of their output");
}

/// Says so where there is no Python, which a page needs.
fn no_python(page: &str) -> bool {
    let missing = Command::new("python3").arg("--version").output().is_err();
    if missing {
        eprintln!("SKIPPED: {page} needs python3");
    }
    missing
}

/// Files of `examples/` that tutorials begin with.
const EXAMPLES: [&str; 3] = ["examples/cluster-1k.dat", "examples/binaries.py", "examples/binding.py"];

/// A folder with these examples of the repository.
fn with_examples() -> Folder {
    let folder = Folder::new("");
    fs::create_dir(folder.path("examples")).unwrap();
    for name in EXAMPLES {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name), folder.path(name)).unwrap();
    }
    folder
}

#[test]
fn the_first_cluster_works() {
    follow("tutorial-cluster.md", &with_examples());
}

#[test]
fn the_cluster_with_binaries_works() {
    if no_python("tutorial-binaries.md") {
        return;
    }
    follow("tutorial-binaries.md", &with_examples());
}

#[test]
fn the_core_collapse_works() {
    follow("tutorial-core-collapse.md", &Folder::new(""));
}

#[test]
fn the_planets_work() {
    follow("tutorial-planets.md", &Folder::new(""));
}

#[test]
fn the_accuracy_study_works() {
    follow("tutorial-accuracy.md", &Folder::new(""));
}

#[test]
fn the_parameter_sweep_works() {
    if no_python("tutorial-sweep.md") {
        return;
    }
    follow("tutorial-sweep.md", &Folder::new(""));
}

#[test]
fn the_thousand_clusters_work() {
    if no_python("tutorial-dissolution.md") {
        return;
    }
    follow("tutorial-dissolution.md", &Folder::new(""));
}

#[test]
fn the_cluster_in_the_milky_way_works() {
    follow("tutorial-galaxy.md", &Folder::new(""));
}

#[test]
fn the_open_cluster_works() {
    follow("tutorial-open-cluster.md", &Folder::new(""));
}

#[test]
fn the_page_about_why_works() {
    follow("why.md", &Folder::new(""));
}

#[test]
fn the_problems_end_as_they_are_listed() {
    follow("faq.md", &Folder::new(""));
}

#[test]
fn ellipses_stand_for_any_text_and_lines_break_anywhere() {
    let output = "error: one step took 3.2 s,\n       semi-major axis 0.5\n";
    assert!(shows(output, "one step took … s, semi-major axis 0.5"));
    assert!(shows(output, "one step … axis 0.5"));
    assert!(!shows(output, "axis 0.5 … one step"), "the order counts");
    assert!(!shows(output, "took … h,"));
    assert_eq!(expected_code("tisane run a.toml\ntisane run b.toml    # exit code 4\n"), 4);
    assert_eq!(expected_code("tisane run a.toml    # the first\n"), 0);
}
