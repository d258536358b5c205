//! Instructions of a vector unit for numbers of one size.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register, RoundingControl};
use pulp::x86::{V3, V4};

/// Vector unit, by what its instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 16 registers of 256 bits.
    Avx2,
    /// 32 registers of 512 bits.
    Avx512,
}

impl Unit {
    /// Returns the unit whose vectors have this size in bytes; [`None`] for single numbers, or where this machine lacks it.
    pub fn of_size(bytes: usize) -> Option<Self> {
        match bytes {
            32 => V3::try_new().map(|_| Self::Avx2),
            64 => V4::try_new().map(|_| Self::Avx512),
            _ => None,
        }
    }

    /// Returns the number of registers, without the one for [masks](Writer::select_less).
    pub const fn registers(self) -> u8 {
        match self {
            Self::Avx2 => 15,
            Self::Avx512 => 32,
        }
    }
}

/// Register of the unit.
pub type Vector = u8;

/// Vector in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Register,
    pub offset: usize,
    /// Flag that it is one number for every lane.
    pub broadcast: bool,
}

/// Operand of an instruction that may lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(Vector),
    Memory(Address),
}

/// Instruction of two operands, the second of which may lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
}

/// Instruction of one operand, which may lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Sqrt,
    Estimate,
}

/// Fused instruction, by the places of its operands: the third may lie in memory, the first is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fused {
    /// first · third + second
    Form132,
    /// second · first + third
    Form213,
    /// second · third + first
    Form231,
}

/// Writes instructions.
pub struct Writer {
    encoder: Encoder,
    length: u64,
    unit: Unit,
    /// Numbers of 8 bytes, else of 4.
    double: bool,
    /// Jumps and where they lead.
    jumps: Vec<(Jump, u64)>,
}

/// Jump forward that has yet to land.
pub struct Jump {
    /// Address of the instruction after it.
    from: u64,
}

/// Code of an instruction by unit and size: `zmm` f64, f32, `ymm` f64, f32.
macro_rules! by_unit {
    ($self:ident, $a:ident, $b:ident, $c:ident, $d:ident) => {
        match ($self.unit, $self.double) {
            (Unit::Avx512, true) => Code::$a,
            (Unit::Avx512, false) => Code::$b,
            (Unit::Avx2, true) => Code::$c,
            (Unit::Avx2, false) => Code::$d,
        }
    };
}

/// Error of code that cannot be written: the law is computed without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCode;

impl From<IcedError> for NoCode {
    fn from(_: IcedError) -> Self {
        Self
    }
}

/// Result of instructions that are written.
pub type Written = Result<(), NoCode>;

impl Writer {
    /// Creates a writer without instructions.
    pub fn new(unit: Unit, double: bool) -> Self {
        Self { encoder: Encoder::new(64), length: 0, unit, double, jumps: Vec::new() }
    }

    /// Returns the unit.
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns the address after the last instruction, from the first.
    pub const fn here(&self) -> u64 {
        self.length
    }

    /// Returns the instructions.
    pub fn finish(mut self) -> Vec<u8> {
        let mut code = self.encoder.take_buffer();
        for (Jump { from }, to) in self.jumps {
            // The last four bytes of the jump are the distance from its end.
            code[from as usize - 4..from as usize].copy_from_slice(&((to - from) as u32).to_le_bytes());
        }
        code
    }

    fn put(&mut self, instruction: Instruction) -> Written {
        self.length += self.encoder.encode(&instruction, self.length)? as u64;
        Ok(())
    }

    fn register(&self, vector: Vector) -> Register {
        let first = match self.unit {
            Unit::Avx2 => Register::YMM0,
            Unit::Avx512 => Register::ZMM0,
        };
        first + u32::from(vector)
    }

    fn memory(&self, address: Address) -> MemoryOperand {
        let displacement = i64::try_from(address.offset).unwrap_or(i64::MAX);
        let broadcast = address.broadcast && self.unit == Unit::Avx512;
        MemoryOperand::new(address.base, Register::None, 1, displacement, 1, broadcast, Register::None)
    }

    /// Returns true if an instruction other than a load may have an operand there.
    pub fn reads_in_place(&self, address: Address) -> bool {
        !address.broadcast || self.unit == Unit::Avx512
    }

