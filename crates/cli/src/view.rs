//! `tisane view`, and the view of a run in progress.

use super::screen::print;
use super::stop;
use clap::Args;
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::machine;
use tisane_run::ensemble::is_ensemble;
use tisane_view::{Port, View};

#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Output directory of a run, in progress or not.
    dir: PathBuf,
    /// Port of 127.0.0.1 to serve the page at [default: any free one].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub fn view(args: &ViewArgs) -> Result<u8> {
    if is_ensemble(&args.dir) {
        let dir = args.dir.display();
        let help = format!("its members: tisane inspect {dir}; drawn: tisane plot {dir}");
        return Err(Error::input(&args.dir, "this is an ensemble, and the view shows one run").with_help(help));
    }
    let mut signals = Signals::new(stop::heeded())
        .map_err(|e| Error::input(&args.dir, format!("cannot listen to signals, which end the view: {e}")))?;
    let view = View::start(&args.dir, Port::open(args.port)?)?;
    print(&format!("{}  end it with   Ctrl-C\n", describe(&view, &args.dir)))?;
    signals.forever().next();
    Ok(0)
}

/// Describes where to find a view, from this machine and from another one.
pub fn describe(view: &View, dir: &Path) -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "USER".into());
    let host = machine::host();
    let (dir, address, port) = (dir.display(), view.address(), view.port());
    format!(
        "live view of {dir}\n  open          {address}\n  from afar     \
         ssh -N -L {port}:127.0.0.1:{port} {user}@{host}, and open the same address there\n"
    )
}
