//! The papers behind a run: which of `references.bib` each kind of integrator, mode, model and measurement rests on.

use std::fmt;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::precision::Precision;
use tisane::integrator::IntegratorKind;
use tisane::units::Units;
use tisane_io::directory;
use tisane_io::provenance::{self, Provenance};
use tisane_run::assemble;
use tisane_run::config::{Binaries, Config, Eccentricity, Initial, MassFunction, Model, Pairing, SemiMajorAxis};

/// All references, as BibTeX.
const REFERENCES: &str = include_str!("references.bib");
/// The citation of tisane itself.
const CITATION: &str = include_str!("../../../../CITATION.cff");

/// Keys of references.
type Keys = &'static [&'static str];

const RANDOM_NUMBERS: Keys = &["BlackmanVigna2021"];
const HENON_UNITS: Keys = &["HeggieMathieu1986"];
const SEGREGATION: Keys = &["BaumgardtDeMarchiKroupa2008", "Kuepper2011"];
const ROTATION: Keys = &["LyndenBell1960"];
const CENTRAL_BODY: Keys = &["BinneyTremaine2008"];
const CLUSTER: Keys = &["CasertanoHut1985", "Spitzer1987", "GierszHeggie1994", "Allison2009", "MardlingAarseth2001"];

/// Papers of a force engine.
fn of_engine(engine: EngineKind) -> Keys {
    match engine {
        EngineKind::Cuda => &["PortegiesZwartBellemanGeldof2007", "NylandHarrisPrins2007"],
        EngineKind::Cpu | EngineKind::Reference => &[],
    }
}

/// Name and papers of a model.
fn of_model(model: &Model) -> (&'static str, Keys) {
    match model {
        Model::Plummer(_) => ("plummer", &["Plummer1911", "AarsethHenonWielen1974"]),
        Model::King(_) => ("king", &["King1966"]),
        Model::Hernquist(_) => ("hernquist", &["Hernquist1990"]),
        Model::Eff(eff) if eff.inner_slope.get() > 0.0 => ("eff", &["ElsonFallFreeman1987", "Lauer1995"]),
        Model::Eff(_) => ("eff", &["ElsonFallFreeman1987"]),
        Model::UniformSphere(_) => ("uniform-sphere", &[]),
        Model::Fractal(_) => ("fractal", &["GoodwinWhitworth2004", "Allison2010"]),
        Model::Clusters(_) => ("clusters", &[]),
        Model::File(_) => ("file", &[]),
        Model::Elements(_) => ("elements", &["MurrayDermott1999"]),
        Model::TwoBody(_) => ("two-body", &["MurrayDermott1999"]),
        Model::BinarySingle(_) => ("binary-single", &["HutBahcall1983", "Fregeau2004", "MurrayDermott1999"]),
        Model::FigureEight {} => ("figure-eight", &["Moore1993", "ChencinerMontgomery2000"]),
        Model::Pythagorean {} => ("pythagorean", &["Burrau1913", "SzebehelyPeters1967"]),
        Model::SolarSystem {} => ("solar-system", &["Standish", "Luzum2011"]),
        Model::Memory {} => ("memory", &[]),
    }
}

/// Papers of a mass function.
fn of_masses(function: MassFunction) -> Keys {
    match function {
        MassFunction::Salpeter => &["Salpeter1955"],
        MassFunction::Kroupa => &["Kroupa2001"],
        MassFunction::Maschberger => &["Maschberger2013"],
        MassFunction::Equal | MassFunction::PowerLaw | MassFunction::File => &[],
    }
}

/// Papers of primordial binaries: their pairing, semi-major axes and eccentricities.
fn of_binaries(binaries: &Binaries) -> [Keys; 3] {
    let pairing: Keys = match binaries.pairing {
        Pairing::Random => &[],
        Pairing::Ordered => &["OhKroupaPflammAltenburg2015"],
        Pairing::UniformRatio => &["Sana2012"],
    };
    let axes: Keys = match binaries.semi_major_axis {
        SemiMajorAxis::Opik => &["Opik1924"],
        SemiMajorAxis::Uniform => &[],
        SemiMajorAxis::Kroupa => &["Kroupa1995"],
        SemiMajorAxis::DuquennoyMayor => &["DuquennoyMayor1991"],
    };
    let eccentricities: Keys = match binaries.eccentricity {
        Eccentricity::Thermal => &["Jeans1919"],
        Eccentricity::Uniform | Eccentricity::Circular | Eccentricity::Fixed => &[],
    };
    [pairing, axes, eccentricities]
}

/// Papers behind a configuration or a run, grouped by what they are cited for. [`fmt::Display`] writes a BibTeX file:
/// the list as comments, then the entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Citations {
    /// Name of the configuration or run.
    subject: String,
    /// Version and commit of tisane.
    program: (String, String),
    /// Reasons with the keys of their references.
    groups: Vec<(String, Vec<&'static str>)>,
}