    /// Loads a vector.
    pub fn load(&mut self, to: Vector, from: Address) -> Written {
        let code = if from.broadcast {
            by_unit!(
                self,
                EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
                EVEX_Vbroadcastss_zmm_k1z_xmmm32,
                VEX_Vbroadcastsd_ymm_m64,
                VEX_Vbroadcastss_ymm_m32
            )
        } else {
            self.move_code()
        };
        let from = self.memory(Address { broadcast: false, ..from });
        self.put(Instruction::with2(code, self.register(to), from)?)
    }

    const fn move_code(&self) -> Code {
        by_unit!(
            self,
            EVEX_Vmovupd_zmm_k1z_zmmm512,
            EVEX_Vmovups_zmm_k1z_zmmm512,
            VEX_Vmovupd_ymm_ymmm256,
            VEX_Vmovups_ymm_ymmm256
        )
    }

    /// Stores a vector.
    pub fn store(&mut self, to: Address, from: Vector) -> Written {
        let code = by_unit!(
            self,
            EVEX_Vmovupd_zmmm512_k1z_zmm,
            EVEX_Vmovups_zmmm512_k1z_zmm,
            VEX_Vmovupd_ymmm256_ymm,
            VEX_Vmovups_ymmm256_ymm
        );
        let to = self.memory(to);
        self.put(Instruction::with2(code, to, self.register(from))?)
    }

    /// Copies a register.
    pub fn copy(&mut self, to: Vector, from: Vector) -> Written {
        let code = self.move_code();
        self.put(Instruction::with2(code, self.register(to), self.register(from))?)
    }

    /// Writes an instruction of two operands.
    pub fn binary(&mut self, which: Binary, to: Vector, a: Vector, b: Operand) -> Written {
        let code = match which {
            Binary::Add => by_unit!(
                self,
                EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vaddpd_ymm_ymm_ymmm256,
                VEX_Vaddps_ymm_ymm_ymmm256
            ),
            Binary::Sub => by_unit!(
                self,
                EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vsubpd_ymm_ymm_ymmm256,
                VEX_Vsubps_ymm_ymm_ymmm256
            ),
            Binary::Mul => by_unit!(
                self,
                EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vmulpd_ymm_ymm_ymmm256,
                VEX_Vmulps_ymm_ymm_ymmm256
            ),
            Binary::Div => by_unit!(
                self,
                EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vdivpd_ymm_ymm_ymmm256,
                VEX_Vdivps_ymm_ymm_ymmm256
            ),
        };
        self.three(code, to, a, b)
    }

    fn three(&mut self, code: Code, to: Vector, a: Vector, b: Operand) -> Written {
        let (to, a) = (self.register(to), self.register(a));
        self.put(match b {
            Operand::Register(b) => Instruction::with3(code, to, a, self.register(b))?,
            Operand::Memory(b) => Instruction::with3(code, to, a, self.memory(b))?,
        })
    }

    /// Writes an instruction of one operand.
    pub fn unary(&mut self, which: Unary, to: Vector, a: Operand) -> Written {
        let code = match which {
            Unary::Sqrt => by_unit!(
                self,
                EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
                EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
                VEX_Vsqrtpd_ymm_ymmm256,
                VEX_Vsqrtps_ymm_ymmm256
            ),
            // Of f64 on AVX-512 alone: `Fma::computes`.
            Unary::Estimate => Code::EVEX_Vrsqrt14pd_zmm_k1z_zmmm512b64,
        };
        let to = self.register(to);
        self.put(match a {
            Operand::Register(a) => Instruction::with2(code, to, self.register(a))?,
            Operand::Memory(a) => Instruction::with2(code, to, self.memory(a))?,
        })
    }

