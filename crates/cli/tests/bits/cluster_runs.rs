//! Promise: the journals of the cluster are those of its snapshots, to the bit; kills and resumes repeat no event;
//! `tisane analyze` reports snapshots that it cannot read.

use crate::program;
use program::Folder;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tisane::initial::kepler::Elements;
use tisane::initial::plummer;
use tisane::particles::Vec3;
use tisane_io::fields::Journal;
use tisane_io::table::{self, Values};

const JOURNALS: [Journal; 3] = [Journal::Cluster, Journal::Binaries, Journal::Events];

/// A Plummer sphere with a binary, and a runaway that is beyond 10 half-mass radii after a while; ids from 10.
fn particles(mass: f64, length: f64, velocity: f64) -> String {
    let p = plummer::sample(150, 9, 0.999);
    let mut rows: Vec<(Vec3, Vec3)> = p.pos.into_iter().zip(p.vel).collect();
    let elements = Elements {
        semi_major_axis: 4e-3,
        eccentricity: 0.3,
        inclination: 0.5,
        node: 0.0,
        pericentre: 1.0,
        mean_anomaly: 2.0,
    };
    let (x, v) = elements.relative_state(2.0 / 150.0);
    for side in [-0.5, 0.5] {
        rows.push((Vec3::repeat(0.6) + side * x, side * v));
    }
    rows.push((7.0 * Vec3::z(), 8.0 * Vec3::z()));
    let mut text = String::from("m,x,y,z,vx,vy,vz,id\n");
    for (i, (x, v)) in rows.iter().enumerate() {
        let _ = write!(text, "{:?}", mass / 150.0);
        x.iter().for_each(|x| write!(text, ",{:?}", x * length).unwrap());
        v.iter().for_each(|v| write!(text, ",{:?}", v * velocity).unwrap());
        let _ = writeln!(text, ",{}", i + 10);
    }
    text
}

/// Its configuration, in N-body units or in others, which round.
fn folder(physical: bool) -> Folder {
    let (units, dt_max, t_end, epsilon) = if physical {
        ("mass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\ntime = \"Myr\"", 0.05, 0.4, 1e-4)
    } else {
        ("system = \"henon\"", 0.125, 0.5, 1e-4)
    };
    let folder = Folder::new(&format!(
        "[run]\nname = \"r\"\nt_end = {t_end}\n[units]\n{units}\n[initial.file]\npath = \"p.csv\"\n[softening]\nepsilon = {epsilon}\n\
         [integrator.hermite4]\ndt_max = {dt_max}\n[checkpoint]\ninterval = \"20ms\"\n"
    ));
    // 700 Msun in 0.7 pc: sqrt(G M / R) is 2.07 km/s.
    let [m, x, v] = if physical { [700.0, 0.7, 2.07] } else { [1.0; 3] };
    folder.write("p.csv", particles(m, x, v));
    folder
}

fn text(dir: &Path, journal: Journal) -> String {
    fs::read_to_string(dir.join(journal.csv())).unwrap()
}

fn kinds(dir: &Path) -> Vec<String> {
    let events = table::read_hdf5(&dir.join("events.hdf5")).unwrap();
    let values = |name: &str| &events.column(name).unwrap().values;
    let Values::Counts(ids) = values("id") else { panic!("no ids") };
    assert!(ids.iter().copied().eq(0..ids.len() as u64), "ids {ids:?}");
    let Values::Text(kinds) = values("kind") else { panic!("no kinds") };
    let Values::Text(members) = values("members") else { panic!("no members") };
    kinds.iter().zip(members).map(|(kind, members)| format!("{kind} {members}")).collect()
}

#[test]
fn snapshots_say_what_the_run_said_to_the_bit() {
    for physical in [false, true] {
        let folder = folder(physical);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        let output = folder.path("o");
        for (threads, to) in [("1", "one"), ("2", "two")] {
            folder.tisane(&["analyze", "o", "--threads", threads, "--output", to]).exits(0);
            for journal in JOURNALS {
                assert_eq!(
                    text(&output, journal),
                    text(&folder.path(to), journal),
                    "physical: {physical}, {threads} threads"
                );
                let [a, b] =
                    [&output, &folder.path(to)].map(|dir| table::read_hdf5(&dir.join(journal.hdf5())).unwrap());
                assert_eq!(format!("{:?}", a.columns), format!("{:?}", b.columns));
            }
        }
        let cluster = table::read_csv(&output.join("cluster.csv")).unwrap();
        let diagnostics = table::read_csv(&output.join("diagnostics.csv")).unwrap();
        assert_eq!(cluster.column("time"), diagnostics.column("time"));
        assert!(cluster.rows() > 4);
        let events = kinds(&output);
        assert_eq!(events[0], "binary-initial (160+161)");
        assert_eq!(events.iter().filter(|event| *event == "escape 162").count(), 1, "{events:?}");
        // Of the folder of the snapshots alone, without the directory of the run around it.
        folder.tisane(&["analyze", "o/snapshots", "--output", "bare"]).exits(0);
        assert_eq!(text(&output, Journal::Events), text(&folder.path("bare"), Journal::Events));
        folder.tisane(&["inspect", "two/events.hdf5"]).exits(0).says(&["tisane events, format version", "pericentre"]);
        folder.tisane(&["inspect", "o/cluster.csv"]).exits(0).says(&["tisane cluster, CSV", "core_radius"]);
    }
}

