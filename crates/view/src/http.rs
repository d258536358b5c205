//! HTTP/1.1 for a local page, by hyper: one request for each connection, with a head of bounded size and duration, no
//! body, and a response that the client must take.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
pub use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::borrow::Cow;
use std::error::Error;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_io_timeout::TimeoutStream;

/// Maximum length of the head of a request, in bytes.
const HEAD_BYTES: usize = 8192;
/// Maximum number of header lines.
const HEADERS: usize = 64;
/// Maximum time to receive the head. Browsers open connections before they need them.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Timeout of a write of the response.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// Maximum number of bytes read after a response, so that it is not lost with the connection.
const DRAINED: u64 = 1 << 16;
/// Maximum time spent on that.
const DRAIN_TIME: Duration = Duration::from_millis(200);

/// HTTP response.
pub type Response = hyper::Response<Full<Bytes>>;

/// Response to a request, or the reason to close the connection without one.
pub type Answer = Result<Response, Box<dyn Error + Send + Sync>>;

const TEXT: &str = "text/plain; charset=utf-8";

/// Headers of every response: the page loads nothing from and sends nothing to other servers, is not cached, and cannot
/// be embedded.
const SECURITY_HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Creates a response of a media type.
pub fn response(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = [(header::CONTENT_TYPE, kind)].into_iter().chain(SECURITY_HEADERS);
    response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

/// Creates a response without content.
pub fn empty(status: StatusCode) -> Response {
    response(status, TEXT, Bytes::new())
}

/// Creates a response with a message as plain text.
pub fn text(status: StatusCode, text: String) -> Response {
    response(status, TEXT, text)
}

/// Returns the value of `Host`, if it occurs exactly once.
pub fn host(request: &Parts) -> Option<&str> {
    let mut hosts = request.headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    hosts.next().is_none().then_some(host)
}

/// Returns the values of all `Cookie` headers.
pub fn cookies(request: &Parts) -> impl Iterator<Item = Cow<'_, str>> {
    request.headers.get_all(header::COOKIE).iter().map(|value| String::from_utf8_lossy(value.as_bytes()))
}

/// Returns the first parameter of this name in the query, not decoded.
pub fn parameter<'a>(request: &'a Parts, name: &str) -> Option<&'a str> {
    let mut pairs = request.uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Answers the request of a connection and closes it. A malformed request is answered by hyper with 400, and one whose
/// head is too long with 431.
///
/// # Errors
/// The reason why the client did not get the response it asked for.
pub async fn serve<S, F>(stream: S, answer: impl Fn(Parts) -> F) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite,
    F: Future<Output = Answer>,
{
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIME));
    let mut stream = pin!(stream);
    let service = service_fn(|request: Request<Incoming>| answer(request.into_parts().0));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .keep_alive(false)
        // A client may have nothing more to say, and still wait for the response.
        .half_close(true)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(stream.as_mut()), service)
        .await;
    // Closing a connection with unread data resets it, and the response might be lost. The client may be gone already.
    let _ = stream.shutdown().await;
    let mut rest = stream.take(DRAINED);
    let _ = tokio::time::timeout(DRAIN_TIME, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
    served
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Mutex;

    /// Returns what a client receives for the bytes it sends, and the requests that were read.
    fn exchange(bytes: &[u8]) -> (String, Vec<Parts>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let requests = Mutex::new(Vec::new());
        let answer = |request| {
            requests.lock().unwrap().push(request);
            std::future::ready(Ok(text(StatusCode::OK, "read".into())))
        };
        let received = runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(1 << 17);
            client.write_all(bytes).await.unwrap();
            client.shutdown().await.unwrap();
            let _ = serve(server, answer).await;
            let mut received = Vec::new();
            client.read_to_end(&mut received).await.unwrap();
            String::from_utf8(received).unwrap()
        });
        (received, requests.into_inner().unwrap())
    }

    fn request(head: &str) -> Parts {
        exchange(head.as_bytes()).1.pop().unwrap()
    }

    #[test]
    fn a_browsers_request_is_read() {
        let head = "GET /a/?token=f0&x= HTTP/1.1\r\nhost: localhost:80\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n";
        let request = request(head);
        assert_eq!((request.method.as_str(), request.uri.path()), ("GET", "/a/"));
        assert_eq!(parameter(&request, "token"), Some("f0"));
        assert_eq!((parameter(&request, "x"), parameter(&request, "y")), (Some(""), None));
        assert_eq!(host(&request), Some("localhost:80"));
        assert_eq!(cookies(&request).collect::<Vec<_>>(), ["a=b", "c=d"]);
    }

    #[test]
    fn two_hosts_are_none() {
        assert_eq!(host(&request("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n")), None);
    }

    #[test]
    fn a_connection_has_one_request() {
        let one = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let (received, requests) = exchange(one.repeat(3).as_bytes());
        assert_eq!((received.matches("HTTP/1.1 200 OK").count(), requests.len()), (1, 1), "{received}");
        assert!(received.contains("Connection: close\r\n") && received.contains("X-Frame-Options: DENY\r\n"));
    }

    #[test]
    fn a_head_without_end_or_bound_is_refused() {
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS + 1));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(2 * HEAD_BYTES));
        for (bytes, status) in [
            ("GET / HTTP/1.1\r\nHost: a", ""),
            ("\0\u{1}\u{2} / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "),
            (many.as_str(), "HTTP/1.1 431 "),
            (long.as_str(), "HTTP/1.1 431 "),
        ] {
            let (received, requests) = exchange(bytes.as_bytes());
            assert!(received.starts_with(status) && received.is_empty() == status.is_empty(), "{bytes}: {received}");
            assert!(requests.is_empty(), "{bytes}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let (received, requests) = exchange(&bytes);
            prop_assert!(received.is_empty() || received.starts_with("HTTP/1."));
            prop_assert!(requests.len() <= 1);
        }

        #[test]
        fn any_target_is_taken_apart(target in "/[!-~]{0,200}") {
            let (_, requests) = exchange(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes());
            if let [request] = &requests[..] {
                prop_assert!(target.starts_with(request.uri.path()));
                let _ = parameter(request, "a");
            }
        }
    }
}
