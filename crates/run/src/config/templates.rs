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

/// Returns the commented configuration for an initial model; [`None`] for a name that is not in [`TEMPLATES`].
#[must_use]
pub fn template(model: &str) -> Option<&'static str> {
    TEMPLATES.iter().find(|(name, _)| *name == model).map(|(_, text)| *text)
}
