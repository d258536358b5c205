//! Names that other programs give the columns of particles.

use tisane::error::nearest;

/// Names of each column, in small letters, without units and signs: the first is that of the format csv.
const NAMES: &[&[&str]] = &[
    &["m", "mass", "masses", "mstar", "mbody", "particlemass", "starmass"],
    &["x", "x1", "px", "posx", "xpos", "positionx", "rx", "coordx", "q1"],
    &["y", "x2", "py", "posy", "ypos", "positiony", "ry", "coordy", "q2"],
    &["z", "x3", "pz", "posz", "zpos", "positionz", "rz", "coordz", "q3"],
    &["vx", "v1", "u", "velx", "xvel", "velocityx", "xdot", "vxkms"],
    &["vy", "v2", "v", "vely", "yvel", "velocityy", "ydot", "vykms"],
    &["vz", "v3", "w", "velz", "zvel", "velocityz", "zdot", "vzkms"],
    &["id", "ids", "name", "key", "index", "particleid", "particleids", "number", "nr", "no", "n", "#", "i", "star"],
    &["radius", "radii", "rad", "r", "rstar", "stellarradius"],
];

/// Returns the name in the format csv of a column that other programs call `name`; [`None`] if it is not known.
pub(super) fn meaning(name: &str) -> Option<&'static str> {
    let name = name.split(['[', '(']).next().unwrap_or_default().to_lowercase();
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '#').collect();
    NAMES.iter().find(|names| names.contains(&plain.as_str())).map(|names| names[0])
}

/// Returns the valid name that is meant by `name`: by its meaning, else the one most like it.
pub(super) fn meant<'a>(name: &str, valid: &[&'a str]) -> Option<&'a str> {
    let known = meaning(name).and_then(|known| valid.iter().find(|valid| **valid == known));
    known.copied().or_else(|| nearest(name, valid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_programs_have_their_meaning() {
        for (name, meaning_of_it) in [
            ("M", "m"),
            ("Mass_[Msun]", "m"),
            ("ID", "id"),
            ("pos_x", "x"),
            ("Velocity Z", "vz"),
            ("vx_[km/s]", "vx"),
            ("X", "x"),
            ("Radius (au)", "radius"),
        ] {
            assert_eq!(meaning(name), Some(meaning_of_it), "{name}");
        }
        assert_eq!(meaning("density"), None);
        assert_eq!(meant("radiuss", &["m", "id", "radius"]), Some("radius"));
        assert_eq!(meant("density", &["m", "id"]), None);
    }
}
