//! Promise: the live view shows the content of a run's directory, during the run and afterwards, to clients with its
//! token only, and no request harms it. (`scripts/check/view` drives the page itself in a browser.)

use crate::program::{Folder, PATIENCE, diagnostics, wait_until};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use tisane_io::snapshot;

const CONFIG: &str = "[run]\nname = \"small\"\nt_end = 1.0\n[initial.plummer]\nn = 64\nseed = 7\n[softening]\nepsilon = 0.01\n\
                      [integrator.hermite4]\nnu = 0.02\ndt_max = \"1/8\"\ndt_min = \"2^-26\"\n[output]\ninterval = \"1/4\"\n";
/// Takes minutes: to be looked at while it goes on.
const LONG: &str = "[run]\nname = \"long\"\nt_end = 1000\n[initial.plummer]\nn = 256\nseed = 7\n[softening]\nepsilon = 0.01\n\
                    [integrator.hermite4]\nnu = 0.01\ndt_max = \"1/32\"\ndt_min = \"2^-26\"\n[output]\ninterval = \"1/16\"\n";

/// A view, served by the program.
struct Served {
    child: Child,
    port: u16,
    /// The path of the page, with its slashes.
    place: String,
    token: String,
    cookie: String,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A finished run of [`CONFIG`].
fn finished() -> Folder {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml", "--threads", "1", "--quiet"]).exits(0);
    folder
}

impl Served {
    /// `tisane view` of a run in a folder.
    fn start(folder: &Folder, dir: &str) -> Self {
        Self::started(folder.command(&["view", dir]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Takes the address from what the program says first, on standard output or, of a run, standard error.
    fn started(mut child: Child) -> Self {
        let said: Box<dyn Read + Send> = match child.stdout.take() {
            Some(out) => Box::new(out),
            None => Box::new(child.stderr.take().unwrap()),
        };
        let mut lines = BufReader::new(said).lines().map(|line| line.unwrap());
        let line = lines.find(|line| line.contains("http://")).expect("an address");
        let (_, address) = line.split_once("http://127.0.0.1:").expect("the address is on the loopback interface");
        let (port, rest) = address.trim().split_once('/').unwrap();
        let (id, token) = rest.split_once("/?token=").unwrap();
        let (port, place, token) = (port.parse().unwrap(), format!("/{id}/"), token.to_owned());
        // So that the program never waits for us to read on.
        std::thread::spawn(move || lines.for_each(drop));
        let cookie = format!("tisane={token}");
        Self { child, port, place, token, cookie }
    }

    fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The server may close before all is sent.
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn ask(&self, method: &str, target: &str, headers: &str) -> Answer {
        let answer = self.send(format!("{method} {target} HTTP/1.1\r\n{headers}\r\n").as_bytes());
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("the end of a head");
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer[end + 4..].to_vec();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        Answer { status, head, body }
    }

    /// A request with the cookie, as the page makes them.
    fn get(&self, path: &str) -> Answer {
        let headers = format!("Host: localhost:9\r\nCookie: {}\r\n", self.cookie);
        self.ask("GET", &format!("{}{path}", self.place), &headers)
    }

    fn state(&self) -> Value {
        self.get("api/state").json()
    }

    /// Ends it as Ctrl-C does; returns its exit code.
    fn interrupt(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_token_opens_the_page_and_the_cookie_keeps_it_open() {
    let folder = finished();
    let mut view = Served::start(&folder, "runs/small");
    assert_eq!((view.token.len(), view.place.len()), (32, 10));
    let first = view.ask("GET", &format!("{}?token={}", view.place, view.token), "Host: 127.0.0.1\r\n");
    assert_eq!(first.status, 200);
    let cookie = format!("Set-Cookie: tisane={}; Path={}; HttpOnly; SameSite=Strict\r\n", view.token, view.place);
    assert!(first.head.contains(&cookie), "{}", first.head);
    for guard in [
        "Content-Security-Policy: default-src 'none'; script-src 'self';",
        "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "Content-Type: text/html; charset=utf-8",
    ] {
        assert!(first.head.contains(guard), "{guard} in {}", first.head);
    }
    let again = view.get("");
    assert_eq!((again.status, again.body == first.body), (200, true));
    assert!(!again.head.contains("Set-Cookie"));
    // Everything that the page names is there.
    let page = String::from_utf8(first.body).unwrap();
    let named = page.split("src=\"").chain(page.split("href=\"")).filter_map(|rest| rest.split('"').next());
    let files: Vec<&str> = named.filter(|name| name.contains('.') && !name.contains(['<', '>'])).collect();
    assert_eq!(files.len(), 5, "{files:?}");
    for name in files {
        assert_eq!(view.get(name).status, 200, "{name}");
    }
    assert_eq!(view.interrupt(), Some(0), "Ctrl-C is how a view ends");
}

#[test]
fn the_page_about_the_run_is_that_of_the_verb() {
    let folder = finished();
    let view = Served::start(&folder, "runs/small");
    let page = view.get("api/why").json();
    let printed = folder.tisane(&["why", "runs/small"]).exits(0).out;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed = words(&printed);
    let sentences = page["answer"].as_array().unwrap().iter();
    for text in sentences.chain([&page["title"], &page["sections"][0]["title"]]) {
        assert!(printed.contains(&words(text.as_str().unwrap())), "{text} in\n{printed}");
    }
    let steps = &page["sections"][0]["table"];
    assert_eq!((steps["columns"][0].as_str(), steps["rows"].as_array().unwrap().len()), (Some("to t [T]"), 4));
    assert!(page["answer"][0].as_str().unwrap().starts_with("Finished: t = 1 T"), "{page}");
    fs::remove_dir_all(folder.path("runs/small")).unwrap();
    assert_eq!(view.get("api/why").status, 503);
}

#[test]
fn without_the_token_there_is_nothing() {
    let folder = finished();
    let view = Served::start(&folder, "runs/small");
    let (place, token) = (view.place.clone(), view.token.clone());
    let cookie = format!("Cookie: tisane={token}\r\n");
    let wrong = format!("Cookie: tisane={}\r\n", "0".repeat(32));
    let state = format!("{place}api/state");
    for (target, headers) in [
        (place.clone(), "Host: localhost\r\n".to_owned()),
        (format!("{place}?token={}", &token[..31]), "Host: localhost\r\n".into()),
        (format!("{place}?token={}", "0".repeat(32)), "Host: localhost\r\n".into()),
        (format!("/?token={token}"), "Host: localhost\r\n".into()),
        (state.clone(), format!("Host: localhost\r\n{wrong}")),
        (state.clone(), cookie.clone()),
        (state.clone(), format!("Host: localhost\r\nHost: localhost\r\n{cookie}")),
        (state.clone(), format!("Host: rebound.example:{}\r\n{cookie}", view.port)),
        (state.clone(), format!("Host: 127.0.0.1.example\r\n{cookie}")),
        ("/main.js".into(), format!("Host: localhost\r\n{cookie}")),
        (format!("http://127.0.0.1{place}"), format!("Host: localhost\r\n{cookie}")),
    ] {
        let answer = view.ask("GET", &target, &headers);
        assert_eq!((answer.status, answer.body.len()), (403, 0), "{target} {headers}");
        assert!(!answer.head.contains("Set-Cookie") && !answer.head.contains(&token), "{}", answer.head);
    }
    assert_eq!(view.ask("POST", &state, &format!("Host: localhost\r\n{cookie}")).status, 405);
    assert_eq!(view.ask("POST", &state, "Host: localhost\r\n").status, 403);
}

#[test]
fn no_path_leads_out() {
    let folder = finished();
    let view = Served::start(&folder, "runs/small");
    for path in [
        "config.toml",
        "../config.toml",
        "%2e%2e/config.toml",
        "api/../../config.toml",
        "api/snapshot/../../config.toml",
        "api/why/",
        "api/why/../../config.toml",
        "api/snapshot/99",
        "api/snapshot/",
        "api/snapshot/-1",
        "api/snapshot/0000.hdf5",
        "api/series/../summary",
        "api/series/events",
        "api/series/",
        "api/state?from=-1",
        "api/state?from=x",
        "api/series/diagnostics?from=1e3",
        "api/series/diagnostics?every=-2",
        "api",
        "main.js/",
    ] {
        let answer = view.get(path);
        assert!([400, 404].contains(&answer.status), "{path}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains("hermite4"), "{path}");
    }
    assert_eq!(view.get("api/state?from=18446744073709551615").json()["snapshots"], serde_json::json!([]));
}

#[test]
fn the_view_tells_what_is_in_the_files() {
    let folder = finished();
    let dir = folder.path("runs/small");
    let view = Served::start(&folder, "runs/small");
    let state = view.state();
    assert_eq!(
        (&state["name"], &state["running"], &state["exit_reason"]),
        (&"small".into(), &false.into(), &"finished".into())
    );
    assert_eq!(state["snapshots"], serde_json::json!([[0, 0.0], [1, 0.25], [2, 0.5], [3, 0.75], [4, 1.0]]));
    assert_eq!(
        (&state["run"]["n"], &state["run"]["units"]["henon"], &state["end"]),
        (&64.into(), &true.into(), &1.0.into())
    );
    assert_eq!(state["rows"]["diagnostics"], serde_json::json!([0, 5]));
    assert_eq!(view.get("api/state?from=3").json()["snapshots"], serde_json::json!([[3, 0.75], [4, 1.0]]));

    let data = snapshot::read(&dir.join("snapshots/snapshot_0003.hdf5")).unwrap();
    let frame = view.get("api/snapshot/3").body;
    assert_eq!(frame.len(), 72 + 64 * 36);
    let f64_at = |at: usize| f64::from_le_bytes(frame[at..at + 8].try_into().unwrap());
    let f32_at = |at: usize| f64::from(f32::from_le_bytes(frame[at..at + 4].try_into().unwrap()));
    assert_eq!(f64_at(16), 0.75);
    for i in 0..64 {
        assert_eq!(u64::from_le_bytes(frame[72 + 8 * i..80 + 8 * i].try_into().unwrap()), data.id[i]);
        for k in 0..3 {
            let place = 4 * (3 * i + k);
            assert!((f64_at(24 + 8 * k) + f32_at(72 + 64 * 8 + place) - data.pos[i][k]).abs() < 1e-6);
            assert!((f64_at(48 + 8 * k) + f32_at(72 + 64 * 20 + place) - data.vel[i][k]).abs() < 1e-6);
        }
        assert!((f32_at(72 + 64 * 32 + 4 * i) - data.mass[i]).abs() < 1e-8);
    }
    assert_eq!(view.get("api/snapshot/3?most=10").body.len(), 72 + 10 * 36);

    let rows = view.get("api/series/diagnostics?from=1&columns=time,energy,steps_level_0*,none").json();
    let columns = rows["columns"].as_object().unwrap();
    assert_eq!(columns.len(), 2 + 10);
    let written = diagnostics(&dir);
    for name in ["time", "energy", "steps_level_03"] {
        let expected: Vec<f64> = written[name][1..].iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(columns[name], serde_json::json!(expected), "{name}");
    }
    // Of a long journal a page asks for some rows only.
    let some = view.get("api/series/diagnostics?from=1&every=2&columns=time").json();
    let every_other: Vec<f64> = written["time"].iter().step_by(2).skip(1).map(|text| text.parse().unwrap()).collect();
    assert_eq!(some["columns"]["time"], serde_json::json!(every_other));
    assert_eq!((&some["next"], &some["rows"]), (&rows["rows"], &rows["rows"]));
}

#[test]
fn what_is_damaged_is_told_and_the_rest_shown() {
    let folder = finished();
    let dir = folder.path("runs/small");
    let path = |number: usize| dir.join(format!("snapshots/snapshot_{number:04}.hdf5"));
    let mut bytes = fs::read(path(1)).unwrap();
    fs::write(path(2), &bytes[..bytes.len() / 2]).unwrap();
    // In the hash at the end: the time, which is read without it, stays what it was.
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path(1), &bytes).unwrap();
    fs::write(dir.join("snapshots/snapshot_5.hdf5"), "not a name that a run gives").unwrap();
    let csv = dir.join("diagnostics.csv");
    let text = fs::read_to_string(&csv).unwrap();
    fs::write(&csv, &text[..text.len() - 5]).unwrap();
    let view = Served::start(&folder, "runs/small");
    let state = view.state();
    assert_eq!(state["snapshots"], serde_json::json!([[0, 0.0], [1, 0.25], [2, null], [3, 0.75], [4, 1.0]]));
    assert_eq!(state["rows"]["diagnostics"], serde_json::json!([0, 4]), "a line half written is no row");
    for number in [1, 2] {
        let answer = view.get(&format!("api/snapshot/{number}"));
        let body = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 503);
        assert!(body.contains(&format!("snapshot_000{number}.hdf5")), "{body}");
    }
    assert_eq!(view.get("api/snapshot/3").status, 200);
    // A snapshot done anew under its old name is taken for what it is.
    fs::copy(path(0), path(4)).unwrap();
    let after = view.state();
    assert_eq!((&after["generation"], &after["snapshots"][4][1]), (&1.into(), &0.0.into()));
}

#[test]
fn no_request_harms_the_server() {
    let folder = finished();
    let view = Served::start(&folder, "runs/small");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let whole = format!("GET {}api/state HTTP/1.1\r\nHost: localhost\r\nCookie: {}\r\n\r\n", view.place, view.cookie)
        .into_bytes();
    for round in 0..300 {
        let bytes = match round % 3 {
            // Bytes of any kind, a request cut short, a request with some bytes changed.
            0 => (0..rng.random_range(0..3000)).map(|_| rng.next_u32() as u8).collect(),
            1 => whole[..rng.random_range(0..whole.len())].to_vec(),
            _ => {
                let mut bytes = whole.clone();
                for _ in 0..rng.random_range(1..6) {
                    let at = rng.random_range(0..bytes.len());
                    bytes[at] = rng.next_u32() as u8;
                }
                bytes
            }
        };
        let answer = view.send(&bytes);
        let fine = answer.is_empty() || answer.starts_with(b"HTTP/1.1 ");
        assert!(fine, "{bytes:?}: {answer:?}");
        assert!(!answer.starts_with(b"HTTP/1.1 500"), "{bytes:?}");
    }
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000));
    assert!(view.send(long.as_bytes()).starts_with(b"HTTP/1.1 431 "));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(500));
    assert!(view.send(many.as_bytes()).starts_with(b"HTTP/1.1 431 "));
    assert_eq!(view.state()["name"], "small");
    // More connections than are kept, silent or refused: they make way for one that is let in.
    let mut held = Vec::new();
    for begun in [&b""[..], b"GET ", b"GET / HTTP/1.1\r\n\r\n"].iter().cycle().take(300) {
        let mut stream = TcpStream::connect(("127.0.0.1", view.port)).unwrap();
        stream.write_all(begun).unwrap();
        held.push(stream);
    }
    for _ in 0..3 {
        assert!(view.send(&whole).starts_with(b"HTTP/1.1 200 "));
    }
}

#[test]
fn what_is_no_file_is_told_and_holds_nothing_up() {
    let folder = finished();
    let mut view = Served::start(&folder, "runs/small");
    assert_eq!(view.get("api/snapshot/2").status, 200);
    let pipe = |name: &str| {
        let path = folder.path("runs/small").join(name);
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    for name in ["snapshots/snapshot_0002.hdf5", "snapshots/snapshot_0004.hdf5", "summary.json"] {
        pipe(name);
    }
    for number in [2, 4] {
        let answer = view.get(&format!("api/snapshot/{number}"));
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status == 503 && body.contains("not a regular file"), "{}: {body}", answer.status);
    }
    let state = view.state();
    assert_eq!((&state["snapshots"][4][1], &state["exit_reason"]), (&Value::Null, &Value::Null));
    pipe("diagnostics.csv");
    assert_eq!(view.get("api/series/diagnostics").status, 503);
    assert_eq!(view.get("api/series/cluster").status, 200);
    assert_eq!(view.interrupt(), Some(0));
}

#[test]
fn a_run_under_way_is_shown_as_it_grows() {
    let folder = Folder::new(LONG);
    let mut command = folder.command(&["run", "run.toml", "--threads", "1", "--view"]);
    let mut run = Served::started(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    // From outside it is seen too.
    wait_until("the first snapshot", || folder.path("runs/long/snapshots/snapshot_0000.hdf5").exists());
    let outside = Served::start(&folder, "runs/long");
    let count = |view: &Served| view.state()["snapshots"].as_array().unwrap().len();
    let (mut last, mut grown) = (0, 0);
    wait_until("five more snapshots", || {
        let state = run.state();
        assert_eq!((&state["running"], &state["exit_reason"]), (&true.into(), &Value::Null));
        assert_eq!(state["generation"], 0);
        let now = count(&run);
        assert!(now >= last, "snapshots do not vanish");
        grown += usize::from(now > last);
        last = now;
        if now > 0 {
            assert_eq!(run.get(&format!("api/snapshot/{}", now - 1)).status, 200);
        }
        grown >= 5
    });
    assert!(count(&outside) >= last);
    assert_eq!(outside.state()["running"], true);
    assert_eq!(run.interrupt(), Some(3), "the run stops with a checkpoint");
    let state = outside.state();
    assert_eq!((&state["running"], &state["exit_reason"]), (&false.into(), &"interrupted".into()));
    // The log does not let anybody in.
    let log = fs::read_to_string(folder.path("runs/long/run.log")).unwrap();
    assert!(!log.contains(&run.token) && !log.contains(&outside.token));
}

#[test]
fn what_is_no_run_is_told() {
    let folder = finished();
    fs::create_dir(folder.path("empty")).unwrap();
    folder.tisane(&["view", "nowhere"]).exits(2).says(&["nowhere", "there is no such run"]);
    folder.tisane(&["view", "empty"]).exits(2).says(&["not the output directory of a run", "config.toml"]);
    folder.tisane(&["view", "runs/small/config.toml"]).exits(2);
    let view = Served::start(&folder, "runs/small");
    let port = view.port.to_string();
    folder
        .tisane(&["view", "runs/small", "--port", &port])
        .exits(2)
        .says(&["127.0.0.1", "cannot serve the view at this address"]);
    // A run that has not begun to write.
    fs::create_dir(folder.path("young")).unwrap();
    fs::copy(folder.path("runs/small/config.toml"), folder.path("young/config.toml")).unwrap();
    let young = Served::start(&folder, "young");
    let state = young.state();
    assert_eq!((&state["run"], &state["snapshots"]), (&Value::Null, &serde_json::json!([])));
    assert_eq!(young.get("api/series/diagnostics").json()["columns"], serde_json::json!({}));
    assert_eq!(young.get("api/snapshot/0").status, 404);
}
