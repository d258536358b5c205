//! Promise: diagnostics have no gap and no duplicate row over a resume, and the same bits in CSV and HDF5.

use std::fs;
use std::io::Write;
use std::path::Path;
use tisane::Result;
use tisane_io::fields::{DiagnosticsRow, FieldColumns, Journal};
use tisane_io::file_units::FileUnits;
use tisane_io::inspect;
use tisane_io::journal::tail::JournalTail;
use tisane_io::journal::{JournalWriter, ResumableJournal};
use tisane_io::provenance::Provenance;

const CSV: &str = Journal::Diagnostics.csv();
const HDF5: &str = Journal::Diagnostics.hdf5();
use tisane::particles::Vec3;
use tisane::units::{Scale, Units};
use tisane_io::table::{Table, read_journal};
use tisane_io::table::{Values, read_csv, read_hdf5};

fn row(i: u64) -> DiagnosticsRow {
    let x = i as f64;
    let mut row = DiagnosticsRow {
        time: 0.1 * x,
        energy: -0.25 + 1e-13 * x,
        relative_energy_error: -1e-300 * x,
        cluster_energy_error: Some(1e300 * x),
        momentum: Vec3::new(1e-17, -0.0, 1e20 / 3.0),
        block_steps: u64::MAX - i,
        wall_seconds: 1.0 / 3.0,
        ..DiagnosticsRow::default()
    };
    row.steps_level[36] = i;
    row
}

fn units() -> FileUnits {
    FileUnits { units: Units::henon(), scale: Scale { mass: 1.1, length: 2.2, velocity: 3.3, time: 4.4 } }
}

fn create(dir: &Path) -> JournalWriter<DiagnosticsRow> {
    JournalWriter::create(
        dir,
        &units(),
        &DiagnosticsRow::optional_columns((FieldColumns::None, false), false, false, false),
    )
    .unwrap()
}

fn resume(dir: &Path, rows: u64) -> Result<JournalWriter<DiagnosticsRow>> {
    ResumableJournal::check(
        dir,
        (rows, None),
        &units(),
        &DiagnosticsRow::optional_columns((FieldColumns::None, false), false, false, false),
    )?
    .resume()
}

fn append(series: &mut JournalWriter<DiagnosticsRow>, rows: std::ops::Range<u64>) {
    rows.for_each(|i| {
        series.append(&row(i)).unwrap();
        series.refresh(Provenance::current).unwrap();
    });
}

#[test]
fn csv_and_hdf5_have_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    for rows in [0, 1, 2, 9000] {
        let mut series = create(dir.path());
        append(&mut series, 0..rows);
        series.rewrite(&Provenance::current()).unwrap();
        let [csv, hdf5] = [read_csv(&dir.path().join(CSV)), read_hdf5(&dir.path().join(HDF5))].map(Result::unwrap);
        assert_eq!(csv.rows() as u64, rows);
        // Debug text distinguishes −0.0 from 0.0, which == does not.
        let [a, b] = [&csv, &hdf5].map(|table| format!("{:?}", table.contents().collect::<Vec<_>>()));
        assert!(a == b, "{rows} rows");
        let Values::Floats(energy) = &hdf5.column("energy").unwrap().values else { panic!("no energy") };
        let expected: Vec<u64> = (0..rows).map(|i| (row(i).energy * (1.1 * 3.3f64.powi(2))).to_bits()).collect();
        assert_eq!(energy.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected);
        let Values::Counts(steps) = &hdf5.column("block_steps").unwrap().values else { panic!("no block_steps") };
        assert_eq!(steps.last().copied(), rows.checked_sub(1).map(|i| u64::MAX - i));
    }
}

#[test]
fn a_resume_leaves_no_gap_and_no_duplicate() {
    let [a, b] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut undisturbed = create(a.path());
    append(&mut undisturbed, 0..12);
    undisturbed.rewrite(&Provenance::current()).unwrap();
    append(&mut create(b.path()), 0..9);
    // The checkpoint is older than the last rows.
    let mut resumed = resume(b.path(), 7).unwrap();
    assert_eq!(resumed.rows(), 7);
    append(&mut resumed, 7..12);
    resumed.rewrite(&Provenance::current()).unwrap();
    let read = |dir: &tempfile::TempDir| fs::read_to_string(dir.path().join(CSV)).unwrap();
    assert_eq!(read(&a), read(&b));
    let [a, b] = [a, b].map(|dir| read_hdf5(&dir.path().join(HDF5)).unwrap());
    assert_eq!(a.columns, b.columns);
}

