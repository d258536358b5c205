//! `tisane advise`: an integrator, a mode and an accuracy for an energy error, a wall time, or what the run is for.

use super::arguments::{ConfigArgs, Verbosity, a_precision};
use super::screen::print;
use super::study::{StudyProgress, describe};
use clap::{Args, ValueEnum};
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::integrator::{IntegratorKind, IntegratorSettings, SchemeInfo};
use tisane::spin_pool::on_threads;
use tisane::units::digits;
use tisane_lab::study::advise::{
    Advice, Budget, Candidate, Goal, Needs, Positions, Promise, RIGHT, Trial, candidates, integrators, positions,
    promises, trials, two_digits_down,
};
use tisane_lab::study::wall_time::describe_seconds;
use tisane_run::assemble;
use tisane_run::binaries::Kind;
use tisane_run::config::{Config, Loaded, Problem, Real, WallTime};

#[derive(Debug, Args)]
pub struct AdviseArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    goal: GoalArgs,
    /// Wall time of all trials together.
    #[arg(long, value_name = "TIME", value_parser = WallTime::parse, default_value = "1min")]
    budget: WallTime,
    /// Modes to try [default: f64 and mixed, on a GPU double-float too].
    #[arg(long, value_name = "MODE", value_parser = a_precision(), value_delimiter = ',')]
    modes: Vec<Precision>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct GoalArgs {
    /// Find the fastest integrator, mode and accuracy with this relative energy error at the end of the run.
    #[arg(long, value_name = "ERROR", value_parser = an_error)]
    energy_error: Option<f64>,
    /// Find the most accurate integrator, mode and accuracy with this wall time of the run.
    #[arg(long, value_name = "TIME", value_parser = WallTime::parse)]
    time: Option<WallTime>,
    /// Find what the run needs for its results: positions of all particles, binaries, or averages over many runs.
    #[arg(long = "for", value_name = "RESULT")]
    purpose: Option<Purpose>,
}

/// Result that a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Purpose {
    /// Positions of all particles, right to 1 % at the end.
    Positions,
    /// Energies of binaries, right to a tenth of kT.
    Binaries,
    /// Averages over many runs of a cluster.
    Averages,
}

/// Energy error up to which averages and binaries show no bias: of 200 pairs of clusters of 16 stars over ten units of time.
const UNBIASED: f64 = 1e-3;
/// Standard deviation of ln r_h of a Plummer sphere of N stars, times √N: that of the number within r_h, over d ln M / d ln r there.
const SCATTER: f64 = 0.9;

fn an_error(text: &str) -> Result<f64, String> {
    match Real::parse(text)?.get() {
        error if error > 0.0 => Ok(error),
        error => Err(format!("expected a number above 0, found {error}")),
    }
}

