//! Properties of every figure, checked on the parsed drawing.

use super::quantity::quantity;
use super::svg::Letters;
use super::{Axis, Figure, Heat, Label, Mark, Panel, Scale, Series, Side, Theme, draw};
use quick_xml::Reader;
use quick_xml::events::Event;
use resvg::tiny_skia::Rect;
use resvg::usvg::{Node, Options, Tree};
use std::f64::consts::TAU;
use tisane::units::{Dimension, Rates, Units};

fn panel(x: Axis, y: Axis, all: Vec<Series>) -> Panel {
    Panel { series: all, ..Panel::new("a panel", x, y) }
}

fn figure(panels: Vec<Panel>, columns: usize) -> Figure {
    Figure { title: "A figure".into(), caption: "tisane 0.1.0, one machine".into(), panels, columns }
}

/// Points of x = 1 … n.
fn points(n: i32, y: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (1..=n).map(|i| (f64::from(i), y(f64::from(i)))).collect()
}

/// Every kind of mark, axis and misfortune.
fn gallery() -> Vec<Figure> {
    let spread = |points: &[(f64, f64)]| Some(points.iter().map(|(_, y)| (0.5 * y, 2.0 * y)).collect());
    let marks =
        [Mark::Line, Mark::Points, Mark::Dots, Mark::LineAndPoints, Mark::Phase, Mark::Dashed, Mark::Steps, Mark::Bars];
    let each = |y: Axis| {
        let series = marks.map(|mark| {
            let points = points(7, |x| x * x);
            Series { spread: spread(&points), ..Series::new(format!("{mark:?}"), mark, points) }
        });
        panel(Axis::linear("time [Myr]"), y, series.to_vec())
    };
    let hostile = [
        vec![],
        vec![(f64::NAN, f64::NAN)],
        vec![(1.0, 1.0)],
        vec![(0.0, -0.25); 5],
        vec![(1.0, 0.0), (2.0, -3.0), (3.0, f64::INFINITY), (4.0, 1e-3), (5.0, f64::NAN), (6.0, 1e3)],
        vec![(-1e250, -1e250), (1e250, 1e250)],
        vec![(1e-250, 1e-12), (1e250, 1e3)],
        vec![(0.0, -0.25), (1.0, -0.250_000_000_1)],
        points(20_000, |x| (x * TAU / 700.0).sin()),
    ];
    let long = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft & <b>friends</b> ";
    let mut hostile: Vec<Panel> = hostile
        .into_iter()
        .flat_map(|points| {
            [Axis::linear, Axis::log].map(|axis: fn(&'static str) -> Axis| {
                let series = Series::new("hostile", Mark::LineAndPoints, points.clone());
                panel(axis("x [very long unit]"), axis("y"), vec![series])
            })
        })
        .collect();
    let mut named = panel(Axis::linear(long.repeat(3)), Axis::linear(long.repeat(3)), vec![]);
    named.title = long.repeat(4);
    named.notes = vec![long.repeat(9), String::new()];
    named.series = (0..30).map(|i| Series::new(long.repeat(i % 4), Mark::Points, points(3, |x| x))).collect();
    hostile.push(named);
    for values in [vec![], vec![f64::NAN; 4], vec![1e-250, 1e250, 0.0, -1.0], vec![3.0; 4]] {
        let edges = vec![-1.0, 0.0, 2.0];
        let heat = Heat { label: long.repeat(2), x: edges.clone(), y: edges, values };
        hostile.push(Panel { heat: Some(heat), ..panel(Axis::linear("x"), Axis::linear("y"), vec![]) });
    }
    let bars =
        |k| Series::new(format!("N = {k}"), Mark::Bars, (0..3).map(|i| (f64::from(i), f64::from(k + i))).collect());
    let named_axis = Axis::categories("engine", ["cpu", "reference", "cuda with a very long name of a device"]);
    vec![
        figure(vec![each(Axis::linear("y"))], 1),
        figure(vec![each(Axis::log("y")), each(Axis::log("y")), each(Axis::linear("y"))], 2),
        figure(vec![panel(named_axis, Axis::log("time [s]"), vec![bars(1), bars(20), bars(300)])], 1),
        Figure { title: long.repeat(9), caption: long.repeat(9), panels: hostile, columns: 3 },
        figure(vec![], 0),
        Figure::default(),
    ]
}

