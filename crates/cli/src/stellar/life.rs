//! The life of a star as a table for the screen: one row for each change of type.

use super::track::{Row, Track};
use crate::study::number;
use comfy_table::{CellAlignment, Table, presets};
use textwrap::WordSplitter;
use tisane_stellar::{Event, Model, Options, State};

/// Width of the description of the model, in columns.
const WIDTH: usize = 100;
/// Place of the column of text.
const TYPE: usize = 1;

/// Describes a model.
pub fn about(model: &Model) -> String {
    let Options { winds, remnants, kicks, .. } = model.options();
    format!(
        "SSE (Hurley, Pols & Tout 2000), Z = {}, winds {}, reimers {}, remnants {}, electron capture {}, \
         pair instability {}, kicks {} km/s, of black holes {}, seed {}",
        model.metallicity().z(),
        winds.recipe.name(),
        winds.reimers,
        remnants.recipe.name(),
        if remnants.electron_capture { "on" } else { "off" },
        remnants.pair_instability.name(),
        kicks.sigma,
        kicks.black_holes.name(),
        kicks.seed
    )
}

/// Returns the lives of stars, a block each.
pub fn text(tracks: &[Track], about: &str) -> String {
    let blocks: String = tracks.iter().map(life).collect();
    let whole_words = textwrap::Options::new(WIDTH).word_splitter(WordSplitter::NoHyphenation);
    format!("{}\n{blocks}", textwrap::fill(about, whole_words))
}

fn life(track: &Track) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "time [Myr]",
        "type",
        "mass [Msun]",
        "core [Msun]",
        "luminosity [Lsun]",
        "radius [Rsun]",
        "temperature [K]",
    ]);
    let after = |event: &Event| Row { time: event.time, state: event.after };
    let changes = track.events.iter().map(after);
    for row in track.rows.first().copied().into_iter().chain(changes).chain(track.rows.last().copied()) {
        table.add_row(cells(&row));
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if place == TYPE { CellAlignment::Left } else { CellAlignment::Right });
    }
    let supernovae: String = track.events.iter().filter_map(supernova).collect();
    format!("\n{} Msun at birth\n{}\n{supernovae}", track.birth_mass, table.trim_fmt())
}

fn cells(row: &Row) -> [String; 7] {
    let Row { time, state: State { kind, mass, core_mass, .. } } = row;
    [
        format!("{time:.4}"),
        format!("{:>2} {}", kind.number(), kind.name()),
        number(*mass),
        number(*core_mass),
        number(row.luminosity()),
        number(row.radius()),
        number(row.temperature()),
    ]
}

/// Describes the supernova of an event in a line.
fn supernova(event: &Event) -> Option<String> {
    let Event { time, after, supernova, kick, .. } = event;
    let supernova = supernova.as_ref()?;
    let left = if after.mass > 0.0 {
        let speed = kick.iter().map(|v| v * v).sum::<f64>().sqrt();
        let name = after.kind.name();
        format!(
            "a {name} of {} Msun, fallback {}, kick {} km/s",
            number(after.mass),
            number(supernova.fallback),
            number(speed)
        )
    } else {
        "nothing is left".to_owned()
    };
    Some(format!("supernova at {time:.4} Myr: {}; {left}\n", supernova.cause.name()))
}
