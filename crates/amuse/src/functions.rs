//! Table of the functions of the code, as AMUSE calls them.

use crate::code::{self, Code};
use crate::columns::{Arguments, Failure, Outcome, Outputs, Type};
use crate::dispatch::Handler;
use crate::stopping::{self, Conditions};
use Handler::{Batch, Command, GetBool, GetDouble, GetInt, GetText, GetVector, SetBool, SetDouble, SetInt, SetText};
use std::env;

/// Function: its name and its work.
pub struct Function {
    /// Name, from which its id is computed.
    pub name: &'static str,
    /// Work, from which the types of its arguments follow.
    pub handler: Handler,
}

impl Function {
    /// Id on the wire: the absolute value of the CRC-32 of the name as a signed number.
    #[must_use]
    pub fn id(&self) -> i32 {
        // The one value without an absolute value, -2³¹, is the id that AMUSE computes with unbounded integers and
        // cannot send; no name here has it, which a test checks.
        (crc32fast::hash(self.name.as_bytes()) as i32).wrapping_abs()
    }

    /// Line of the table, as text: id, name, types of the inputs, types of the outputs.
    #[must_use]
    pub fn line(&self) -> String {
        let names = |types: &[Type]| types.iter().map(|t| t.name()).collect::<Vec<_>>().join(",");
        let (inputs, outputs) = (names(self.handler.inputs()), names(self.handler.outputs()));
        format!("{}\t{}\t{inputs}\t{outputs}", self.id(), self.name)
    }
}

