//! Tests that the constants and the list of kernels in `kernels/` are equal to those in Rust.

use super::forces::acceleration::{COMPONENTS, THREADS};
use super::neighbours::call;
use super::shapes::acceleration_shape::{AccelerationShape, MAX_THREADS};
use super::shapes::launch_shape::{MAX_SPAN_BAGS, MAX_WARP_BAGS};
use super::shapes::layout::{FORCE, STATE, TARGET};
use super::shapes::{step_shape, system_shape};
use super::steps::{launched_steps, resident_memory, step_memory};
use super::systems::system_call;
use crate::force::canonical::BAG;
use crate::force::mode::{ACC_SUMS, Mode, SUMS, with_mode};
use crate::force::precision::Precision;
use crate::time::LOG2_TICKS_PER_DT_MAX;

const PRECISION: &str = include_str!("../../../kernels/precision.cuh");
const CANONICAL: &str = include_str!("../../../kernels/canonical.cuh");
const TOTAL: &str = include_str!("../../../kernels/total.cuh");
const CALL: &str = include_str!("../../../kernels/call.cuh");
const WHOLE: &str = include_str!("../../../kernels/force_whole.cu");
const ACCELERATION: &str = include_str!("../../../kernels/acceleration.cu");
const STEPS: &str = include_str!("../../../kernels/steps.cuh");
const LAUNCHED: &str = include_str!("../../../kernels/launched_steps.cuh");
const WATCH: &str = include_str!("../../../kernels/watch.cu");
const MEMBERS: &str = include_str!("../../../kernels/members.cuh");
const SYSTEMS: &str = include_str!("../../../kernels/systems.cuh");
const NEIGHBOURS: &str = include_str!("../../../kernels/neighbours.cuh");
const FEW_BODIES: &str = include_str!("../../../kernels/few_bodies.cu");
const CORRECTOR: &str = include_str!("../../../kernels/corrector.cuh");
const ACCELERATION_CALL: &str = include_str!("../../../kernels/acceleration.cuh");

/// Returns what follows `NAME = ` in a text, up to a comma or semicolon.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!(" {name} = "))?;
    rest.split([',', ';']).next()
}

/// Returns a whole number that a text sets a name to.
fn number(text: &str, name: &str) -> usize {
    let value = value(text, name).unwrap_or_else(|| panic!("{name} is not set"));
    value.parse().unwrap_or_else(|_| panic!("{name} = {value} is not a whole number"))
}

/// Returns the arguments of each `ENTRY(…)` of a macro.
fn entries(name: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PRECISION.split_once(&format!("#define {name}(ENTRY)")).expect("a macro of this name");
    let body = rest.split("\n\n").next().expect("the lines of the macro");
    let entries = body.split("ENTRY(").skip(1).filter_map(|rest| rest.split(')').next());
    entries.map(|arguments| arguments.split(", ").collect()).collect()
}

/// Returns the numbers of targets for which a macro has an entry of a mode.
fn targets(name: &str, mode: &str) -> Vec<usize> {
    let of_mode = entries(name).into_iter().filter(|entry| entry[0] == mode);
    of_mode.map(|entry| entry[2].parse().expect("a number of targets")).collect()
}

/// Returns the base of a structure and its body.
fn structure(name: &str) -> (&'static str, &'static str) {
    let (_, rest) = PRECISION.split_once(&format!("struct {name} : ")).expect("a structure of this name");
    let (base, rest) = rest.split_once(" {\n").expect("the body of the structure");
    (base, rest.split("\n};").next().expect("the end of the structure"))
}

/// Constants of a mode on either side: real number, node, split positions, zeros count, parts, order.
type Constants = (String, String, String, String, String, String);

/// Returns the constants of a structure; those it does not set are its base's.
fn constants_of_structure(name: &str) -> Constants {
    let (base, body) = structure(name);
    let Some((kind, real)) = base.split_once('<') else { return constants_of_structure(base) };
    let parts = if kind == "PlainSum" { "1" } else { "none" };
    let node = body.split_once("using Node = ").and_then(|(_, rest)| rest.split(';').next());
    let set = |name: &str, otherwise: &str| value(body, name).unwrap_or(otherwise).to_owned();
    (
        real.trim_end_matches('>').to_owned(),
        node.unwrap_or("none").to_owned(),
        set("SPLIT", "none"),
        set("ZERO_COUNTS", "false"),
        set("PARTS", parts),
        set("ORDER", "none"),
    )
}

/// Returns the constants of a type of Rust as the headers write them.
fn constants_of_type<M: Mode>() -> Constants {
    let written = |name: &str| match name.rsplit("::").next() {
        Some("f32") => "float".to_owned(),
        Some("f64") => "double".to_owned(),
        name => name.unwrap_or_default().to_owned(),
    };
    (
        written(std::any::type_name::<M::Real>()),
        written(std::any::type_name::<M::Node>()),
        M::SPLIT.to_string(),
        M::ZERO_COUNTS.to_string(),
        M::PARTS.to_string(),
        format!("Order::{:?}", M::ORDER),
    )
}