impl Citations {
    fn new(subject: &str) -> Self {
        let program = (provenance::version().to_owned(), provenance::git_commit().to_owned());
        Self { subject: subject.to_owned(), program, groups: Vec::new() }
    }

    /// Returns the papers behind the default integrator and precision mode.
    #[must_use]
    pub fn of_method() -> Self {
        let mut found = Self::new("the method of tisane");
        found.add_method(IntegratorKind::default(), Precision::default());
        found
    }

    /// Returns the papers behind a configuration file, the directory of a run, or a file of a run that carries
    /// provenance.
    ///
    /// # Errors
    /// [`Error::Input`] for other files and directories, [`Error::Config`] for mistakes in a configuration.
    pub fn from_path(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        if path.is_dir() {
            let file = path.join(directory::CONFIG);
            if !file.is_file() {
                let help = "give the directory of a run, one of its files, or a configuration";
                return Err(Error::input(path, format!("there is no {} here", directory::CONFIG)).with_help(help));
            }
            let made = provenance::from_file(&path.join(directory::SUMMARY)).ok();
            return Ok(Self::from_config(&name, &Config::from_file(&file, &[])?.config, made.as_ref()));
        }
        if path.extension().is_some_and(|extension| extension == "toml") {
            // The scheme of a cluster may follow from its particles.
            let defaults = assemble::defaults_of_cluster(&Config::from_file(path, &[])?)?;
            return Ok(Self::from_config(&name, &Config::from_file(path, &defaults)?.config, None));
        }
        let made = provenance::from_file(path)?;
        let resolved = format!("{name} (config_resolved)");
        let loaded = Config::from_str(&resolved, &made.config_resolved, Path::new(""), &[])?;
        Ok(Self::from_config(&name, &loaded.config, Some(&made)))
    }

    /// Returns the papers behind a configuration, or a run of it: `made` has the engine that `auto` chose.
    fn from_config(name: &str, config: &Config, made: Option<&Provenance>) -> Self {
        let mut found = Self::new(name);
        if let Some(made) = made {
            found.program = (made.version.clone(), made.git_commit.clone());
        }
        found.add_method(config.integrator.kind(), config.force.precision());
        let engine = made.and_then(|made| EngineKind::from_name(&made.engine)).or(config.force.engine.kind());
        if let Some(engine) = engine {
            found.add(format!("engine {}", engine.name()), of_engine(engine));
        }
        if config.units() == Units::henon() {
            found.add("N-body units".into(), HENON_UNITS);
        }
        found.add_initial(&config.initial);
        for field in config.external.iter() {
            found.add(field.section().replacen("external.", "external field ", 1), field.references());
        }
        if config.cluster.enabled {
            found.add("measurements of the cluster".into(), CLUSTER);
        }
        found
    }

    fn add_method(&mut self, integrator: IntegratorKind, precision: Precision) {
        let info = integrator.info();
        self.add(format!("integrator {}", info.name()), info.references);
        self.add(format!("sums of forces, precision mode {}", precision.name()), precision.references());
    }

    fn add_initial(&mut self, initial: &Initial) {
        if let Model::Clusters(clusters) = &initial.model {
            clusters.iter().for_each(|cluster| self.add_initial(&cluster.initial));
        }
        let (name, keys) = of_model(&initial.model);
        self.add(format!("initial conditions {name}"), keys);
        if initial.sampled().is_some() {
            self.add("random numbers".into(), RANDOM_NUMBERS);
        }
        if let Some(masses) = &initial.masses {
            self.add("masses".into(), of_masses(masses.function));
        }
        if let Some(binaries) = &initial.binaries {
            of_binaries(binaries).into_iter().for_each(|keys| self.add("binaries".into(), keys));
        }
        for (name, used, keys) in [
            ("mass segregation", initial.segregation.is_some(), SEGREGATION),
            ("rotation", initial.rotation.is_some(), ROTATION),
            ("central body", initial.central.is_some(), CENTRAL_BODY),
        ] {
            if used {
                self.add(name.into(), keys);
            }
        }
    }

    /// Adds references to a group, unless they are in it.
    fn add(&mut self, reason: String, keys: Keys) {
        let group = match self.groups.iter().position(|(other, _)| *other == reason) {
            Some(group) => group,
            None if keys.is_empty() => return,
            None => {
                self.groups.push((reason, Vec::new()));
                self.groups.len() - 1
            }
        };
        let there = &mut self.groups[group].1;
        keys.iter().for_each(|key| {
            if !there.contains(key) {
                there.push(key)
            }
        });
    }

