//! Kernel of an external field: its parts as CUDA source, compiled at run time with the kernels that the program embeds in source.

use super::launched_call::LaunchedCall;
use crate::error::Result;
use crate::force::cuda::driver::device::{Device, Signal};
use crate::force::cuda::driver::module::{Kernel, Module};
use crate::force::cuda::driver::nvrtc::{self, Sources};
use crate::force::cuda::forces::operations::{constant, expression};
use crate::force::external::formula::force_program::ForceProgram;
use crate::force::external::formula::variable::FieldVariable;
use crate::force::external::{FieldPart, FieldParts, Summand};
use crate::particles::Vec3;
use std::fmt::Write as _;
use std::sync::Arc;

/// Number of points of a thread block (`FIELD_POINTS` of kernels/field_on_targets.cu).
const POINTS: usize = 32;

macro_rules! kernels {
    ($($name:literal),+) => { [$(($name, include_str!(concat!("../../../../kernels/", $name)))),+] };
}

/// Kernels in source that the field is compiled with.
const KERNELS: Sources = &kernels![
    "call.cuh",
    "canonical.cuh",
    "corrector.cuh",
    "elementary.cuh",
    "field.cuh",
    "field_on_targets.cu",
    "launched_steps.cuh",
    "members.cuh",
    "multipoint.cuh",
    "noise.cuh",
    "pair.cuh",
    "precision.cuh"
];

/// Kernel that finds what a field gives to the targets of a block step.
pub struct FieldKernel {
    // Keeps the kernel loaded.
    _module: Module,
    kernel: Kernel<LaunchedCall<'static>>,
    /// Number of parts of the field.
    parts: u32,
    /// Stream on which it works beside the forces, and the signals that the targets stand, and that it is done.
    beside: Device,
    placed: Signal,
    done: Signal,
}

impl FieldKernel {
    /// Compiles the kernel of a field for the device, and loads it.
    ///
    /// # Errors
    /// [`Error::Input`](crate::error::Error::Input) if there is no NVRTC, or the kernel does not run on this device.
    pub fn new(device: &Device, field: &FieldParts) -> Result<Self> {
        device.bind()?;
        let code = compile(field, device.capability()?)?;
        let module = Module::from_code(device, &code)?;
        Ok(Self {
            kernel: module.kernel("field_on_targets")?,
            _module: module,
            parts: field.number() as u32,
            beside: device.beside()?,
            placed: device.signal()?,
            done: device.signal()?,
        })
    }

    /// Notes that the work of a device so far is all that the kernel needs.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn follow(&self, device: &Device) -> Result<()> {
        device.give(&self.placed)
    }

    /// Launches the kernel for a number of targets, and the origin, beside what the device was given since
    /// [`follow`](Self::follow). What it is given from now on waits for the kernel.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn launch(&self, device: &Device, call: &LaunchedCall<'_>, targets: usize) -> Result<()> {
        let (blocks, threads) = ((targets + 1).div_ceil(POINTS) as u32, (POINTS as u32, self.parts));
        self.beside.wait_for_signal(&self.placed)?;
        self.kernel.launch(&self.beside, (blocks, 1), threads, 0, call)?;
        self.beside.give(&self.done)?;
        device.wait_for_signal(&self.done)
    }
}

/// Returns the machine code of a field's kernel, for a compute capability.
fn compile(field: &FieldParts, capability: (i32, i32)) -> Result<Arc<Vec<u8>>> {
    let source = format!(
        "#include \"elementary.cuh\"\n#include \"field.cuh\"\n{}#include \"field_on_targets.cu\"\n",
        field_type(field)
    );
    nvrtc::compile_sources("[external]", &source, KERNELS, capability)
}

/// Returns a field as the type `UserField` that kernels/field_on_targets.cu describes.
#[must_use]
pub fn field_type(field: &FieldParts) -> String {
    let mut parts = Vec::new();
    let whole = sum(&field.field, &mut parts);
    let of_origin = parts.len();
    let carried = field.carried.as_ref().map_or_else(|| sum_of(&[]), |carried| sum(carried, &mut parts));
    let mut text = format!(
        "struct UserField {{\n    using R = double;\n    static constexpr u32 PARTS = {};\n    \
         static __device__ __forceinline__ bool acts_on_origin(u32 part) {{ return part < {of_origin}; }}\n    \
         static __device__ __forceinline__ void part(u32 number, const double (&pos)[3], const double (&vel)[3], double t, \
         double (&found)[FIELD_SUMS]) {{\n        switch (number) {{\n",
        parts.len()
    );
    for (number, part) in parts.iter().enumerate() {
        let _ = write!(text, "        case {number}: {{\n{}            break;\n        }}\n", statements(part));
    }
    text += "        }\n    }\n";
    for (name, sum) in [("whole", whole), ("carried", carried)] {
        let _ = writeln!(
            text,
            "    template <class F> static __device__ __forceinline__ double {name}(F of) {{ return {sum}; }}"
        );
    }
    text + "};\n"
}

