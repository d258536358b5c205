//! Errors of the motion inside of subsystems.

use crate::encounters::Encounters;
use crate::encounters::motion::subsystem::Group;
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
        let gap = |group: &&Group| group.gaps().fold(f64::INFINITY, f64::min);
        let closest = self.subsystems.groups.iter().min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let is_of_few = [AT_ONE_PLACE, TOO_CLOSE].contains(&help.as_str());
        let named = |group: &Group| {
            let (stars, time) = (component(&group.bodies, &self.ids), self.clock.time(group.time));
            format!("{problem} since {time}, in the subsystem of stars {stars}")
        };
        let problem = closest.filter(|_| is_of_few).map_or_else(|| problem.clone(), named);
        Error::Integration { problem, help: Some(help) }
    }
}
