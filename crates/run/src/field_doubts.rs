//! What is doubtful about fields whose strength changes in time, for `check` and `run`.

use crate::assemble::Setup;
use tisane::force::external::{Form, Variation};
use tisane::units::Real;

/// Part of dt_max at whose multiples many particles stand.
const PART: f64 = 1.0 / 8.0;
/// Distance of a time from such a multiple, in dt_max, from which on it is another time.
const APART: f64 = 1e-6;

impl Setup {
    /// Returns what is doubtful about the fields: a rate that jumps where particles stand at the end of their steps. The errors that their
    /// Hermite steps make of the jump, J Δt² (s (1 − s)/2 − 1/12) at the part s of a step, then have one sign; elsewhere they cancel in the
    /// mean.
    #[must_use]
    pub fn doubts_of_fields(&self) -> Vec<String> {
        let dt_max = self.clock.dt_max * self.scale.time;
        let begin = self.clock.start * self.scale.time;
        let unit = &self.config.units().time.name;
        let doubt = |(section, variation): (String, &Variation)| {
            let Variation { form, start, .. } = variation;
            let steps = (start.get() - begin) / dt_max;
            let is_within = steps > 0.0 && steps < self.steps_to_end as f64;
            let off = (steps / PART - (steps / PART).round()) * PART;
            if *form == Form::Growth || !is_within || off.abs() > APART {
                return None;
            }
            let other = Real::new(start.get() + PART * dt_max / 3.0)?;
            Some(format!(
                "{section}.variation.start = {start} {unit} is a multiple of 1/8 of dt_max, at which many particles end a step: the jump of the rate \
                 there gives them errors of one sign, about ten times larger than between such times; {other} is between"
            ))
        };
        let sections = self.config.external.sections();
        sections.filter_map(|(section, field)| doubt((section, field.variation()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::assemble;
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn jumps_where_particles_stand_are_warned_of() {
        for (form, start, is_doubtful) in [
            ("expulsion", "0.25", true),
            ("decay", "0.34375", true),
            ("expulsion", "0.26", false),
            ("growth", "0.25", false),
            ("expulsion", "0.0", false),
            ("expulsion", "5.0", false),
        ] {
            let text = format!(
                "run = {{ name = 'a', t_end = 1 }}\ninitial.plummer.n = 16\nsoftening.epsilon = 0.1\nintegrator.hermite4.dt_max = 0.25\n\
                 external.plummer = {{ mass = 2, scale_radius = 1, variation = {{ form = '{form}', start = {start}, time = 0.3 }} }}\n"
            );
            let set = assemble::prepare(Config::from_str("a", &text, Path::new(""), &[]).unwrap()).unwrap();
            let found =
                set.warnings.iter().filter(|warning| warning.contains("external.plummer.variation.start")).count();
            assert_eq!(found, usize::from(is_doubtful), "{form} from {start}: {:?}", set.warnings);
        }
    }
}