/// Returns the sum of a field as an expression, and adds its parts to `parts`.
fn sum<'a>(field: &'a Summand, parts: &mut Vec<&'a FieldPart>) -> String {
    match field {
        Summand::Part(_) => sum_of(&[term(field, parts)]),
        Summand::Sum(_) => term(field, parts),
    }
}

/// Returns a summand as an expression.
fn term<'a>(field: &'a Summand, parts: &mut Vec<&'a FieldPart>) -> String {
    match field {
        Summand::Part(part) => {
            parts.push(part);
            format!("of({})", parts.len() - 1)
        }
        Summand::Sum(all) => sum_of(&all.iter().map(|it| term(it, parts)).collect::<Vec<_>>()),
    }
}

/// Returns a sum in its order, which begins with 0.
fn sum_of(terms: &[String]) -> String {
    terms.iter().fold("0.0".to_owned(), |sum, term| format!("({sum} + {term})"))
}

/// Returns what stores acceleration and jerk by a part.
fn statements(part: &FieldPart) -> String {
    match part {
        FieldPart::Formula { position, program } => of_formula(*position, program),
        FieldPart::Sphere { mass, position, eps2 } => of_sphere(*mass, *position, *eps2),
    }
}

fn of_formula(position: Vec3, program: &ForceProgram) -> String {
    let mut text = String::new();
    let input = |of: FieldVariable| match of {
        FieldVariable::Place(axis) => format!("pos[{axis}] - {}", constant(position[usize::from(axis)])),
        FieldVariable::Time => "t".to_owned(),
        FieldVariable::Velocity(axis) => format!("vel[{axis}]"),
    };
    for (k, &op) in program.ops.iter().enumerate() {
        let _ = writeln!(text, "            R x{k} = {};", expression(op, input));
    }
    for (k, result) in program.results.iter().enumerate() {
        let _ = writeln!(text, "            found[{k}] = x{result};");
    }
    text
}

/// The operations of src/force/external/plummer.rs.
fn of_sphere(mass: f64, position: Vec3, eps2: f64) -> String {
    let [x, y, z] = [0, 1, 2].map(|c| constant(position[c]));
    let (mass, eps2) = (constant(mass), constant(eps2));
    format!(
        "            R r[3] = {{{x} - pos[0], {y} - pos[1], {z} - pos[2]}}, v[3] = {{-vel[0], -vel[1], -vel[2]}};
            R s2 = __fma_rn(r[0], r[0], __fma_rn(r[1], r[1], __fma_rn(r[2], r[2], {eps2})));
            R s_inv = 1.0 / elementary::sqrt(s2), s_inv2 = s_inv * s_inv, m_s3 = {mass} * s_inv * s_inv2;
            R rv = __fma_rn(r[0], v[0], __fma_rn(r[1], v[1], r[2] * v[2])), alpha = -3.0 * (rv * s_inv2);
            for (int c = 0; c < 3; ++c) found[c] = m_s3 * r[c], found[3 + c] = m_s3 * __fma_rn(alpha, r[c], v[c]);
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::field::{FieldSum, parts_of};
    use crate::force::external::{ExternalField, FieldSource, FormulaField, Plummer};

    #[test]
    fn nvrtc_compiles_the_kernel_of_a_field() {
        let formula = |text: &str| -> Box<dyn ExternalField> {
            Box::new(FormulaField::new(&FieldSource::new(text, &[]), Vec3::zeros()).unwrap())
        };
        let sphere = Plummer { mass: 1.0, position: Vec3::x(), scale_radius: 0.5 };
        let texts =
            ["gammap(0.6, r^2)/r + x*y*cos(2*t)", "-1/sqrt(R^2 + (3 + sqrt(z^2 + 0.1))^2) + if(r < 1, r^1.5, log(r))"];
        let galaxy = FieldSum(vec![formula(texts[0]), Box::new(sphere), formula(texts[1])]);
        let parts = parts_of(&galaxy, false).unwrap();
        let began = std::time::Instant::now();
        let code = match compile(&parts, (9, 0)) {
            Err(e) if e.to_string().contains("no NVRTC") => return println!("skipped: {e}"),
            code => code.unwrap(),
        };
        println!("{:.2} s", began.elapsed().as_secs_f64());
        assert!(code.windows(16).any(|text| text == b"field_on_targets"));
    }
}