    /// Returns the keys of all references, each once.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        let mut keys: Vec<_> = self.groups.iter().flat_map(|(_, keys)| keys.iter().copied()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl fmt::Display for Citations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (version, commit) = &self.program;
        writeln!(f, "% Papers behind {}\n%", self.subject.replace('\n', " "))?;
        let program = Program::new(version, commit);
        writeln!(f, "% the program\n%   {}", program.text())?;
        for (reason, keys) in &self.groups {
            writeln!(f, "%\n% {reason}")?;
            for entry in keys.iter().filter_map(|key| Entry::find(key)) {
                writeln!(f, "%   {}", entry.text())?;
            }
        }
        writeln!(f, "\n{}", program.bibtex())?;
        for entry in self.keys().into_iter().filter_map(Entry::find) {
            writeln!(f, "\n{}", entry.source)?;
        }
        Ok(())
    }
}

/// tisane as it is cited.
struct Program<'a> {
    version: &'a str,
    commit: &'a str,
}

impl<'a> Program<'a> {
    const fn new(version: &'a str, commit: &'a str) -> Self {
        Self { version, commit }
    }

    /// Returns the value of a key at the top of CITATION.cff.
    fn cited(key: &str) -> &'static str {
        let value = CITATION.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        value.unwrap_or_default().trim_matches('"')
    }

    /// Returns the authors.
    fn authors() -> String {
        let lines = CITATION.lines().skip_while(|line| *line != "authors:").skip(1);
        let names = lines.take_while(|line| line.starts_with(' ')).filter_map(|line| line.split_once("name: "));
        names.map(|(_, name)| name.trim_matches('"')).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the year of the release; [`None`] for another version than the one that CITATION.cff describes.
    fn year(&self) -> Option<&'static str> {
        (self.version == Self::cited("version")).then(|| Self::cited("date-released").split('-').next())?
    }

    fn text(&self) -> String {
        let year = self.year().map_or_else(String::new, |year| format!(" {year}"));
        let (title, authors) = (Self::cited("title"), Self::authors());
        format!("{authors}{year}. {title}. Version {} ({})", self.version, self.commit)
    }

    fn bibtex(&self) -> String {
        let year = self.year().map_or_else(String::new, |year| format!("  year = {{{year}}},\n"));
        format!(
            "@software{{tisane,\n  author = {{{{{}}}}},\n  title = {{{}}},\n  version = {{{}}},\n{year}  \
             note = {{commit {}}},\n}}",
            Self::authors(),
            Self::cited("title"),
            self.version,
            self.commit
        )
    }
}

/// Entry of the references.
struct Entry {
    /// The entry as it is written.
    source: &'static str,
}

impl Entry {
    fn all() -> impl Iterator<Item = Self> {
        REFERENCES.split("\n\n").map(|source| Self { source: source.trim() })
    }

    fn key(&self) -> &'static str {
        self.source.split(['{', ',']).nth(1).unwrap_or_default()
    }

    fn find(key: &str) -> Option<Self> {
        Self::all().find(|entry| entry.key() == key)
    }

    /// Returns a field without the commands of LaTeX.
    fn field(&self, name: &str) -> Option<String> {
        let value = self.source.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(" = {"))?;
        let mut text = value.strip_suffix("},")?.to_owned();
        for (latex, plain) in [
            ("{\\\"o}", "ö"),
            ("{\\\"O}", "Ö"),
            ("{\\\"u}", "ü"),
            ("{\\'e}", "é"),
            ("--", "-"),
            ("``", "\""),
            ("''", "\""),
        ] {
            text = text.replace(latex, plain);
        }
        Some(text)
    }

    /// Returns the reference in one line: authors, year, title, where it appeared.
    fn text(&self) -> String {
        let authors = self.field("author").unwrap_or_default();
        let authors: Vec<&str> = authors.split(" and ").collect();
        let authors = match authors[..] {
            [.., "others"] => format!("{} et al.", authors[0]),
            [first, .., last] if authors.len() > 2 => {
                format!("{first}; {} & {last}", authors[1..authors.len() - 1].join("; "))
            }
            _ => authors.join(" & "),
        };
        let year = self.field("year").map_or_else(String::new, |year| format!(" {year}"));
        let mut parts = vec![format!("{authors}{year}. {}", self.field("title").unwrap_or_default())];
        let place = ["journal", "booktitle", "howpublished", "publisher"].iter().find_map(|name| self.field(name));
        let numbers = ["volume", "pages"].iter().filter_map(|name| self.field(name)).collect::<Vec<_>>().join(", ");
        parts.extend(place.map(|place| format!("{place} {numbers}").trim_end().to_owned()));
        parts.extend(self.field("doi").map(|doi| format!("doi:{doi}")));
        parts.extend(self.field("eprint").map(|number| format!("arXiv:{number}")));
        parts.join(". ")
    }
}

#[cfg(test)]
#[path = "citations/tests.rs"]
mod tests;
