//! Registers for the values of a sequence, and its instructions.
//!
//! Values are in registers while there are any; else the value that is wanted last gives way, one that lies in memory
//! before one that has to be stored (Belady 1966).

use super::machine::{Address, Binary, Fused, NoCode, Operand, Unary, Vector, Writer, Written};
use super::record::{Operation, Value};
use super::schedule::{Read, Sequence, Step};

/// Number of steps within which a value in memory is wanted again that is worth a register.
const SOON: usize = 40;
/// Number of steps by which a value that must be stored is preferred to one that lies in memory.
const STORE: usize = 30;

/// Where the running sums and the vectors that do not change lie between sequences.
pub struct Homes {
    /// Of each part of a sum: a register, or memory.
    pub sums: Vec<Operand>,
    /// Of each fixed vector that has one: its register.
    pub fixed: Vec<Option<Vector>>,
}

/// Places in memory.
pub trait Memory {
    /// Returns where a vector is read.
    fn address(&self, read: Read) -> Address;
    /// Returns where a value that gives way is stored.
    fn spilled(&mut self, number: usize) -> Address;
}

/// Allocation of the registers in a sequence.
pub struct Allocation<'a, M> {
    writer: &'a mut Writer,
    memory: &'a mut M,
    homes: &'a Homes,
    sequence: &'a Sequence,
    /// Of each value, the steps that read it, last first.
    uses: Vec<Vec<usize>>,
    registers: Vec<Option<Vector>>,
    stored: Vec<Option<Address>>,
    /// Value in each register that is given out.
    holds: Vec<Option<Value>>,
    free: Vec<Vector>,
    spilled: usize,
}

impl<'a, M: Memory> Allocation<'a, M> {
    /// Writes the instructions of a sequence.
    pub fn write(writer: &'a mut Writer, memory: &'a mut M, homes: &'a Homes, sequence: &'a Sequence) -> Written {
        let mut uses = vec![Vec::new(); sequence.steps.len()];
        // Sums are wanted at the end.
        sequence.sums.iter().for_each(|&sum| uses[sum].push(sequence.steps.len()));
        for (k, step) in sequence.steps.iter().enumerate().rev() {
            for &operand in step.operands() {
                if uses[operand].last() != Some(&k) {
                    uses[operand].push(k);
                }
            }
        }
        let all = usize::from(writer.unit().registers());
        let is_fixed = |vector: &Vector| homes.fixed.contains(&Some(*vector));
        let is_sum = |vector: &Vector| homes.sums.contains(&Operand::Register(*vector));
        let free = (0..writer.unit().registers()).rev().filter(|it| !is_fixed(it) && !is_sum(it)).collect();
        let nothing = (vec![None; sequence.steps.len()], vec![None; sequence.steps.len()]);
        let (registers, stored) = nothing;
        let holds = vec![None; all];
        let mut this = Self { writer, memory, homes, sequence, uses, registers, stored, holds, free, spilled: 0 };
        this.take_sums();
        for k in 0..sequence.steps.len() {
            this.step(k)?;
        }
        this.return_sums()
    }

    /// Notes the sums in their homes. A sequence without sums may not have their registers either.
    fn take_sums(&mut self) {
        for (k, step) in self.sequence.steps.iter().enumerate() {
            if let Step::Compute(Operation::Read(Read::Sum(sum))) = step {
                match self.homes.sums[*sum] {
                    Operand::Register(vector) => self.give(k, vector),
                    Operand::Memory(address) => self.stored[k] = Some(address),
                }
            }
        }
    }

    fn give(&mut self, value: Value, vector: Vector) {
        self.registers[value] = Some(vector);
        if let Some(holds) = self.holds.get_mut(usize::from(vector)) {
            *holds = Some(value);
        }
    }

    /// Returns the next step that reads a value.
    fn next_use(&self, value: Value) -> Option<usize> {
        self.uses[value].last().copied()
    }

    /// Returns a register that no operand of the present step is in.
    fn take(&mut self, operands: &[Value]) -> Result<Vector, NoCode> {
        if let Some(vector) = self.free.pop() {
            return Ok(vector);
        }
        let held = self.holds.iter().flatten().copied().filter(|value| !operands.contains(value));
        let wait = |value: &Value| {
            self.next_use(*value).unwrap_or(usize::MAX / 2) + if self.stored[*value].is_some() { STORE } else { 0 }
        };
        let value = held.max_by_key(wait).ok_or(NoCode)?;
        let vector = self.registers[value].take().ok_or(NoCode)?;
        if self.stored[value].is_none() {
            let address = self.memory.spilled(self.spilled);
            self.spilled += 1;
            self.writer.store(address, vector)?;
            self.stored[value] = Some(address);
        }
        self.holds[usize::from(vector)] = None;
        Ok(vector)
    }

