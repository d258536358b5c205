//! Kernels of a [law](crate::law): its program as CUDA source, compiled at run time with the kernels that the program
//! embeds in source.

use super::launch_shape::LaunchShape;
use super::nvrtc::{self, Sources};
use crate::error::{Error, Result};
use crate::force::precision::Precision;
use crate::law::program::{Input, Op, Register};
use crate::law::{Law, Program};
use std::fmt::Write as _;
use std::sync::Arc;

/// Largest number of columns of a law: they travel to the device with the masses.
pub const MOST_COLUMNS: usize = 4;
/// Cost of a program, in operations, up to which there are kernels of two targets a thread: they are compiled for longer
/// than they are faster where each pair costs more.
const MOST_FOR_TWO: usize = 64;
/// Cost of the pairs in a thread's loop body, and their largest number.
const LOOP_BODY: (usize, usize) = (96, 4);

macro_rules! kernels {
    ($($name:literal),+) => { [$(($name, include_str!(concat!("../../../kernels/", $name)))),+] };
}

/// Kernels in source that those of a law are compiled with.
const KERNELS: Sources = &kernels![
    "acceleration.cu",
    "acceleration.cuh",
    "bag.cuh",
    "call.cuh",
    "canonical.cuh",
    "elementary.cuh",
    "force_tiles.cu",
    "force_whole.cu",
    "law.cuh",
    "pair.cuh",
    "precision.cuh",
    "predict.cu",
    "predict.cuh",
    "reduce.cu",
    "reduce.cuh",
    "total.cuh"
];

/// Returns the machine code of a law's kernels, for a compute capability.
///
/// # Errors
/// [`Error::Input`] if the law has more columns than a GPU takes, or there is no NVRTC.
pub fn compile(law: &Law, precision: Precision, capability: (i32, i32)) -> Result<Arc<Vec<u8>>> {
    let columns = law.program().columns.len();
    if columns > MOST_COLUMNS {
        let problem = format!("the law reads {columns} columns, and a GPU takes {MOST_COLUMNS}");
        return Err(Error::input("[force.law]", problem).with_help(r#"take force.engine = "cpu""#));
    }
    nvrtc::compile_sources(&law_source(law, precision), KERNELS, capability)
}

/// Returns the CUDA source of a law's kernels in a mode, which includes files of `kernels/`.
#[must_use]
pub fn law_source(law: &Law, precision: Precision) -> String {
    let mut text = String::from("#include \"law.cuh\"\n");
    text += &law_type(law);
    let mode = format!("ByLaw<{precision:?}, UserLaw>");
    let _ = writeln!(text, "using UserMode = {mode};");
    let [whole, tiles] = targets(law, precision);
    for (name, targets) in [("WHOLE", whole), ("TILES", tiles), ("ACCELERATION", &[1])] {
        let _ = write!(text, "#undef TISANE_EACH_{name}\n#define TISANE_EACH_{name}(ENTRY)");
        for targets in targets {
            let _ = write!(text, " ENTRY(law, UserMode, {targets})");
        }
        text.push('\n');
    }
    text += "#undef TISANE_EACH_MODE\n#define TISANE_EACH_MODE(ENTRY) ENTRY(law, UserMode)\n";
    for file in ["predict.cu", "force_whole.cu", "force_tiles.cu", "reduce.cu", "acceleration.cu"] {
        let _ = writeln!(text, "#include \"{file}\"");
    }
    text
}

/// Returns the programs of a law as the type `UserLaw` that kernels/law.cuh describes.
#[must_use]
pub fn law_type(law: &Law) -> String {
    let (columns, has_potential) = (law.program().columns.len(), law.has_potential());
    let (in_body, most) = LOOP_BODY;
    let held = (in_body / cost(law)).clamp(1, most);
    let mut text = format!(
        "struct UserLaw {{\n    static constexpr int COLUMNS = {columns};\n    \
         static constexpr bool HAS_POTENTIAL = {has_potential};\n    static constexpr int HELD = {held};\n"
    );
    for (name, program) in [("force", law.program()), ("acceleration", law.accelerations())] {
        let _ = write!(
            text,
            "    template <class R, class Roots>\n    static __device__ __forceinline__ Factors<R> {name}(const \
             Quantities<R, COLUMNS> &pair, const Roots &roots) {{\n{}    }}\n",
            statements(program)
        );
    }
    text + "};\n"
}

/// Returns the numbers of targets a lane, of the kernels for small blocks, and a thread, for which a law has kernels.
pub fn targets(law: &Law, precision: Precision) -> [&'static [usize]; 2] {
    let targets: &[_] = if cost(law) <= MOST_FOR_TWO { &[1, 2] } else { &[1] };
    [if LaunchShape::whole(precision).is_empty() { &[] } else { targets }, targets]
}

/// Returns the approximate number of machine operations of a law's program.
fn cost(law: &Law) -> usize {
    let of = |op: &Op| match op {
        Op::Div(..) | Op::Sqrt(_) | Op::Input(Input::S | Input::InverseS) => 8,
        Op::Exp(_) => 32,
        Op::Log(_) | Op::Sin(_) | Op::Cos(_) => 64,
        Op::Pow(..) => 128,
        _ => 1,
    };
    law.program().ops.iter().map(of).sum()
}

/// Returns the operations of a program as statements.
fn statements(program: &Program) -> String {
    let mut text = String::new();
    for (k, &op) in program.ops.iter().enumerate() {
        let _ = writeln!(text, "        R x{k} = {};", expression(op));
    }
    let or_zero = |register: Option<Register>| register.map_or("R(0)".to_owned(), |it| format!("x{it}"));
    let (slope, minus_potential) = (or_zero(program.slope), or_zero(program.minus_potential));
    let _ = writeln!(text, "        return {{x{}, {slope}, {minus_potential}}};", program.factor);
    text
}

/// Returns an operation on earlier results. Nothing is fused: the kernels are compiled so.
fn expression(op: Op) -> String {
    match op {
        Op::Input(input) => match input {
            Input::S => "elementary::sqrt(pair.s2)".into(),
            Input::SquareS => "pair.s2".into(),
            Input::InverseS => "roots.inverse(pair.s2)".into(),
            Input::SourceMass => "pair.source_mass".into(),
            Input::TargetMass => "pair.target_mass".into(),
            Input::Source(column) => format!("pair.source.of[{column}]"),
            Input::Target(column) => format!("pair.target.of[{column}]"),
        },
        // By its bits: exact, and so are infinities.
        Op::Constant(value) => format!("(R)elementary::of_bits({:#x}ull)", value.to_bits()),
        Op::Add(a, b) => format!("x{a} + x{b}"),
        Op::Sub(a, b) => format!("x{a} - x{b}"),
        Op::Mul(a, b) => format!("x{a} * x{b}"),
        Op::Div(a, b) => format!("x{a} / x{b}"),
        Op::Neg(a) => format!("-x{a}"),
        Op::Sqrt(a) => format!("elementary::sqrt(x{a})"),
        Op::Exp(a) => format!("elementary::exp(x{a})"),
        Op::Log(a) => format!("elementary::log(x{a})"),
        Op::Sin(a) => format!("elementary::sin(x{a})"),
        Op::Cos(a) => format!("elementary::cos(x{a})"),
        Op::Pow(a, b) => format!("elementary::pow(x{a}, x{b})"),
        Op::Min(a, b) => format!("x{a} < x{b} ? x{a} : x{b}"),
        Op::Max(a, b) => format!("x{a} > x{b} ? x{a} : x{b}"),
        Op::Less(a, b, c, d) => format!("x{a} < x{b} ? x{c} : x{d}"),
    }
}
