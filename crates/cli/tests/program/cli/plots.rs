//! `plot`: pictures of runs and tables.

use crate::program::Folder;
use crate::transcript::Transcript;

const RUN: &str = "[run]\nname = \"p\"\nt_end = 0.5\n[initial.plummer]\nn = 16\nseed = 5\n[force]\nprecision = \"mixed\"\n\
                   engine = \"cpu\"\n[output]\ndiagnostics_interval = 0.125\n";
const TABLE: &str = "# Energy error\n# command: tisane study energy\nmode,nu [1],wall time [s],energy error\n\
                     f64,0.01,3,-1e-9\nf64,0.02,2,1e-8\nmixed,0.01,1,1e-7\nmixed,0.02,0.5,0\n";

fn with_run() -> Folder {
    let folder = Folder::new(RUN);
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn a_run_becomes_a_page_of_diagnostics() {
    let folder = with_run();
    let said = folder.tisane(&["plot", "r"]).exits(0);
    // The figures that 16 particles give, each in both themes as SVG and PNG, and the report.
    let figures = ["diagnostics", "projections", "structure", "steps", "rates"];
    let endings = [".svg", ".png", "-dark.svg", "-dark.png"];
    for name in figures.iter().flat_map(|name| endings.map(|ending| format!("r/plots/{name}{ending}\n"))) {
        assert!(said.out.contains(&name), "{name}: {}", said.out);
    }
    assert!(said.out.ends_with("r/plots/report.html\n"));
    let files = std::fs::read_dir(folder.path("r/plots")).unwrap().count();
    assert_eq!(files, said.out.lines().count(), "no temporary file stays");
    said.says(&["r: no profiles: fewer than 30 particles"]);
    assert!(!folder.path("r/plots/profiles.svg").exists());
    let svg = read(&folder, "r/plots/diagnostics.svg");
    for text in [
        "|ΔE/E₀|",
        "|ΔL|/|L₀|",
        "Angular momentum error",
        "equilibrium",
        "T/|U|",
        "time [N-body units]",
        "time step [N-body units]",
        "mean number of particles in a block",
        "Time steps in the last row",
        "Force error against f64",
        "precision mixed",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    // The same run gives the same bytes, whichever files are asked for.
    folder.tisane(&["plot", "r", "--theme", "light", "--output", "a/b"]).exits(0);
    assert_eq!(std::fs::read_dir(folder.path("a/b")).unwrap().count(), files.div_ceil(2));
    for name in ["diagnostics.svg", "diagnostics.png", "projections.png", "steps.svg", "report.html"] {
        assert!(
            std::fs::read(folder.path(&format!("a/b/{name}"))).unwrap()
                == std::fs::read(folder.path(&format!("r/plots/{name}"))).unwrap()
        );
    }
    // A run in f64 has no audit to show.
    folder.tisane(&["run", "run.toml", "-q", "--output", "f", "--precision", "f64"]).exits(0);
    folder.tisane(&["plot", "f"]).exits(0);
    assert!(!read(&folder, "f/plots/diagnostics.svg").contains("Force error"));
    // Nor has one whose audit found the same bits everywhere.
    let audited = ["--set", "force.engine=reference", "--set", "audit.sample=16"];
    let run = ["run", "run.toml", "-q", "--output", "g", "--precision", "f64"];
    folder.tisane(&[&run[..], &audited].concat()).exits(0);
    folder.tisane(&["plot", "g"]).exits(0);
    assert!(!read(&folder, "g/plots/diagnostics.svg").contains("Force error"));
}

#[test]
fn times_are_shown_without_the_last_bits_of_their_conversion() {
    let units = "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\ntime = \"Myr\"\n[integrator.leapfrog]\ndt = 0.1\n\
                 [softening]\nepsilon = 0.1\n";
    let run = RUN.replace("t_end = 0.5", "t_end = 0.3").replace("= 0.125", "= 0.1");
    let run = run.replace("n = 16", "n = 16\nmass = 500.0\nvirial_radius = 1.0");
    let folder = Folder::new(&(run + units));
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    // This is one of the numbers that have such bits.
    assert!(read(&folder, "r/diagnostics.csv").contains("\n0.30000000000000004,"));
    folder.tisane(&["plot", "r", "--theme", "light"]).exits(0);
    assert!(read(&folder, "r/plots/projections.svg").contains("t = 0.3 Myr<"));
}

#[test]
fn a_run_in_a_field_has_no_error_of_what_is_not_conserved() {
    let folder = Folder::new(&format!("{RUN}[external.point-mass]\nmass = 1.0\nposition = [2.0, 0.0, 0.0]\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    folder.tisane(&["plot", "r"]).exits(0);
    let svg = read(&folder, "r/plots/diagnostics.svg");
    assert!(svg.contains("Energy error") && svg.contains("Change of angular momentum"));
    assert!(!svg.contains("Angular momentum error") && !svg.contains("equilibrium"));
}

/// A page that asks for nothing from elsewhere.
fn assert_alone(page: &str) {
    for word in ["<script", "src=", "href=", "@import", "<link", "<image", "<iframe"] {
        assert!(!page.contains(word), "{word}");
    }
    let outside = page.matches("http").count() - page.matches("http://www.w3.org/2000/svg").count();
    assert_eq!(outside, 0, "a link to elsewhere");
    assert!(!page.replace("url(#", "").contains("url("));
}

/// Ids of elements, each of which must be there once.
fn ids(page: &str) -> Vec<&str> {
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_report_has_everything_and_needs_nothing_else() {
    let config = RUN.replace("n = 16", "n = 400").replace("mixed", "f64")
        + "snapshot_interval = 0.25\n[initial.binaries]\nfraction = 0.2\n\
                  semi_major_axis = \"opik\"\na_min = 1e-3\na_max = 5e-3\n[softening]\nepsilon = 1e-4\n";
    let folder = Folder::new(&config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let said = folder.tisane(&["plot", "r", "--theme", "light"]).exits(0);
    assert!(!said.err.contains(": no "), "everything is there: {}", said.err);
    let page = read(&folder, "r/plots/report.html");
    let summary: serde_json::Value = serde_json::from_str(&read(&folder, "r/summary.json")).unwrap();
    let text = |key: &str| summary[key].as_str().unwrap().to_owned();
    for fact in
        [text("state_sha256"), text("git_commit"), text("engine"), "<td>400</td>".into(), "[initial.plummer]".into()]
    {
        assert!(page.contains(&fact), "{fact}");
    }
    // The system comes first, then the result, and how it was made last.
    let physics = ["Initial conditions", "Units", "Half-mass radius, at first", "Crossing time, at first", "Softening"];
    let order =
        [&physics[..], &["Integrator", "<h2>Result</h2>", "Relative energy error", "Wall time", "Engine"]].concat();
    let places: Vec<usize> = order.iter().map(|text| page.find(text).unwrap_or_else(|| panic!("{text}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    for name in ["diagnostics", "projections", "profiles", "structure", "steps", "rates", "binaries", "distributions"] {
        assert!(page.contains(&format!("<h2 id=\"{name}\">")), "{name}");
        for theme in ["light", "dark"] {
            assert!(page.contains(&format!("id=\"{name}-{theme}-panel-0\"")), "{name} {theme}");
        }
    }
    assert_eq!(page.matches("<svg").count(), 16);
    for label in
        ["surface density [N-body units]", "density centre", "semi-major axis [N-body units]", "50 %", "core radius"]
    {
        assert!(page.contains(label), "{label}");
    }
    assert_alone(&page);
    let all = ids(&page);
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "an id stands twice");
    for reference in page.split("url(#").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(all.binary_search(&reference).is_ok(), "{reference} is nowhere");
    }
}

#[test]
fn a_damaged_snapshot_or_none_leaves_out_what_it_would_show() {
    let folder = with_run();
    let snapshots =
        ["0000", "0001", "0002", "0003", "0004"].map(|k| folder.path(&format!("r/snapshots/snapshot_{k}.hdf5")));
    let last = snapshots.iter().rfind(|path| path.is_file()).unwrap();
    let whole = std::fs::read(last).unwrap();
    std::fs::write(last, &whole[..whole.len() / 2]).unwrap();
    let name = last.file_name().unwrap().to_str().unwrap();
    folder.tisane(&["plot", "r", "--theme", "light"]).exits(8).says(&["left out", name]);
    let page = read(&folder, "r/plots/report.html");
    assert!(page.contains("Not drawn") && page.contains(name) && page.contains("id=\"projections\""));
    std::fs::remove_dir_all(folder.path("r/snapshots")).unwrap();
    folder.tisane(&["plot", "r", "--output", "o"]).exits(0).says(&["r: no projections: no snapshots"]);
    assert!(!folder.path("o/projections.svg").exists());
    let page = read(&folder, "o/report.html");
    assert!(page.contains("projections: no snapshots") && !page.contains("id=\"projections\""));
    assert_alone(&page);
}

#[test]
fn a_run_under_way_is_drawn_up_to_its_last_whole_row() {
    let folder = with_run();
    let journal = read(&folder, "r/diagnostics.csv");
    std::fs::remove_file(folder.path("r/diagnostics.hdf5")).unwrap();
    folder.write("r/diagnostics.csv", &journal[..journal.len() - 9]);
    folder.tisane(&["plot", "r", "--theme", "dark"]).exits(0);
    let first = journal.split_inclusive('\n').next().unwrap();
    folder.write("r/diagnostics.csv", first);
    folder.tisane(&["plot", "r"]).exits(2).says(&["no rows yet"]);
}

#[test]
fn columns_of_tables_and_runs_are_drawn_on_request() {
    let folder = with_run();
    folder.write("study.csv", TABLE);
    let asked = ["plot", "study.csv", "--x", "nu", "--y", "|energy error|", "--by", "mode", "--log-x", "--log-y"];
    let said = folder.tisane(&[&asked[..], &["--theme", "light"]].concat()).exits(0);
    assert_eq!(said.out, "study-energy_error-nu-mode.svg\nstudy-energy_error-nu-mode.png\n");
    let svg = read(&folder, "study-energy_error-nu-mode.svg");
    for text in [
        "Energy error",
        ">nu<",
        ">|energy error|<",
        ">f64<",
        ">mixed<",
        "10⁻⁹",
        "command tisane study energy",
        "1 point at zero",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    // Names stand on the horizontal axis; several columns differ in style.
    folder.tisane(&["plot", "study.csv", "--y", "wall time,nu", "--theme", "light"]).exits(0);
    let svg = read(&folder, "study-wall_time-nu.svg");
    assert!([">mode<", ">mixed<", ">wall time<", ">wall time [s], nu<"].iter().all(|text| svg.contains(text)), "{svg}");
    assert!(!svg.contains("class=\"line\""), "nothing lies between names: {svg}");
    // HDF5 as CSV, and two sources in one figure.
    let both = ["plot", "r", "r/diagnostics.hdf5", "--y", "step_min", "--output", "o", "--theme", "light"];
    assert_eq!(folder.tisane(&both).exits(0).out, "o/r+diagnostics-step_min.svg\no/r+diagnostics-step_min.png\n");
    let svg = read(&folder, "o/r+diagnostics-step_min.svg");
    // One of them alone is another picture, and leaves that one as it is.
    folder.tisane(&["plot", "r", "--y", "step_min", "--output", "o", "--theme", "light"]).exits(0);
    assert!(folder.path("o/r-step_min.svg").is_file() && read(&folder, "o/r+diagnostics-step_min.svg") == svg);
    assert!([">r<", ">diagnostics<", ">step_min [T]<", ">time [T]<"].iter().all(|text| svg.contains(text)), "{svg}");
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let folder = with_run();
    folder.write("study.csv", TABLE);
    folder.write("uneven.csv", "a,b\n1,2\n3\n");
    folder.write("empty.csv", "");
    folder.write("bytes.csv", [0xff, 0xfe, 0x00]);
    std::fs::create_dir(folder.path("bare")).unwrap();
    std::fs::create_dir(folder.path("lost")).unwrap();
    folder.write("lost/config.toml", "");
    let before = folder.files();
    let mut transcript = Transcript::default();
    for arguments in [
        &["nowhere"][..],
        &["bare"],
        &["lost"],
        &["study.csv"],
        &["study.csv", "--y", "energy eror"],
        &["study.csv", "--y", "nu", "--x", "zzz"],
        &["study.csv", "--y", "nu", "--by", "mod"],
        &["study.csv", "--y", "mode"],
        &["r", "--y", "relative_energy_eror"],
        &["uneven.csv", "--y", "a"],
        &["empty.csv", "--y", "a"],
        &["bytes.csv", "--y", "a"],
        &["nowhere.csv", "--y", "a"],
        &["r/snapshots/snapshot_0000.hdf5", "--y", "a"],
        &["r", "--log-y"],
        &["r", "./r", "--output", "o"],
        &[],
    ] {
        transcript.tisane(&folder, &[&["plot"], arguments].concat()).exits(2);
    }
    assert!(folder.files() == before, "a refused plot writes nothing");
    transcript.tisane(&folder, &["plot", "r", "--output", "study.csv"]).exits(5);
    transcript.is("plot_refused");
}

#[test]
fn initial_conditions_are_drawn_beside_their_laws() {
    let folder = Folder::new(RUN);
    for model in ["plummer", "king", "hernquist", "eff", "uniform-sphere", "fractal"] {
        let template = folder.tisane(&["init", model]).exits(0).out;
        folder.write("model.toml", &template);
        let said = folder.tisane(&["check", "model.toml", "--plot", "pictures"]).exits(0).out;
        let pictures: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("picture")).collect();
        assert_eq!(pictures.len(), 4, "{said}");
        let svg = read(&folder, pictures.iter().find(|name| name.ends_with("initial.svg")).unwrap().trim());
        assert!(["Density", "sample", "law"].iter().all(|text| svg.contains(text)), "{model}");
        // A cold sphere has no velocities.
        assert_eq!(svg.contains("dispersion"), model != "uniform-sphere", "{model}");
        assert_eq!(svg.contains("Masses of the stars"), ["king", "fractal"].contains(&model), "{model}");
        for title in ["Semi-major axes of the binaries", "Eccentricities of the binaries"] {
            assert_eq!(svg.contains(title), model == "king", "{model}");
        }
    }
    // Laws of binaries that hold at birth say so, those of the cluster hold for the sample.
    folder.write("open.toml", folder.tisane(&["init", "open-cluster"]).exits(0).out);
    let evolved = ["--set", "initial.binaries.eigenevolution=true", "--plot", "evolved"];
    folder
        .tisane(&[&["check", "open.toml"], &evolved[..]].concat())
        .exits(0)
        .says(&["secondaries gained", "drawn anew"]);
    let svg = read(&folder, "evolved/open-cluster-initial.svg");
    assert_eq!(svg.matches(">law at birth<").count(), 3);
    assert_eq!(svg.matches(">law<").count(), 2);
    folder.write("two.toml", folder.tisane(&["init", "two-body"]).exits(0).out);
    folder.tisane(&["check", "two.toml", "--plot", "none"]).exits(0).says(&["no picture: too few"]);
    assert!(!folder.path("none").exists());
}

#[test]
fn a_run_on_an_orbit_has_its_orbit_its_tails_and_the_sky() {
    let sky =
        "sky = { ra = 56.75, dec = 24.12, distance = 135.0, pm_ra = 20.0, pm_dec = -45.4, radial_velocity = 5.7 }\n";
    let config = |of_sun: &str| {
        format!(
            "[run]\nname = \"p\"\nt_end = 20.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n[initial.plummer]\nn = 64\n\
             mass = 64.0\nvirial_radius = 2.0\n[softening]\nepsilon = 0.1\n[external.mw-2014]\n[orbit]\n{of_sun}[output]\ninterval = 5.0\n"
        )
    };
    let folder = Folder::new(&config(sky));
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    folder.tisane(&["plot", "r", "--theme", "light"]).exits(0);
    for (figure, texts) in [
        ("orbit", &["X [pc]", "Y [pc]", "In the meridional plane", "Distance from the centre", "start", "cluster"][..]),
        ("tails", &["along the orbit [pc]", "outwards from the galaxy [pc]", "surface density [Msun pc⁻²]"]),
        (
            "tide",
            &[
                "mass [Msun]",
                "bound by their Jacobi energy",
                "tidal radius",
                "Half-mass radius / tidal radius",
                "potential escapers",
            ],
        ),
        ("jacobi", &["Jacobi energies at t = 20", "Jacobi energy [(km/s)²]", "critical energy, tidal radius", "bound"]),
        ("sky", &["galactic longitude l [deg]", "mass [Msun deg⁻²]", "seen from (-8120, 0, 20.8) pc"]),
    ] {
        let svg = read(&folder, &format!("r/plots/{figure}.svg"));
        for text in texts {
            assert!(svg.contains(text), "{figure}: {text}");
        }
    }
    let report = read(&folder, "r/plots/report.html");
    assert!(report.contains("The orbit in the galaxy") && report.contains("The cluster in its tide"));
    // Without a place of the Sun there is no sky.
    folder.write("run.toml", config("circular = 8000.0\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "c"]).exits(0);
    let said = folder.tisane(&["plot", "c", "--theme", "light"]).exits(0);
    assert!(folder.path("c/plots/tails.svg").exists() && !folder.path("c/plots/sky.svg").exists());
    said.says(&["c: no sky: the configuration has no `sun` in [orbit]"]);
    // A configuration that cannot be read has no tide, and the other figures stay.
    folder.write("c/config.toml", "[run]");
    let said = folder.tisane(&["plot", "c", "--theme", "light"]).exits(0);
    said.says(&["c: no jacobi: ", "missing key"]);
}

#[test]
fn a_run_whose_stars_age_has_their_diagram_masses_and_remnants() {
    let config = "[run]\nname = \"p\"\nt_end = 8.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n[initial.plummer]\nn = 100\n\
                  half_mass_radius = 2.0\n[initial.masses]\nfunction = \"salpeter\"\nm_min = 3.0\nm_max = 100.0\n\
                  [softening]\nepsilon = 0.1\n[output]\ninterval = 4.0\n[stellar_evolution]\n";
    let folder = Folder::new(config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    folder.tisane(&["plot", "r", "--theme", "light"]).exits(0);
    for (figure, texts) in [
        (
            "hr",
            &[
                "Hertzsprung-Russell diagram at t = 8",
                "effective temperature [K]",
                "luminosity [Lsun]",
                "main sequence",
            ][..],
        ),
        ("masses", &["stars per decade of mass", "mass [Msun]", "at birth, all", "stars, bound"]),
        ("population", &["all stars", "bound", "half of the light", "Half-mass and half-light radius", "radius [pc]"]),
        ("remnants", &["mass at birth [Msun]", "mass of the remnant [Msun]", "black holes", "speed [km/s]"]),
    ] {
        let svg = read(&folder, &format!("r/plots/{figure}.svg"));
        for text in texts {
            assert!(svg.contains(text), "{figure}: {text}");
        }
    }
    assert!(read(&folder, "r/plots/report.html").contains("Hertzsprung-Russell diagram"));
    // Hot stars are on the left.
    let svg = read(&folder, "r/plots/hr.svg");
    let ticks = svg.lines().filter(|line| line.contains("class=\"tick\"") && line.contains("text-anchor=\"middle\""));
    let temperatures: Vec<(f64, f64)> = ticks
        .map(|line| {
            let x = line.split_once(" x=\"").unwrap().1.split('"').next().unwrap();
            let label = line.split_once('>').unwrap().1.split('<').next().unwrap();
            (x.parse().unwrap(), label.parse().unwrap())
        })
        .collect();
    assert!(temperatures.len() > 1 && temperatures.is_sorted_by(|a, b| (a.0 < b.0) == (a.1 > b.1)), "{temperatures:?}");
    // A film of such a run shows temperatures, and says so.
    let film = ["movie", "r", "-q", "--frames", "2", "--width", "160", "--height", "90"];
    folder.tisane(&film).exits(0);
    assert!(read(&folder, "r/movie/movie.json").contains("\"Temperature\""));
    // Of stars that do not age there is none.
    folder.write("run.toml", config.replace("[stellar_evolution]\n", ""));
    folder.tisane(&["run", "run.toml", "-q", "--output", "plain"]).exits(0);
    folder.tisane(&["plot", "plain", "--theme", "light"]).exits(0);
    assert!(!folder.path("plain/plots/hr.svg").exists());
    let refused = folder.tisane(&["movie", "plain", "-q", "--colour", "temperature"]).exits(2);
    refused.says(&["the stars of this run do not age", "take --colour speed or mass"]);
    assert!(!folder.path("plain/movie").exists());
}