    /// Returns the register of an operand, after it was loaded where it lies in memory.
    fn load(&mut self, value: Value, operands: &[Value]) -> Result<Vector, NoCode> {
        if let Some(vector) = self.registers[value] {
            return Ok(vector);
        }
        let vector = self.take(operands)?;
        self.writer.load(vector, self.stored[value].ok_or(NoCode)?)?;
        self.give(value, vector);
        Ok(vector)
    }

    /// Returns true if an operand may as well be read in memory.
    fn reads_in_place(&self, value: Value, step: usize) -> bool {
        let after = self.uses[value].iter().rev().find(|&&it| it > step);
        let soon = after.is_some_and(|&after| after < step + SOON);
        let readable = self.stored[value].is_some_and(|address| self.writer.reads_in_place(address));
        self.registers[value].is_none() && readable && !soon
    }

    /// Returns an operand in a register or in memory.
    fn operand(&mut self, value: Value, step: usize, operands: &[Value]) -> Result<Operand, NoCode> {
        match self.stored[value] {
            Some(address) if self.reads_in_place(value, step) => Ok(Operand::Memory(address)),
            _ => self.load(value, operands).map(Operand::Register),
        }
    }

    /// Forgets the uses up to a step; gives back the registers of values that are not read any more.
    fn release(&mut self, values: &[Value], step: usize) {
        for &value in values {
            while self.next_use(value).is_some_and(|next| next <= step) {
                self.uses[value].pop();
            }
            if self.uses[value].is_empty()
                && let Some(vector) = self.registers[value]
                && self.holds[usize::from(vector)] == Some(value)
            {
                self.registers[value] = None;
                self.holds[usize::from(vector)] = None;
                self.free.push(vector);
            }
        }
    }

    /// Writes a step.
    fn step(&mut self, k: usize) -> Written {
        let operation = match self.sequence.steps[k] {
            Step::Keep { at, value } => {
                let vector = self.load(value, &[value])?;
                let address = self.memory.address(Read::Kept(at));
                self.writer.store(address, vector)?;
                self.release(&[value], k);
                return Ok(());
            }
            Step::Compute(operation) => operation,
        };
        let operands = self.sequence.steps[k].operands();
        match operation {
            Operation::Read(Read::Sum(_)) => {
                // A sum that nothing reads stays where it is.
                return Ok(());
            }
            Operation::Read(read) => {
                if let Read::Fixed(number) = read
                    && let Some(vector) = self.homes.fixed[number]
                {
                    self.registers[k] = Some(vector);
                }
                self.stored[k] = Some(self.memory.address(read));
                return Ok(());
            }
            Operation::Add([a, b]) => self.commuting(Binary::Add, k, [a, b]),
            Operation::Mul([a, b]) => self.commuting(Binary::Mul, k, [a, b]),
            Operation::Sub(of) => self.binary(Binary::Sub, k, of),
            Operation::Div(of) => self.binary(Binary::Div, k, of),
            Operation::Sqrt([a]) => self.unary(Unary::Sqrt, k, a),
            Operation::Estimate([a]) => self.unary(Unary::Estimate, k, a),
            Operation::Fma(of) => self.fused(false, k, of),
            Operation::MinusProduct(of) => self.fused(true, k, of),
            Operation::FmaUp([a, b, c]) => {
                let [a_in, b_in] = [self.load(a, operands)?, self.load(b, operands)?];
                let c_in = self.load(c, operands)?;
                let to = self.copied(c, c_in, k, operands)?;
                self.writer.fused_up(to, a_in, b_in)
            }
            Operation::SelectLess(of) => {
                let mut vectors = [0; 4];
                for (vector, value) in vectors.iter_mut().zip(of) {
                    *vector = self.load(value, operands)?;
                }
                self.release(operands, k);
                let to = self.take(operands)?;
                self.give(k, to);
                self.writer.select_less(to, vectors)
            }
        }?;
        // A result that nothing reads gives its register back at once.
        self.release(operands, k);
        self.release(&[k], k);
        Ok(())
    }

    fn commuting(&mut self, which: Binary, k: usize, [a, b]: [Value; 2]) -> Written {
        let first = self.reads_in_place(a, k) && !self.reads_in_place(b, k);
        self.binary(which, k, if first { [b, a] } else { [a, b] })
    }

    fn binary(&mut self, which: Binary, k: usize, of: [Value; 2]) -> Written {
        let [a, b] = of;
        let in_register = self.load(a, &of)?;
        let operand = self.operand(b, k, &of)?;
        self.release(&of, k);
        let to = self.take(&of)?;
        self.give(k, to);
        self.writer.binary(which, to, in_register, operand)
    }

