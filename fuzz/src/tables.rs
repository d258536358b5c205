//! Tables and earlier results as text: journals of runs and studies, summaries, orbital elements, launch shapes.

use super::{file, is_told};
use std::path::{Path, PathBuf};
use tisane::units::{Scale, Units};
use tisane_io::fields::{DiagnosticsRow, Journal as OfRun};
use tisane_io::file_units::FileUnits;
use tisane_io::formats::read_time_table;
use tisane_io::journal::ResumableJournal;
use tisane_io::journal::tail::JournalTail;
use tisane_io::table::{self, Table};
use tisane_io::{elements, inspect, provenance};
use tisane_lab::study::journal::{JOURNAL, Journal, Stamp};
use tisane_lab::study::{force, trial, trials};
use tisane_plot::Theme;
use tisane_plot::table::{Choice, Source, figure};

/// A table: read as columns, drawn, read as a journal, followed, taken up by a resume, read as orbital elements and as a path of a field.
pub fn tables(bytes: &[u8]) {
    let (folder, path) = file(OfRun::Diagnostics.csv(), bytes);
    if let Some(table) = is_told(table::read(&path)) {
        draw(&path, table);
    }
    let _ = is_told(table::read_journal(&path, &folder.path().join("none")));
    let _ = is_told(table::read_csv(&path));
    let _ = is_told(elements::read(&path));
    if let Some(path) = is_told(read_time_table(&path, &["t", "x", "y", "z", "vx", "vy", "vz"])) {
        assert!(path.columns.iter().all(|column| column.len() == path.lines.len()));
        assert!(path.columns[0].windows(2).all(|times| times[0] < times[1]));
    }
    let _ = is_told(inspect::describe(&path));
    let mut followed = JournalTail::new(path.clone());
    if is_told(followed.refresh()).is_some() {
        let rows = followed.rows();
        for from in [0, rows / 2, rows, u64::MAX] {
            let read = is_told(followed.read(from, 1, 100, |_| true)).expect("a file that was just read");
            assert!(read.table.contents().all(|(_, values)| values.len() as u64 <= rows.saturating_sub(from).min(100)));
        }
    }
    // Last: what is after these rows is cut off.
    let units = FileUnits { units: Units::henon(), scale: Scale::IDENTITY };
    let rows = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let _ = is_told(
        ResumableJournal::<DiagnosticsRow>::check(
            folder.path(),
            (rows / 2, None),
            &units,
            &[("external_potential_energy", false)],
        )
        .and_then(ResumableJournal::resume),
    );
}

/// Columns of anything against the first, on both kinds of axis.
fn draw(path: &Path, table: Table) {
    let y: Vec<String> = table.columns.iter().skip(1).take(3).map(|column| column.name.clone()).collect();
    if y.is_empty() {
        return;
    }
    let sources = [Source { path: path.to_owned(), name: "table".into(), table }];
    for log in [false, true] {
        let choice = Choice { x: None, y: y.clone(), by: None, log_x: log, log_y: log };
        if let Some(figure) = is_told(figure(&sources, &choice)) {
            let svg = figure.svg(Theme::Light);
            assert!(svg.starts_with("<svg") && svg.len() < 1 << 22, "{} bytes", svg.len());
        }
    }
}

/// Earlier results: the points of a study, the summary of a run, a table of launch shapes.
pub fn results(bytes: &[u8]) {
    let (_folder, path) = file("summary.json", bytes);
    let _ = is_told(provenance::from_file(&path));
    points::<force::Key, force::Errors>(bytes);
    points::<trials::Key, trial::Measured>(bytes);
    #[cfg(feature = "cuda")]
    shapes(bytes, &path);
}

/// The points after a first line that this program and machine would have written.
fn points<K, R>(bytes: &[u8])
where
    K: PartialEq + serde::Serialize + serde::de::DeserializeOwned,
    R: serde::Serialize + serde::de::DeserializeOwned,
{
    let stamp = Stamp::now("fuzz");
    let head = serde_json::to_string(&stamp).expect("a stamp");
    for begun in [bytes.to_vec(), [head.as_bytes(), b"\n", bytes].concat()] {
        let (folder, path): (_, PathBuf) = file(JOURNAL, &begun);
        if is_told(Journal::<K, R>::open(folder.path(), stamp.clone(), false)).is_some() {
            let kept = std::fs::read(&path).expect("the journal");
            assert!(kept.is_empty() || kept.ends_with(b"\n"));
        }
    }
}

#[cfg(feature = "cuda")]
fn shapes(bytes: &[u8], path: &Path) {
    use tisane::force::cuda::TuningTable;
    use tisane::force::precision::Precision;
    let Ok(text) = str::from_utf8(bytes) else { return };
    for mode in Precision::ALL {
        // The numbers of targets for which kernels are made, of both kinds.
        let choices = [vec![1, 2, 4, 8], vec![1, 2, 3, 4]];
        if let Some(Some(shapes)) = is_told(TuningTable::read(text, path, mode, &choices)) {
            for (sources, targets) in [(1, 1), (1000, 33), (1 << 20, 1 << 20), (u32::MAX as usize, 1)] {
                let _ = shapes.choose(sources, targets);
            }
        }
    }
}
