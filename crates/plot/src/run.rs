//! The figures of a run: all of them, and those of its diagnostics.

use super::figure::{Axis, Figure, Mark, Panel, Series};
pub use super::gallery::{Gallery, caption, diagnostics, name};
use super::over_time::Run;
use super::snapshots::Ends;
use super::tide::{self, FindTide};
use super::{binaries, galaxy, journals, mass_bins, snapshots, stellar, subsystems};
use std::path::Path;
use tisane::error::Result;
use tisane::time::LEVELS;

/// The figures of a run's directory, with the tide on its cluster. The run may be under way.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if it is not the directory of a run, or has no diagnostics.
pub fn figures(dir: &Path, tide: FindTide<'_>) -> Result<Gallery> {
    let table = diagnostics(dir)?;
    let run = Run { table: &table };
    let panels = [
        run.energy_error(),
        run.angular_momentum(),
        run.virial_ratio(),
        run.steps(),
        run.blocks(),
        run.levels(),
        run.audit(),
    ];
    let mut gallery = Gallery::default();
    gallery.figures.push(("diagnostics", run.figure(dir, panels.into_iter().flatten().collect())));
    let ends = snapshots::add(dir, &mut gallery);
    if let Some(newest) = ends.as_ref().map(Ends::newest) {
        galaxy::add(dir, newest, (name(dir), caption(&table)), &mut gallery);
        if let Some(figure) = run.in_field().then(|| tide::energies(newest, tide)).flatten() {
            let of_panel =
                |panel| Figure { title: name(dir), caption: caption(&table), panels: vec![panel], columns: 1 };
            gallery.add("jacobi", figure.map(of_panel));
        }
    }
    if let Some(ends) = &ends {
        mass_bins::add(dir, ends, (name(dir), caption(&table)), &mut gallery);
    }
    stellar::add(dir, &run, ends.as_ref(), &mut gallery);
    journals::add(dir, &run, &mut gallery);
    binaries::add(dir, &mut gallery);
    subsystems::add(dir, &run, &mut gallery);
    Ok(gallery)
}

impl Run<'_> {
    fn energy_error(&self) -> Option<Panel> {
        let mut lines = vec![
            ("since the start", "relative_energy_error", false),
            ("since the row before", "relative_energy_error_step", false),
        ];
        if self.table.column("outer_energy_error").is_some() {
            lines.push(("of the bound cluster", "outer_energy_error", false));
        }
        self.panel("Energy error", Axis::log("|ΔE/E₀|"), &lines, f64::abs)
    }

    /// Returns true for a run in an external field, in which the angular momentum is not conserved and the virial ratio
    /// of the pairs is not ½ in equilibrium.
    fn in_field(&self) -> bool {
        ["external_potential_energy", "tidal_potential_energy"].iter().any(|name| self.table.column(name).is_some())
    }

    fn angular_momentum(&self) -> Option<Panel> {
        let lines = [("", "angular_momentum_error", false)];
        let title = if self.in_field() { "Change of angular momentum" } else { "Angular momentum error" };
        self.panel(title, Axis::log("|ΔL|/|L₀|"), &lines, f64::abs)
    }

    fn virial_ratio(&self) -> Option<Panel> {
        let lines = [("", "virial_ratio", true)];
        let mut panel = self.panel("Virial ratio", Axis::linear("T/|U|"), &lines, |q| q)?;
        if self.in_field() {
            return Some(panel);
        }
        let times = self.table.numbers("time")?;
        let equilibrium = [times.first(), times.last()].into_iter().flatten().map(|t| (t, 0.5)).collect();
        panel.series.push(Series::new("equilibrium", Mark::Dashed, equilibrium));
        Some(panel)
    }

    fn steps(&self) -> Option<Panel> {
        let lines = [("longest", "step_max", true), ("mean", "step_mean", true), ("shortest", "step_min", true)];
        self.panel("Time steps", Axis::log(self.label("time step", "step_min")?), &lines, |step| step)
    }

    fn blocks(&self) -> Option<Panel> {
        let lines = [("", "mean_block_size", false)];
        self.panel("Blocks", Axis::log("mean number of particles in a block"), &lines, |n| n)
    }

    /// Draws the numbers of particles by time step in the last row.
    fn levels(&self) -> Option<Panel> {
        let longest = self.table.numbers("step_max")?.last()?;
        let last = |level| self.table.numbers(&format!("steps_level_{level:02}"))?.last();
        let counts: Vec<f64> = (0..LEVELS).map_while(last).collect();
        // The longest step in use is that of the first level in use.
        let first = counts.iter().position(|n| *n > 0.0)?;
        let used = counts.iter().enumerate().filter(|(_, n)| **n > 0.0);
        let step = |level: usize| longest * 2f64.powi(first as i32 - level as i32);
        let points: Vec<(f64, f64)> = used.map(|(level, n)| (step(level), *n)).collect();
        let mut x = Axis::log(self.label("time step", "step_max")?);
        // Room for the outer bars.
        x.range = Some((points.last()?.0 / 2.0, points.first()?.0 * 2.0));
        let mut panel = Panel::new("Time steps in the last row", x, Axis::linear("particles"));
        panel.series.push(Series::new("", Mark::Bars, points));
        Some(panel)
    }

    /// Errors of the forces against f64; none of a run that uses that, or has the same bits.
    fn audit(&self) -> Option<Panel> {
        if self.table.numbers("audit_sample")?.iter().all(|n| n == 0.0) {
            return None;
        }
        let lines = [
            ("acceleration, largest", "audit_acceleration_max", true),
            ("acceleration, rms", "audit_acceleration_rms", true),
            ("jerk, rms", "audit_jerk_rms", true),
            ("potential, rms", "audit_potential_rms", true),
        ];
        let is_zero = |name: &str| self.table.numbers(name).is_none_or(|errors| errors.iter().all(|e| e == 0.0));
        if lines.iter().all(|(_, name, _)| is_zero(name)) {
            return None;
        }
        self.panel("Force error against f64", Axis::log("relative error"), &lines, |e| e)
    }
}
