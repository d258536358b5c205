//! Promise: a film has the same bytes on any number of threads and goes on where it was stopped; a particle is drawn
//! where it is, and no longer than it is in the run; a run without a film gives an error.

use crate::program;
use program::{Folder, Said, finish};
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const RUN: &str = "[run]\nname = \"m\"\nt_end = 0.5\n[initial.plummer]\nn = 64\nseed = 5\n[output]\ninterval = 0.125\n";
const SMALL: [&str; 4] = ["--width", "160", "--height", "90"];

fn with_run() -> Folder {
    let folder = Folder::new(RUN);
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    folder
}

/// Films as on a machine without ffmpeg.
fn movie(folder: &Folder, arguments: &[&str]) -> Said {
    let mut command = folder.command(&[&["movie", "-q"], arguments, &SMALL].concat());
    command.env("PATH", "");
    finish(command)
}

fn frame(folder: &Folder, name: &str, number: usize) -> Vec<u8> {
    fs::read(folder.path(&format!("{name}/frame_{number:06}.png"))).unwrap()
}

#[test]
fn frames_are_the_same_on_any_number_of_threads() {
    let folder = with_run();
    for (threads, to) in [("1", "one"), ("3", "three")] {
        let said = movie(&folder, &["r", "--frames", "7", "--threads", threads, "--output", to]).exits(0);
        said.says(&["7 frames", "7 rendered now", "no ffmpeg on the PATH; with it: ffmpeg -framerate 25"]);
        assert_eq!(fs::read_dir(folder.path(to)).unwrap().count(), 9, "frames, their description and the film");
    }
    let frames: Vec<Vec<u8>> = (0..7).map(|k| frame(&folder, "one", k)).collect();
    assert!((0..7).all(|k| frames[k] == frame(&folder, "three", k)));
    let film = |name: &str| fs::read(folder.path(name).join("movie.png")).unwrap();
    assert!(film("one") == film("three"));
    assert!(frames.windows(2).all(|pair| pair[0] != pair[1]), "nothing moves");
    let picture = Pixmap::decode_png(&frames[0]).unwrap();
    assert_eq!((picture.width(), picture.height()), (160, 90));
    // Five snapshots, of which each is a frame of its own.
    movie(&folder, &["r", "--per-snapshot", "3", "--theme", "light", "--colour", "mass", "--plane", "yz"])
        .exits(0)
        .says(&["13 frames in r/movie"]);
    assert!(folder.path("r/movie/frame_000012.png").is_file());
}

#[test]
fn a_film_goes_on_where_it_was_stopped() {
    let folder = with_run();
    movie(&folder, &["r", "--frames", "6"]).exits(0);
    let before: Vec<Vec<u8>> = (0..6).map(|k| frame(&folder, "r/movie", k)).collect();
    for gone in [1, 4] {
        fs::remove_file(folder.path(&format!("r/movie/frame_00000{gone}.png"))).unwrap();
    }
    fs::write(folder.path("r/movie/frame_000002.png"), &before[5]).unwrap();
    movie(&folder, &["r", "--frames", "6"]).exits(0).says(&["6 frames", "2 rendered now"]);
    assert!([0, 1, 3, 4, 5].iter().all(|&k| before[k] == frame(&folder, "r/movie", k)));
    assert_eq!(frame(&folder, "r/movie", 2), before[5], "kept as it is");
    movie(&folder, &["r", "--frames", "5"]).exits(2).says(&["frames of another film", "--overwrite"]);
    movie(&folder, &["r", "--frames", "5", "--overwrite"]).exits(0).says(&["5 rendered now"]);
    assert!(!folder.path("r/movie/frame_000005.png").exists());
}

/// A pair of stars on a circle about a point mass, 16 snapshots in a revolution; one star is ahead of the other.
const ON_A_CIRCLE: &str = "[run]\nname = \"c\"\nt_end = 8.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"stars.csv\"\n[external.point-mass]\nmass = 1.0\n\
     [orbit]\ncircular = 1.0\n[integrator.leapfrog]\ndt = \"1/64\"\n[output]\ninterval = 0.5\n[cluster]\nenabled = false\n";

