//! Launch shapes by number of sources and targets: a table, measured by `tisane bench force --tune`.

use super::launch_shape::LaunchShape;
use crate::error::{Error, Result};
use crate::force::precision::Precision;
use std::fmt;
use std::path::Path;

/// Built-in table.
const BUILT_IN: &str = include_str!("shapes.csv");
/// Environment variable that names a file with another table.
const VARIABLE: &str = "TISANE_SHAPES";
/// Header of a table, after comments: the names of its columns.
pub const HEADER: &str = "precision,sources,targets,shape,targets_per_thread,threads,span_bags,microseconds";

/// Row of a table: the fastest shape for a block of `targets` among `sources`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuningRow {
    /// Precision mode.
    pub precision: Precision,
    /// Number of sources.
    pub sources: usize,
    /// Number of targets.
    pub targets: usize,
    /// Fastest shape.
    pub shape: LaunchShape,
    /// Time of the evaluation in this shape, in microseconds.
    pub microseconds: f64,
}

/// Writes the row as a line of the table, under [`HEADER`].
impl fmt::Display for TuningRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, per_thread, threads, span_bags) = match self.shape {
            LaunchShape::Whole { targets, warps, bags } => ("whole", targets, 32 * warps, warps * bags),
            LaunchShape::Tiles { targets, threads, span_bags } => ("tiles", targets, threads, span_bags),
        };
        let (mode, sources, targets) = (self.precision.name(), self.sources, self.targets);
        write!(f, "{mode},{sources},{targets},{kind},{per_thread},{threads},{span_bags},{:.2}", self.microseconds)
    }
}

impl TuningRow {
    /// Parses a line of the table. The error says what was expected.
    fn read(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [mode, sources, targets, kind, per_thread, threads, span_bags, microseconds] = fields[..] else {
            return Err(format!("expected the 8 fields {HEADER}, found {}", fields.len()));
        };
        let precision = Precision::ALL.into_iter().find(|precision| precision.name() == mode);
        let precision = precision.ok_or_else(|| {
            format!("expected a precision mode ({}), found {mode:?}", Precision::ALL.map(Precision::name).join(", "))
        })?;
        let count = |name: &str, text: &str| {
            let number = text.parse::<u32>().ok().filter(|n| *n > 0);
            number.map(|n| n as usize).ok_or_else(|| format!("{name}: expected a whole number from 1, found {text:?}"))
        };
        let (sources, targets) = (count("sources", sources)?, count("targets", targets)?);
        let per_thread = count("targets_per_thread", per_thread)?;
        let (threads, span_bags) = (count("threads", threads)?, count("span_bags", span_bags)?);
        let time = microseconds.parse::<f64>().ok().filter(|time| time.is_finite() && *time >= 0.0);
        let microseconds = time.ok_or_else(|| format!("microseconds: expected a number, found {microseconds:?}"))?;
        let warps = threads / 32;
        let (shape, exact, expected) = match kind {
            "whole" => {
                let bags = span_bags / warps.max(1);
                let exact = 32 * warps == threads && warps * bags == span_bags;
                (LaunchShape::Whole { targets: per_thread, warps, bags }, exact, WHOLE)
            }
            "tiles" => (LaunchShape::Tiles { targets: per_thread, threads, span_bags }, true, TILES),
            _ => return Err(format!("shape: expected whole or tiles, found {kind:?}")),
        };
        if !exact || !shape.is_valid(precision) {
            return Err(format!("no kernel can be launched in this shape: expected for {kind} {expected}"));
        }
        Ok(Self { precision, sources, targets, shape, microseconds })
    }
}

/// Requirements of [`LaunchShape::is_valid`], in the columns of a table.
const WHOLE: &str = "32, 64, 128 or 256 threads, for each 32 threads span_bags a power of two up to \
                     128, and at most 48 KiB of shared memory";
const TILES: &str = "threads a multiple of 32 up to 256, and span_bags a power of two up to 2048";

/// Launch shapes of a mode.
pub struct TuningTable {
    /// Rows in ascending order of sources and targets.
    rows: Vec<TuningRow>,
    /// log2 of the numbers of sources and targets of each row.
    places: Vec<[f64; 2]>,
}