#[test]
fn nothing_is_told_twice_through_stops_and_resumes() {
    let expected = folder(false);
    expected.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let folder = folder(false);
    let mut code = folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=150"]).code;
    let mut stops = 0;
    while code == 3 {
        code = folder.tisane(&["resume", "o", "-q"]).code;
        stops += 1;
    }
    assert!(code == 0 && stops > 4, "code {code} after {stops} stops");
    for journal in JOURNALS {
        assert_eq!(text(&folder.path("o"), journal), text(&expected.path("o"), journal), "{journal:?}");
    }
    assert_eq!(kinds(&folder.path("o")).iter().filter(|event| event.starts_with("escape")).count(), 1);
}

#[test]
fn a_damaged_snapshot_is_named_and_left_out() {
    let folder = folder(false);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let path = folder.path("o/snapshots/snapshot_0002.hdf5");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    folder.tisane(&["analyze", "o"]).exits(8).says(&["snapshot_0002.hdf5", "4 of 5 snapshots"]);
    assert_eq!(text(&folder.path("o/analysis"), Journal::Cluster).lines().count(), 5);
    let online = text(&folder.path("o"), Journal::Cluster);
    for line in text(&folder.path("o/analysis"), Journal::Cluster).lines() {
        assert!(online.contains(line), "a row that the run did not write");
    }
    for number in 0..5 {
        fs::write(folder.path(&format!("o/snapshots/snapshot_{number:04}.hdf5")), "").unwrap();
    }
    folder
        .tisane(&["analyze", "o", "--output", "none"])
        .exits(2)
        .says(&["no snapshot here is whole", "snapshot_0004.hdf5"]);
    assert!(!folder.path("none").exists());
}

#[test]
fn what_has_no_snapshots_is_told() {
    let folder = Folder::new("[run]\nname = \"r\"\nt_end = 1\n[initial.plummer]\nn = 1\n");
    fs::create_dir(folder.path("empty")).unwrap();
    folder.tisane(&["analyze", "empty"]).exits(2).says(&["not the output directory of a run"]);
    folder.tisane(&["analyze", "nothing"]).exits(2).says(&["there is no such run"]);
    folder.tisane(&["analyze", "run.toml"]).exits(2).says(&["this is a file"]);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    folder.tisane(&["analyze", "o", "--output", "o"]).exits(2).says(&["would replace its cluster.csv"]);
    folder.tisane(&["analyze", "o", "--set", "cluster.neighbors=7"]).exits(2).says(&["did you mean `neighbours`?"]);
    // A single particle is an answer, not an error.
    folder.tisane(&["analyze", "o"]).exits(0).says(&["9 of 9 snapshots: 0 rows about binaries, 0 events"]);
    assert_eq!(text(&folder.path("o"), Journal::Cluster), text(&folder.path("o/analysis"), Journal::Cluster));
    fs::remove_dir_all(folder.path("o/snapshots")).unwrap();
    folder.tisane(&["analyze", "o"]).exits(2).says(&["a run without snapshots"]);
}

#[test]
fn the_journals_of_no_run_are_replaced() {
    let folder = Folder::new("[run]\nname = \"r\"\nt_end = 1\n[initial.plummer]\nn = 4\n");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "other", "--set", "initial.plummer.seed=3"]).exits(0);
    let refused = |dir: &str, output: &str, parts: &[&str]| {
        let before = folder.files();
        folder.tisane(&["analyze", dir, "--output", output]).exits(2).says(parts);
        assert!(folder.files() == before, "{dir} to {output} touched a file");
    };
    refused("o", "other", &["other", "the directory of a run, as run.log shows", "--output"]);
    refused("o/snapshots", "o", &["as run.log shows"]);
    for number in [0, 2, 3] {
        fs::remove_file(folder.path(&format!("other/snapshots/snapshot_000{number}.hdf5"))).unwrap();
    }
    // What is left of a run that somebody tidied up, or took with them in part.
    for gone in ["run.log", "config.toml", "summary.json", "checkpoint.hdf5", "checkpoint.previous.hdf5"] {
        let _ = fs::remove_file(folder.path(&format!("other/{gone}")));
    }
    refused("o", "other", &["as diagnostics.csv shows"]);
    folder.tisane(&["resume", "o", "-q", "--t-end", "1.5"]).exits(0);
    // A result of its own is.
    folder
        .tisane(&["analyze", "other"])
        .exits(0)
        .says(&["6 of 6 snapshots", "other: snapshots are missing: 0, 2 to 3"]);
    let said = folder.tisane(&["analyze", "o", "--output", "other/analysis"]).exits(0);
    assert!(!said.err.contains("missing"), "{}", said.err);
    assert_eq!(text(&folder.path("o"), Journal::Cluster), text(&folder.path("other/analysis"), Journal::Cluster));
}

#[test]
fn snapshots_of_format_1_are_read() {
    let folder = Folder::new("");
    let old = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/format-1");
    folder.tisane(&["analyze", old.to_str().unwrap(), "--output", "a"]).exits(0).says(&["1 of 1 snapshots"]);
}
