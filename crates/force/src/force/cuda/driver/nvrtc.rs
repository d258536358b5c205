//! Kernels from source: compiled by NVRTC for the device in use, of a [law](crate::force::cuda::forces::law) and for development
//! (`TISANE_KERNELS=FILE.cu`). The library is loaded at run time, and only then.

use crate::error::{Error, Result};
use cudarc::nvrtc::result::{self, NvrtcError};
use cudarc::nvrtc::sys;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Environment variable with additional options for the compiler, separated by spaces.
const VARIABLE: &str = "TISANE_NVRTC";
/// Options of scripts/gpu/kernels, and two more: without the first NVRTC, unlike nvcc, compiles a lambda in a kernel as a
/// function of the host; the second lets all cores compile, by which the kernels of a law take a third less.
const FLAGS: [&str; 6] = [
    "-std=c++17",
    "--fmad=false",
    "--ftz=true",
    "-diag-suppress=128,177",
    "--device-as-default-execution-space",
    "--split-compile=0",
];

/// Sources compiled by this process, with their options and machine code: engines load their kernels one by one, and
/// compiling takes seconds.
static COMPILED: Mutex<Vec<(Job, Arc<Vec<u8>>)>> = Mutex::new(Vec::new());

/// Names and texts of files.
pub type Sources = &'static [(&'static str, &'static str)];

/// Source text and options of a compilation.
#[derive(PartialEq)]
struct Job {
    source: CString,
    /// Files that it may include, besides those of the folders in the options.
    files: Sources,
    options: Vec<String>,
}

/// Compiles a source file and returns the machine code; the file's folder is on the include path.
///
/// # Errors
/// [`Error::Input`] if there is no NVRTC, or with its messages about the source.
pub fn compile(path: &Path, capability: (i32, i32)) -> Result<Arc<Vec<u8>>> {
    let source = std::fs::read(path).map_err(|e| Error::input(path, e))?;
    let source = CString::new(source).map_err(|e| Error::input(path, e))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let options = options(capability, Some(format!("--include-path={}", folder.display())));
    compile_once(path, Job { source, files: &[], options })
}

/// Compiles a source text that includes some of these files, and returns the machine code. `name` stands for it in messages.
///
/// # Errors
/// As [`compile`].
pub fn compile_sources(name: &str, source: &str, files: Sources, capability: (i32, i32)) -> Result<Arc<Vec<u8>>> {
    let name = Path::new(name);
    let source = CString::new(source).map_err(|e| Error::input(name, e))?;
    compile_once(name, Job { source, files, options: options(capability, None) })
}

/// Returns the options for a compute capability, with one more before those of the environment.
fn options((major, minor): (i32, i32), one: Option<String>) -> Vec<String> {
    let more = std::env::var(VARIABLE).unwrap_or_default();
    let mut options: Vec<String> = FLAGS.map(String::from).into();
    options.extend(one);
    options.push(format!("--gpu-architecture=sm_{major}{minor}"));
    // Of two options that disagree the last one counts.
    options.extend(more.split_whitespace().map(String::from));
    options
}

/// Compiles, unless this process has done so. `path` stands for the source in messages.
fn compile_once(path: &Path, job: Job) -> Result<Arc<Vec<u8>>> {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, code)) = compiled.iter().find(|(done, _)| *done == job) {
        return Ok(Arc::clone(code));
    }
    let code = Arc::new(machine_code(path, &job)?);
    compiled.push((job, Arc::clone(&code)));
    Ok(code)
}