fn tree(figure: &Figure) -> Tree {
    Tree::from_str(&draw::figure(figure, Theme::Light, Letters::Outlines, ""), &Options::default()).unwrap()
}

/// Boxes of everything that is drawn and not clipped, by the ids of the groups around it.
fn boxes(node: &Node, within: &str, found: &mut Vec<(String, Rect)>) {
    let here = if node.id().is_empty() { within.to_owned() } else { format!("{within}/{}", node.id()) };
    match node {
        Node::Group(group) if group.clip_path().is_none() => {
            group.children().iter().for_each(|child| boxes(child, &here, found));
        }
        Node::Group(_) => {}
        _ => found.push((here, node.abs_stroke_bounding_box())),
    }
}

fn all_boxes(tree: &Tree) -> Vec<(String, Rect)> {
    let mut found = Vec::new();
    tree.root().children().iter().for_each(|child| boxes(child, "", &mut found));
    found
}

#[test]
fn nothing_is_cut_off_and_legends_stand_outside_of_all_axes() {
    let mut legends = 0;
    for figure in gallery() {
        let tree = tree(&figure);
        let (width, height) = (tree.size().width(), tree.size().height());
        let boxes = all_boxes(&tree);
        for (what, b) in &boxes {
            let inside = b.left() >= -0.5 && b.top() >= -0.5 && b.right() <= width + 0.5 && b.bottom() <= height + 0.5;
            assert!(inside, "{}: {what} {b:?} is outside of {width} x {height}", figure.title);
        }
        let axes: Vec<&Rect> = boxes.iter().filter(|(what, _)| what.contains("axes-")).map(|(_, b)| b).collect();
        assert_eq!(axes.len(), figure.panels.len());
        for (what, b) in boxes.iter().filter(|(what, _)| what.contains("legend")) {
            legends += 1;
            assert!(axes.iter().all(|a| a.intersect(b).is_none()), "{}: {what} {b:?} covers {axes:?}", figure.title);
        }
        for (i, a) in axes.iter().enumerate() {
            assert!(axes[..i].iter().all(|b| a.intersect(b).is_none()));
        }
    }
    assert!(legends > 100, "{legends}");
}

/// Elements with their attributes as text, and the texts between.
fn elements(svg: &str) -> (Vec<String>, Vec<String>) {
    let (mut reader, mut elements, mut texts) = (Reader::from_str(svg), Vec::new(), Vec::new());
    let mut text = String::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(e) | Event::Empty(e) => elements.push(str::to_owned(&e)),
            Event::Text(e) => text += &e,
            Event::GeneralRef(e) => text += &format!("&{};", &*e),
            Event::End(_) => {
                texts.push(quick_xml::escape::unescape(&std::mem::take(&mut text)).unwrap().trim().to_owned())
            }
            Event::Eof => return (elements, texts),
            _ => {}
        }
    }
}

fn count(elements: &[String], class: &str) -> usize {
    elements.iter().filter(|e| e.contains(&format!("class=\"{class}\""))).count()
}

#[test]
fn the_svg_has_every_label_as_text_and_every_point_and_line() {
    let measured = Series::new("a < b & c", Mark::LineAndPoints, vec![(1e-3, 1e-9), (1e-2, 1e-7), (1e-1, 1e-5)]);
    let theory = Series::new("∝ ν²", Mark::Dashed, vec![(1e-3, 1e-9), (1e-1, 1e-5)]);
    let figure = figure(vec![panel(Axis::log("ν"), Axis::log("|ΔE/E₀|"), vec![measured, theory])], 1);
    let (elements, texts) = elements(&figure.svg(Theme::Light));
    for text in [
        "A figure",
        "a panel",
        "ν",
        "|ΔE/E₀|",
        "a < b & c",
        "∝ ν²",
        "10⁻³",
        "10⁻⁹",
        "10⁻⁵",
        "tisane 0.1.0, one machine",
    ] {
        assert!(texts.iter().any(|t| t == text), "{text}: {texts:?}");
    }
    // Three points and the one in the legend.
    assert_eq!((count(&elements, "line"), count(&elements, "marker")), (2, 4));
    assert_eq!((count(&elements, "axes"), count(&elements, "legend"), count(&elements, "band")), (1, 1, 0));
    assert!(!elements.iter().any(|e| e.starts_with("image") || e.contains("NaN") || e.contains("inf")));
}

