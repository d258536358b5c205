//! Well-known kinds of files that are not read: what they are, and a command that makes a file that is read.

use super::sniff::FileProbe;
use crate::shell;
use std::path::Path;
use tisane::Error;

/// Kind of binary file: the place of its signature, the signature, its name, and what to do. `IN` and `OUT` stand for
/// the file and for its name without the ending.
type Signature = (usize, &'static [u8], &'static str, &'static str);

/// Header of a csv file that a recipe writes.
macro_rules! header {
    () => {
        "m,x,y,z,vx,vy,vz"
    };
}

/// Kinds of files with a signature.
const SIGNATURES: &[Signature] = &[
    (0, b"BZh", "a file packed by bzip2", "unpack it: bunzip2 -k @IN@"),
    (0, b"\xfd7zXZ\0", "a file packed by xz", "unpack it: xz -dk @IN@"),
    (0, b"\x28\xb5\x2f\xfd", "a file packed by Zstandard", "unpack it: zstd -d @IN@"),
    (0, b"\x04\x22\x4d\x18", "a file packed by LZ4", "unpack it: lz4 -d @IN@"),
    (0, b"\x1f\x9d", "a file packed by compress", "unpack it: uncompress @IN@"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it: 7z x @IN@"),
    (257, b"ustar", "a tar archive", "unpack it: tar -xf @IN@"),
    (0, b"REBOUND Binary File", "an archive of REBOUND", REBOUND),
    (0, b"SIMPLE  =", "a FITS file", ASTROPY),
    (0, b"\x93NUMPY", "an array of NumPy (NPY)", NUMPY),
    (0, b"PAR1", "a Parquet file", PARQUET),
    (0, b"ARROW1", "an Arrow (Feather) file", ARROW),
    (0, b"CDF\x01", NETCDF, NCCOPY),
    (0, b"CDF\x02", NETCDF, NCCOPY),
    (0, b"CDF\x05", NETCDF, NCCOPY),
    (0, b"MATLAB 5.0 MAT-file", "a MAT-file of MATLAB", "write a table there: writematrix(..., \"@OUT@.csv\")"),
    (
        0,
        b"SQLite format 3\0",
        "an SQLite database",
        "write a table: sqlite3 -header -csv @IN@ \"SELECT ...\" > @OUT@.csv",
    ),
    (0, b"#ASDF", "an ASDF file", "write it as csv or HDF5 with the Python package asdf"),
    (0, b"SR\0\x04", "a save file of IDL", "read it with scipy.io.readsav in Python, and write it as csv"),
    (0, b"(Particle", "a file of Starlab", "write m x y z vx vy vz, a star a line, with Starlab's own tools"),
    (0, b"%PDF", "a PDF document", "give a file of particles"),
    (0, b"version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch the file: git lfs pull"),
    (512, HDF5, USER_BLOCK, UNJAM),
    (1024, HDF5, USER_BLOCK, UNJAM),
    (2048, HDF5, USER_BLOCK, UNJAM),
];

const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
const USER_BLOCK: &str = "an HDF5 file behind a user block";
const UNJAM: &str = "write it without the block: h5unjam -i @IN@ -o @OUT@.hdf5";
const NETCDF: &str = "a classic netCDF file";
const NCCOPY: &str = "write it as netCDF-4, which is HDF5: nccopy -k nc4 @IN@ @OUT@.hdf5";
const REBOUND: &str = "write it as csv: python3 -c \"import sys, rebound; print('m,x,y,z,vx,vy,vz,id'); \
     [print(p.m,p.x,p.y,p.z,p.vx,p.vy,p.vz,i,sep=',') for i,p in \
     enumerate(rebound.Simulation(sys.argv[1]).particles)]\" @IN@ > @OUT@.csv";
const ASTROPY: &str = concat!(
    "write it as csv, and name its columns ",
    header!(),
    ": python3 -c \"import sys, astropy.table; \
     astropy.table.Table.read(sys.argv[1]).write(sys.stdout, format='ascii.csv')\" @IN@ > @OUT@.csv"
);
const NUMPY: &str = concat!(
    "write it as csv, with the names of its columns in their order: python3 -c \"import sys, numpy; \
     numpy.savetxt(sys.stdout, numpy.load(sys.argv[1]), delimiter=',', fmt='%.17g', header='",
    header!(),
    "', comments='')\" @IN@ > @OUT@.csv"
);
const NPZ: &str = concat!(
    "write its arrays as csv, by their own names: python3 -c \"import sys, numpy; a = numpy.load(sys.argv[1]); \
     numpy.savetxt(sys.stdout, numpy.column_stack([a['mass'], a['pos'], a['vel']]), delimiter=',', fmt='%.17g', header='",
    header!(),
    "', comments='')\" @IN@ > @OUT@.csv"
);
const PARQUET: &str = concat!(
    "write it as csv, and name its columns ",
    header!(),
    ": python3 -c \"import sys, pandas; pandas.read_parquet(sys.argv[1]).to_csv(sys.stdout, index=False)\" \
     @IN@ > @OUT@.csv"
);
const ARROW: &str = concat!(
    "write it as csv, and name its columns ",
    header!(),
    ": python3 -c \"import sys, pandas; pandas.read_feather(sys.argv[1]).to_csv(sys.stdout, index=False)\" \
     @IN@ > @OUT@.csv"
);
const EXPORT: &str = concat!("write it as csv, with the header ", header!());

/// Returns the error for a file of a well-known kind that is not read; [`None`] if it is of none.
pub(super) fn unreadable(path: &Path, probe: &FileProbe) -> Option<Error> {
    let head = &probe.head[..];
    let at = |(start, bytes, ..): &&Signature| head.get(*start..).is_some_and(|rest| rest.starts_with(bytes));
    let (what, way) = match SIGNATURES.iter().find(at) {
        Some((_, _, what, way)) => ((*what).to_owned(), *way),
        None => zip(head).or_else(|| marked_text(head)).or_else(|| records(head))?,
    };
    Some(Error::input(path, format!("this is {what}, which tisane does not read")).with_help(filled(way, path)))
}

/// Returns a recipe for a file: `@IN@` and `@OUT@` stand for the file, and for its name without the ending, as words of a
/// shell.
pub(super) fn filled(way: &str, path: &Path) -> String {
    let stem = path.with_extension("");
    let part = |(k, part): (usize, &str)| match (k % 2, part) {
        (1, "IN") => shell::argument(path),
        // An ending stands behind a quoted name: 'a b'.csv is one word.
        (1, "OUT") => shell::argument(&stem),
        (_, literal) => literal.to_owned(),
    };
    way.split('@').enumerate().map(part).collect()
}

/// Recognises a zip archive: NumPy's NPZ and spreadsheets are some.
fn zip(head: &[u8]) -> Option<(String, &'static str)> {
    if !head.starts_with(b"PK\x03\x04") {
        return None;
    }
    let has = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
    Some(if has(b".npy") {
        ("an archive of NumPy (NPZ)".into(), NPZ)
    } else if has(b"[Content_Types].xml") || has(b"xl/") {
        ("a spreadsheet".into(), EXPORT)
    } else {
        ("a zip archive".into(), "unpack it: unzip @IN@")
    })
}

/// Recognises text with a mark of its kind, and Python's pickle.
fn marked_text(head: &[u8]) -> Option<(String, &'static str)> {
    if let [0xff, 0xfe, ..] | [0xfe, 0xff, ..] = head {
        return Some(("text in UTF-16".into(), "write it in UTF-8: iconv -f UTF-16 -t UTF-8 @IN@ > @OUT@.txt"));
    }
    if matches!(head, [0x80, 2..=5, ..]) {
        let why = "Python's pickle, which may hold code";
        return Some((why.into(), "write the particles as csv in Python: nothing of a pickle is read here"));
    }
    let text = String::from_utf8_lossy(head);
    let start = text.trim_start_matches('\u{feff}').trim_start().to_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
    if begins(&["<!doctype html", "<html"]) {
        return Some(("a page of the web".into(), "the download went wrong: fetch the file itself"));
    }
    if begins(&["<votable", "<?xml"]) {
        return Some(("XML, perhaps a VOTable".into(), ASTROPY));
    }
    if begins(&["{", "[{", "[["]) && !text.contains('\0') {
        return Some(("JSON".into(), EXPORT));
    }
    let is_toml = text.lines().any(|line| matches!(line.trim(), "[run]" | "[units]" | "[integrator.hermite4]"));
    is_toml.then(|| ("a configuration of a run".into(), "start the run: tisane run @IN@"))
}

/// Recognises Fortran's unformatted records: each has its length before and behind it.
fn records(head: &[u8]) -> Option<(String, &'static str)> {
    let word = |at: usize| head.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    let length = [u32::from_le_bytes, u32::from_be_bytes].into_iter().find_map(|number| {
        let length = number(word(0)?);
        let behind = number(word(usize::try_from(length).ok()?.checked_add(4)?)?);
        (length > 0 && length == behind).then_some(length)
    })?;
    let what = format!("a file of Fortran's unformatted records, the first of {length} bytes (as NBODY6's conf.3)");
    Some((what, "write m x y z vx vy vz, a star a line, as text with the program that reads these records"))
}
