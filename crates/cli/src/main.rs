//! The program: parses the command line, calls the library, maps the result to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    tisane_cli::main()
}
