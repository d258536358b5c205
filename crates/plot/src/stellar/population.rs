//! Mass, numbers, light and radii of a cluster whose stars age, over time.

use super::super::figure::{Axis, Mark, Panel, Series};
use super::super::over_time::{Run, linear_where_few};
use super::classes::{colour, is_filled};
use tisane_io::table::Table;
use tisane_stellar::Class;

/// Draws what the diagnostics of the `run` have of all its stars, and the journal of the cluster of those that are bound.
pub(super) fn panels(run: &Run<'_>, cluster: Option<&Table>) -> Result<Vec<Panel>, String> {
    let mut mass = masses(run).ok_or("diagnostics.csv lacks columns")?;
    let Some(cluster) =
        cluster.filter(|table| table.column("projected_visual_half_light_radius").is_some()).map(|table| Run { table })
    else {
        mass.notes.push("no bound stars: cluster.csv is missing, or older".into());
        return Ok(vec![mass]);
    };
    if let Some(bound) = cluster.panel("", Axis::default(), &[("bound", "bound_mass", true)], |m| m) {
        mass.series.extend(bound.series.into_iter().map(|series| Series { colour: Some(2), ..series }));
    }
    let y = |of: &str, name: &str| cluster.label(of, name).map(Axis::log);
    let of_mass = y("mass", "bound_mass").and_then(|y| by_class(&cluster, "Mass by class, bound stars", y, "mass"));
    let numbers = by_class(&cluster, "Bound stars by class", Axis::log("number"), "number");
    let lines = [("at all wavelengths", "luminosity", true), ("in V", "visual_luminosity", true)];
    let light = cluster.panel("Light of bound stars", Axis::log("over that of the Sun"), &lines, |light| light);
    let radii = |title: &str, lines: &[(&str, &str, bool)]| {
        let (_, first, _) = lines.first()?;
        cluster.panel(title, Axis::linear(cluster.label("radius", first)?), lines, |radius| radius)
    };
    let lines = [("half of the mass", "half_mass_radius", true), ("half of the light", "half_light_radius", true)];
    let spheres = radii("Half-mass and half-light radius", &lines);
    let lines = [
        ("half of the mass", "projected_half_mass_radius", true),
        ("half of the light", "projected_half_light_radius", true),
        ("half of the light in V", "projected_visual_half_light_radius", true),
    ];
    let circles = radii("The same in projection", &lines);
    let all = [Some(mass), of_mass, numbers, light.map(linear_where_few), spheres, circles];
    Ok(all.into_iter().flatten().filter(is_filled).collect())
}

/// Draws a column of each class of the journal of a cluster over time, those above 0, with the looks of the classes.
pub fn by_class(cluster: &Run<'_>, title: &str, y: Axis, of: &str) -> Option<Panel> {
    let columns = Class::ALL.map(|class| (class, format!("{}_{of}", column(class))));
    let lines: Vec<(&str, &str, bool)> =
        columns.iter().map(|(class, column)| (class.plural(), &**column, true)).collect();
    let mut panel = cluster.panel(title, y, &lines, |value| if value > 0.0 { value } else { f64::NAN })?;
    for (series, class) in panel.series.iter_mut().zip(Class::ALL) {
        series.colour = Some(colour(class));
    }
    panel.series.retain(|series| series.points.iter().any(|(_, value)| value.is_finite()));
    Some(panel)
}

/// Returns the begin of the names of the columns of a class.
fn column(class: Class) -> &'static str {
    match class {
        Class::MainSequence => "main_sequence",
        Class::Giant => "giant",
        Class::HeliumStar => "helium_star",
        Class::WhiteDwarf => "white_dwarf",
        Class::NeutronStar => "neutron_star",
        Class::BlackHole => "black_hole",
    }
}

/// Draws the mass of all stars that are there, bound or not.
fn masses(run: &Run<'_>) -> Option<Panel> {
    let lines = [("at birth", "initial_mass", true), ("all stars", "stellar_mass", true)];
    let mut panel = run.panel("Mass", Axis::linear(run.label("mass", "stellar_mass")?), &lines, |m| m)?;
    if let Some(birth) = panel.series.first_mut() {
        birth.mark = Mark::Dashed;
    }
    if let Some(all) = panel.series.get_mut(1) {
        all.colour = Some(0);
    }
    Some(panel)
}