#[test]
fn along_an_orbit_the_picture_turns_with_the_cluster_and_a_map_shows_where_it_is() {
    let folder = Folder::new(ON_A_CIRCLE);
    // The second one is on the circle, a little ahead.
    let (s, c) = 0.01f64.sin_cos();
    folder.write("stars.csv", format!("m,x,y,z,vx,vy,vz\n0,0,0,0,0,0,0\n0,{},{s},0,{},{},0\n", c - 1.0, -s, c - 1.0));
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let film = |name: &str, more: &[&str]| {
        let common = ["r", "--frames", "5", "--centre", "origin", "--output", name];
        movie(&folder, &[&common[..], more].concat()).exits(0);
        (0..5).map(|k| Pixmap::decode_png(&frame(&folder, name, k)).unwrap()).collect::<Vec<_>>()
    };
    let (turning, fixed) = (film("turning", &["--frame", "orbit"]), film("fixed", &[]));
    // Left of the map and right of the words there are stars only.
    let stars = |picture: &Pixmap| {
        let place = |i: usize| (i % 160, i / 160);
        let inside = (0..160 * 90).filter(|i| (72..130).contains(&place(*i).0) && place(*i).1 < 75);
        inside.map(|i| picture.pixels()[i]).collect::<Vec<_>>()
    };
    // Of a star that keeps its place ahead nothing moves but by less than a pixel.
    let differ = |film: &[Pixmap]| {
        let (a, b) = (stars(&film[0]), stars(&film[3]));
        let changed = |(a, b): (&PremultipliedColorU8, &PremultipliedColorU8)| a.red().abs_diff(b.red()) > 60;
        a.iter().zip(&b).filter(|(a, b)| changed((a, b))).count()
    };
    assert_eq!(differ(&turning), 0);
    assert!(differ(&fixed) > 0);
    // The map is in the corner, and the cluster moves on it.
    let map = |picture: &Pixmap| {
        (0..24).flat_map(|y| (130..158).map(move |x| (x, y))).map(|(x, y)| picture.pixel(x, y)).collect::<Vec<_>>()
    };
    assert!(map(&turning[0]) != map(&turning[1]) && map(&turning[1]) == map(&fixed[1]));
    // Too few snapshots, and none with an orbit.
    folder.tisane(&["run", "run.toml", "-q", "--output", "few", "--set", "output.interval=4.0"]).exits(0);
    let said = movie(&folder, &["few", "--frame", "orbit"]).exits(2);
    said.says(&["the snapshots at 0 and 4 are too far apart on the orbit", "output.snapshot_interval"]);
    let alone = with_run();
    movie(&alone, &["r", "--frame", "orbit"]).exits(2).says(&["do not say where the origin", "[orbit]"]);
}

/// Animated PNG, read again: number of plays, pixels across and down, of each picture its delay in s and its pixels.
struct Animation {
    plays: u32,
    size: [u32; 2],
    pictures: Vec<(f64, Vec<u8>)>,
}

fn animation(path: &std::path::Path) -> Animation {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let control = reader.info().animation_control().copied().expect("an animation");
    let size = [reader.info().width, reader.info().height];
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let picture = |_| {
        reader.next_frame(&mut buffer).unwrap();
        let frame = reader.info().frame_control().copied().unwrap();
        (f64::from(frame.delay_num) / f64::from(frame.delay_den), buffer.clone())
    };
    let pictures = (0..control.num_frames).map(picture).collect();
    assert!(reader.next_frame(&mut buffer).is_err(), "more pictures than the file says");
    Animation { plays: control.num_plays, size, pictures }
}