impl TuningTable {
    /// Loads the shapes of a mode, for kernels with these numbers of targets ([`crate::force::cuda::CudaEngine::compiled_targets`]),
    /// from the file that `TISANE_SHAPES` names, or from the built-in table if there is no such file or it has no row
    /// of the mode.
    ///
    /// # Errors
    /// [`Error::Input`] if a table cannot be read, with the line and what was expected there.
    pub fn load(precision: Precision, choices: &[Vec<usize>; 2]) -> Result<Self> {
        if let Some(path) = std::env::var_os(VARIABLE) {
            let text = std::fs::read_to_string(&path).map_err(|e| Error::input(&path, e).with_help(help()))?;
            if let Some(shapes) = Self::read(&text, path.as_ref(), precision, choices)? {
                return Ok(shapes);
            }
        }
        let built_in = Path::new("the built-in table of launch shapes");
        let shapes = Self::read(BUILT_IN, built_in, precision, choices)?;
        shapes.ok_or_else(|| Error::input(built_in, format!("no row for {}", precision.name())))
    }

    /// Parses the rows of a mode in a table, for kernels with these numbers of targets; [`None`] if there are none.
    /// Checks every line. `path` stands for the table in messages.
    ///
    /// # Errors
    /// [`Error::Input`] with the line and what was expected there.
    pub fn read(text: &str, path: &Path, precision: Precision, choices: &[Vec<usize>; 2]) -> Result<Option<Self>> {
        let mut rows = Vec::new();
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
        let wrong = |number: usize, problem: String| {
            Err(Error::input(path, format!("line {number}: {problem}")).with_help(help()))
        };
        match lines.next() {
            Some((line, _)) if line.trim() == HEADER => {}
            Some((line, number)) => return wrong(number, format!("expected the header {HEADER}, found {line:?}")),
            None => return wrong(1, format!("expected the header {HEADER}, found nothing")),
        }
        for (line, number) in lines {
            let row = match TuningRow::read(line) {
                Ok(row) if row.precision != precision => continue,
                Ok(row) => row,
                Err(problem) => return wrong(number, problem),
            };
            let (there, targets) = match row.shape {
                LaunchShape::Whole { targets, .. } => (&choices[0], targets),
                LaunchShape::Tiles { targets, .. } => (&choices[1], targets),
            };
            if !there.contains(&targets) {
                let problem = "expected for targets_per_thread a number for which there are kernels";
                return wrong(number, format!("{problem}, {there:?} for this shape and mode; found {targets}"));
            }
            rows.push(row);
        }
        rows.sort_by_key(|row| (row.sources, row.targets));
        let places = rows.iter().map(|row| place(row.sources, row.targets)).collect();
        Ok((!rows.is_empty()).then_some(Self { rows, places }))
    }

    /// Returns the shape for a block of `targets` among `sources`: that of the nearest row by the sum of the
    /// differences of log2, of equally near rows the first. The spans grow for many more sources than the row's.
    #[must_use]
    pub fn choose(&self, sources: usize, targets: usize) -> LaunchShape {
        let [s, t] = place(sources, targets);
        let (mut nearest, mut min) = (0, f64::INFINITY);
        for (k, [row_s, row_t]) in self.places.iter().enumerate() {
            let distance = (row_s - s).abs() + (row_t - t).abs();
            if distance < min {
                (nearest, min) = (k, distance);
            }
        }
        let row = &self.rows[nearest];
        row.shape.with_more_sources(sources / row.sources)
    }
}

fn place(sources: usize, targets: usize) -> [f64; 2] {
    [sources, targets].map(|n| (n.max(1) as f64).log2())
}

