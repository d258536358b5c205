//! Server of a view: a thread that accepts connections on the loopback interface, and a thread for each connection.

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

/// Maximum number of connections that are not authorized yet. Any user of this machine can open connections and send
/// nothing; at the maximum the oldest one is closed for a new one.
const MAX_PENDING: usize = 64;
/// Maximum number of requests answered at a time. A browser opens six connections to a server, and some more in
/// advance.
const MAX_ACTIVE: usize = 32;
/// Pause after a failure to accept a connection, for example with too many open files.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Live view of the directory of a run, served until it is dropped.
#[derive(Debug)]
pub struct View {
    shared: Arc<Shared>,
    at: SocketAddr,
}

/// State shared by the threads of the server.
#[derive(Debug)]
struct Shared {
    api: Api,
    guard: TokenGuard,
    pending: Mutex<VecDeque<Arc<TcpStream>>>,
    active: AtomicUsize,
    ended: AtomicBool,
}

/// Bound port of 127.0.0.1. It is bound before the directory of a run is created, so that a failure leaves nothing
/// behind.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    at: SocketAddr,
}

impl Port {
    /// Binds a port of 127.0.0.1; any free one for 0.
    ///
    /// # Errors
    /// [`Error::Input`] if the port cannot be bound.
    pub fn open(port: u16) -> Result<Self> {
        let place = format!("127.0.0.1:{port}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
            Error::input(&place, format!("cannot serve the view at this address: {e}"))
                .with_help("give another port, or 0 for any free one")
        })?;
        let at = listener.local_addr().map_err(|e| Error::input(&place, e))?;
        Ok(Self { listener, at })
    }
}

impl View {
    /// Serves the directory of a run at a port. The directory must have a configuration; other files may be missing.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not the directory of a run, or if there are no random numbers or no thread for the
    /// server.
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

    /// Returns the address to open in a browser, with the token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}{}", self.at, self.shared.guard.address())
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.at.port()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        // Wakes the accepting thread, which then releases the port.
        let _ = TcpStream::connect(self.at);
    }
}

/// Accepts connections until the view is dropped.
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
        // Without a thread the connection is closed; the page retries.
        let _ = thread::Builder::new().name("view".into()).spawn(move || pending.serve());
    }
}

/// Connection that is not authorized yet. It is listed until it is dropped, also by a panic.
struct PendingConnection {
    shared: Arc<Shared>,
    stream: Arc<TcpStream>,
}

impl PendingConnection {
    /// Adds a connection to the list and closes the oldest one if there are too many.
    fn register(shared: &Arc<Shared>, stream: TcpStream) -> Self {
        let stream = Arc::new(stream);
        let mut pending = shared.pending();
        pending.push_back(Arc::clone(&stream));
        if pending.len() > MAX_PENDING
            && let Some(oldest) = pending.pop_front()
        {
            // Its thread sees the end of the connection. Fails if the connection is closed already.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        drop(pending);
        Self { shared: Arc::clone(shared), stream }
    }

    /// Reads the request and answers it.
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
        // The client may have closed the connection.
        let _ = response.send(&stream);
    }
}

impl Drop for PendingConnection {
    fn drop(&mut self) {
        self.shared.pending().retain(|other| !Arc::ptr_eq(other, &self.stream));
    }
}

/// Authorized request, counted until it is dropped, also by a panic.
struct ActiveRequest<'a> {
    shared: &'a Shared,
    number: usize,
}

impl<'a> ActiveRequest<'a> {
    /// Counts a request.
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
    /// Locks the list of connections that are not authorized yet.
    fn pending(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers an authorized request.
    fn answer(&self, stream: &TcpStream, request: &Request, (entry, place): (Credential, &str)) {
        let active = ActiveRequest::new(self);
        if active.number > MAX_ACTIVE {
            // The page retries.
            return;
        }
        let mut response = match request.method.as_str() {
            "GET" => self.api.answer(place, request),
            _ => Response::empty(405),
        };
        response.cookie = (entry == Credential::Token && response.status != 405).then(|| self.guard.cookie());
        // The client may have closed the connection.
        let _ = response.send(stream);
    }
}