#[test]
fn without_ffmpeg_the_film_is_an_animated_png() {
    let folder = with_run();
    let said = movie(&folder, &["r", "--frames", "5", "--fps", "8"]).exits(0);
    said.says(&["r/movie/movie.png: animated PNG for browsers, 160 x 90 pixels, 5 pictures, ", "r/movie/movie.mp4"]);
    let Animation { plays, size, pictures } = animation(&folder.path("r/movie/movie.png"));
    assert_eq!((plays, size, pictures.len()), (0, [160, 90], 5), "without end");
    for (number, (delay, pixels)) in pictures.iter().enumerate() {
        assert_eq!(*delay, 0.125);
        let frame = Pixmap::decode_png(&frame(&folder, "r/movie", number)).unwrap();
        let expected: Vec<u8> = frame.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
        assert!(*pixels == expected, "picture {number} is not the frame");
    }
    // A frame that is no picture is named.
    folder.write("r/movie/frame_000002.png", "not a picture");
    let said = movie(&folder, &["r", "--frames", "5", "--fps", "8"]).exits(2);
    said.says(&["frame_000002.png", "not a PNG that can be read", "renders it again"]);
}

/// 85 particles in a clump and 15 on a circle of radius 1, so light that they hardly move each other.
fn planted(velocity: f64) -> String {
    let mut text = String::from("m,x,y,z,vx,vy,vz,id\n");
    for i in 0..100 {
        let angle = f64::from(i) * 0.42;
        let (x, y, vx) = match i {
            0..85 => (0.5 + 1e-3 * angle.cos(), 0.25 + 1e-3 * angle.sin(), velocity),
            _ => (angle.cos(), angle.sin(), 0.0),
        };
        let _ = writeln!(text, "1e-12,{x:?},{y:?},0.0,{vx:?},0.0,0.0,{i}");
    }
    text
}

#[test]
fn a_planted_cluster_shines_where_it_is_and_moves_as_it_does() {
    let folder = Folder::new(
        "[run]\nname = \"m\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"p.csv\"\n[softening]\nepsilon = 0.01\n[output]\ninterval = 1.0\n",
    );
    folder.write("p.csv", planted(-0.5));
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let large = ["--width", "640", "--height", "360", "--centre", "origin", "--frames", "3", "-q"];
    let mut command = folder.command(&[&["movie", "r"][..], &large].concat());
    command.env("PATH", "");
    finish(command).exits(0);
    // Nine of ten particles are within a radius of 1, with a part of 0.15 more around.
    let pixels = 180.0 / 1.15;
    for (number, x) in [0.5, 0.25, 0.0].into_iter().enumerate() {
        let picture = Pixmap::decode_png(&frame(&folder, "r/movie", number)).unwrap();
        let light = |at: usize| {
            let pixel = picture.pixels()[at];
            // Not the words along the edges.
            let within = (60..300).contains(&(at / 640));
            if within { u32::from(pixel.red()) + u32::from(pixel.green()) + u32::from(pixel.blue()) } else { 0 }
        };
        let max = (0..640 * 360).map(light).max().unwrap();
        let brightest: Vec<usize> = (0..640 * 360).filter(|at| light(*at) == max).collect();
        let mean = |of: fn(usize) -> usize| {
            brightest.iter().map(|at| of(*at) as f64 + 0.5).sum::<f64>() / brightest.len() as f64
        };
        let (u, v) = (mean(|at| at % 640), mean(|at| at / 640));
        let (expected_u, expected_v) = (320.0 + x * pixels, 180.0 - 0.25 * pixels);
        assert!(
            (u - expected_u).abs() < 1.5 && (v - expected_v).abs() < 1.5,
            "{number}: {u} {v}, not {expected_u} {expected_v}"
        );
    }
}

/// A pair, and a light star with the first id that flies away along x at a speed of 1 and is taken out at a distance of 6.
const ESCAPER: &str = "[run]\nname = \"m\"\nt_end = 4.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"p.csv\"\n\
     [integrator.hermite4]\n[encounters]\n[escapers]\nradius = 6.0\n[output]\ninterval = 2.0\n";

