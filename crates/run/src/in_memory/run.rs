//! Run with files that begins with the particles of a simulation in memory.

use super::{InMemory, Phase, read};
use crate::assemble::{self, Setup};
use tisane::error::{Error, Result};
use tisane::initial::InitialState;
use tisane::particles::Particles;

impl InMemory {
    /// Prepares a run with files from the present particles, with settings (`section.key=value`) on top of those of the
    /// simulation; `run.t_end` is needed. Before the start, this is the run of the configuration. After it, the run begins
    /// anew at the present time, with first steps.
    ///
    /// # Errors
    /// [`Error::Config`] and [`Error::Input`], also if the program has a field of its own, without which the run could
    /// not be resumed.
    pub fn setup(&mut self, settings: &[String]) -> Result<Setup> {
        if self.own_field.is_some() {
            let problem = "a function of the program acts on the particles: a run with files cannot contain it";
            let help = "describe the field in the configuration, in [external], or integrate without files";
            return Err(Error::input("external field", problem).with_help(help));
        }
        if self.is_empty() {
            return Err(Error::input("particles", "there are none").with_help("add particles first"));
        }
        let read = |more: &[String]| read(&self.text, &self.base, &[&self.sets[..], more, settings].concat());
        let loaded;
        let initial = match &self.phase {
            Phase::New(initial) => {
                let (mut settled, _) = read(&[])?;
                settled.settle_subsystems(&initial.particles.mass)?;
                loaded = settled;
                InitialState::clone(initial)
            }
            Phase::Started(_) => {
                let (time, model) = (self.time(), "initial={memory={}}".to_owned());
                let start = format!("run.t_start={time:?}");
                let leaves_open = read(std::slice::from_ref(&start))?.0.subsystems_of_cluster;
                let (mut settled, _) = read(&[model, start])?;
                if leaves_open && self.has_subsystems_of_cluster() {
                    settled.config.add_subsystems()?;
                }
                loaded = settled;
                let state = self.state()?;
                let mut particles = Particles::new(state.mass, state.pos, state.vel);
                particles.id = state.id;
                particles.columns = self.particles().columns.clone();
                InitialState { time, ..InitialState::new(particles, "particles of a program") }
            }
        };
        self.threads.run(|| assemble::set_up(loaded, initial, Vec::new(), true))
    }
}
