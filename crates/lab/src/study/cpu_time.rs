//! CPU time of threads: what work would take on a machine that has nothing else to do.

use std::time::Instant;

/// Ticks in a second of the times in `/proc`, on every Linux.
const TICKS: f64 = 100.0;
/// Shortest wall time, in s, of which CPU time tells anything.
const SHORTEST: f64 = 0.1;

/// Wall and CPU time from a moment on.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    began: Instant,
    /// CPU time of this thread and of all threads at that moment.
    cpu: Option<[f64; 2]>,
}

/// Time that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passed {
    /// Wall time in s.
    pub wall: f64,
    /// Wall time in s without the time in which the threads waited for a core.
    pub undisturbed: f64,
}

impl Passed {
    /// Returns the sum of two times.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, undisturbed: self.undisturbed + other.undisturbed }
    }
}

impl Watch {
    /// Begins now, in the thread that does the work or shares it out.
    #[must_use]
    pub fn start() -> Self {
        Self { cpu: cpu_times(), began: Instant::now() }
    }

    /// Returns the wall time in s.
    #[must_use]
    pub fn wall(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Returns the time that has passed, of work by `threads`: this thread takes part in all of it, and no thread does more than the
    /// wall time. Where the system does not tell CPU times, nothing has disturbed the work.
    #[must_use]
    pub fn passed(&self, threads: usize) -> Passed {
        let wall = self.wall();
        let cpu = if wall < SHORTEST { None } else { self.cpu.zip(cpu_times()) };
        let undisturbed = cpu.map_or(wall, |([own, all], [own_now, all_now])| {
            (own_now - own).max((all_now - all) / threads.max(1) as f64).clamp(0.0, wall)
        });
        Passed { wall, undisturbed }
    }
}

/// Returns the CPU times of this thread and of all threads of the process, in s.
fn cpu_times() -> Option<[f64; 2]> {
    let read = |path: &str| seconds(&std::fs::read_to_string(path).ok()?);
    Some([read("/proc/thread-self/stat")?, read("/proc/self/stat")?])
}

/// Returns the time in user and system mode that a line of `/proc/…/stat` tells, in s.
fn seconds(stat: &str) -> Option<f64> {
    // The name of the program, in brackets, may hold blanks.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

/// Describes how busy the machine is: `load 14 on 2 cores`; [`None`] where the system does not tell.
#[must_use]
pub fn load() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    let cores = std::thread::available_parallelism().ok()?.get();
    let digits = usize::from(load < 9.95);
    Some(format!("load {load:.digits$} on {cores} core{}", if cores == 1 { "" } else { "s" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_line() {
        let line = "29513 (a name) of ) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1";
        assert_eq!(seconds(line), Some(3.0));
        assert_eq!(seconds("no brackets"), None);
        assert_eq!(seconds("1 (short) S 1 2"), None);
    }

    #[test]
    fn waiting_takes_no_cpu_time() {
        let watch = Watch::start();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let Passed { wall, undisturbed } = watch.passed(1000);
        assert!(wall >= 0.3 && undisturbed <= wall, "{wall} {undisturbed}");
    }
}