    fn unary(&mut self, which: Unary, k: usize, a: Value) -> Written {
        let operand = self.operand(a, k, &[a])?;
        self.release(&[a], k);
        let to = self.take(&[a])?;
        self.give(k, to);
        self.writer.unary(which, to, operand)
    }

    /// Returns true if a value is not read after a step, and its register may be overwritten.
    fn ends(&self, value: Value, k: usize) -> bool {
        let held = self.registers[value].is_some_and(|it| self.holds[usize::from(it)] == Some(value));
        held && self.uses[value].iter().all(|&it| it <= k)
    }

    /// Returns a register for the result of a step in which an operand lies: its own, or a copy.
    fn copied(&mut self, value: Value, vector: Vector, k: usize, operands: &[Value]) -> Result<Vector, NoCode> {
        if self.ends(value, k) {
            self.registers[value] = None;
            self.give(k, vector);
            return Ok(vector);
        }
        let to = self.take(operands)?;
        self.writer.copy(to, vector)?;
        self.give(k, to);
        Ok(to)
    }

    fn fused(&mut self, minus: bool, k: usize, of: [Value; 3]) -> Written {
        let [a, b, c] = of;
        // The factors change places where that leaves the one in memory last.
        let [a, b] = if self.reads_in_place(a, k) || (self.ends(b, k) && !self.ends(a, k)) { [b, a] } else { [a, b] };
        if self.ends(a, k) && !self.ends(c, k) && a != c && a != b {
            let first = self.load(a, &of)?;
            let (form, second, third) = if self.reads_in_place(b, k) {
                (Fused::Form132, self.load(c, &of)?, self.operand(b, k, &of)?)
            } else {
                (Fused::Form213, self.load(b, &of)?, self.operand(c, k, &of)?)
            };
            self.registers[a] = None;
            self.give(k, first);
            return self.writer.fused((form, minus), first, second, third);
        }
        let second = self.load(a, &of)?;
        let third = self.operand(b, k, &of)?;
        let first = match self.stored[c] {
            // Loaded where the result will be.
            Some(address) if self.registers[c].is_none() && c != a && c != b => {
                let to = self.take(&of)?;
                self.writer.load(to, address)?;
                self.give(k, to);
                to
            }
            _ => {
                let vector = self.load(c, &of)?;
                if c == a || c == b {
                    let to = self.take(&of)?;
                    self.writer.copy(to, vector)?;
                    self.give(k, to);
                    to
                } else {
                    self.copied(c, vector, k, &of)?
                }
            }
        };
        self.writer.fused((Fused::Form231, minus), first, second, third)
    }

    /// Brings the sums to their homes.
    fn return_sums(&mut self) -> Written {
        let mut moves = Vec::new();
        for (&value, &home) in self.sequence.sums.iter().zip(&self.homes.sums) {
            match home {
                Operand::Memory(address) if self.stored[value] != Some(address) => {
                    let vector = self.load(value, &self.sequence.sums)?;
                    self.writer.store(address, vector)?;
                    self.release(&[value], self.sequence.steps.len());
                }
                Operand::Memory(_) => {}
                Operand::Register(to) => moves.push((to, value)),
            }
        }
        // First those that are in registers, each when nothing else is needed where it goes.
        while let Some(next) = self.next_move(&moves)? {
            let (to, value) = moves.swap_remove(next);
            match (self.registers[value], self.stored[value]) {
                (Some(from), _) if from == to => {}
                (Some(from), _) => self.writer.copy(to, from)?,
                (None, Some(address)) => self.writer.load(to, address)?,
                (None, None) => return Err(NoCode),
            }
            // Where it is now nothing has to be kept.
            if let Some(from) = self.registers[value]
                && from != to
            {
                self.holds[usize::from(from)] = None;
            }
            self.registers[value] = Some(to);
        }
        Ok(())
    }

    /// Returns the move that may be made next. Where each waits for another, one of the values goes to memory.
    fn next_move(&mut self, moves: &[(Vector, Value)]) -> Result<Option<usize>, NoCode> {
        let Some(&(_, first)) = moves.first() else { return Ok(None) };
        let is_free = |&(to, value): &(Vector, Value)| {
            moves.iter().all(|&(_, other)| other == value || self.registers[other] != Some(to))
        };
        let found = moves.iter().position(is_free);
        if found.is_some() {
            return Ok(found);
        }
        let vector = self.registers[first].take().ok_or(NoCode)?;
        let address = self.memory.spilled(self.spilled);
        self.spilled += 1;
        self.writer.store(address, vector)?;
        self.stored[first] = Some(address);
        self.next_move(moves)
    }
}
