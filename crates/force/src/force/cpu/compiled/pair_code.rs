//! Machine code that adds the sources of a bag to the sums.

use super::allocate::{Allocation, Homes, Memory};
use super::line::LINE;
use super::machine::{Address, Operand, Unit, Vector, Writer, Written};
use super::record::{Fixed, Operation, Record};
use super::schedule::{Read, Schedule, Step};
use crate::force::cpu::sources::columns;
use crate::force::mode::Mode;
use crate::law::Program;
use iced_x86::Register;
use memmap2::{Mmap, MmapMut};

/// Registers of the code: its memory, the slots of the sources, the addresses of columns, the number of turns left.
const FRAME: Register = Register::RDI;
const SLOTS: Register = Register::RSI;
const ADDRESSES: Register = Register::RDX;
const TURNS: Register = Register::ECX;
/// Registers of the columns of a law.
pub(super) const BESIDE: [Register; 4] = [Register::R8, Register::R9, Register::R10, Register::R11];

/// Machine code that adds all sources of a bag to the sums.
pub struct PairCode {
    pub(super) memory: Mmap,
    /// Beginning of the code for lanes over targets, and of that for lanes over bags.
    pub(super) entries: [usize; 2],
    /// Vectors that the caller stores in the memory of the code, after the sums.
    pub fixed: Vec<Fixed>,
    /// Number of parts of sums, and of the check.
    pub sums: usize,
    /// Flag that the last of the sums is NaN where [`Fma`](crate::force::cpu::inverse_sqrt::Fma) has no value.
    pub checked: bool,
    /// Number of lines of its memory.
    pub lines: usize,
    /// Size of a slot in bytes.
    pub(super) stride: usize,
    /// Size of what is read at once of a source, or of one in each bag.
    pub(super) reads: [usize; 2],
    pub(super) beside: usize,
    size: usize,
}

impl PairCode {
    /// Number of sources of which it takes a multiple.
    pub const TURN: usize = Schedule::TURN;
    /// Largest number of columns of a law.
    pub const MAX_COLUMNS: usize = BESIDE.len();

    /// Makes the code of a program for `K` sums on vectors of `size` bytes, with 1 / s by `estimates` or by division.
    /// Returns [`None`] if there is none for it here.
    pub fn new<M: Mode, const K: usize>(program: &Program, size: usize, estimates: bool) -> Option<Self> {
        let unit = Unit::of_size(size)?;
        let beside = program.columns.len();
        if beside > BESIDE.len() {
            return None;
        }
        let record = Record::new::<M, K>(program, estimates)?;
        let schedule = Schedule::new(&record);
        let mut writer = Writer::new(unit, size_of::<M::Real>() == size_of::<f64>());
        let (mut entries, mut lines) = ([0; 2], 0);
        let stride = columns::<M, K>() * LINE;
        for over_bags in [false, true] {
            let mut frame = Frame {
                over_bags,
                stride,
                sums: record.sums.len(),
                fixed: record.fixed.len(),
                kept: schedule.kept,
                spilled: 0,
            };
            entries[usize::from(over_bags)] = usize::try_from(writer.here()).ok()?;
            write(&mut writer, &mut frame, &schedule, beside).ok()?;
            lines = lines.max(frame.spills() + frame.spilled);
        }
        let code = writer.finish();
        let mut memory = MmapMut::map_anon(code.len()).ok()?;
        memory.copy_from_slice(&code);
        // Some systems forbid memory that is both made here and executed.
        let memory = memory.make_exec().ok()?;
        let Record { fixed, sums, checked, .. } = record;
        let (sums, reads) = (sums.len(), [size_of::<M::Real>(), size]);
        Some(Self { memory, entries, fixed, sums, checked, lines, stride, reads, beside, size })
    }

    /// Returns the size of its vectors in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }
}

/// Lines of the memory of the code.
struct Frame {
    over_bags: bool,
    /// Size of a slot in bytes.
    stride: usize,
    sums: usize,
    fixed: usize,
    kept: usize,
    spilled: usize,
}

impl Frame {
    /// Returns the first line of values that gave way.
    const fn spills(&self) -> usize {
        self.sums + self.fixed + self.kept
    }

    const fn line(&self, line: usize) -> Address {
        Address { base: FRAME, offset: line * LINE, broadcast: false }
    }
}

