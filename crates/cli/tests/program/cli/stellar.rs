//! `stellar`: lives of single stars as tables, CSV and pictures.

use crate::program::Folder;
use crate::transcript::Transcript;
use tisane_io::table::{self, Table};

#[test]
fn lives_of_stars_are_printed_as_tables() {
    let folder = Folder::new("");
    let mut transcript = Transcript::default();
    transcript.tisane(&folder, &["stellar", "1", "25"]).exits(0);
    let said = folder.tisane(&["stellar", "25"]).exits(0);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/stellar-evolution.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains(&format!("```\n{}```\n", said.out)),
        "docs/src/stellar-evolution.md should have\n{}",
        said.out
    );
    transcript.tisane(&folder, &["stellar", "0.5", "--until", "100", "-q"]).exits(0);
    transcript.tisane(&folder, &["stellar", "1", "0.02", "--until", "100"]).exits(0);
    let low = ["--metallicity", "0.0001", "--remnants", "fryer2012-delayed", "--pair-instability", "belczynski2016"];
    transcript.tisane(&folder, &[&["stellar", "12", "150"][..], &low].concat()).exits(0);
    let old =
        ["--winds", "hurley2000", "--remnants", "hurley2000", "--no-electron-capture", "--kick-dispersion", "190"];
    transcript.tisane(&folder, &[&["stellar", "8", "20"][..], &old].concat()).exits(0);
    transcript.is("stellar");
}

#[test]
fn a_kick_depends_on_seed_and_star() {
    let folder = Folder::new("");
    let kicks = |more: &[&str]| -> Vec<String> {
        let said = folder.tisane(&[&["stellar", "12", "12"], more].concat()).exits(0);
        said.out.lines().filter(|line| line.starts_with("supernova")).map(str::to_owned).collect()
    };
    let (first, second) = (kicks(&[]), kicks(&["--seed", "2"]));
    assert_eq!((first.len(), &first), (2, &kicks(&["--seed", "1"])));
    assert!(first[0] != first[1] && first[0] != second[0]);
    assert!(kicks(&["--kick-dispersion", "0"])[0].ends_with("kick 0 km/s"));
}

#[test]
fn bad_input_is_refused_with_what_is_valid() {
    let folder = Folder::new("");
    let mut transcript = Transcript::default();
    for arguments in [
        &["200"][..],
        &["1", "0.001"],
        &["nan"],
        &["-3"],
        &["heavy"],
        &["1", "--metallicity", "0.1"],
        &["1", "--until", "0"],
        &["1", "--kick-dispersion", "-1"],
        &["1", "--winds", "belczynsky2010"],
        &["1", "--remnants", "fryer"],
        &["1", "--plot", "life.pdf"],
        &["1", "--theme", "dark"],
        &[],
    ] {
        let said = transcript.tisane(&folder, &[&["stellar"], arguments].concat()).exits(2);
        assert!(said.out.is_empty(), "{}", said.out);
    }
    transcript.is("stellar_refused");
    assert_eq!(folder.files().len(), 1, "nothing is written");
}

/// Values of a column in the rows of a star.
fn of_star(table: &Table, star: f64, column: &str) -> Vec<f64> {
    let stars = table.numbers("star").unwrap().iter();
    let rows = stars.zip(table.numbers(column).unwrap().iter());
    rows.filter(|(of, _)| *of == star).map(|(_, value)| value).collect()
}

#[test]
fn the_csv_has_the_whole_track() {
    let folder = Folder::new("");
    let said = folder.tisane(&["stellar", "1", "25", "--csv", "lives.csv"]).exits(0).says(&["written: lives.csv"]);
    assert!(said.out.contains("25 Msun at birth"));
    let text = std::fs::read_to_string(folder.path("lives.csv")).unwrap();
    let header = "time [Myr],star [1],birth_mass [Msun],type [1],mass [Msun],core_mass [Msun],luminosity [Lsun],\
                  radius [Rsun],temperature [K]";
    assert_eq!(text.lines().find(|line| !line.starts_with('#')), Some(header));
    let printed = folder.tisane(&["stellar", "1", "25", "--csv", "-"]).exits(0);
    assert!(printed.out == text && printed.err.is_empty());
    let table = table::read(&folder.path("lives.csv")).unwrap();
    for (star, birth_mass, types) in
        [(1.0, 1.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 11.0][..]), (2.0, 25.0, &[1.0, 2.0, 4.0, 7.0, 8.0, 14.0])]
    {
        let of = |column| of_star(&table, star, column);
        let (times, kinds, masses, radii) = (of("time"), of("type"), of("mass"), of("radius"));
        assert!(times.is_sorted() && times[0] == 0.0 && times.last() == Some(&14_000.0));
        let mut found = kinds.clone();
        found.dedup();
        assert_eq!(found, types);
        assert!(masses[0] == birth_mass && of("birth_mass").iter().all(|mass| *mass == birth_mass));
        assert!(masses.is_sorted_by(|a, b| a >= b));
        // Dense enough for a curve, and a change of type has a row before and one after.
        for k in 1..times.len() {
            let change = (radii[k] / radii[k - 1]).ln().abs();
            assert!(kinds[k] != kinds[k - 1] || change < 0.12, "{} Myr: {change}", times[k]);
            assert!(kinds[k] == kinds[k - 1] || times[k] == times[k - 1], "{} Myr", times[k]);
        }
    }
    let dark = of_star(&table, 2.0, "luminosity").iter().filter(|l| l.is_nan()).count();
    assert_eq!(dark, of_star(&table, 2.0, "type").iter().filter(|kind| **kind == 14.0).count());
}

#[test]
fn a_picture_is_drawn_and_not_written_over() {
    let folder = Folder::new("");
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    folder.tisane(&["stellar", "1", "25", "--plot", "lives.png", "-q"]).exits(0);
    let first = read("lives.png");
    assert!(first.starts_with(b"\x89PNG\r\n\x1a\n"));
    for file in ["--plot", "--csv"] {
        let said = folder.tisane(&["stellar", "5", file, "lives.png"]).exits(2).says(&["already", "--overwrite"]);
        assert!(said.out.is_empty() && read("lives.png") == first);
    }
    folder.tisane(&["stellar", "5", "--plot", "lives.png", "--overwrite", "--theme", "dark", "-q"]).exits(0);
    assert!(read("lives.png") != first);
    std::os::unix::fs::symlink("lives.png", folder.path("link.png")).unwrap();
    folder.tisane(&["stellar", "5", "--plot", "link.png", "--overwrite"]).exits(2).says(&["link"]);
    folder.tisane(&["stellar", "5", "25", "0.5", "--plot", "lives.svg"]).exits(0).says(&["written: lives.svg"]);
    let svg = String::from_utf8(read("lives.svg")).unwrap();
    for text in
        ["effective temperature [K]", "0 low-mass main sequence", "11 C/O white dwarf", "14 black hole", "25 Msun"]
    {
        assert!(svg.contains(text), "{text}");
    }
    for text in ["no data", "outside the axes", "logarithmic axis"] {
        assert!(!svg.contains(text), "{text}");
    }
    // Of a star that does not end there is no panel of the time until its end.
    folder.tisane(&["stellar", "0.5", "--plot", "young.svg"]).exits(0);
    assert!(!String::from_utf8(read("young.svg")).unwrap().contains("until the star"));
}
