//! Kernels of a [law](crate::law): its program as CUDA source, compiled at run time with the kernels that the program
//! embeds in source.

use crate::error::{Error, Result};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::module::Module;
use crate::force::cuda::driver::nvrtc;
use crate::force::cuda::driver::nvrtc::Sources;
use crate::force::cuda::forces::operations::expression;
use crate::force::cuda::shapes::launch_shape::LaunchShape;
use crate::force::cuda::shapes::layout::MAX_COLUMNS;
use crate::force::precision::Precision;
use crate::formula::op::Register;
use crate::law::program::{Input, Op};
use crate::law::{Law, Program};
use std::fmt::Write as _;
use std::sync::Arc;

/// Cost of a program, in operations, up to which there are kernels of two targets a thread: they are compiled for longer
/// than they are faster where each pair costs more.
const MAX_FOR_TWO: usize = 64;
/// Cost of the pairs in a thread's loop body, and their largest number.
const LOOP_BODY: (usize, usize) = (96, 4);

macro_rules! kernels {
    ($($name:literal),+) => { [$(($name, include_str!(concat!("../../../../kernels/", $name)))),+] };
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

/// Compiles the kernels of a law in a mode, and loads them.
///
/// # Errors
/// [`Error::Input`] if the law has more columns than a GPU takes, if there is no NVRTC, or if they do not run on this
/// device.
pub fn load(device: &Device, precision: Precision, law: &Law) -> Result<Arc<Module>> {
    device.bind()?;
    let code = compile(law, precision, device.capability()?)?;
    Module::from_code(device, &code).map(Arc::new)
}

/// Returns the machine code of a law's kernels, for a compute capability.
fn compile(law: &Law, precision: Precision, capability: (i32, i32)) -> Result<Arc<Vec<u8>>> {
    let columns = law.program().columns.len();
    if columns > MAX_COLUMNS {
        let problem = format!("the law reads {columns} columns, and a GPU takes {MAX_COLUMNS}");
        return Err(Error::input("[force.law]", problem).with_help(r#"take force.engine = "cpu""#));
    }
    nvrtc::compile_sources("[force.law]", &law_source(law, precision), KERNELS, capability)
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
    let (in_body, max) = LOOP_BODY;
    let held = (in_body / cost(law)).clamp(1, max);
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
    let targets: &[_] = if cost(law) <= MAX_FOR_TWO { &[1, 2] } else { &[1] };
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
        let _ = writeln!(text, "        R x{k} = {};", expression(op, input));
    }
    let or_zero = |register: Option<Register>| register.map_or("R(0)".to_owned(), |it| format!("x{it}"));
    let (slope, minus_potential) = (or_zero(program.slope), or_zero(program.minus_potential));
    let _ = writeln!(text, "        return {{x{}, {slope}, {minus_potential}}};", program.factor);
    text
}

/// Returns the source of what a program reads of a pair.
fn input(of: Input) -> String {
    match of {
        Input::S => "elementary::sqrt(pair.s2)".into(),
        Input::SquareS => "pair.s2".into(),
        Input::InverseS => "roots.inverse(pair.s2)".into(),
        Input::SourceMass => "pair.source_mass".into(),
        Input::TargetMass => "pair.target_mass".into(),
        Input::Source(column) => format!("pair.source.of[{column}]"),
        Input::Target(column) => format!("pair.target.of[{column}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Formula, LawSource};

    #[test]
    fn nvrtc_compiles_the_kernels_of_laws() {
        let formulas = [
            "-m_i*m_j*exp(-s/lambda)/s",
            "q_i*q_j*log(1 + s^2)*sin(s) - m_i*m_j*min(s, 2)*max(0.1, cos(s))*s^0.3",
            "if(s < 1, m_i*m_j*(s^2 - 2), -m_i*m_j/s)",
        ];
        for (formula, precision) in formulas.into_iter().zip([Precision::Mixed, Precision::F64, Precision::F32Kahan]) {
            let source = LawSource::new(Formula::Potential(formula.into()), &[("lambda", 0.3)]).with_columns(&["q"]);
            let law = Law::new(source).unwrap();
            let began = std::time::Instant::now();
            let code = match compile(&law, precision, (9, 0)) {
                Err(e) if e.to_string().contains("no NVRTC") => return println!("skipped: {e}"),
                code => code.unwrap(),
            };
            println!("{formula} in {}: {:.2} s", precision.name(), began.elapsed().as_secs_f64());
            let holds = |name: &[u8]| code.windows(name.len()).any(|text| text == name);
            assert!(holds(b"predict_law") && holds(b"force_tiles_law_1"));
            let [_, tiles] = targets(&law, precision);
            assert_eq!(holds(b"force_tiles_law_2"), tiles.contains(&2), "{formula}");
            assert!(holds(b"force_whole_law_1") && holds(b"force_whole_law_2") == tiles.contains(&2), "{formula}");
            assert!(holds(b"reduce_law") && holds(b"accelerate_law_1") && holds(b"reduce_accelerations_law"));
        }
    }
}