    /// Writes a fused instruction; with `minus` the product is subtracted.
    pub fn fused(&mut self, (form, minus): (Fused, bool), first: Vector, second: Vector, third: Operand) -> Written {
        macro_rules! codes {
            ($pd512:ident, $ps512:ident, $pd256:ident, $ps256:ident) => {
                by_unit!(self, $pd512, $ps512, $pd256, $ps256)
            };
        }
        let code = match (form, minus) {
            (Fused::Form132, false) => codes!(
                EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vfmadd132pd_ymm_ymm_ymmm256,
                VEX_Vfmadd132ps_ymm_ymm_ymmm256
            ),
            (Fused::Form213, false) => codes!(
                EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vfmadd213pd_ymm_ymm_ymmm256,
                VEX_Vfmadd213ps_ymm_ymm_ymmm256
            ),
            (Fused::Form231, false) => codes!(
                EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vfmadd231pd_ymm_ymm_ymmm256,
                VEX_Vfmadd231ps_ymm_ymm_ymmm256
            ),
            (Fused::Form132, true) => codes!(
                EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vfnmadd132pd_ymm_ymm_ymmm256,
                VEX_Vfnmadd132ps_ymm_ymm_ymmm256
            ),
            (Fused::Form213, true) => codes!(
                EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
                VEX_Vfnmadd213ps_ymm_ymm_ymmm256
            ),
            (Fused::Form231, true) => codes!(
                EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
                EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
                VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
                VEX_Vfnmadd231ps_ymm_ymm_ymmm256
            ),
        };
        self.three(code, first, second, third)
    }

    /// Writes first ← second · third + first, rounded up; of f64 on AVX-512 alone.
    pub fn fused_up(&mut self, first: Vector, second: Vector, third: Vector) -> Written {
        let code = Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er;
        let [first, second, third] = [first, second, third].map(|vector| self.register(vector));
        let mut instruction = Instruction::with3(code, first, second, third)?;
        instruction.set_rounding_control(RoundingControl::RoundUp);
        self.put(instruction)
    }

    /// Writes to ← c where a < b, else d.
    pub fn select_less(&mut self, to: Vector, [a, b, c, d]: [Vector; 4]) -> Written {
        /// Less than, ordered, without exceptions.
        const LESS: u32 = 0x11;
        let [to, a, b, c, d] = [to, a, b, c, d].map(|vector| self.register(vector));
        let (compare, select) = (
            by_unit!(
                self,
                EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
                EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
                VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
                VEX_Vcmpps_ymm_ymm_ymmm256_imm8
            ),
            by_unit!(
                self,
                EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
                EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
                VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
                VEX_Vblendvps_ymm_ymm_ymmm256_ymm
            ),
        );
        if self.unit == Unit::Avx512 {
            self.put(Instruction::with4(compare, Register::K1, a, b, LESS)?)?;
            let mut instruction = Instruction::with3(select, to, d, c)?;
            instruction.set_op_mask(Register::K1);
            return self.put(instruction);
        }
        let mask = self.register(self.unit.registers());
        self.put(Instruction::with4(compare, mask, a, b, LESS)?)?;
        self.put(Instruction::with4(select, to, d, c, mask)?)
    }

    /// Writes to ← to + number.
    pub fn advance(&mut self, to: Register, number: usize) -> Written {
        self.put(Instruction::with2(Code::Add_rm64_imm32, to, i32::try_from(number).unwrap_or(i32::MAX))?)
    }

    /// Writes to ← the word in memory.
    pub fn load_word(&mut self, to: Register, base: Register, offset: usize) -> Written {
        let from = self.memory(Address { base, offset, broadcast: false });
        self.put(Instruction::with2(Code::Mov_r64_rm64, to, from)?)
    }

    /// Writes a jump where a register is 0, to where [`Self::land`] is called with what this returns.
    pub fn skip_if_zero(&mut self, count: Register) -> Result<Jump, NoCode> {
        self.put(Instruction::with2(Code::Test_rm32_r32, count, count)?)?;
        self.put(Instruction::with_branch(Code::Je_rel32_64, self.length)?)?;
        Ok(Jump { from: self.length })
    }

    /// Directs a jump to the next instruction.
    pub fn land(&mut self, jump: Jump) {
        self.jumps.push((jump, self.length));
    }

    /// Counts a register down and repeats the instructions from an address on until it is 0.
    pub fn repeat(&mut self, count: Register, from: u64) -> Written {
        self.put(Instruction::with1(Code::Dec_rm32, count)?)?;
        self.put(Instruction::with_branch(Code::Jne_rel32_64, from)?)
    }

    /// Returns to the caller.
    pub fn end(&mut self) -> Written {
        self.put(Instruction::with(Code::VEX_Vzeroupper))?;
        self.put(Instruction::with(Code::Retnq))
    }
}