fn help() -> String {
    format!(
        "{VARIABLE} names a table of launch shapes, as written by `tisane bench force --engine cuda --tune FILE`; \
         without {VARIABLE} the built-in table is used"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(precision: Precision) -> [Vec<usize>; 2] {
        [LaunchShape::whole(precision), LaunchShape::tiles(precision)].map(<[usize]>::to_vec)
    }

    fn read(text: &str, precision: Precision) -> Result<Option<TuningTable>> {
        TuningTable::read(text, Path::new("shapes.csv"), precision, &choices(precision))
    }

    #[test]
    fn the_built_in_table_is_whole() {
        for precision in Precision::ALL {
            let shapes = read(BUILT_IN, precision).unwrap().expect("rows for every mode");
            let max = shapes.rows.last().unwrap().sources;
            assert!(max >= 1 << 18, "{}: up to {max} sources", precision.name());
            let mut places: Vec<_> = shapes.rows.iter().map(|row| (row.sources, row.targets)).collect();
            places.dedup();
            assert_eq!(places.len(), shapes.rows.len(), "{}: a place has two rows", precision.name());
            // As far as the device can number, every choice can be launched.
            for log2_sources in 0..31 {
                for log2_targets in 0..=log2_sources {
                    let (sources, targets) = (1 << log2_sources, 1 << log2_targets);
                    let shape = shapes.choose(sources, targets);
                    assert!(shape.is_valid(precision), "{} {sources} {targets}: {shape:?}", precision.name());
                }
            }
        }
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        for shape in [
            LaunchShape::Whole { targets: 2, warps: 4, bags: 16 },
            LaunchShape::Tiles { targets: 2, threads: 96, span_bags: 64 },
            LaunchShape::Whole { targets: 1, warps: 8, bags: 1 },
        ] {
            let row = TuningRow { precision: Precision::Mixed, sources: 4096, targets: 17, shape, microseconds: 12.25 };
            assert_eq!(TuningRow::read(&row.to_string()), Ok(row));
        }
        assert_eq!(HEADER.split(',').count(), 8);
    }

    #[test]
    fn the_nearest_row_is_taken_and_of_two_the_smaller() {
        let row = |sources, targets, bags| {
            let shape = LaunchShape::Whole { targets: 1, warps: 1, bags };
            TuningRow { precision: Precision::Mixed, sources, targets, shape, microseconds: 1.0 }.to_string()
        };
        let text = [
            "# remarks".into(),
            HEADER.into(),
            row(4096, 64, 8),
            row(1024, 16, 2),
            String::new(),
            row(4096, 1, 4),
            row(1024, 1, 1),
        ];
        let shapes = read(&text.join("\n"), Precision::Mixed).unwrap().unwrap();
        for (sources, targets, bags) in [
            (1024, 1, 1),
            (1024, 16, 2),
            (1024, 5, 2),
            // As near to 1 as to 16, to 1024 as to 4096.
            (1024, 4, 1),
            (2000, 1, 1),
            (2049, 1, 4),
            // Beyond the table on every side; the spans grow with the sources.
            (3, 1, 1),
            (1, 1, 1),
            (4096, 4000, 8),
            (16384, 1, 16),
            (1 << 24, 1 << 20, 128),
        ] {
            let expected = LaunchShape::Whole { targets: 1, warps: 1, bags };
            assert_eq!(shapes.choose(sources, targets), expected, "{sources} sources, {targets} targets");
        }
        assert!(read(&text.join("\n"), Precision::F64).unwrap().is_none());
    }

    #[test]
    fn a_malformed_table_is_refused_with_its_name_and_line_and_what_was_expected() {
        let good = "mixed,1024,1,whole,1,256,8,1";
        for (line, expected) in [
            ("", "line 4: expected the 8 fields precision,"),
            ("mixed,1024,1,whole,1,256,8", "found 7"),
            ("mixt,1024,1,whole,1,256,8,1", "expected a precision mode (f32-direct, "),
            ("mixed,0,1,whole,1,256,8,1", "sources: expected a whole number from 1, found \"0\""),
            ("mixed,1024,one,whole,1,256,8,1", "targets: expected a whole number from 1, found \"one\""),
            ("mixed,1024,1,hole,1,256,8,1", "shape: expected whole or tiles, found \"hole\""),
            ("mixed,1024,1,whole,1,256,8,fast", "microseconds: expected a number, found \"fast\""),
            ("mixed,1024,1,whole,1,100,8,1", "expected for whole 32, 64, 128 or 256 threads"),
            ("mixed,1024,1,whole,1,16,8,1", "expected for whole 32, 64, 128 or 256 threads"),
            ("mixed,1024,1,whole,1,256,12,1", "expected for whole"),
            ("mixed,1024,1,tiles,2,512,8,1", "expected for tiles threads a multiple of 32 up to 256"),
            ("f64,1024,1,tiles,1,128,4096,1", "span_bags a power of two up to 2048"),
            (
                "mixed,1024,1,whole,3,128,4,1",
                "a number for which there are kernels, [1, 2] for this shape and mode; found 3",
            ),
        ] {
            let line = if line.is_empty() { "x" } else { line };
            let text = format!("# a remark\n{HEADER}\n{good}\n{line}\n{good}\n");
            let error = read(&text, Precision::Mixed).err().expect("a malformed table").to_string();
            assert!(error.starts_with("shapes.csv: line 4: ") && error.contains(expected), "{line}: {error}");
        }
        for (text, expected) in
            [("", "line 1: expected the header"), ("# a\n\nmixed,1\n", "line 3: expected the header")]
        {
            assert!(read(text, Precision::F64).err().unwrap().to_string().contains(expected));
        }
    }
}
