//! Commented configurations to start from, which `tisane init` prints.

/// Names and texts of the templates, one for each initial model.
pub const TEMPLATES: [(&str, &str); 14] = [
    ("plummer", include_str!("templates/plummer.toml")),
    ("king", include_str!("templates/king.toml")),
    ("hernquist", include_str!("templates/hernquist.toml")),
    ("eff", include_str!("templates/eff.toml")),
    ("uniform-sphere", include_str!("templates/uniform-sphere.toml")),
    ("fractal", include_str!("templates/fractal.toml")),
    ("clusters", include_str!("templates/clusters.toml")),
    ("file", include_str!("templates/file.toml")),
    ("elements", include_str!("templates/elements.toml")),
    ("two-body", include_str!("templates/two-body.toml")),
    ("binary-single", include_str!("templates/binary-single.toml")),
    ("figure-eight", include_str!("templates/figure-eight.toml")),
    ("pythagorean", include_str!("templates/pythagorean.toml")),
    ("solar-system", include_str!("templates/solar-system.toml")),
];

/// Names and texts of the templates of whole situations: models with what acts on them.
pub const SITUATIONS: [(&str, &str); 2] = [
    ("open-cluster", include_str!("templates/open-cluster.toml")),
    ("globular-cluster", include_str!("templates/globular-cluster.toml")),
];

/// Returns the commented configuration of a name; [`None`] for one that is neither in [`TEMPLATES`] nor in [`SITUATIONS`].
#[must_use]
pub fn template(name: &str) -> Option<&'static str> {
    TEMPLATES.iter().chain(&SITUATIONS).find(|(of, _)| *of == name).map(|(_, text)| *text)
}