/// Functions of a code: [`functions`] by id.
pub struct Table(Vec<(i32, &'static Function)>);

impl Default for Table {
    fn default() -> Self {
        let mut table: Vec<_> = functions().map(|function| (function.id(), function)).collect();
        table.sort_by_key(|(id, _)| *id);
        Self(table)
    }
}

impl Table {
    /// Returns the function with an id.
    #[must_use]
    pub fn get(&self, id: i32) -> Option<&'static Function> {
        self.0.binary_search_by_key(&id, |(id, _)| *id).ok().map(|k| self.0[k].1)
    }
}

const fn function(name: &'static str, handler: Handler) -> Function {
    Function { name, handler }
}

/// Function of columns.
const fn columns(
    name: &'static str,
    inputs: &'static [Type],
    outputs: &'static [Type],
    run: fn(&mut Code, &Arguments<'_>) -> Outcome<Outputs>,
) -> Function {
    function(name, Batch { inputs, outputs, run })
}

/// Entries of a parameter that is kept as it is: name of getter, name of setter, and the place.
macro_rules! parameter {
    ($get:literal, $set:literal, $getter:ident, $setter:ident, $($place:ident).+) => {
        [
            function($get, $getter(|code| Ok(code.$($place).+))),
            function($set, $setter(|code, value| { code.$($place).+ = value; Ok(()) })),
        ]
    };
}

/// Entries of a parameter that is a name.
macro_rules! name {
    ($get:literal, $set:literal, $($place:ident).+) => {
        [
            function($get, GetText(|code| Ok(code.$($place).+.clone()))),
            function($set, SetText(|code, value| { code.$($place).+ = value.to_owned(); Ok(()) })),
        ]
    };
}

/// Entry of a function of the stopping conditions, on columns of int32.
macro_rules! condition {
    ($name:literal, $inputs:literal, $outputs:literal, $run:expr) => {
        columns($name, &[INT; $inputs], &[INT; $outputs], |code, a| {
            let run: fn(&mut Conditions, &Arguments<'_>) -> Outcome<Outputs> = $run;
            run(&mut code.conditions, a)
        })
    };
}

const INT: Type = Type::Int;
const NUMBER: Type = Type::Double;
const INDEX: &[Type] = &[INT];
const NONE: &[Type] = &[];
const STATE: [Type; 8] = [NUMBER; 8];
/// Index of a particle, then its new position or velocity.
const INDEX_AND_VECTOR: &[Type] = &[INT, NUMBER, NUMBER, NUMBER];
const INDEX_AND_STATE: &[Type] = &[INT, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER];

/// Functions that AMUSE calls to start and stop the code.
static LIFE: &[Function] = &[
    function("initialize_code", Command(|_| Ok(()))),
    function(
        "cleanup_code",
        Command(|code| {
            code.reset();
            Ok(())
        }),
    ),
    function("commit_parameters", Command(Code::commit_parameters)),
    function("recommit_parameters", Command(Code::commit_parameters)),
    function("commit_particles", Command(Code::commit_particles)),
    // The simulation takes over changes when it is needed: between two of them particles may be at one place.
    function("recommit_particles", Command(|_| Ok(()))),
    function("synchronize_model", Command(|_| Ok(()))),
    function("evolve_model", SetDouble(Code::evolve)),
    function("get_time", GetDouble(|code| Ok(code.time()))),
];

/// Functions of particles.
static PARTICLES: &[Function] = &[
    columns("new_particle", &STATE, INDEX, code::new_particle),
    columns("delete_particle", INDEX, NONE, code::delete_particle),
    columns("get_state", INDEX, &STATE, code::get_state),
    columns("set_state", INDEX_AND_STATE, NONE, code::set_state),
    columns("get_mass", INDEX, &[NUMBER], |code, a| code::get_scalar(code, a, &code.particles().mass)),
    columns("set_mass", &[INT, NUMBER], NONE, code::set_mass),
    columns("get_radius", INDEX, &[NUMBER], |code, a| code::get_scalar(code, a, &code.particles().radius)),
    columns("set_radius", &[INT, NUMBER], NONE, code::set_radius),
    columns("get_column", &[INT, Type::Text], &[NUMBER], code::get_column),
    columns("set_column", &[INT, Type::Text, NUMBER], NONE, code::set_column),
    columns("get_position", INDEX, &[NUMBER; 3], |code, a| code::get_vector(code, a, &code.particles().pos)),
    columns("set_position", INDEX_AND_VECTOR, NONE, code::set_position),
    columns("get_velocity", INDEX, &[NUMBER; 3], |code, a| code::get_vector(code, a, &code.particles().vel)),
    columns("set_velocity", INDEX_AND_VECTOR, NONE, code::set_velocity),
    columns("get_stellar_type", INDEX, INDEX, code::get_stellar_type),
    columns("get_luminosity", INDEX, &[NUMBER], |code, a| code::get_of_stars(code, a, "luminosity")),
    columns("get_temperature", INDEX, &[NUMBER], |code, a| code::get_of_stars(code, a, "temperature")),
    columns("get_initial_mass", INDEX, &[NUMBER], |code, a| code::get_of_stars(code, a, "initial_mass")),
    columns("get_core_mass", INDEX, &[NUMBER], |code, a| code::get_of_stars(code, a, "core_mass")),
    columns("get_age", INDEX, &[NUMBER], |code, a| code::get_of_stars(code, a, "age")),
    columns("get_acceleration", INDEX, &[NUMBER; 3], code::get_acceleration),
    columns("get_potential", INDEX, &[NUMBER], code::get_potential),
    columns("get_index_of_first_particle", NONE, INDEX, code::first_particle),
    columns("get_index_of_next_particle", INDEX, INDEX, code::next_particle),
    columns("get_indices_of_colliding_particles", NONE, &[INT; 2], code::colliding_particles),
];

/// Functions of the model as a whole, and of its field.
static MODEL: &[Function] = &[
    function("get_number_of_particles", GetInt(|code| Ok(i32::try_from(code.particles().len()).unwrap_or(i32::MAX)))),
    function("get_kinetic_energy", GetDouble(|code| Ok(code.particles().kinetic_energy()))),
    function("get_potential_energy", GetDouble(Code::potential_energy)),
    function("get_total_mass", GetDouble(|code| Ok(code.particles().total_mass()))),
    function("get_total_radius", GetDouble(|code| Ok(code.particles().total_radius()))),
    function("get_center_of_mass_position", GetVector(|code| Ok(code.particles().mean(&code.particles().pos)))),
    function("get_center_of_mass_velocity", GetVector(|code| Ok(code.particles().mean(&code.particles().vel)))),
    columns("get_gravity_at_point", &[NUMBER; 4], &[NUMBER; 3], code::get_gravity_at_point),
    columns("get_potential_at_point", &[NUMBER; 4], &[NUMBER], code::get_potential_at_point),
];

/// Parameters.
static PARAMETERS: &[[Function; 2]] = &[
    parameter!("get_eps2", "set_eps2", GetDouble, SetDouble, parameters.epsilon_squared),
    parameter!("get_timestep_parameter", "set_timestep_parameter", GetDouble, SetDouble, parameters.nu),
    parameter!(
        "get_initial_timestep_parameter",
        "set_initial_timestep_parameter",
        GetDouble,
        SetDouble,
        parameters.initial_eta
    ),
    parameter!("get_iterations", "set_iterations", GetInt, SetInt, parameters.iterations),
    parameter!("get_multipoint_eta", "set_multipoint_eta", GetDouble, SetDouble, parameters.eta),
    parameter!("get_ahmad_cohen_eta", "set_ahmad_cohen_eta", GetDouble, SetDouble, parameters.neighbour_eta),
    parameter!("get_dt_max", "set_dt_max", GetDouble, SetDouble, parameters.dt_max),
    parameter!("get_dt_min", "set_dt_min", GetDouble, SetDouble, parameters.dt_min),
    parameter!("get_device", "set_device", GetInt, SetInt, parameters.device),
    parameter!("get_threads", "set_threads", GetInt, SetInt, parameters.threads),
    parameter!("get_initialize_gpu_once", "set_initialize_gpu_once", GetInt, SetInt, parameters.initialize_gpu_once),
    name!("get_integrator", "set_integrator", parameters.integrator),
    name!("get_on_dt_min", "set_on_dt_min", parameters.on_dt_min),
    name!("get_law", "set_law", parameters.law),
    name!("get_stellar_evolution", "set_stellar_evolution", parameters.stellar_evolution),
    parameter!("get_unit_of_mass", "set_unit_of_mass", GetDouble, SetDouble, parameters.unit_of_mass),
    parameter!("get_unit_of_length", "set_unit_of_length", GetDouble, SetDouble, parameters.unit_of_length),
    name!("get_engine", "set_engine", parameters.engine),
    name!("get_precision", "set_precision", parameters.precision),
];

/// Times that are not parameters of the configuration.
static TIMES: &[Function] = &[
    function("get_begin_time", GetDouble(|code| Ok(code.parameters.begin_time))),
    function("set_begin_time", SetDouble(Code::set_begin_time)),
    function("get_time_step", GetDouble(|code| Ok(code.parameters.dt_max))),
];

/// Functions of the stopping conditions.
static CONDITIONS: &[Function] = &[
    condition!("has_stopping_condition", 1, 1, stopping::has),
    condition!("enable_stopping_condition", 1, 0, stopping::enable),
    condition!("disable_stopping_condition", 1, 0, stopping::disable),
    condition!("is_stopping_condition_enabled", 1, 1, stopping::enabled),
    condition!("is_stopping_condition_set", 1, 1, stopping::set),
    condition!("get_number_of_stopping_conditions_set", 0, 1, stopping::number),
    condition!("get_stopping_condition_info", 1, 2, stopping::info),
    condition!("get_stopping_condition_particle_index", 2, 1, stopping::particle),
];

/// Parameters of the stopping conditions.
#[rustfmt::skip]
static CONDITION_PARAMETERS: &[[Function; 2]] = &[
    parameter!("get_stopping_condition_timeout_parameter", "set_stopping_condition_timeout_parameter",
        GetDouble, SetDouble, conditions.timeout),
    parameter!("get_stopping_condition_number_of_steps_parameter", "set_stopping_condition_number_of_steps_parameter",
        GetInt, SetInt, conditions.steps),
    parameter!("get_stopping_condition_out_of_box_parameter", "set_stopping_condition_out_of_box_parameter",
        GetDouble, SetDouble, conditions.box_size),
    parameter!("get_stopping_condition_out_of_box_use_center_of_mass_parameter",
        "set_stopping_condition_out_of_box_use_center_of_mass_parameter",
        GetBool, SetBool, conditions.box_at_centre_of_mass),
    parameter!("get_stopping_condition_minimum_density_parameter", "set_stopping_condition_minimum_density_parameter",
        GetDouble, SetDouble, conditions.gas_limits.min_density),
    parameter!("get_stopping_condition_maximum_density_parameter", "set_stopping_condition_maximum_density_parameter",
        GetDouble, SetDouble, conditions.gas_limits.largest_density),
    parameter!("get_stopping_condition_minimum_internal_energy_parameter",
        "set_stopping_condition_minimum_internal_energy_parameter",
        GetDouble, SetDouble, conditions.gas_limits.min_energy),
    parameter!("get_stopping_condition_maximum_internal_energy_parameter",
        "set_stopping_condition_maximum_internal_energy_parameter",
        GetDouble, SetDouble, conditions.gas_limits.largest_energy),
];

/// Functions that AMUSE gives every worker. Those that join workers are for MPI.
static INTERNAL: &[Function] = &[
    function("internal__get_message_polling_interval", GetInt(|code| Ok(code.polling_interval))),
    function(
        "internal__set_message_polling_interval",
        SetInt(|code, value| {
            code.polling_interval = value;
            Ok(())
        }),
    ),
    function("get_working_directory", GetText(working_directory)),
    function("set_working_directory", SetText(set_working_directory)),
    function("internal__open_port", GetText(|_| Err(no_mpi()))),
    columns("internal__accept_on_port", &[Type::Text], &[INT], |_, _| Err(no_mpi())),
    columns("internal__connect_to_port", &[Type::Text], &[INT], |_, _| Err(no_mpi())),
    columns("internal__activate_communicator", &[INT], NONE, |_, _| Err(no_mpi())),
    columns("internal__become_code", &[INT, Type::Text, Type::Text], NONE, |_, _| Err(no_mpi())),
];

/// All functions but the one with the id 0, which stops the worker.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    let pairs = [PARAMETERS, CONDITION_PARAMETERS].into_iter().map(<[[Function; 2]]>::as_flattened);
    [LIFE, PARTICLES, MODEL, TIMES, CONDITIONS, INTERNAL].into_iter().chain(pairs).flatten()
}

fn no_mpi() -> Failure {
    Failure("this worker has no MPI: it is one process, which computes with threads".to_owned())
}

fn working_directory(_: &mut Code) -> Outcome<String> {
    match env::current_dir() {
        Ok(directory) => Ok(directory.display().to_string()),
        Err(error) => Err(Failure(format!("cannot read the working directory: {error}"))),
    }
}

fn set_working_directory(_: &mut Code, directory: &str) -> Outcome {
    env::set_current_dir(directory).map_err(|error| Failure(format!("cannot change to {directory}: {error}")))
}
