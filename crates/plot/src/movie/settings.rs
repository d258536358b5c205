//! What a film shows.

use crate::figure::Theme;
use serde::Serialize;

/// Description of a film.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Axes.
    pub axes: Axes,
    /// Indices of the axes that run to the right and upwards.
    pub plane: (usize, usize),
    /// Centre of the picture.
    pub centre: Centre,
    /// Meaning of the colours.
    pub colour: Colour,
    /// Pixels across.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
    /// Ground.
    #[serde(serialize_with = "by_debug")]
    pub theme: Theme,
    /// Number of frames.
    pub frames: Frames,
}

/// Axes of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Axes {
    /// Those of the run, which do not turn.
    Inertial,
    /// Of a cluster on an orbit: x along the velocity of the origin, y outwards across it, z along its angular momentum.
    Orbit,
}

/// Centre of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Centre {
    /// The density centre.
    Density,
    /// The centre of mass.
    Mass,
    /// The origin.
    Origin,
}

/// Meaning of the colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Colour {
    /// Speed relative to the centre of mass.
    Speed,
    /// Mass, by its logarithm.
    Mass,
    /// Effective temperature of stars that age, in the colours of black bodies; bright stars are larger, and remnants have colours of
    /// their own.
    Temperature,
}

/// Number of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Frames {
    /// Number from the first to the last snapshot, at equal steps of time.
    Whole(u64),
    /// Number from each snapshot to the next.
    PerSnapshot(u64),
}

fn by_debug<S: serde::Serializer>(theme: &Theme, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{theme:?}"))
}
