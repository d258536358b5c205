"""Interface of tisane to AMUSE: the functions of the worker, and the class that scripts use."""

import os
import warnings

from amuse.community.interface.gd import GravitationalDynamics
from amuse.community.interface.gd import GravitationalDynamicsInterface
from amuse.community.interface.gd import GravityFieldCode
from amuse.community.interface.gd import GravityFieldInterface
from amuse.community.interface.stopping_conditions import StoppingConditionInterface
from amuse.community.interface.stopping_conditions import StoppingConditions
from amuse.rfi.core import CodeInterface
from amuse.rfi.core import LegacyFunctionSpecification
from amuse.rfi.core import legacy_function
from amuse.support.literature import LiteratureReferencesMixIn
from amuse.units import nbody_system
from amuse.units import units

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tisane_worker")

#: Engine that each mode of the class makes the default; "g6lib" is phiGRAPE's name for its CPU library.
ENGINES = {"auto": "auto", "cpu": "cpu", "g6lib": "cpu", "gpu": "cuda", "cuda": "cuda"}

#: Parameters of the code: name, type, unit, default, description. Each has the functions get_NAME and set_NAME.
PARAMETERS = [
    (
        "integrator",
        "string",
        None,
        "hermite4",
        "scheme: hermite4 (4th order, individual block steps), multipoint6 or multipoint8 (6th and 8th order from "
        "earlier points), ahmad_cohen6 (neighbour scheme of 6th order, for 1000 particles and more), leapfrog "
        "(2nd order, one fixed step)",
    ),
    (
        "timestep_parameter",
        "float64",
        None,
        0.01,
        "accuracy of the steps of hermite4, dt = sqrt(timestep_parameter ...) as phiGRAPE's (ph4's is its square root)",
    ),
    (
        "initial_timestep_parameter",
        "float64",
        None,
        0.0,
        "accuracy of the first steps of hermite4, dt = initial_timestep_parameter * |acceleration| / |jerk|; 0 for "
        "sqrt(timestep_parameter) / 4",
    ),
    ("iterations", "int32", None, 1, "evaluations and corrections in each step of hermite4, 1 to 10"),
    ("multipoint_eta", "float64", None, 0.0, "accuracy of the steps of multipoint6 and multipoint8; 0 for its default"),
    ("ahmad_cohen_eta", "float64", None, 0.0, "accuracy of the steps of ahmad_cohen6; 0 for its default"),
    (
        "dt_max",
        "float64",
        nbody_system.time,
        0.125,
        "longest step; with the leapfrog, the step. Use a value that fits the system: a hundredth of an orbit, say",
    ),
    ("dt_min", "float64", nbody_system.time, 0.0, "shortest step; 0 for the least, dt_max / 2^36"),
    (
        "on_dt_min",
        "string",
        None,
        "stop",
        "treatment of a particle that needs a step below dt_min: stop (an exception), or clamp (go on with dt_min)",
    ),
    ("engine", "string", None, "auto", "computes the forces: auto (the GPU where it is faster), cpu, cuda, reference (slow)"),
    (
        "precision",
        "string",
        None,
        "auto",
        "precision of the forces: a mode by its name in configurations, such as f64 or mixed, or auto "
        "(f64, with the engine cuda mixed)",
    ),
    ("device", "int32", None, 0, "number of the GPU"),
    ("threads", "int32", None, 0, "threads of the engine cpu; 0 for one per core"),
    (
        "law",
        "string",
        None,
        "",
        "law of the forces in place of Newton's, as the section [force.law] of tisane's configurations in TOML, with numbers in "
        "N-body units: name = \"yukawa\"\nparameters.lambda = 0.3; empty for Newton's",
    ),
    (
        "stellar_evolution",
        "string",
        None,
        "",
        "stars that age, as the section [stellar_evolution] of tisane's configurations in TOML: metallicity = 0.02; set by the "
        "option stellar_evolution of the class; empty where stars do not age",
    ),
    ("unit_of_mass", "float64", units.MSun, 0.0, "size of the N-body unit of mass, by the converter, where stars age"),
    ("unit_of_length", "float64", units.parsec, 0.0, "size of the N-body unit of length, by the converter, where stars age"),
    (
        "initialize_gpu_once",
        "int32",
        None,
        0,
        "no effect: a parameter of phiGRAPE, kept so that its scripts run. The GPU is initialised once in any case",
    ),
]


#: Quantities of stars that age: name, type, unit. Each has the function get_NAME, and is an attribute of the particles.
OF_STARS = [
    ("stellar_type", "int32", units.stellar_type),
    ("luminosity", "float64", units.LSun),
    ("temperature", "float64", units.K),
    ("initial_mass", "float64", units.MSun),
    ("core_mass", "float64", units.MSun),
    ("age", "float64", units.Myr),
]


