//! Limits on what the sources may use: sockets, other programs, HDF5 files, Python modules, dependencies.

use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files below a folder with one of the extensions, with their texts.
fn texts(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extensions.iter().any(|e| extension == *e)) {
                let name = path.strip_prefix(repository()).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder}: nothing found");
    found
}

/// The Rust sources of all crates.
fn rust_sources() -> Vec<(String, String)> {
    let mut found = texts("src", &["rs"]);
    let crates = ["amuse", "io", "run", "plot", "view", "lab", "cli"];
    found.extend(crates.iter().flat_map(|name| texts(&format!("crates/{name}/src"), &["rs"])));
    found
}

/// The Rust sources without their unit tests, which may make a socket to see that it is refused as a file.
fn without_tests() -> Vec<(String, String)> {
    let mut sources = rust_sources();
    for (_, text) in &mut sources {
        text.truncate(text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len()));
    }
    sources
}

/// The files whose text has one of the words.
fn with_any(texts: &[(String, String)], words: &[&str]) -> Vec<String> {
    let has = |(_, text): &&(String, String)| words.iter().any(|word| text.contains(word));
    let mut names: Vec<String> = texts.iter().filter(has).map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

#[test]
fn the_network_is_touched_by_the_view_on_the_loopback_interface_and_by_the_worker_of_amuse() {
    let sources = without_tests();
    let net = [
        "std::net",
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "UnixStream",
        "UnixListener",
        "ToSocketAddrs",
        "tokio::net",
    ];
    let places = ["crates/amuse/src/main.rs", "crates/view/src/server.rs"];
    assert_eq!(with_any(&sources, &net), places);
    // The worker connects to AMUSE, where AMUSE says, and listens nowhere.
    let (_, worker) = sources.iter().find(|(name, _)| name == "crates/amuse/src/main.rs").unwrap();
    assert_eq!((worker.matches("TcpStream::connect(").count(), worker.contains("TcpListener")), (1, false));
    let (_, server) = sources.iter().find(|(name, _)| name == "crates/view/src/server.rs").unwrap();
    let binds: Vec<&str> = server.lines().filter(|line| line.contains("bind(")).collect();
    assert!(matches!(binds[..], [line] if line.contains("bind((Ipv4Addr::LOCALHOST, port))")), "{binds:?}");
    assert_eq!(with_any(&sources, &["UNSPECIFIED", "0.0.0.0"]), Vec::<String>::new());
}

#[test]
fn other_programs_are_started_where_that_is_argued_and_never_by_a_shell() {
    let sources = without_tests();
    let starts = with_any(&sources, &["process::Command", "process::{Command"]);
    // ffmpeg for a film; this program itself for a case of the validation.
    assert_eq!(starts, ["crates/cli/src/movie.rs", "crates/lab/src/validate/rows.rs"]);
    let of = |name: &str| sources.iter().find(|(found, _)| found == name).unwrap().1.matches("Command::new(").count();
    assert_eq!(starts.iter().map(|name| of(name)).collect::<Vec<_>>(), [1, 1]);
    assert!(sources.iter().any(|(_, text)| text.contains("Command::new(\"ffmpeg\")")));
    assert_eq!(
        with_any(&sources, &["\"sh\"", "\"bash\"", "/bin/sh", "\"-c\"", "libc::system", "CommandExt"]),
        Vec::<String>::new()
    );
}

#[test]
fn hdf5_files_are_opened_in_one_place_where_hdf5_locks_nothing() {
    let tests = [texts("tests", &["rs"]), texts("crates/cli/tests", &["rs"])].concat();
    for (all, one) in [(rust_sources(), "crates/io/src/hdf/open.rs"), (tests, "tests/common/hdf.rs")] {
        let mut sources = all.clone();
        // This list itself.
        sources.retain(|(name, _)| !name.ends_with("/sources.rs"));
        let opens = ["hdf5::File::", "File::open_rw(", "File::with_options(", "File::append(", "FileBuilder::new("];
        let mut found = with_any(&sources, &opens);
        // A file with the type in reach by its short name, which may be that of the system's files too.
        sources.retain(|(_, text)| {
            let imports = text.lines().filter(|line| line.trim_start().starts_with("use hdf5::"));
            imports.flat_map(|line| line.split([' ', '{', '}', ',', ';', ':'])).any(|word| word == "File")
        });
        let plain = |text: &str| text.replace("fs::File::", "");
        sources.iter_mut().for_each(|(_, text)| *text = plain(text));
        found.extend(with_any(&sources, &["File::create(", "File::open(", "File::create_excl(", "File::open_as("]));
        found.dedup();
        assert_eq!(found, [one], "with locks, a child process of another test makes the next opening fail by chance");
        assert!(all.iter().any(|(name, text)| name == one && text.contains(".file_locking(false)")));
    }
}

#[test]
fn python_runs_nothing_that_a_file_holds() {
    let python: Vec<_> = texts("python", &["py"]).into_iter().filter(|(name, _)| !name.contains("/tests/")).collect();
    let scripts = texts("scripts", &["py"]);
    let run =
        ["pickle", "eval(", "exec(", "os.system", "shell=True", "marshal", "shelve", "yaml.load(", "import_module"];
    for texts in [&python, &scripts] {
        assert_eq!(with_any(texts, &run), Vec::<String>::new());
    }
    let net = ["import socket", "socket.", "urllib", "http.client", "requests", "ftplib"];
    assert_eq!(with_any(&python, &net), Vec::<String>::new());
    // The one has cargo build the worker, the other has the package's own program draw figures, by a list of words.
    assert_eq!(with_any(&python, &["subprocess"]), ["python/amuse/setup.py", "python/tisane/figures.py"]);
}

/// Packages of a lock file.
fn locked(lock: &str) -> Vec<toml::Value> {
    let text = fs::read_to_string(repository().join(lock)).unwrap();
    let mut lock: toml::Table = toml::from_str(&text).unwrap();
    lock.remove("package").unwrap().as_array().unwrap().clone()
}

#[test]
fn no_dependency_opens_connections_but_that_of_the_view() {
    // The list is that of `cargo deny check bans`, which CI asks too.
    let text = fs::read_to_string(repository().join("deny.toml")).unwrap();
    let deny: toml::Table = toml::from_str(&text).unwrap();
    let banned = deny["bans"]["deny"].as_array().unwrap();
    let entry = |name: &str| banned.iter().find(|entry| entry["crate"].as_str() == Some(name));
    for name in ["reqwest", "hyper", "tokio", "ureq", "curl", "socket2", "mio", "rustls", "openssl"] {
        assert!(entry(name).is_some(), "{name} is not among the banned: {banned:?}");
    }
    let packages = locked("Cargo.lock");
    let name = |package: &toml::Value| package["name"].as_str().unwrap().to_owned();
    assert!(packages.len() > 100 && packages.iter().any(|package| name(package) == "httparse"), "{}", packages.len());
    // What is banned may be there for the crates that its entry names, and for no others.
    let found =
        packages.iter().filter(|package| entry(&name(package)).is_some_and(|entry| entry.get("wrappers").is_none()));
    assert_eq!(found.map(name).collect::<Vec<_>>(), Vec::<String>::new());
    for package in &packages {
        let needs = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
        for needed in needs.filter_map(|needed| needed.as_str()?.split(' ').next()) {
            let Some(wrappers) = entry(needed).and_then(|entry| entry.get("wrappers")) else { continue };
            let allowed = wrappers.as_array().unwrap().iter().any(|one| one.as_str() == package["name"].as_str());
            assert!(allowed, "{} needs {needed}", name(package));
        }
    }
}