#[test]
fn a_spread_is_a_band_around_lines_and_bars_on_points() {
    let spread = Some(vec![(0.0, 2.0), (1.0, 3.0), (f64::NAN, 2.0)]);
    let of = |mark| {
        let series =
            Series { spread: spread.clone(), ..Series::new("", mark, vec![(0.0, 1.0), (1.0, 2.0), (2.0, 1.5)]) };
        elements(&figure(vec![panel(Axis::linear("x"), Axis::linear("y"), vec![series])], 1).svg(Theme::Dark)).0
    };
    assert_eq!((count(&of(Mark::Line), "band"), count(&of(Mark::Line), "error")), (1, 0));
    assert_eq!((count(&of(Mark::Points), "band"), count(&of(Mark::Points), "error")), (0, 2));
    assert_eq!((count(&of(Mark::Bars), "bar"), count(&of(Mark::Bars), "error")), (3, 2));
}

#[test]
fn what_is_left_out_is_said() {
    let bad = vec![(0.0, 1.0), (1.0, 0.0), (2.0, -1.0), (3.0, f64::INFINITY), (4.0, f64::NAN), (5.0, 2.0), (50.0, 2.0)];
    let mut panel = panel(Axis::linear("x"), Axis::log("y"), vec![Series::new("", Mark::Points, bad)]);
    panel.x.range = Some((0.0, 10.0));
    panel.notes.push("ε = 1/256".into());
    let (elements, texts) = elements(&figure(vec![panel], 1).svg(Theme::Light));
    for note in [
        "ε = 1/256",
        "2 points at zero or below: not on a logarithmic axis",
        "1 point infinite: not shown",
        "1 point outside the axes",
    ] {
        assert!(texts.iter().any(|t| t == note), "{note}: {texts:?}");
    }
    assert_eq!(count(&elements, "marker"), 2);
    let empty = figure(vec![Panel::default()], 1).svg(Theme::Light);
    assert!(empty.contains("no data"));
}

#[test]
fn panels_with_the_same_series_share_one_legend() {
    let with =
        |name: &str| panel(Axis::linear("x"), Axis::linear("y"), vec![Series::new(name, Mark::Line, points(3, |x| x))]);
    let legends = |panels: Vec<Panel>| count(&elements(&figure(panels, 2).svg(Theme::Light)).0, "legend");
    assert_eq!(legends(vec![with("a"), with("a"), with("a")]), 1);
    assert_eq!(legends(vec![with("a"), with("b")]), 2);
    assert_eq!(legends(vec![with(""), with("")]), 0);
    // One that has no points in some panel has them in the legend of all.
    let bare = Panel { series: vec![Series::new("a", Mark::Line, vec![])], ..with("a") };
    for (panels, is_bare) in [(vec![bare.clone(), with("a")], false), (vec![bare.clone(), bare], true)] {
        assert_eq!(legends(panels.clone()), 1);
        assert_eq!(figure(panels, 2).svg(Theme::Light).contains("a (no data)"), is_bare);
    }
}