#[test]
fn a_half_written_line_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut create(dir.path()), 0..3);
    let path = dir.path().join(CSV);
    let whole = fs::read_to_string(&path).unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"0.3,1.2,-0.").unwrap();
    resume(dir.path(), 3).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    // Half of a row that the checkpoint counts is a row too few.
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    assert!(resume(dir.path(), 3).is_err());
    assert_eq!(resume(dir.path(), 2).unwrap().rows(), 2);
}

#[test]
fn missing_rows_columns_and_files_are_told_and_nothing_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CSV);
    let problem = |rows| {
        let error = resume(dir.path(), rows).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    };
    assert!(problem(0).contains(CSV));
    append(&mut create(dir.path()), 0..3);
    let whole = fs::read(&path).unwrap();
    assert!(problem(4).contains("found 3"), "{}", problem(4));
    assert_eq!(fs::read(&path).unwrap(), whole);
    fs::write(&path, "a,b\n1,2\n").unwrap();
    assert!(problem(1).contains("line 1"));
    assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n");
    let error = read_csv(&path).map(|table| table.rows());
    assert_eq!(error.unwrap(), 1);
    fs::write(&path, "a,b\n1,x\n").unwrap();
    assert!(read_csv(&path).unwrap_err().to_string().contains("line 2: b"));
}

#[test]
fn the_hdf5_file_is_there_from_the_first_row_on() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut create(dir.path()), 0..1);
    assert_eq!(read_hdf5(&dir.path().join(HDF5)).unwrap().rows(), 1);
}

#[test]
fn rows_taken_back_leave_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let mut series = create(dir.path());
    append(&mut series, 0..5);
    let (end, hash, text) = (series.position(), series.sha256(), fs::read_to_string(dir.path().join(CSV)).unwrap());
    append(&mut series, 5..8);
    assert_ne!(series.sha256(), hash);
    series.truncate(end);
    assert_eq!((series.rows(), series.sha256()), (5, hash));
    assert_eq!(fs::read_to_string(dir.path().join(CSV)).unwrap(), text);
    // What a checkpoint would note now is the hash of what the journal then holds.
    append(&mut series, 5..6);
    let other = tempfile::tempdir().unwrap();
    let mut undisturbed = create(other.path());
    append(&mut undisturbed, 0..6);
    assert_eq!(series.sha256(), undisturbed.sha256());
}

#[test]
fn inspect_shows_both_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut series = create(dir.path());
    append(&mut series, 0..3);
    series.rewrite(&Provenance::current()).unwrap();
    for name in [CSV, HDF5] {
        let page = inspect::describe(&dir.path().join(name)).unwrap();
        for word in ["tisane diagnostics", &format!("{:<28} 3", "rows"), "energy", "steps_level_36"] {
            assert!(page.contains(word), "{word} is missing in\n{page}");
        }
        assert!(page.lines().count() < 50, "{page}");
    }
}

/// While a run appends, readers have whole rows and ever more of them, in the CSV and in the HDF5 file that is
/// rewritten with it.
#[test]
fn a_journal_that_grows_is_read_at_any_instant() {
    const ROWS: u64 = 4000;
    let dir = tempfile::tempdir().unwrap();
    let (csv, hdf5) = (dir.path().join(CSV), dir.path().join(HDF5));
    let mut series = create(dir.path());
    append(&mut series, 0..1);
    let (mut looks, mut followed) = ([0, 0, 0], JournalTail::new(csv.clone()));
    std::thread::scope(|threads| {
        let writer = threads.spawn(move || {
            for i in 1..ROWS {
                append(&mut series, i..i + 1);
                if i % 100 == 0 {
                    series.rewrite(&Provenance::current()).unwrap();
                }
            }
            series.rewrite(&Provenance::current()).unwrap();
        });
        let check = |table: &Table, looks: &mut u64| {
            let times = table.numbers("time").unwrap();
            assert!(times.len() as u64 >= *looks, "{} rows after {looks}", times.len());
            assert!(times.iter().enumerate().all(|(i, time)| time == row(i as u64).time * units().scale.time));
            *looks = times.len() as u64;
        };
        while looks.iter().any(|rows| *rows < ROWS) {
            let ended = writer.is_finished();
            check(&read_journal(&csv, &hdf5).unwrap(), &mut looks[0]);
            check(&read_hdf5(&hdf5).unwrap(), &mut looks[1]);
            followed.refresh().unwrap();
            check(&followed.read(0, 1, usize::MAX, |name| name == "time").unwrap().table, &mut looks[2]);
            assert!(!ended || looks == [ROWS; 3], "{looks:?}");
        }
        writer.join().unwrap();
    });
    assert_eq!(followed.generation(), 0);
}