def _of_particle(name, dtype):
    """Return the function `get_name` of the worker, which returns a quantity of a particle."""

    def specification():
        function = LegacyFunctionSpecification()
        function.name = "get_" + name
        function.can_handle_array = True
        function.addParameter("index_of_the_particle", dtype="int32", direction=function.IN)
        function.addParameter(name, dtype=dtype, direction=function.OUT)
        function.result_type = "int32"
        return function

    return legacy_function(specification)


def _section(settings):
    """Return the keys of a section of tisane's configurations as TOML."""

    def value(of):
        if isinstance(of, bool):
            return "true" if of else "false"
        return '"{0}"'.format(of) if isinstance(of, str) else repr(of)

    # An empty text would stand for stars that do not age.
    given = dict(settings) or {"metallicity": 0.02}
    return "\n".join("{0} = {1}".format(key, value(of)) for key, of in given.items())


def _function(name, dtype, direction, description):
    """Return the function `name` of the worker, which takes or returns one value."""

    def specification():
        function = LegacyFunctionSpecification()
        function.name = name
        function.description = description
        function.addParameter("value", dtype=dtype, direction=direction, description=description)
        function.result_type = "int32"
        return function

    return legacy_function(specification)


class TisaneInterface(
    CodeInterface,
    LiteratureReferencesMixIn,
    GravitationalDynamicsInterface,
    StoppingConditionInterface,
    GravityFieldInterface,
):
    """
    Direct N-body integrator with individual block time steps, on CPUs and NVIDIA GPUs. The same input gives the same
    bits on any number of threads.

        .. [#] ADS:1992PASJ...44..141M (Makino, J. & Aarseth, S.J., 1992, Publications of the Astronomical Society of Japan, 44, 141: the integrator hermite4)
        .. [#] Dittmann, A. (2024): the integrators multipoint6 and multipoint8
        .. [#] Ahmad, A. & Cohen, L. (1973), Journal of Computational Physics, 12, 389: the integrator ahmad_cohen6
    """

    #: Modes by the names that phiGRAPE and ph4 have for them.
    MODE_CPU = "cpu"
    MODE_G6LIB = "g6lib"
    MODE_GPU = "gpu"

    def __init__(self, **options):
        if options.setdefault("channel_type", "sockets") != "sockets":
            raise ValueError(
                "tisane speaks to AMUSE over sockets only: channel_type is {0!r}".format(options["channel_type"])
            )
        if options.pop("number_of_workers", 1) != 1:
            warnings.warn("tisane is one process, which computes with threads: number_of_workers is not used")
        # Without it AMUSE would start the worker by mpiexec.
        options.setdefault("initialize_mpi", False)
        CodeInterface.__init__(self, name_of_the_worker=WORKER, **options)
        LiteratureReferencesMixIn.__init__(self)

    def _check_if_worker_is_up_to_date(self):
        # AMUSE compares the times of the files, by which a worker is out of date as soon as AMUSE is updated. A worker
        # that lacks a function says so.
        pass

    @legacy_function
    def get_column():
        """
        Return the value of a particle in a column that the law reads, NaN where none was set.
        """
        function = LegacyFunctionSpecification()
        function.can_handle_array = True
        function.addParameter("index_of_the_particle", dtype="int32", direction=function.IN)
        function.addParameter("name", dtype="string", direction=function.IN)
        function.addParameter("value", dtype="float64", direction=function.OUT)
        function.result_type = "int32"
        return function

    @legacy_function
    def set_column():
        """
        Set the value of a particle in a column that the law reads.
        """
        function = LegacyFunctionSpecification()
        function.can_handle_array = True
        function.addParameter("index_of_the_particle", dtype="int32", direction=function.IN)
        function.addParameter("name", dtype="string", direction=function.IN)
        function.addParameter("value", dtype="float64", direction=function.IN)
        function.result_type = "int32"
        return function

    @legacy_function
    def get_indices_of_colliding_particles():
        """
        Return the first two particles that have stopped the last evolution by a collision.
        """
        function = LegacyFunctionSpecification()
        function.addParameter("index_of_the_particle1", dtype="int32", direction=function.OUT)
        function.addParameter("index_of_the_particle2", dtype="int32", direction=function.OUT)
        function.result_type = "int32"
        function.result_doc = """
        0 - OK
        -1 - ERROR
            no particles have collided
        """
        return function


