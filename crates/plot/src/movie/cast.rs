//! The particles of a snapshot as a film draws them.

use super::settings::Colour;
use super::shades;
use crate::snapshots::Look;
use tisane::particles::Vec3;

/// The particles of a snapshot in the order of their ids, in internal units.
pub(super) struct Cast {
    pub ids: Vec<u64>,
    pub pos: Vec<Vec3>,
    pub vel: Vec<Vec3>,
    /// Place of each particle in the range of the colours, from 0 to 1; NaN without a temperature.
    pub shade: Vec<f64>,
    /// Light of each particle, and the kind of remnant that it is, where colours are temperatures.
    pub stars: Vec<(f32, Option<usize>)>,
}

impl Cast {
    /// Takes the particles of a snapshot, with their places in the range of the colours in the order of the file.
    pub fn new(look: &Look, colour: Colour, shade: impl Iterator<Item = f64>) -> Self {
        let mut all: Vec<(u64, usize, f64)> =
            look.stars.id.iter().copied().zip(0..).zip(shade).map(|((id, i), s)| (id, i, s)).collect();
        all.sort_unstable_by_key(|(id, ..)| *id);
        Self {
            ids: all.iter().map(|(id, ..)| *id).collect(),
            pos: all.iter().map(|(_, i, _)| look.stars.pos[*i]).collect(),
            vel: all.iter().map(|(_, i, _)| look.stars.vel[*i]).collect(),
            stars: match colour {
                Colour::Temperature => {
                    let states = all.iter().map(|(_, i, _)| &look.stars.states[*i]);
                    states.map(|state| (shades::light(state) as f32, shades::remnant(state))).collect()
                }
                Colour::Speed | Colour::Mass => vec![(1.0, None); all.len()],
            },
            shade: all.into_iter().map(|(.., shade)| shade).collect(),
        }
    }
}