pub fn advice(args: AdviseArgs, verbosity: Verbosity) -> Result<u8> {
    let read = |sets: &[String]| Config::from_file(&args.config.file, sets);
    let written = read(&args.config.sets)?;
    // Trials by any scheme have the subsystems that a cluster gets by default.
    let threads = written.config.force.threads as usize;
    let defaults = on_threads(threads, || assemble::defaults_of_cluster(&written))?;
    let mut sets = [&args.config.sets[..], &defaults].concat();
    // Weakly disturbed subsystems followed in the mean have no positions.
    if args.goal.purpose == Some(Purpose::Positions) && !defaults.is_empty() {
        sets.push("encounters.perturbation=0".into());
    }
    let loaded = read(&sets)?;
    let configured = &loaded.config.integrator;
    if integrators(configured, Needs::default()).is_empty() {
        let SchemeInfo { title, order, dt_max_key: dt, .. } = configured.info();
        let (section, by) = (IntegratorKind::default().info().section, configured.info().accuracy_key);
        let (problem, help) = if configured.scheme().shared_step().is_some() {
            (
                format!("advice is about the accuracy of block steps, and {title} has one step {dt} for all"),
                format!(
                    "take [{section}]; or run it with two values of {dt}: the error of the energy goes as {dt}^{order}, \
                     the time as 1/{dt}"
                ),
            )
        } else {
            (
                format!("advice is about the accuracy of block steps, and {title} has steps by the motion for all"),
                format!("take [{section}]; or run it with two values of {by}, and see how far the two agree"),
            )
        };
        return Err(Error::input(&args.config.file, problem).with_help(help));
    }
    let System { warnings, needs, cluster } = look_at(&loaded)?;
    let progress = StudyProgress::new(verbosity);
    let budget = Budget { file: &args.config.file, sets: &sets, configured, time: args.budget.get() };
    let goal = match (args.goal.energy_error, args.goal.time, args.goal.purpose) {
        (Some(error), ..) => Goal::Error(error),
        (_, Some(time), _) => Goal::Time(time.get().as_secs_f64()),
        (.., Some(Purpose::Positions)) => {
            if args.modes.iter().any(|mode| !mode.in_f64()) {
                let problem = "positions are followed with forces in f64; expected --modes f64, or none";
                return Err(Error::input("--modes", problem));
            }
            let encounters = encounters_lines(&written, &loaded);
            return for_positions(budget, &loaded, [warnings, encounters], &progress);
        }
        (.., Some(of)) => Goal::Error(energy_error_for(of, cluster, &args)?),
        (None, None, None) => {
            return Err(Error::input("tisane advise", "give --energy-error, --time or --for"));
        }
    };
    let modes = candidates(loaded.config.force.engine, &args.modes, needs);
    let trials = trials(budget, needs, &modes, goal, &progress)?;
    let columns = ["engine", "mode", "integrator", "nu", "eta", "part", "seconds", "error", "least", "most", "result"];
    let mut text = describe(&trials.table(), &columns) + &warnings;
    for (problem, help) in trials.failures() {
        text += &format!("{problem}.\n  help: {help}\n\n");
    }
    let results = trials.results();
    let promises = promises(&results);
    let advice = trials.advice(goal);
    text += &advice
        .as_ref()
        .map_or_else(|| out_of_reach(&promises, goal), |advice| recommended(advice, configured, &results));
    if advice.is_some() {
        text += &encounters_lines(&written, &loaded);
    }
    if let (Some(purpose), Some(bodies)) = (args.goal.purpose, cluster) {
        text += &describe_purpose(purpose, bodies);
    }
    print(&text)?;
    Ok(if advice.is_some() { 0 } else { OUT_OF_REACH })
}

/// Returns the section that a cluster got by default, to paste; nothing where it is written.
fn encounters_lines(written: &Loaded, loaded: &Loaded) -> String {
    let (None, Some(of_cluster)) = (&written.config.encounters, &loaded.config.encounters) else {
        return String::new();
    };
    let perturbation = match of_cluster.perturbation.get() {
        0.0 => "0".to_owned(),
        it => format!("{it:e}"),
    };
    format!("\n[encounters]\nperturbation = {perturbation}\n")
}

/// Returns the warnings of close pairs that `tisane check` gives, a line each: no accuracy mends a softening that tears
/// binaries apart, or a shortest step that is too long for them. Returns beside them what the run needs and has.
fn look_at(loaded: &Loaded) -> Result<System> {
    on_threads(loaded.config.force.threads as usize, || {
        let setup = assemble::prepare(loaded.clone())?;
        if setup.law.as_ref().is_some_and(|law| !law.has_potential()) {
            let problem = "advice is about the energy error, and without a potential there is no energy";
            let help =
                "compare runs with two accuracies: the differences of positions are the errors of the coarser one";
            return Err(loaded.explain(Problem::new("force.law", problem).with_help(help)));
        }
        let binaries = setup.binaries()?;
        let mut warnings = binaries.warnings();
        if setup.config.stellar_evolution.is_some() {
            let text =
                "stars keep their masses in the trials: errors and wall times are those without [stellar_evolution]";
            warnings.push(text.into());
        }
        let warnings = warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
        let cluster = (binaries.kind == Kind::Cluster).then_some(setup.particles.len());
        Ok(System { warnings, needs: Needs { law: setup.law.is_some() }, cluster })
    })
}

/// What advice knows of a system before its trials.
struct System {
    /// Warnings of its close pairs, a line each.
    warnings: String,
    /// What its integrators need.
    needs: Needs,
    /// Number of stars, if it is a cluster.
    cluster: Option<usize>,
}

