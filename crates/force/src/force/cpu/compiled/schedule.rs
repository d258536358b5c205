//! Order of the operations on many pairs: the distances of later pairs are begun among the operations on this one,
//! because a processor reorders operations only as far as it has room to hold them back.

use super::record::{Operation, Place, Record, Value};

/// Where a vector is read in a sequence of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Read {
    /// Column of the source at a place, counted from the present one.
    Slot {
        column: usize,
        place: usize,
    },
    /// Column of the law likewise.
    Beside {
        column: usize,
        place: usize,
    },
    Fixed(usize),
    Sum(usize),
    /// What a [`Step::Keep`] stored.
    Kept(usize),
}

/// Step of a sequence. The value of an operation is the index of its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    Compute(Operation<Read>),
    /// Stores a value for later sequences.
    Keep {
        at: usize,
        value: Value,
    },
}

impl Step {
    /// Returns the values that the step reads.
    pub fn operands(&self) -> &[Value] {
        match self {
            Self::Compute(operation) => operation.operands(),
            Self::Keep { value, .. } => std::slice::from_ref(value),
        }
    }
}

/// Sequence of steps without branches.
#[derive(Debug, Default)]
pub struct Sequence {
    pub steps: Vec<Step>,
    /// The running sums at its end, or none where it leaves them alone.
    pub sums: Vec<Value>,
}

/// Operations on all pairs of a bag with each lane.
#[derive(Debug)]
pub struct Schedule {
    /// Begins the first pairs.
    pub first: Sequence,
    /// Adds [`Self::TURN`] pairs and begins as many, as often as there are more.
    pub turn: Sequence,
    /// Adds the last pairs.
    pub last: Sequence,
    /// Number of vectors kept.
    pub kept: usize,
}

impl Schedule {
    /// Number of pairs of a turn.
    pub const TURN: usize = 4;
    /// Number of pairs that are begun before an earlier one is added.
    const AHEAD: usize = Self::TURN - 1;

    /// Orders the operations of a record.
    pub fn new(record: &Record) -> Self {
        let mut kept: Vec<Value> =
            record.operations[record.begun..].iter().flat_map(Operation::operands).copied().collect();
        kept.retain(|&value| value < record.begun && !matches!(record.operations[value], Operation::Read(_)));
        kept.sort_unstable();
        kept.dedup();
        let mut first = Writer::new(record, &kept);
        for place in 0..Self::AHEAD {
            let mut begin = first.begin(place);
            while first.next(&mut begin) {}
        }
        let turn = Writer::new(record, &kept).turn(Self::TURN);
        let last = Writer::new(record, &kept).turn(Self::TURN - Self::AHEAD);
        Self { first: first.sequence, turn, last, kept: Self::TURN * kept.len() }
    }
}

/// Part of the operations on one pair, as far as they are written.
struct Part {
    /// Place of the source.
    place: usize,
    /// Next operation, and the end.
    next: usize,
    end: usize,
    /// Value in the sequence of each operation of the record.
    values: Vec<Option<Value>>,
}

/// What writes a sequence.
struct Writer<'a> {
    record: &'a Record,
    /// Operations whose values are kept.
    kept: &'a [Value],
    sequence: Sequence,
    /// Values that the sequence has read already and that do not change.
    fixed: Vec<Option<Value>>,
}

impl<'a> Writer<'a> {
    fn new(record: &'a Record, kept: &'a [Value]) -> Self {
        Self { record, kept, sequence: Sequence::default(), fixed: vec![None; record.fixed.len()] }
    }

    fn compute(&mut self, operation: Operation<Read>) -> Value {
        self.sequence.steps.push(Step::Compute(operation));
        self.sequence.steps.len() - 1
    }

    /// Returns the distances of the pair at a place, unwritten.
    fn begin(&self, place: usize) -> Part {
        Part { place, next: 0, end: self.record.begun, values: vec![None; self.record.operations.len()] }
    }

    /// Returns the other operations on the pair at a place, unwritten.
    fn add(&self, place: usize) -> Part {
        let all = self.record.operations.len();
        Part { place, next: self.record.begun, end: all, values: vec![None; all] }
    }

    /// Where the value of an operation is kept.
    fn kept_at(&self, place: usize, value: Value) -> Option<usize> {
        let among = self.kept.binary_search(&value).ok()?;
        Some(place % Schedule::TURN * self.kept.len() + among)
    }

    /// Returns the value of an operation that a part does not write itself: kept, or read once more.
    fn fetch(&mut self, part: &mut Part, value: Value) {
        if part.values[value].is_some() {
            return;
        }
        let read = match (self.kept_at(part.place, value), self.record.operations[value]) {
            (Some(at), _) => Operation::Read(Read::Kept(at)),
            (None, operation) => self.of_place(operation, part),
        };
        part.values[value] = Some(match read {
            Operation::Read(Read::Fixed(number)) => self.fixed(number),
            _ => self.compute(read),
        });
    }

    /// Returns a value that does not change, which the sequence reads once.
    fn fixed(&mut self, number: usize) -> Value {
        self.fixed[number].unwrap_or_else(|| {
            let value = self.compute(Operation::Read(Read::Fixed(number)));
            self.fixed[number] = Some(value);
            value
        })
    }

    /// Returns an operation of the record as one of the sequence.
    fn of_place(&self, operation: Operation<Place>, part: &Part) -> Operation<Read> {
        let read = |from| match from {
            Place::Slot(column) => Read::Slot { column, place: part.place },
            Place::Beside(column) => Read::Beside { column, place: part.place },
            Place::Fixed(number) => Read::Fixed(number),
            Place::Sum(k) => Read::Sum(k),
        };
        // Operands are there: they come before, or were fetched.
        operation.map(read, |operand| part.values[operand].unwrap_or(operand))
    }

    /// Writes the next operation of a part. Returns false if there is none.
    fn next(&mut self, part: &mut Part) -> bool {
        if part.next == part.end {
            return false;
        }
        let (record, number) = (self.record, part.next);
        part.next += 1;
        let operation = record.operations[number];
        match operation {
            Operation::Read(Place::Sum(k)) => {
                let sum = self.sequence.sums[k];
                part.values[number] = Some(sum);
                return true;
            }
            // Read where it is wanted.
            Operation::Read(_) => return true,
            _ => {}
        }
        for &operand in operation.operands() {
            self.fetch(part, operand);
        }
        let operation = self.of_place(operation, part);
        let value = self.compute(operation);
        part.values[number] = Some(value);
        if part.end == record.begun
            && let Some(at) = self.kept_at(part.place, number)
        {
            self.sequence.steps.push(Step::Keep { at, value });
        }
        true
    }

    /// Writes the turn in which [`Schedule::TURN`] pairs are added and the first `begun` of the next are begun.
    fn turn(mut self, begun: usize) -> Sequence {
        self.sequence.sums = (0..self.record.sums.len()).map(|k| self.compute(Operation::Read(Read::Sum(k)))).collect();
        for place in 0..Schedule::TURN {
            let mut add = self.add(place);
            let mut begin = self.begin(place + Schedule::AHEAD);
            if place >= begun {
                begin.next = begin.end;
            }
            let (adds, begins) = (add.end - add.next, begin.end - begin.next);
            for k in 1..=adds {
                self.next(&mut add);
                while begin.next < begins * k / adds {
                    self.next(&mut begin);
                }
            }
            while self.next(&mut begin) {}
            let sums = self.record.sums.iter().map(|&sum| add.values[sum]);
            self.sequence.sums = sums.map(|sum| sum.unwrap_or_default()).collect();
        }
        self.sequence
    }
}