#[test]
fn a_star_that_is_taken_out_vanishes_with_the_first_snapshot_without_it() {
    let folder = Folder::new(ESCAPER);
    folder.write(
        "p.csv",
        "m,x,y,z,vx,vy,vz,id\n1e-9,3.0,0.0,0.0,1.5,0.0,0.0,0\n0.5,0.5,0.0,0.0,0.0,0.5,0.0,1\n0.5,-0.5,0.0,0.0,0.0,-0.5,0.0,2\n",
    );
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let number =
        |k: usize| tisane_io::snapshot::read(&folder.path(&format!("r/snapshots/snapshot_{k:04}.hdf5"))).unwrap();
    let snapshots: Vec<_> = (0..3).map(number).collect();
    assert_eq!(snapshots.iter().map(|one| one.id.len()).collect::<Vec<_>>(), [3, 3, 2]);
    movie(&folder, &["r", "--per-snapshot", "2", "--centre", "origin", "--colour", "mass"])
        .exits(0)
        .says(&["5 frames"]);
    let places = [snapshots[0].pos[0].x, snapshots[1].pos[0].x];
    let pixels = 45.0 / (1.15 * places[1]);
    let pictures: Vec<_> = (0..5).map(|k| Pixmap::decode_png(&frame(&folder, "r/movie", k)).unwrap()).collect();
    let shines_at = |k: usize, x: f64, y: f64| {
        let light = |u: f64, v: f64| {
            let pixel = pictures[k].pixel(u as u32, v as u32).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()].into_iter().map(u32::from).sum::<u32>()
        };
        light(80.0 + x * pixels, 45.0 - y * pixels) > light(150.0, 45.0) + 60
    };
    let shines = |k: usize, x: f64| shines_at(k, x, 0.0);
    // It moves, keeps its place after its last snapshot, and is gone.
    assert!(shines(0, places[0]) && !shines(0, places[1]));
    assert!(!shines(1, places[0]) && !shines(1, places[1]));
    assert!(!shines(2, places[0]) && shines(2, places[1]) && shines(3, places[1]));
    assert!(!shines(4, places[0]) && !shines(4, places[1]));
    // Those that stay are drawn where they are.
    assert!(snapshots[2].pos.iter().all(|star| shines_at(4, star.x, star.y)));
    // A film of the whole run ends with the last snapshot, too.
    movie(&folder, &["r", "--frames", "3", "--centre", "origin", "--colour", "mass", "--output", "whole"]).exits(0);
    assert!(frame(&folder, "whole", 2) == frame(&folder, "r/movie", 4));
}

#[test]
fn a_run_with_mergers_is_filmed_whole_and_a_snapshot_of_another_run_is_left_out() {
    let folder = Folder::new(
        "[run]\nname = \"r\"\nt_end = 0.5\n[initial.plummer]\nn = 120\nseed = 3\nvirial_ratio = 0.9\n\
         [initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"opik\"\na_min = 3e-4\na_max = 0.05\n\
         [integrator.hermite4]\n[encounters]\n[collisions]\naction = \"merge\"\nradii = \"fixed\"\nradius = 1e-4\n\
         [escapers]\nradius = 1.0\n[output]\ninterval = 0.125\n",
    );
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let stars = fs::read_to_string(folder.path("r/stars.csv")).unwrap();
    assert!(stars.contains(",merge,") && stars.contains(",escape,"), "{stars}");
    for threads in ["1", "3"] {
        let said = movie(&folder, &["r", "--per-snapshot", "2", "--threads", threads, "--output", threads]).exits(0);
        said.says(&["9 frames"]);
    }
    assert!((0..9).all(|k| frame(&folder, "1", k) == frame(&folder, "3", k)));
    // Of other particles with some of the same ids.
    let third = "r/snapshots/snapshot_0003.hdf5";
    let own = fs::read(folder.path(third)).unwrap();
    folder.tisane(&["run", "run.toml", "-q", "--output", "s", "--set", "initial.plummer.seed=4"]).exits(0);
    fs::copy(folder.path("s/snapshots/snapshot_0003.hdf5"), folder.path(third)).unwrap();
    let left_out = ["left out", "snapshot_0003.hdf5", "of another run", "4 frames"];
    movie(&folder, &["r", "--per-snapshot", "1", "--output", "without"]).exits(8).says(&left_out);
    fs::write(folder.path(third), own).unwrap();
    movie(&folder, &["r", "--per-snapshot", "1", "--output", "with"]).exits(0).says(&["5 frames"]);
}