impl Memory for Frame {
    fn address(&self, read: Read) -> Address {
        let broadcast = !self.over_bags;
        match read {
            Read::Sum(k) => self.line(k),
            Read::Fixed(k) => self.line(self.sums + k),
            Read::Kept(k) => self.line(self.sums + self.fixed + k),
            Read::Slot { column, place } => {
                Address { base: SLOTS, offset: place * self.stride + column * LINE, broadcast }
            }
            Read::Beside { column, place } => Address { base: BESIDE[column], offset: place * LINE, broadcast },
        }
    }

    fn spilled(&mut self, number: usize) -> Address {
        self.spilled = self.spilled.max(number + 1);
        self.line(self.spills() + number)
    }
}

/// Returns where the sums and the fixed vectors are: in as many registers as the other values can spare.
fn homes(unit: Unit, frame: &Frame, schedule: &Schedule) -> Homes {
    let for_values: u8 = match unit {
        Unit::Avx2 => 7,
        Unit::Avx512 => 13,
    };
    let mut left = 0..unit.registers() - for_values;
    let home = |k| left.next().map_or(Operand::Memory(frame.line(k)), Operand::Register);
    let sums = (0..frame.sums).map(home).collect();
    // How often a turn reads each of them.
    let mut readers: Vec<(usize, usize)> = (0..frame.fixed).map(|k| (0, k)).collect();
    for step in &schedule.turn.steps {
        for &operand in step.operands() {
            if let Step::Compute(Operation::Read(Read::Fixed(k))) = schedule.turn.steps[operand] {
                readers[k].0 += 1;
            }
        }
    }
    readers.sort_unstable_by(|a, b| b.cmp(a));
    let mut fixed: Vec<Option<Vector>> = vec![None; frame.fixed];
    for (_, k) in readers {
        fixed[k] = left.next();
    }
    Homes { sums, fixed }
}

/// Writes the function for a bag.
fn write(writer: &mut Writer, frame: &mut Frame, schedule: &Schedule, beside: usize) -> Written {
    let homes = homes(writer.unit(), frame, schedule);
    for (k, &column) in BESIDE[..beside].iter().enumerate() {
        writer.load_word(column, ADDRESSES, k * size_of::<*const u8>())?;
    }
    for (k, &home) in homes.fixed.iter().enumerate() {
        if let Some(vector) = home {
            writer.load(vector, frame.address(Read::Fixed(k)))?;
        }
    }
    Allocation::write(writer, frame, &homes, &schedule.first)?;
    for (k, &home) in homes.sums.iter().enumerate() {
        if let Operand::Register(vector) = home {
            writer.load(vector, frame.address(Read::Sum(k)))?;
        }
    }
    let skip = writer.skip_if_zero(TURNS)?;
    let turn = writer.here();
    Allocation::write(writer, frame, &homes, &schedule.turn)?;
    writer.advance(SLOTS, Schedule::TURN * frame.stride)?;
    for &column in &BESIDE[..beside] {
        writer.advance(column, Schedule::TURN * LINE)?;
    }
    writer.repeat(TURNS, turn)?;
    writer.land(skip);
    Allocation::write(writer, frame, &homes, &schedule.last)?;
    for (k, &home) in homes.sums.iter().enumerate() {
        if let Operand::Register(vector) = home {
            writer.store(frame.address(Read::Sum(k)), vector)?;
        }
    }
    writer.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::mode::{F64, Mixed, SUMS};
    use crate::law::{Formula, Law, LawSource};

    /// Which laws and vectors have code: the engine's tests of bits would pass without any.
    #[test]
    fn laws_without_elementary_functions_have_code() {
        let code = |formula: &str, columns: &[&str], size: usize| {
            let source = LawSource::new(Formula::Acceleration(formula.into()), &[]).with_columns(columns);
            let law = Law::new(source).unwrap();
            let f64s = PairCode::new::<F64, SUMS>(law.program(), size, size == 64).is_some();
            let mixed = PairCode::new::<Mixed, SUMS>(law.program(), size, false).is_some();
            assert_eq!(f64s, mixed);
            f64s
        };
        let here = [32, 64].into_iter().filter(|&size| Unit::of_size(size).is_some());
        for size in here {
            assert!(code("m_j/s^3", &[], size));
            assert!(code("m_j*min(1, if(s < 2, sqrt(s), s^2))", &[], size));
            assert!(code("a_j + b_i + c_j + d_j", &["a", "b", "c", "d"], size));
            assert!(!code("a_j + b_i + c_j + d_j + e_j", &["a", "b", "c", "d", "e"], size));
            assert!(!code("m_j*exp(-s)", &[], size));
        }
        assert!(!code("m_j/s^3", &[], 8));
    }
}