/// Returns the energy error that a result of a cluster allows.
fn energy_error_for(purpose: Purpose, cluster: Option<usize>, args: &AdviseArgs) -> Result<f64> {
    let Some(stars) = cluster else {
        let problem = "this is no cluster: --for binaries and --for averages are about the stars of clusters";
        let help = "give --for positions, or the --energy-error that you need";
        return Err(Error::input(&args.config.file, problem).with_help(help));
    };
    Ok(match purpose {
        Purpose::Binaries => tenth_of_kt(stars),
        Purpose::Positions | Purpose::Averages => UNBIASED,
    })
}

/// Returns the energy error that is a tenth of kT, as |E| is 3/2 N kT in virial equilibrium, but no more than averages allow.
fn tenth_of_kt(stars: usize) -> f64 {
    UNBIASED.min(two_digits_down(1.0 / (15.0 * stars as f64)))
}

/// Says what the energy error of an advice was chosen by, and what else the result needs.
fn describe_purpose(purpose: Purpose, stars: usize) -> String {
    let n = stars as f64;
    match purpose {
        Purpose::Positions => String::new(),
        Purpose::Binaries => format!(
            "\nfor binaries: an energy error of {:e} at most, so that errors change no binary by more than a tenth of kT (1/(15 N) of \
             the energy of a cluster in equilibrium).\n",
            tenth_of_kt(stars)
        ),
        Purpose::Averages => {
            let (scatter, runs) = (SCATTER / n.sqrt(), (SCATTER * SCATTER / (n * 1e-4)).ceil());
            let means = if runs > 1.0 {
                format!(
                    "so that its mean over {runs:.0} runs is known to 1 %, and the difference of two such sets to 1.4 %"
                )
            } else {
                "so that one run tells it to 1 %".into()
            };
            format!(
                "\nfor averages: an energy error of {UNBIASED:e} at most: 200 spheres of 16 stars with epsilon = 1/256 \
                 showed no bias of their radii at t = 10, to within 2 %; nothing else was measured. The number of runs counts: ln r_h of a run \
                 scatters by about {scatter:.2}, {means}.\n"
            )
        }
    }
}

/// Advises how to follow the positions of all particles, with the section on encounters that is to be pasted.
fn for_positions(
    budget: Budget<'_>,
    loaded: &Loaded,
    [warnings, encounters]: [String; 2],
    progress: &StudyProgress,
) -> Result<u8> {
    let unit = loaded.config.units().time.name.clone();
    let found = positions(budget, progress)?;
    let columns = ["integrator", "eta", "error", "right_to", "seconds"];
    let mut text = describe(&found.table(&unit), &columns) + &warnings;
    if let Some(of_file) = loaded.config.encounters.as_ref().map(|it| it.perturbation.get()).filter(|it| *it > 0.0) {
        text += &format!(
            "warning: encounters.perturbation = {of_file:e} follows weakly disturbed subsystems in the mean: for positions of all \
             stars set it to 0, and ask again\n"
        );
    }
    for (problem, help) in &found.left_out {
        text += &format!("{problem}.\n  help: {help}\n\n");
    }
    let Positions { folding_time, followed, limit, span, compared_at, .. } = found;
    let [folding, followed, until, compared_at, whole] = [folding_time, followed, limit, compared_at, span].map(digits);
    text += &format!(
        "\nerrors grow by a factor of e in {folding} {unit} (followed to {followed}, beyond as at its end; runs compared at {compared_at}).\n\
         rounding in f64 leaves positions right to {:.0} % for {until} {unit}, by this growth.\n\n",
        100.0 * RIGHT
    );
    let advice = found.advice();
    text += &match (advice, found.longest()) {
        (Some(it), _) => format!(
            "recommended: positions right to {:.0} % at the end, wall time {}\n\n{}\n[force]\nprecision = \"f64\"\n{encounters}",
            100.0 * RIGHT,
            describe_seconds(it.seconds),
            it.integrator.lines(budget.configured, it.accuracy)
        ),
        (None, longest) => {
            let longest = longest.map_or_else(String::new, |it| {
                let (name, right) = (it.integrator.name(), digits(it.right_to));
                format!("; {name}, eta = {} is for {right} {unit}, in {}", it.accuracy, describe_seconds(it.seconds))
            });
            let (finest, eta) = found.finest;
            let (no_run, finest) = if limit >= span {
                let seconds = describe_seconds(found.finest_seconds);
                let finest = format!(
                    "  {}, eta = {eta}, with which they were compared, may be, in {seconds}: it was compared with nothing.\n",
                    finest.name()
                );
                ("no run that was compared", finest)
            } else {
                ("no run in f64", String::new())
            };
            format!(
                "out of reach: {no_run} is right for {whole} {unit}{longest}.\n{finest}  More digits of few particles: \
                 [integrator.extrapolated]. Averages over runs do not need them: --for averages.\n"
            )
        }
    };
    print(&text)?;
    Ok(if advice.is_some() { 0 } else { OUT_OF_REACH })
}