#[test]
fn what_cannot_be_filmed_is_told() {
    let folder = with_run();
    fs::create_dir(folder.path("bare")).unwrap();
    fs::create_dir(folder.path("lost")).unwrap();
    folder.write("lost/config.toml", "");
    movie(&folder, &["nowhere"]).exits(2).says(&["nowhere", "there is no such run"]);
    movie(&folder, &["bare"]).exits(2).says(&["not the output directory of a run"]);
    movie(&folder, &["lost"]).exits(2).says(&["a run without snapshots"]);
    movie(&folder, &["r", "--plane", "xw"]).exits(2).says(&["xw", "xy"]);
    movie(&folder, &["r", "--frames", "2", "--per-snapshot", "2"]).exits(2).says(&["cannot be used with"]);
    assert!(!folder.path("r/movie").exists());
    // One of five is damaged: named, and left out.
    let path = |k: usize| folder.path(&format!("r/snapshots/snapshot_{k:04}.hdf5"));
    let whole = fs::read(path(2)).unwrap();
    fs::write(path(2), &whole[..whole.len() / 2]).unwrap();
    movie(&folder, &["r", "--per-snapshot", "1"]).exits(8).says(&["left out", "snapshot_0002.hdf5", "4 frames"]);
    (0..5).for_each(|k| fs::write(path(k), "").unwrap());
    movie(&folder, &["r", "--output", "o"]).exits(2).says(&["no snapshot here is whole"]);
    assert!(!folder.path("o").exists());
}

#[test]
fn one_particle_and_one_snapshot_are_a_picture() {
    let folder = Folder::new(
        "[run]\nname = \"m\"\nt_end = 0.125\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"p.csv\"\n[output]\nsnapshot_interval = 0.125\n",
    );
    folder.write("p.csv", "m,x,y,z,vx,vy,vz\n1.0,3.0,4.0,5.0,0.0,0.0,0.0\n");
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    movie(&folder, &["r", "--frames", "2"]).exits(0).says(&["2 frames"]);
    fs::remove_file(folder.path("r/snapshots/snapshot_0001.hdf5")).unwrap();
    movie(&folder, &["r", "--output", "o"]).exits(0).says(&["1 frame in o"]);
    // The particle is in the middle.
    let picture = Pixmap::decode_png(&frame(&folder, "o", 0)).unwrap();
    let ground = picture.pixel(40, 45).unwrap();
    assert!(picture.pixel(80, 45).unwrap().blue() > ground.blue());
}

#[test]
fn ffmpeg_makes_a_film_where_it_is() {
    if std::process::Command::new("ffmpeg").arg("-version").output().is_err() {
        eprintln!("skipped: no ffmpeg on the PATH");
        return;
    }
    let folder = with_run();
    // An odd height, which the codec by itself would refuse.
    let odd = ["movie", "r", "--frames", "4", "--width", "160", "--height", "91"];
    folder.tisane(&odd).exits(0).says(&["r/movie/movie.mp4"]);
    let film = fs::read(folder.path("r/movie/movie.mp4")).unwrap();
    assert_eq!(&film[4..8], b"ftyp");
}

#[test]
fn the_page_has_the_colours_of_the_film() {
    let colours = |file: &str| -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let text = fs::read_to_string(path).unwrap();
        let (_, list) = text.split_once("const BLACK_BODIES").unwrap();
        let list = list.split(';').find(|part| part.contains('#')).unwrap();
        list.split('"').filter(|part| part.starts_with('#')).map(str::to_owned).collect()
    };
    let of_film = colours("crates/plot/src/movie/shades.rs");
    assert_eq!((of_film.len(), &of_film), (9, &colours("crates/view/src/page/stars.js")));
}
