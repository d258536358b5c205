//! Errors of the motion inside of subsystems.

use crate::encounters::Encounters;
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::records::parts::component;
use crate::few_body::{AT_ONE_PLACE, TOO_CLOSE};
use tisane_force::error::Error;

impl Encounters {
    /// Names in an error of the motion of few bodies the stars of the subsystem that it is about: the one with the closest two.
    pub(crate) fn named(&self, error: Error) -> Error {
        let (problem, help) = match error {
            Error::Integration { problem, help: Some(help) } => (problem, help),
            other => return other,
        };
        let gap = |subsystem: &&Subsystem| subsystem.gaps().fold(f64::INFINITY, f64::min);
        let closest = self.hierarchy.subsystems.iter().min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let is_of_few = [AT_ONE_PLACE, TOO_CLOSE].contains(&help.as_str());
        let named = |subsystem: &Subsystem| {
            let (stars, time) = (component(&subsystem.members, &self.ids), self.clock.time(subsystem.time));
            format!("{problem} since {time}, in the subsystem of stars {stars}")
        };
        let problem = closest.filter(|_| is_of_few).map_or_else(|| problem.clone(), named);
        Error::Integration { problem, help: Some(help) }
    }
}