fn machine_code(path: &Path, Job { source, files, options }: &Job) -> Result<Vec<u8>> {
    // SAFETY: only tries to open the library, whose initialisers do nothing harmful.
    if !unsafe { sys::is_culib_present() } {
        let problem = "this is source code for a GPU, and this machine has no NVRTC to compile it (no libnvrtc)";
        let instead = if files.is_empty() {
            "give a file compiled by scripts/gpu/kernels"
        } else {
            r#"take force.engine = "cpu""#
        };
        let help = format!(
            "{instead}, or set LD_LIBRARY_PATH to the folder of libnvrtc (of CUDA, or of the package nvidia-cuda-nvrtc)"
        );
        return Err(Error::input(path, problem).with_help(help));
    }
    let failed = |e: NvrtcError| Error::input(path, format!("NVRTC failed: {:?}", e.0));
    let program = Program::new(source, files).map_err(failed)?;
    // SAFETY: a program that was just created.
    if let Err(e) = unsafe { result::compile_program(program.0, options) } {
        // SAFETY: likewise.
        let log = unsafe { result::get_program_log(program.0) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|c: c_char| c.cast_unsigned()).take_while(|c| *c != 0).collect();
        let problem = format!("NVRTC failed: {:?} with {}", e.0, options.join(" "));
        return Err(Error::input(path, problem).with_help(String::from_utf8_lossy(&log).trim()));
    }
    let mut bytes = 0;
    // SAFETY: writes one number about a compiled program.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &raw mut bytes) }.result().map_err(failed)?;
    let mut code = vec![0u8; bytes];
    // SAFETY: writes the number of bytes that it just returned, for which there is space.
    unsafe { sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()) }.result().map_err(failed)?;
    Ok(code)
}

struct Program(sys::nvrtcProgram);

impl Program {
    /// Creates a program that may include these files.
    fn new(source: &CStr, files: Sources) -> Result<Self, NvrtcError> {
        let text = |text: &str| CString::new(text).unwrap_or_default();
        let (names, texts): (Vec<_>, Vec<_>) = files.iter().map(|file| (text(file.0), text(file.1))).unzip();
        let addresses = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (names_at, texts_at) = (addresses(&names), addresses(&texts));
        let mut program = std::ptr::null_mut();
        // SAFETY: as many names and texts as it says, which end with NUL and are copied.
        unsafe {
            sys::nvrtcCreateProgram(
                &raw mut program,
                source.as_ptr(),
                c"kernels.cu".as_ptr(),
                files.len() as c_int,
                texts_at.as_ptr(),
                names_at.as_ptr(),
            )
        }
        .result()?;
        Ok(Self(program))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. An error could only say that it never was.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(path: &Path) -> Option<Result<Arc<Vec<u8>>>> {
        match compile(path, (9, 0)) {
            Err(e) if e.to_string().contains("no NVRTC") => {
                println!("skipped: {e}");
                None
            }
            result => Some(result),
        }
    }

    /// When modules are loaded this is `TISANE_KERNELS=kernels/tisane.cu`.
    #[test]
    fn nvrtc_compiles_the_kernels() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/tisane.cu");
        let Some(code) = compiled(&path) else { return };
        let code = code.unwrap();
        let holds = |name: &[u8]| code.windows(name.len()).any(|text| text == name);
        assert!(code.starts_with(b"\x7fELF"));
        assert!(holds(b"force_whole_mixed_1") && holds(b"force_tiles_f64_1") && holds(b"reduce_double_float"));
        assert!(holds(b"steps_mixed") && holds(b"systems_f32_kahan") && holds(b"few_bodies_f64"));
        // The second time it is there.
        assert!(Arc::ptr_eq(&code, &compile(&path, (9, 0)).unwrap()));
    }

    #[test]
    fn nvrtc_says_what_is_wrong_with_a_source() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wrong.cu");
        std::fs::write(&path, "#include \"lost.cuh\"\n").unwrap();
        let Some(result) = compiled(&path) else { return };
        let Err(Error::Input { problem, help: Some(help), .. }) = result else { panic!("no error with a log") };
        assert!(problem.starts_with("NVRTC failed") && !problem.contains('\n'), "{problem}");
        assert!(help.contains("lost.cuh"), "{help}");
    }
}