/// Exit code if no mode reaches the goal.
const OUT_OF_REACH: u8 = 7;

/// Describes the error and wall time of an advice, with their uncertainty.
fn describe_advice(it: &Advice) -> String {
    let [error, min, max] = it.error;
    let [likely, shortest, longest] = it.seconds.map(describe_seconds);
    let error = match it.is_measured() {
        true => format!("{error:.1e} (measured)"),
        false => format!("{error:.1e} ({min:.0e} to {max:.0e})"),
    };
    format!("|dE/E| {error}, wall time {likely} ({shortest} to {longest})")
}

/// Says what an advice rests on: a trial of its own, or the laws through the others.
fn describe_source(it: &Advice, trials: &[Trial]) -> String {
    let Candidate { integrator, accuracy, .. } = it.candidate;
    let key = integrator.accuracy_key();
    match it.tried {
        Some(part) if part >= 1.0 => {
            format!("Measured: the trial with {key} = {accuracy} covered the whole run.")
        }
        Some(part) => format!(
            "Scaled to the whole run: the trial with {key} = {accuracy} covered {:.2} % of it. What happens later, as a \
             core collapse, is not in it.",
            100.0 * part
        ),
        None => {
            let same = trials.iter().map(|trial| trial.candidate).filter(|tried| tried.integrator == integrator);
            let (number, min) =
                same.fold((0, f64::INFINITY), |(number, min), tried| (number + 1, tried.accuracy.min(min)));
            let beyond =
                if accuracy < min { format!(", beyond {min}, the least that was tried") } else { String::new() };
            let part = trials.iter().map(|trial| trial.part).fold(0.0, f64::max);
            format!(
                "Predicted by the laws through {number} trials with {}{beyond}, and not tried: the time of the trials is \
                 used up (--budget gives them more). They saw at most {:.2} % of the run.",
                integrator.name(),
                100.0 * part
            )
        }
    }
}

fn recommended(it: &Advice, configured: &IntegratorSettings, trials: &[Trial]) -> String {
    let Candidate { engine, mode, integrator, accuracy } = it.candidate;
    format!(
        "recommended: {}\n{}\n\n{}\n[force]\nengine = \"{}\"\nprecision = \"{}\"\n",
        describe_advice(it),
        describe_source(it, trials),
        integrator.lines(configured, accuracy),
        engine.name(),
        mode.name()
    )
}

fn out_of_reach(promises: &[Promise], goal: Goal) -> String {
    let goal = match goal {
        Goal::Error(error) => format!("an energy error of {error:e}"),
        Goal::Time(seconds) => {
            format!("a wall time of {}", humantime::format_duration(Duration::from_secs_f64(seconds)))
        }
    };
    let range = |it: &Promise| format!("{} from {} to {}", it.integrator.accuracy_key(), it.range.0, it.range.1);
    let mut ranges: Vec<String> = promises.iter().map(range).collect();
    ranges.sort();
    ranges.dedup();
    let within = if ranges.is_empty() { String::new() } else { format!(" with {}", ranges.join(" or ")) };
    let mut text = format!("out of reach: {goal} is not possible{within}.\n");
    for promise in promises {
        let (finest, fastest) = promise.ends();
        for end in [finest, fastest] {
            text += &format!("  {}: {}\n", end.candidate.describe(), describe_advice(&end));
        }
    }
    if promises.is_empty() {
        text += "  too few trials finished: give them more time with --budget\n";
    }
    text
}
