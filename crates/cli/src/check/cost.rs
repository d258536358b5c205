//! What a run costs: wall time and time of the cores, memory and disk space.

use super::disk::Disk;
use super::lines::Lines;
use tisane::error::Result;
use tisane::spin_pool::on_threads;
use tisane_io::directory::bytes;
use tisane_lab::bench::model::{forecast, forecast_members};
use tisane_lab::study::forecast::ENDS_EARLY;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Engine;
use tisane_run::ensemble::Blueprint;

/// Bytes of memory without any particles.
const MEMORY_BASE: u64 = 20 << 20;

/// Returns the lines about the costs, and the warning of a run that does not come to its end. Of an ensemble `setup` is member 0.
///
/// # Errors
/// As [`forecast`].
pub(super) fn describe(setup: &Setup, disk: &Disk, blueprint: Option<&Blueprint>) -> Result<(Lines, Option<String>)> {
    let (times, ends_early) = match blueprint {
        None => of_run(setup)?,
        Some(blueprint) => of_members(setup, blueprint)?,
    };
    let others = [("memory", memory(setup, blueprint.is_some())), ("disk", disk.describe())];
    let lines = times.into_iter().chain(others).map(|(name, text)| (name.to_owned(), text));
    Ok((lines.collect(), ends_early))
}

type Times = (Vec<(&'static str, String)>, Option<String>);

/// Returns the line for a wall time that is not known, and the warning of a run that ends early.
fn unknown(why: String) -> Times {
    match why.starts_with(ENDS_EARLY) {
        true => (vec![("wall time", "not known: see the warning below".into())], Some(why)),
        false => (vec![("wall time", why)], None),
    }
}

/// Describes the wall time of a run and, on several cores, the time that they are taken for.
fn of_run(setup: &Setup) -> Result<Times> {
    let wall_time = match forecast(setup)? {
        Ok(wall_time) => wall_time,
        Err(why) => return Ok(unknown(why)),
    };
    let mut lines = vec![("wall time", wall_time.of(1.0) + &wall_time.why)];
    let threads = rayon::current_num_threads();
    let on_cores = assemble::forecast_engine(&setup.config, setup.particles.len()) != Engine::Cuda;
    if on_cores && threads > 1 {
        lines.push(("CPU time", format!("{} if its {threads} threads are always busy", wall_time.of(threads as f64))));
    }
    Ok((lines, None))
}

/// Describes the wall time of member 0 of an ensemble on a core of its own, and that of all members.
fn of_members(setup: &Setup, blueprint: &Blueprint) -> Result<Times> {
    let (engine, _) = blueprint.engine(None, blueprint.config.force.device);
    let of_all = forecast_members(blueprint, setup)?;
    let wall_time = match on_threads(1, || forecast(setup))? {
        Ok(wall_time) => wall_time,
        Err(why) => return Ok(unknown(why)),
    };
    let mut lines = vec![("time of member 0", wall_time.of(1.0) + &wall_time.why)];
    if let Some(text) = of_all {
        lines.push(("wall time of all", text));
    } else if engine != Engine::Cuda {
        let (members, threads) = (blueprint.members.count() as f64, rayon::current_num_threads());
        let at_once = (threads as f64).min(members);
        let range = wall_time.of(members / at_once);
        lines.push(("wall time of all", format!("{range} on {threads} threads, if all are like member 0")));
        lines.push(("CPU time of all", wall_time.of(members)));
    }
    Ok((lines, None))
}

/// Describes the memory that a run needs: that of the host, and of a GPU that takes steps with lists of neighbours.
fn memory(setup: &Setup, of_member: bool) -> String {
    let (config, n) = (&setup.config, setup.particles.len());
    let [extra, on_device] = config.integrator.scheme().extra_memory(n as u64, config.subsystems().is_some());
    let of_particles = n as u64 * assemble::MEMORY_PER_PARTICLE + extra;
    if of_member {
        return format!("about {}, and {} for each member at work", bytes(MEMORY_BASE), bytes(of_particles));
    }
    let host = bytes(MEMORY_BASE + of_particles);
    match assemble::forecast_engine(config, n) {
        Engine::Cuda if on_device > 0 => {
            format!("about {host}, and {} of the GPU for whole steps on it", bytes(on_device))
        }
        _ => format!("about {host}"),
    }
}
