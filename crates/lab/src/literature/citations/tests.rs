use super::*;
use std::collections::BTreeSet;

fn cited(text: &str) -> Citations {
    let text = format!("[run]\nname = \"c\"\nt_end = 1\n{text}");
    Citations::from_config("c", &Config::from_str("c", &text, Path::new(""), &[]).unwrap().config, None)
}

const FIELDS: &str = "[external.point-mass]\nmass = 1\n[external.plummer]\nmass = 1\nscale_radius = 1\n";
/// All other fields with papers.
const GALAXIES: &str = "[external]
logarithmic = { speed = 1, core_radius = 1 }
isochrone = { mass = 1, scale_radius = 1 }
dehnen = { mass = 1, scale_radius = 1, inner_slope = 1 }
jaffe = { mass = 1, scale_radius = 1 }
long-murali-bar = { mass = 1, half_length = 3, width = 1, height = 1 }
dehnen-bar = { strength = 0.01, r0 = 8, v0 = 1, bar_radius = 4 }
mw-2014 = {}
mw-2022 = {}
tide = { omega = 1, kappa = 1, nu = 1 }
tidal-tensor = { path = 'tensor.csv' }
";

#[test]
fn an_external_field_is_answered_with_its_paper() {
    let king = "[initial.king]\nn = 64\nw0 = 6\n";
    assert!(!cited(king).keys().contains(&"Plummer1911"));
    let found = cited(&format!("{king}{FIELDS}"));
    assert!(found.keys().contains(&"Plummer1911"));
    let text = found.to_string();
    assert!(text.contains("% external field plummer\n%   Plummer, Henry C. 1911."), "{text}");
    assert!(!text.contains("point-mass"), "a point mass needs no paper: {text}");
}

#[test]
fn references_are_whole_and_have_one_key_each() {
    let keys: Vec<_> = Entry::all().map(|entry| entry.key()).collect();
    assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len());
    assert!(keys.is_sorted(), "in the order of their keys");
    for entry in Entry::all() {
        assert!(entry.source.starts_with('@') && entry.source.ends_with("\n}"), "{}", entry.source);
        assert_eq!(entry.source.matches('{').count(), entry.source.matches('}').count(), "{}", entry.key());
        let text = entry.text();
        assert!(!text.contains(['{', '}', '\\']) && !text.contains("  "), "{text}");
        let year = entry.field("year");
        assert!(year.is_none_or(|year| entry.key().ends_with(&year)), "{text}");
        assert!(entry.field("author").is_some() && entry.field("title").is_some(), "{text}");
    }
}

#[test]
fn every_kind_has_references_that_exist_and_every_reference_a_kind() {
    let mut used = BTreeSet::new();
    let mut note = |keys: Keys| used.extend(keys.iter().copied());
    IntegratorKind::ALL.iter().for_each(|kind| note(kind.info().references));
    Precision::ALL.iter().for_each(|mode| note(mode.references()));
    EngineKind::ALL.iter().for_each(|engine| note(of_engine(*engine)));
    [RANDOM_NUMBERS, HENON_UNITS, SEGREGATION, ROTATION, CENTRAL_BODY, CLUSTER].into_iter().for_each(note);
    let plummer = "[initial.plummer]\nn = 64\n";
    let units = "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n";
    let pair = "[initial.binaries]\nfraction = 0.5\n";
    let mut texts: Vec<String> = tisane_run::config::TEMPLATES.iter().map(|(_, text)| (*text).to_owned()).collect();
    texts.extend(
        ["salpeter", "kroupa", "maschberger"]
            .map(|name| format!("[run]\nname = \"c\"\nt_end = 1\n{plummer}[initial.masses]\nfunction = \"{name}\"\n")),
    );
    for (pairing, axes) in [("ordered", "kroupa"), ("uniform-ratio", "duquennoy-mayor")] {
        texts.push(format!(
            "[run]\nname = \"c\"\nt_end = 1\n{units}[initial.plummer]\nn = 64\nvirial_radius = 1\nmass = 64\n\
             [initial.masses]\nfunction = \"equal\"\n{pair}pairing = \"{pairing}\"\nsemi_major_axis = \"{axes}\"\n\
             [integrator.hermite4]\ndt_max = 0.1\n"
        ));
    }
    texts.push(format!("[run]\nname = \"c\"\nt_end = 1\n{plummer}{pair}a_min = 0.001\na_max = 0.01\n"));
    texts.push("[run]\nname = \"c\"\nt_end = 1\n[initial.eff]\nn = 64\ninner_slope = 0.5\n".into());
    texts.push(format!("[run]\nname = \"c\"\nt_end = 1\n{plummer}{FIELDS}"));
    texts.push(format!(
        "[run]\nname = \"c\"\nt_end = 1\n{units}[initial.plummer]\nn = 64\nvirial_radius = 1\nmass = 64\n\
         [integrator.hermite4]\ndt_max = 0.1\n{GALAXIES}"
    ));
    for text in &texts {
        let config =
            Config::from_str("c", text, Path::new(""), &[]).map_err(|e| format!("{e}\n{text}")).unwrap().config;
        used.extend(Citations::from_config("c", &config, None).keys());
    }
    assert_eq!(used, Entry::all().map(|entry| entry.key()).collect::<BTreeSet<_>>());
}

#[test]
fn a_configuration_is_answered_with_the_papers_of_its_parts() {
    let found =
        cited("[initial.king]\nn = 64\nw0 = 6\n[initial.masses]\nfunction = \"kroupa\"\n[cluster]\nenabled = false\n");
    assert_eq!(
        found.keys(),
        [
            "Aarseth1985",
            "BlackmanVigna2021",
            "HamadaIitaka2007",
            "HeggieMathieu1986",
            "King1966",
            "Kroupa2001",
            "Makino1991",
            "MakinoAarseth1992",
            "McMillan1986",
            "PortegiesZwartBellemanGeldof2007",
        ]
    );
    let text = found.to_string();
    let expected = "% initial conditions king\n%   King, Ivan R. 1966. The structure of star clusters. III. \
                    Some simple dynamical models. The Astronomical Journal 71, 64. doi:10.1086/109857\n";
    assert!(text.contains(expected), "{text}");
    for key in found.keys() {
        assert_eq!(text.matches(&format!("{{{key},\n")).count(), 1, "{key}");
    }
    // Comments hold no entries.
    assert!(text.lines().all(|line| !line.starts_with('%') || !line.contains('@')), "{text}");
    let leapfrog = cited("[initial.figure-eight]\n[integrator.leapfrog]\ndt = 0.01\n[force]\nengine = \"cuda\"\n");
    let keys = leapfrog.keys();
    assert!(keys.contains(&"Verlet1967") && keys.contains(&"NylandHarrisPrins2007") && keys.contains(&"Moore1993"));
    assert!(!keys.contains(&"MakinoAarseth1992") && !keys.contains(&"BlackmanVigna2021"), "{keys:?}");
}

#[test]
fn the_program_is_cited_as_the_citation_file_says() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(Program::cited("version"), version);
    let text = Citations::of_method().to_string();
    let year = &Program::cited("date-released")[..4];
    assert!(text.contains(&format!("% the program\n%   The tisane developers {year}. tisane: ")), "{text}");
    assert!(text.contains("@software{tisane,\n  author = {{The tisane developers}},\n  title = {tisane: "), "{text}");
    let older = Program::new("0.0.1", "abc");
    assert!(older.year().is_none() && older.bibtex().contains("version = {0.0.1}") && !older.bibtex().contains("year"));
}
