//! The worker that AMUSE starts: `tisane_worker PORT HOST false`. It connects to that port and answers calls.

use std::io::Write;
use std::net::TcpStream;
use std::process::ExitCode;
use tisane_amuse::{functions, serve};

const USAGE: &str = "tisane_worker: the worker of amuse-tisane, which AMUSE starts

usage:
  tisane_worker PORT HOST [true|false]   connects to AMUSE there; the last argument says whether MPI started it
  tisane_worker --functions              prints the functions: id, name, types of inputs, types of outputs
  tisane_worker --version                prints the version
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let text = match arguments.as_slice() {
        ["--functions"] => functions::functions().map(|function| function.line() + "\n").collect(),
        ["--version"] => format!("tisane_worker {}\n", env!("CARGO_PKG_VERSION")),
        ["--help" | "-h"] => USAGE.to_owned(),
        [port, host] | [port, host, "true" | "false"] => return work(port, host),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(port: &str, host: &str) -> ExitCode {
    let Ok(number) = port.parse::<u16>() else {
        eprintln!("tisane_worker: {port} is no port");
        return ExitCode::from(2);
    };
    let served = TcpStream::connect((host, number)).and_then(|mut connection| {
        connection.set_nodelay(true)?;
        serve::serve(&mut connection)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tisane_worker: {host}:{port}: {error}");
            ExitCode::FAILURE
        }
    }
}