#[test]
fn names_of_places_stand_beside_them_and_do_not_cover_each_other() {
    let label = |x: f64, y: f64, text: &str| Label { at: (x, y), text: text.into(), side: Side::Left };
    let mut with = panel(Axis::linear("x"), Axis::linear("y"), vec![Series::new("", Mark::Line, points(9, |x| x))]);
    with.labels =
        vec![label(5.0, 5.0, "one"), label(5.0, 5.01, "two"), label(1.0, 1.0, "left"), label(99.0, 1.0, "off")];
    with.labels.push(Label { side: Side::Below, ..label(8.0, 8.0, "under") });
    with.labels.push(label(6.0, 8.0, "beside"));
    let svg = figure(vec![with], 1).svg(Theme::Light);
    let place = |text: &str| -> (f64, f64) {
        let before = svg.split(&format!(">{text}<")).next().unwrap().rsplit("<text").next().unwrap();
        let of =
            |key: &str| before.split(&format!(" {key}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        (of("x"), of("y"))
    };
    assert!((place("one").1 - place("two").1).abs() > 9.0, "{:?} {:?}", place("one"), place("two"));
    assert!(place("left").0 < place("one").0 && !svg.contains(">off<"));
    assert!(place("under").1 > place("beside").1 + 5.0);
}

#[test]
fn themes_differ_in_colours_alone() {
    for figure in gallery() {
        let bare = |theme| {
            let svg = figure.svg(theme);
            let mut parts = svg.split('#');
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |all, part| all + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
        };
        assert_eq!(bare(Theme::Light), bare(Theme::Dark), "{}", figure.title);
        assert_ne!(figure.svg(Theme::Light), figure.svg(Theme::Dark));
        assert_eq!(figure.svg(Theme::Light), figure.clone().svg(Theme::Light));
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes_and_the_png_has_twice_the_size() {
    let dir = tempfile::tempdir().unwrap();
    // The page of misfortunes has millions of pixels: others show the same.
    let small: Vec<Figure> = gallery().into_iter().filter(|figure| figure.columns < 3).collect();
    for (number, figure) in small.iter().enumerate() {
        let mut first: Option<Vec<Vec<u8>>> = None;
        for copy in 0..2 {
            let stem = dir.path().join(format!("new/{copy}/figure-1e-9.{number}"));
            let paths = figure.write(&stem, &Theme::ALL).unwrap();
            let names: Vec<String> =
                paths.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
            let endings = [".svg", ".png", "-dark.svg", "-dark.png"].map(|end| format!("figure-1e-9.{number}{end}"));
            assert_eq!(names, endings);
            let bytes: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
            let side = |at: usize| u32::from_be_bytes(bytes[1][at..at + 4].try_into().unwrap()) as f32;
            let size = tree(figure).size();
            assert_eq!((side(16), side(20)), (2.0 * size.width(), 2.0 * size.height()));
            assert!(first.get_or_insert_with(|| bytes.clone()) == &bytes, "figure {number}");
        }
    }
    assert_eq!(std::fs::read_dir(dir.path().join("new/0")).unwrap().count(), 4 * small.len());
}

#[test]
fn a_folder_that_cannot_be_created_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = Figure::default().write(&dir.path().join("file/figure"), &[Theme::Light]).unwrap_err();
    assert_eq!(error.exit_code(), 5);
}

#[test]
fn names_stand_on_a_linear_axis_whatever_was_asked() {
    let axis = Axis { scale: Scale::Log10, ..Axis::categories("", ["a", "b"]) };
    let svg = figure(vec![panel(axis, Axis::linear("y"), vec![Series::new("", Mark::Bars, vec![(0.0, 1.0)])])], 1);
    let (elements, texts) = elements(&svg.svg(Theme::Light));
    assert!(["a", "b"].iter().all(|name| texts.iter().any(|t| t == name)), "{texts:?}");
    assert_eq!(count(&elements, "bar"), 1);
}

#[test]
fn units_in_labels_have_raised_powers() {
    use tisane::units::names::{LengthUnit, MassUnit, VelocityUnit};
    let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond));
    assert_eq!(quantity(&units, "density", Dimension::DENSITY), "density [Msun pc⁻³]");
    assert_eq!(quantity(&units, "energy", Dimension::ENERGY), "energy [Msun (km/s)²]");
    assert_eq!(quantity(&units, "speed", Dimension::VELOCITY), "speed [km/s]");
    assert_eq!(quantity(&Units::henon(), "speed", Dimension::VELOCITY), "speed [N-body units]");
}
