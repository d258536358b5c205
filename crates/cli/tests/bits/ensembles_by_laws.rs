//! Promise: a member of an ensemble by a law has the bits of the same run alone, also through stops, with the columns that the
//! law reads, and where it is the law that the members differ in.

use crate::program::{Folder, summary};
use tisane_io::table::{self, Table, Values};

const CHARGED: &str = "[run]\nname = \"e\"\nt_end = 0.5\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"bodies.csv\"\n\
    [force.law]\nname = \"coulomb\"\nparameters = { k = 0.5 }\n[softening]\nepsilon = \"1/64\"\n\
    [output]\ndirectory = \"e\"\ninterval = \"1/8\"\n[audit]\nlimit = 0.01\n";

fn bodies() -> String {
    let row = |i: u32| {
        let t = f64::from(i);
        let charge = (1.0 + t / 7.0) * if i.is_multiple_of(2) { 0.1 } else { -0.1 };
        format!("{},{:?},{:?},{:?},0,0,0,{charge:?}\n", 1.0 / 24.0, (0.2 + t).cos(), (1.7 * t).sin(), 0.1 * t)
    };
    "m,x,y,z,vx,vy,vz,charge\n".to_owned() + &(0..24).map(row).collect::<String>()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.numbers(name).expect(name).iter().collect()
}

/// Compares the members of the finished ensemble in the folder `e` with runs of `alone`, whose settings are in its columns.
fn are_as_alone(folder: &Folder, alone: &str, keys: &[&str]) -> Table {
    let members = table::read_hdf5(&folder.path("e/members.hdf5")).expect("a table");
    let Values::Text(hashes) = &members.column("state_sha256").expect("hashes").values else { panic!("no text") };
    folder.write("alone.toml", alone);
    for (member, hash) in hashes.iter().enumerate() {
        let setting = |key: &&str| match &members.column(key).expect(key).values {
            Values::Text(texts) => format!("{key}={}", texts[member]),
            _ => format!("{key}={:?}", numbers(&members, key)[member]),
        };
        let sets: Vec<String> = keys.iter().map(setting).collect();
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let output = format!("alone-{member}");
        folder.tisane(&[&["run", "alone.toml", "-q", "--output", &output], &sets[..]].concat()).exits(0);
        let alone = summary(&folder.path(&output));
        assert_eq!(alone["state_sha256"], *hash, "member {member}");
        let errors = [
            ("relative_energy_error", numbers(&members, "energy_error")[member]),
            ("block_steps", numbers(&members, "block_steps")[member]),
        ];
        for (name, found) in errors {
            // JSON has null for what is not a number.
            assert_eq!(alone[name].as_f64(), Some(found).filter(|x| !x.is_nan()), "{name} of member {member}");
        }
    }
    members
}

#[test]
fn members_by_a_law_have_the_bits_of_the_same_runs_alone_through_stops() {
    let vary = "[ensemble]\nseries = true\n[ensemble.vary]\n\"force.law.parameters.k\" = [0.25, 0.5, 1]\n\
                \"force.precision\" = [\"f64\", \"mixed\"]\n";
    let folder = Folder::new(&format!("{CHARGED}{vary}"));
    folder.write("bodies.csv", bodies());
    folder.tisane(&["run", "run.toml", "--threads", "2"]).exits(0).says(&["6 of 6 have ended: 6 finished"]);
    let members = are_as_alone(&folder, CHARGED, &["force.law.parameters.k", "force.precision"]);
    assert!(numbers(&members, "max_energy_error").iter().all(|error| *error < 1e-3));
    // Stopped again and again: the states of the members in progress have their charges.
    let run = ["run", "run.toml", "--output", "stopped", "--time-limit", "1ms", "--threads", "1"];
    let code = folder.tisane(&run).code;
    assert_eq!(code, 3, "the members were over before the limit");
    folder.resume_until_it_ends("stopped", 20);
    let rows = |file: &str| {
        let mut table = table::read_hdf5(&folder.path(file)).expect(file);
        table.columns.retain(|column| column.name != "wall_seconds");
        format!("{:?}", table.columns)
    };
    for file in ["members.hdf5", "series.hdf5"] {
        assert!(rows(&format!("e/{file}")) == rows(&format!("stopped/{file}")), "{file}");
    }
}

#[test]
fn members_may_differ_in_the_law() {
    let alone = "run = { name = 'e', t_end = 0.5 }\ninitial.plummer.n = 32\nsoftening.epsilon = '1/64'\n\
                 output = { directory = 'e', interval = 0.25 }\n";
    let laws = "{ name = 'newton' }, { name = 'yukawa', parameters = { lambda = 0.5 } }, { acceleration = 'm_j/s' }";
    let folder = Folder::new(&format!("{alone}ensemble.series = true\n[ensemble.vary]\n\"force.law\" = [{laws}]\n"));
    let said = folder.tisane(&["run", "run.toml"]);
    said.exits(0).says(&["3 of 3 have ended: 3 finished", "in the median"]);
    let members = are_as_alone(&folder, alone, &["force.law"]);
    let is_nan = |name: &str| numbers(&members, name).iter().map(|x| x.is_nan()).collect::<Vec<_>>();
    for name in ["energy", "energy_error", "max_energy_error"] {
        assert_eq!(is_nan(name), [false, false, true], "{name}: forces without a potential have no energy");
    }
    folder.tisane(&["inspect", "e"]).exits(0).says(&["3 have ended", "energy error"]);
    let series = table::read_hdf5(&folder.path("e/series.hdf5")).expect("a table");
    assert_eq!(numbers(&series, "time"), [0.0, 0.25, 0.5].repeat(3));
    let surveyed: Vec<bool> = numbers(&series, "bound_mass").iter().map(|x| !x.is_nan()).collect();
    assert_eq!(surveyed, [[true; 3], [false; 3], [false; 3]].concat(), "surveys are those of Newton's law");
}

#[test]
fn a_mistake_in_the_law_of_a_member_is_at_its_key() {
    let folder = Folder::new(
        "run = { name = 'e', t_end = 0.5 }\ninitial.plummer.n = 8\nforce.law.potential = '-m_i*m_j/s'\n[ensemble.vary]\n\
         \"force.law.potential\" = [\"-m_i*m_j/s^1.5\", \"-m_i*m_j/r\"]\n",
    );
    let said = folder.tisane(&["run", "run.toml"]);
    said.exits(2).says(&["ensemble.vary.force.law.potential: member 1", "unknown name `r`"]);
}
