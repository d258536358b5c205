//! The server: a thread that accepts connections on the loopback interface, and a thread for each of them.

use super::api::Api;
use super::auth::{Credential, TokenGuard};
use super::http::{Request, RequestError, Response};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tisane::error::{Error, Result};

/// Most connections that have not been let in yet. Any user of this machine can open one and say nothing: where there are so
/// many, the oldest makes way for a new one.
const MAX_PENDING: usize = 64;
/// Most requests that are answered at a time. A browser opens six connections to a server, and some ahead of need.
const MAX_ACTIVE: usize = 32;
/// Pause after a failure to accept, as where the process has too many files open.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// A live view of a run's directory, served until it is dropped.
#[derive(Debug)]
pub struct View {
    shared: Arc<Shared>,
    at: SocketAddr,
}

#[derive(Debug)]
struct Shared {
    api: Api,
    guard: TokenGuard,
    pending: Mutex<VecDeque<Arc<TcpStream>>>,
    active: AtomicUsize,
    ended: AtomicBool,
}

/// A port of 127.0.0.1 that is ours. Taken before a run's directory is made: whoever cannot have it has lost nothing.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    at: SocketAddr,
}

impl Port {
    /// Takes a port; any free one if it is 0.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot be had.
    pub fn bind(port: u16) -> Result<Self> {
        let place = format!("127.0.0.1:{port}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
            Error::input(&place, format!("cannot serve the view there: {e}"))
                .with_help("give another port, or 0 for any free one")
        })?;
        let at = listener.local_addr().map_err(|e| Error::input(&place, e))?;
        Ok(Self { listener, at })
    }
}

impl View {
    /// Serves the directory of a run at a port. The run need not have written anything.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such directory.
    pub fn start(dir: &Path, Port { listener, at }: Port) -> Result<Self> {
        let shared = Arc::new(Shared {
            api: Api::new(dir)?,
            guard: TokenGuard::new()
                .map_err(|e| Error::input(dir, format!("no random numbers for the view's token: {e}")))?,
            pending: Mutex::default(),
            active: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("view".into()).spawn(move || accept(&listener, &of_thread));
        thread.map_err(|e| Error::input(dir, format!("cannot start the view: {e}")))?;
        Ok(Self { shared, at })
    }

    /// The address to open, with the token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}{}", self.at, self.shared.guard.address())
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.at.port()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        // Wakes the thread that waits for connections, which then gives the port back.
        let _ = TcpStream::connect(self.at);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.ended.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(RETRY_PAUSE);
            continue;
        };
        let pending = PendingConnection::register(shared, stream);
        // Without a thread the connection is dropped; the page asks again.
        let _ = thread::Builder::new().name("view".into()).spawn(move || pending.serve());
    }
}

/// A connection that has not been let in, in the list of those as long as it lives, also through a panic.
struct PendingConnection {
    shared: Arc<Shared>,
    stream: Arc<TcpStream>,
}

impl PendingConnection {
    fn register(shared: &Arc<Shared>, stream: TcpStream) -> Self {
        let stream = Arc::new(stream);
        let mut pending = shared.pending();
        pending.push_back(Arc::clone(&stream));
        if pending.len() > MAX_PENDING
            && let Some(oldest) = pending.pop_front()
        {
            // Its thread sees the connection end. One that has ended by itself cannot be ended.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        drop(pending);
        Self { shared: Arc::clone(shared), stream }
    }

    fn serve(self) {
        let (shared, stream) = (Arc::clone(&self.shared), Arc::clone(&self.stream));
        let response = match Request::read(&stream) {
            Ok(request) => match shared.guard.authorize(&request) {
                Some((entry, place)) => {
                    drop(self);
                    return shared.answer(&stream, &request, (entry, place));
                }
                None => Response::empty(403),
            },
            Err(RequestError::Malformed) => Response::empty(400),
            Err(RequestError::TooLong) => Response::empty(431),
            Err(RequestError::Disconnected) => return,
        };
        // A reader that has gone is no trouble of ours.
        let _ = response.send(&stream);
    }
}

impl Drop for PendingConnection {
    fn drop(&mut self) {
        self.shared.pending().retain(|other| !Arc::ptr_eq(other, &self.stream));
    }
}

/// A request that was let in, counted as long as it is being answered, also through a panic.
struct ActiveRequest<'a> {
    shared: &'a Shared,
    number: usize,
}

impl<'a> ActiveRequest<'a> {
    fn new(shared: &'a Shared) -> Self {
        Self { shared, number: shared.active.fetch_add(1, Ordering::AcqRel) + 1 }
    }
}

impl Drop for ActiveRequest<'_> {
    fn drop(&mut self) {
        self.shared.active.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request that the guard has let in.
    fn answer(&self, stream: &TcpStream, request: &Request, (entry, place): (Credential, &str)) {
        let active = ActiveRequest::new(self);
        if active.number > MAX_ACTIVE {
            // The page asks again.
            return;
        }
        let mut response = match request.method.as_str() {
            "GET" => self.api.answer(place, request),
            _ => Response::empty(405),
        };
        response.cookie = (entry == Credential::Token && response.status != 405).then(|| self.guard.cookie());
        // A reader that has gone is no trouble of ours.
        let _ = response.send(stream);
    }
}