#[test]
fn the_modes_of_the_kernels_are_those_of_rust() {
    let modes = entries("TISANE_EACH_MODE");
    let names: Vec<_> = modes.iter().map(|entry| entry[0].replace('_', "-")).collect();
    assert_eq!(names, Precision::ALL.map(Precision::name));
    for (entry, precision) in modes.iter().zip(Precision::ALL) {
        assert_eq!(entry[1], format!("{precision:?}"));
        let expected = with_mode!(precision, M => constants_of_type::<M>());
        assert_eq!(constants_of_structure(entry[1]), expected, "{}", precision.name());
    }
}

#[test]
fn the_kernels_that_are_compiled_are_those_that_are_looked_for() {
    for precision in Precision::ALL {
        let (mode, compiled) = (precision.name().replace('-', "_"), precision.kernels());
        assert_eq!(compiled.whole, targets("TISANE_EACH_WHOLE", &mode), "{mode}");
        assert_eq!(compiled.tiles, targets("TISANE_EACH_TILES", &mode), "{mode}");
        assert_eq!(compiled.accelerations, targets("TISANE_EACH_ACCELERATION", &mode), "{mode}");
        for &targets in compiled.accelerations {
            let groups = format!("GROUPS_OF<{precision:?}, {targets}>");
            let groups = value(ACCELERATION, &groups).map_or(1, |groups| groups.parse().expect("a number of groups"));
            let shape = AccelerationShape { targets, threads: 32, span_bags: 1 };
            assert_eq!(shape.groups(precision), groups, "{mode} {targets}");
        }
    }
}

#[test]
fn the_constants_of_the_kernels_are_those_of_rust() {
    for (constant, in_rust) in [
        (number(PRECISION, "SUMS"), SUMS),
        (number(PRECISION, "SUMS"), FORCE),
        (number(CANONICAL, "BAG"), BAG),
        (number(STEPS, "STEP_THREADS"), step_shape::THREADS),
        (number(STEPS, "MAX_BLOCKS"), step_shape::MAX_BLOCKS),
        (number(MEMBERS, "COLUMNS"), step_shape::COLUMNS),
        (number(STEPS, "ROWS") * (number(CANONICAL, "BAG") + 4), step_shape::SCRATCH),
        (number(MEMBERS, "REFUSED"), resident_memory::REFUSED as usize),
        (number(MEMBERS, "FOUND"), resident_memory::FOUND as usize),
        (number(LAUNCHED, "STEP_CHUNK"), step_memory::CHUNK),
        (number(LAUNCHED, "CORRECT_THREADS"), launched_steps::CORRECT_THREADS),
        (number(WATCH, "WEIGH_THREADS"), launched_steps::WEIGH_THREADS),
        (number(WATCH, "JUDGE_THREADS"), launched_steps::JUDGE_THREADS),
        (number(WATCH, "MIN_SLICE"), launched_steps::MIN_SLICE),
        (number(SYSTEMS, "SYSTEM_THREADS"), system_shape::MAX_THREADS),
        (number(SYSTEMS, "SYSTEM_BAGS"), system_shape::MAX_BAGS),
        (number(SYSTEMS, "REPORTED"), system_call::REPORTED),
        (number(SYSTEMS, "KEPT"), system_shape::KEPT),
        (number(NEIGHBOURS, "RECORD"), call::RECORD),
        (number(NEIGHBOURS, "SUMS_STRIDE"), call::SUMS_STRIDE),
        (number(NEIGHBOURS, "KEPT_COLUMNS"), call::KEPT),
        (number(NEIGHBOURS, "EXCHANGE"), call::EXCHANGE),
        (number(NEIGHBOURS, "NEAR_THREADS"), call::THREADS),
        (number(NEIGHBOURS, "MAX_CUT"), call::MAX_CUT),
        (number(NEIGHBOURS, "MAX_SHARERS"), call::MAX_SHARERS),
        (number(NEIGHBOURS, "OWNED"), call::OWNED),
        (number(FEW_BODIES, "FEW_THREADS"), system_shape::FEW_THREADS),
        (number(FEW_BODIES, "PREDICTED"), system_shape::PREDICTED),
        (number(CORRECTOR, "DEEPEST"), LOG2_TICKS_PER_DT_MAX as usize),
        (number(CALL, "STATE"), STATE),
        (number(CALL, "TARGET"), TARGET),
        (number(ACCELERATION_CALL, "COMPONENTS"), ACC_SUMS),
        (number(ACCELERATION_CALL, "COMPONENTS"), COMPONENTS),
        (number(ACCELERATION, "MAX_THREADS"), MAX_THREADS),
        (number(ACCELERATION, "PLACE_THREADS"), THREADS as usize),
        (1 << (number(TOTAL, "DEPTH") - 1), MAX_SPAN_BAGS),
        (1 << (number(WHOLE, "WARP_DEPTH") - 1), MAX_WARP_BAGS),
    ] {
        assert_eq!(constant, in_rust);
    }
}
