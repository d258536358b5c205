//! Configuration of a run in TOML: keys, defaults, units, validation. [`assemble`](crate::assemble) builds the run.
//!
//! The structs are the only list of keys: serde reads them, the JSON Schema is derived from them, and the resolved
//! configuration and its comments come from both. Reading has five steps, each of which reports mistakes with their
//! locations: TOML syntax, overrides, names and types ([`json_schema`]), values, and the defaults.

pub(crate) mod bounds;
mod check;
mod collisions;
mod configuration;
mod devices;
mod document;
mod ensemble;
mod error;
mod external;
mod file;
mod format;
mod initial;
mod law;
mod limits;
mod loaded;
mod of_cluster;
pub(crate) mod orbit;
mod resolve;
mod schema;
mod sections;
mod sky;
mod star_events;
mod stellar_evolution;
mod templates;
mod validate;
mod wall_time;

pub(crate) use bounds::Span;
pub use bounds::{above, at_least, whole_multiple};
pub use collisions::{CollisionSettings, Escapers, Radii};
pub use configuration::{Config, json_schema};
pub use devices::DeviceSet;
pub use ensemble::{Ensemble, Kept, MAX_MEMBERS, Rule, StopAt, Variation};
pub use error::Problem;
pub use file::{Source, commented, read, read_text};
pub use format::Format;
pub(crate) use initial::TIDAL_FILLING;
pub use initial::{
    Apsis, Binaries, BinarySingle, Central, Cluster, Eccentricity, Eff, Elements, Encounter, FileModel, Fractal,
    Hernquist, Initial, King, MassFunction, Masses, Model, Pairing, Plummer, Rotation, Sampled, Sampling, Segregation,
    SemiMajorAxis, Size, TwoBody, UniformSphere, parse_datasets,
};
pub use law::{LawSection, law_of_text};
pub use limits::{Audit, Checkpoint, Limits};
pub use loaded::Loaded;
pub(crate) use loaded::Open;
pub(crate) use of_cluster::{ClusterScheme, Settled, is_cluster};
pub use orbit::OrbitSettings;
pub use schema::schema_of;
pub use sections::{
    ClusterSection, Engine, Force, MAX_DEVICE, MAX_THREADS, OnFull, Output, Run, Softening, Stepping, System,
    UnitsSection,
};
pub use sky::{Sky, Sun};
pub use stellar_evolution::StellarEvolution;
pub use templates::{SITUATIONS, TEMPLATES, template};
pub use tisane::error::nearest;
pub use tisane::real;
pub use tisane::units::Real;
pub use wall_time::WallTime;
