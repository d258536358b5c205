//! Files of the page, embedded in the program.

use super::http::{self, Response};
use hyper::StatusCode;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:ident;)*) => {
        /// Names, media types and contents.
        const FILES: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("page/", $name)))),*];
    };
}

files! {
    "index.html": HTML;
    "style.css": STYLE;
    "icon.svg": PICTURE;
    "main.js": SCRIPT;
    "api.js": SCRIPT;
    "camera.js": SCRIPT;
    "charts.js": SCRIPT;
    "colour.js": SCRIPT;
    "frames.js": SCRIPT;
    "map.js": SCRIPT;
    "maths.js": SCRIPT;
    "panels.js": SCRIPT;
    "player.js": SCRIPT;
    "scene.js": SCRIPT;
    "shaders.js": SCRIPT;
    "stars.js": SCRIPT;
    "trails.js": SCRIPT;
    "why.js": SCRIPT;
    "vendor/uPlot.iife.min.js": SCRIPT;
    "vendor/uPlot.min.css": STYLE;
}

/// Returns a file of the page by its name; the page itself for an empty name.
pub fn file(name: &str) -> Option<Response> {
    let name = if name.is_empty() { "index.html" } else { name };
    let (_, kind, content) = FILES.iter().find(|(known, ..)| *known == name)?;
    Some(http::response(StatusCode::OK, kind, *content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::collections::BTreeSet;
    use std::path::Path;
    use tisane::particles::hexadecimal;

    #[test]
    fn every_file_of_the_page_is_served() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
        let in_folder = |below: &'static str| {
            let files = std::fs::read_dir(page.join(below)).unwrap().map(|entry| entry.unwrap().path());
            files
                .filter(|path| path.is_file())
                .map(move |path| format!("{below}{}", path.file_name().unwrap().display()))
        };
        let names: BTreeSet<_> = in_folder("").chain(in_folder("vendor/")).collect();
        assert_eq!(names, FILES.iter().map(|(name, ..)| (*name).to_owned()).collect());
    }

    #[test]
    fn files_of_others_are_as_they_were_published() {
        // SHA-256 of the files in the npm package uplot 1.6.32.
        for (name, published) in [
            ("vendor/uPlot.iife.min.js", "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"),
            ("vendor/uPlot.min.css", "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"),
        ] {
            let (.., content) = FILES.iter().find(|(known, ..)| *known == name).unwrap();
            assert_eq!(hexadecimal(&Sha256::digest(content)), published, "{name}");
        }
    }

    #[test]
    fn nothing_of_the_page_comes_from_elsewhere() {
        for (name, _, content) in FILES {
            let addresses =
                content.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
            // An XML namespace, and the home page in the comment at the head of uPlot, which are not requests.
            let named = ["://www.w3.org/2000/svg", "s://github.com/leeoniya/uPlot (v"];
            let others = addresses.filter(|rest| !named.iter().any(|name| rest.starts_with(name)));
            assert_eq!(others.count(), 0, "{name}");
        }
    }
}
