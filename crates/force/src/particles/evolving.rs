//! Star that evolves.

use tisane_stellar::Star;

/// Star on its track, and up to when the orbits know of it: in solar units and Myr.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvolvingStar {
    /// The track.
    pub track: Star,
    /// Time at which the particle got its present mass, in Myr.
    pub seen: f64,
    /// True while it fills its Roche lobe in a pair, since the event was recorded.
    pub fills_lobe: bool,
    /// Metallicity Z of its own; none where it has that of all.
    pub metallicity: Option<f64>,
    /// Kick that the particle has not had yet, in km/s.
    pub kick: [f64; 3],
}
