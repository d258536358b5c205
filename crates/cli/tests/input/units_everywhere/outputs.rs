//! The same outputs of a run in every set of units.

use super::{In, KM_S, MSUN, MYR};
use crate::program::Folder;
use tisane::units::names::{AU_CGS, G_CGS, PC_CGS};
use tisane_io::fields::Journal;
use tisane_io::table;

/// Columns of a journal that are times of the machine, or sizes of rounding errors.
fn is_of_machine(name: &str) -> bool {
    ["wall_seconds", "pairs_per_second"].contains(&name)
        || [
            "steps",
            "step_",
            "pair_interactions",
            "mean_block",
            "error",
            "drift",
            "audit",
            "momentum",
            "centre",
            "change",
            "rotation",
            "neglected",
            "lambda",
            "segregation",
        ]
        .iter()
        .any(|part| name.contains(part))
}

#[test]
fn verify_outputs_of_a_run_are_the_same_in_all_units() {
    // Stars that touch, one that leaves, a binary, one that becomes a black hole: rows of every journal.
    let folder = Folder::new("");
    let mut first: Vec<(String, String, Vec<f64>)> = Vec::new();
    for (number, to) in In::all().enumerate().filter(|(number, _)| [0, 1, 4].contains(number)) {
        let mut text = "m,x,y,z,vx,vy,vz,radius\n".to_owned();
        // At the apocentre: an eccentricity of 0.36, well above rounding.
        let speed = 0.8 * (G_CGS * 2.0 * MSUN / (50.0 * AU_CGS)).sqrt();
        let rows = [
            [1.0, 0.0, 0.0, 0.0, -0.5 * speed],
            [1.0, 50.0, 0.0, 0.0, 0.5 * speed],
            [0.5, 2e4, 0.0, 2.0 * KM_S, 0.0],
            [0.5, 3e4, 10.0, -2.0 * KM_S, 0.0],
            [0.05, -6e4, 1e3, -30.0 * KM_S, 0.0],
            [25.0, 0.0, 5e4, 0.0, 0.0],
        ];
        for [m, x, y, vx, vy] in rows {
            let [m, x, y] = [to.mass(m * MSUN), to.length(x * AU_CGS), to.length(y * AU_CGS)];
            let [vx, vy, r] = [to.velocity(vx), to.velocity(vy), to.length(5.0 * AU_CGS)];
            text += &format!("{m},{x},{y},0,{vx},{vy},0,{r}\n");
        }
        folder.write("stars.csv", text);
        let [end, step, far] = [to.time(0.02 * MYR), to.time(1e-3 * MYR), to.length(0.5 * PC_CGS)];
        let age = to.time(7.78 * MYR);
        let config = format!(
            "[run]\nname = \"u\"\nt_end = {end}\n{}[initial.file]\npath = \"stars.csv\"\n[encounters]\n\
             [collisions]\naction = \"record\"\nradii = \"input\"\n[escapers]\naction = \"record\"\nradius = {far}\n\
             [integrator.hermite4]\nnu = 1e-3\ndt_max = {step}\n[output]\ninterval = {step}\n[cluster]\nneighbours = 2\n\
             [stellar_evolution]\nstart_age = {age}\n",
            to.lines
        );
        folder.write("run.toml", config);
        let output = format!("o{number}");
        folder.tisane(&["run", "run.toml", "-q", "--threads", "1", "--output", &output]).exits(0);
        let mut found = Vec::new();
        for journal in Journal::ALL {
            let (dir, name) = (folder.path(&output), journal.group());
            let read = table::read_journal(&dir.join(journal.csv()), &dir.join(journal.hdf5())).unwrap();
            for column in journal.columns().iter().filter(|column| !is_of_machine(&column.name)) {
                let Some(values) = read.numbers(&column.name) else { continue };
                let size = to.units.cgs(column.dimension);
                found.push((
                    name.to_owned(),
                    column.name.clone(),
                    values.iter().map(|x| x * size).collect::<Vec<f64>>(),
                ));
            }
        }
        let stars = found.iter().find(|(journal, ..)| journal == "Stars").unwrap();
        assert!(stars.2.len() >= 2, "a contact and an escape: {stars:?}");
        let stellar = found.iter().find(|(journal, ..)| journal == "Stellar").unwrap();
        assert!(!stellar.2.is_empty(), "a supernova: {stellar:?}");
        if first.is_empty() {
            first = found;
            continue;
        }
        assert_eq!(found.len(), first.len());
        for ((journal, name, a), (_, other, b)) in found.iter().zip(&first) {
            assert_eq!((name, a.len()), (other, b.len()), "{journal}");
            let size = b.iter().filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()));
            let far =
                a.iter().zip(b).find(|(a, b)| !((*a - *b).abs() <= 1e-6 * size || a.is_nan() && b.is_nan() || a == b));
            assert!(far.is_none(), "{journal}, {name} in {}: {far:?} of {size:e}", to.units.describe());
        }
    }
}