for _name, _dtype, _unit, _default, _description in PARAMETERS:
    for _action, _direction in [("get_", LegacyFunctionSpecification.OUT), ("set_", LegacyFunctionSpecification.IN)]:
        setattr(TisaneInterface, _action + _name, _function(_action + _name, _dtype, _direction, _description))


for _name, _dtype, _unit in OF_STARS:
    setattr(TisaneInterface, "get_" + _name, _of_particle(_name, _dtype))


class Tisane(GravitationalDynamics, GravityFieldCode):
    """
    Tisane in AMUSE. `convert_nbody` converts units, as in every dynamical code; `mode` is "auto", "cpu" or "gpu", the
    default of the parameter `engine`. `stellar_evolution` is a dictionary with the keys of tisane's section of that name,
    such as `{"metallicity": 0.02}`, or an empty one: stars age, which needs a converter. The other options are those of
    every code, such as `redirection`.
    """

    def __init__(self, convert_nbody=None, mode="auto", stellar_evolution=None, **options):
        if mode not in ENGINES:
            raise ValueError("mode is {0!r}: expected one of {1}".format(mode, ", ".join(sorted(ENGINES))))
        #: Defaults of parameters that the options set.
        self._defaults = {"engine": ENGINES[mode]}
        if stellar_evolution is not None:
            if convert_nbody is None:
                raise ValueError("stars that age need a converter: masses in solar masses, times in Myr")
            self._defaults["stellar_evolution"] = _section(stellar_evolution)
            sizes = {"unit_of_mass": (nbody_system.mass, units.MSun), "unit_of_length": (nbody_system.length, units.parsec)}
            for name, (generic, unit) in sizes.items():
                self._defaults[name] = convert_nbody.to_si(1.0 | generic).value_in(unit)
        self.stopping_conditions = StoppingConditions(self)
        GravitationalDynamics.__init__(self, TisaneInterface(**options), convert_nbody, **options)

    def define_errorcodes(self, handler):
        """Texts for the return values of the functions."""
        handler.add_errorcode(-1, "no particle has this index, or an argument is out of range")

    def define_state(self, handler):
        """States, and the functions that may be called in each."""
        GravitationalDynamics.define_state(self, handler)
        GravityFieldCode.define_state(self, handler)
        handler.add_method("RUN", "get_acceleration")
        for name, _, _ in OF_STARS:
            handler.add_method("RUN", "get_" + name)
        handler.add_transition("RUN", "UPDATE", "set_state", False)
        for state in ["EDIT", "UPDATE"]:
            for name in ["set_state", "set_mass", "set_position", "set_velocity", "set_radius"]:
                handler.add_method(state, name)
        self.stopping_conditions.define_state(handler)

    def define_parameters(self, handler):
        """Parameters with units and defaults."""
        handler.add_method_parameter(
            "get_eps2",
            "set_eps2",
            "epsilon_squared",
            "square of the softening length, which is one for all particles",
            default_value=0.0 | nbody_system.length**2,
        )
        handler.add_method_parameter(
            "get_begin_time",
            "set_begin_time",
            "begin_time",
            "model time to start the simulation at",
            default_value=0.0 | nbody_system.time,
        )
        for name, _, unit, default, description in PARAMETERS:
            value = self._defaults.get(name, default)
            handler.add_method_parameter(
                "get_" + name,
                "set_" + name,
                name,
                description,
                default_value=value if unit is None else value | unit,
            )
        self.stopping_conditions.define_parameters(handler)

    def define_methods(self, handler):
        """Units of the functions."""
        GravitationalDynamics.define_methods(self, handler)
        units = [("eps2", nbody_system.length**2), ("begin_time", nbody_system.time)]
        units += [(name, unit or handler.NO_UNIT) for name, _, unit, _, _ in PARAMETERS]
        for name, unit in units:
            handler.add_method("get_" + name, (), (unit, handler.ERROR_CODE))
            handler.add_method("set_" + name, (unit,), (handler.ERROR_CODE,))
        for name, _, unit in OF_STARS:
            handler.add_method("get_" + name, (handler.INDEX,), (unit, handler.ERROR_CODE))
        point = (nbody_system.length,) * 4
        handler.add_method("get_gravity_at_point", point, (nbody_system.acceleration,) * 3 + (handler.ERROR_CODE,))
        handler.add_method("get_potential_at_point", point, (nbody_system.potential, handler.ERROR_CODE))
        self.stopping_conditions.define_methods(handler)

    def define_particle_sets(self, handler):
        """The set `particles`."""
        GravitationalDynamics.define_particle_sets(self, handler)
        if "stellar_evolution" in self._defaults:
            for name, _, _ in OF_STARS:
                handler.add_getter("particles", "get_" + name, names=(name,))
        self.stopping_conditions.define_particle_set(handler)
