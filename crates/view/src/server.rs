//! Server of a view: a thread with a runtime of tokio that accepts connections on the loopback interface, and threads
//! that read files for the responses.

use super::api::Api;
use super::auth::{Credential, TokenGuard};
use super::http::{self, Answer, Parts};
use hyper::header::{HeaderValue, SET_COOKIE};
use hyper::{Method, StatusCode};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use tisane::error::{Error, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::AbortHandle;

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
    /// Ends the server when it is dropped.
    _running: oneshot::Sender<()>,
}

/// State shared by the connections.
#[derive(Debug)]
struct Shared {
    api: Api,
    guard: TokenGuard,
    /// Connections that are not authorized yet, the oldest first.
    pending: Mutex<VecDeque<AbortHandle>>,
    active: Arc<Semaphore>,
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
            active: Arc::new(Semaphore::new(MAX_ACTIVE)),
        });
        let failed = |e| Error::input(dir, format!("cannot start the view: {e}"));
        let (runtime, listener) = prepare(listener).map_err(failed)?;
        let (running, ended) = oneshot::channel();
        let of_thread = Arc::clone(&shared);
        let serve = move || {
            runtime.spawn(accept(listener, of_thread));
            // An error says that the view was dropped. The runtime then closes the port and the connections.
            let _ = runtime.block_on(ended);
        };
        thread::Builder::new().name("view".into()).spawn(serve).map_err(failed)?;
        Ok(Self { shared, at, _running: running })
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

/// Creates the runtime of the server, and the listener in it.
fn prepare(listener: TcpListener) -> std::io::Result<(Runtime, tokio::net::TcpListener)> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().thread_name("view").max_blocking_threads(MAX_ACTIVE).build()?;
    listener.set_nonblocking(true)?;
    let inside = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(inside);
    Ok((runtime, listener))
}

/// Accepts connections, each served by a task. The oldest one that is not authorized makes way if there are too many.
async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(RETRY_PAUSE).await;
            continue;
        };
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let slot = OnceLock::new();
            // The client may have closed the connection.
            let _ = http::serve(stream, |request| of_task.answer(request, &slot)).await;
        });
        let mut pending = shared.pending();
        pending.retain(|task| !task.is_finished());
        pending.push_back(task.abort_handle());
        if pending.len() > MAX_PENDING
            && let Some(oldest) = pending.pop_front()
        {
            oldest.abort();
        }
    }
}

impl Shared {
    /// Locks the list of connections that are not authorized yet.
    fn pending(&self) -> MutexGuard<'_, VecDeque<AbortHandle>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the request of this task's connection, which occupies a slot until it ends.
    async fn answer(self: &Arc<Self>, request: Parts, slot: &OnceLock<OwnedSemaphorePermit>) -> Answer {
        let Some((credential, place)) = self.guard.authorize(&request) else {
            return Ok(http::empty(StatusCode::FORBIDDEN));
        };
        let place = place.to_owned();
        let this = tokio::task::id();
        self.pending().retain(|task| task.id() != this);
        // Without a slot the connection is closed; the page retries.
        let permit = Arc::clone(&self.active).try_acquire_owned()?;
        slot.get_or_init(|| permit);
        if request.method != Method::GET {
            return Ok(http::empty(StatusCode::METHOD_NOT_ALLOWED));
        }
        let shared = Arc::clone(self);
        let mut response = tokio::task::spawn_blocking(move || shared.api.answer(&place, &request)).await?;
        if credential == Credential::Token {
            response.headers_mut().insert(SET_COOKIE, HeaderValue::try_from(self.guard.cookie())?);
        }
        Ok(response)
    }
}
