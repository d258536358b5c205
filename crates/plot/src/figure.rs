//! The description of a figure: panels, axes, series, and nothing about looks.

/// One picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Heading; none if empty.
    pub title: String,
    /// Small print below everything: command, commit, machine. None if empty.
    pub caption: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Number of panels in a row; at least one.
    pub columns: usize,
}

/// A pair of axes with what is drawn in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading; none if empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// A quantity in colour, under everything else.
    pub heat: Option<Heat>,
    /// Marks, later ones on top.
    pub series: Vec<Series>,
    /// A length along x is as long along y: the axes are square, and the shorter of two linear ranges is widened about
    /// its middle. All panels of a figure have the size of its square ones.
    pub equal: bool,
    /// Names of places.
    pub labels: Vec<Label>,
    /// Small print below the panel. The number of points that cannot be shown is added to it.
    pub notes: Vec<String>,
}

/// Name of a place in a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// x and y of the place. A label whose place is outside of the axes is not drawn.
    pub at: (f64, f64),
    /// The name.
    pub text: String,
    /// Side of the place on which the name stands.
    pub side: Side,
}

/// Side of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Left, or right where there is no room.
    #[default]
    Left,
    /// Below.
    Below,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Quantity with its unit: `time [Myr]`.
    pub label: String,
    /// Scale on which values become lengths.
    pub scale: Scale,
    /// First and last value; [`None`] for those of the data. A range that is not finite, is empty, or on a logarithmic
    /// axis not positive, counts as none. The larger end may come first, which turns the axis round.
    pub range: Option<(f64, f64)>,
    /// Names that replace numbers: the first stands at 0, the second at 1, … A linear axis where this is not empty.
    pub categories: Vec<String>,
    /// Flag of values that are whole numbers, as counts are: so are the ticks.
    pub whole: bool,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Lengths in proportion to the values.
    #[default]
    Linear,
    /// Lengths in proportion to the logarithm of the values, of which only those above zero can be shown.
    Log10,
}

/// A quantity on a grid of cells, in colour on a logarithmic scale, with a bar that says what the colours mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// Quantity with its unit, written next to the bar.
    pub label: String,
    /// Edges of the cells along x, ascending: one more than there are columns.
    pub x: Vec<f64>,
    /// Edges of the cells along y, ascending: one more than there are rows.
    pub y: Vec<f64>,
    /// Values, row after row from the lowest y. A cell that is not above zero stays empty.
    pub values: Vec<f64>,
}

/// Some points with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend; not in the legend if empty.
    pub name: String,
    /// x and y, in the order in which a line joins them. NaN is no value: it breaks a line.
    pub points: Vec<(f64, f64)>,
    /// Lowest and highest y of each point, as long as `points`: a band around a line, error bars on points and bars.
    pub spread: Option<Vec<(f64, f64)>>,
    /// Way in which it is drawn.
    pub mark: Mark,
    /// Number of the colour, marker and dash in the palette. Series of one number look alike: a theory and its
    /// measurement, or one mode in several panels. Where [`None`]: the series' place in the panel; for [`Mark::Dashed`]
    /// a neutral grey.
    pub colour: Option<usize>,
}

/// Way in which a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A line.
    #[default]
    Line,
    /// A marker a point.
    Points,
    /// A small disc a point, where there are many.
    Dots,
    /// Markers joined by a line.
    LineAndPoints,
    /// A solid line with a marker where it begins: a part of a curve.
    Phase,
    /// A thin line of short dashes: theory, a limit, somebody else's fit.
    Dashed,
    /// A value that holds from its x until the next.
    Steps,
    /// Bars from zero (on a logarithmic axis: from its foot). Several series of bars stand side by side.
    Bars,
}

/// Light or dark ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white, for paper.
    #[default]
    Light,
    /// Light on near-black, for screens.
    Dark,
}

impl Theme {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// Returns the name in options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Returns the suffix of the names of files.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Light => "",
            Self::Dark => "-dark",
        }
    }
}

impl Panel {
    /// A panel without series yet.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, ..Self::default() }
    }
}

impl Axis {
    /// A linear axis with the range of its data.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis with the range of its data.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log10, ..Self::default() }
    }

    /// An axis of names.
    pub fn categories<T: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = T>) -> Self {
        let categories = names.into_iter().map(Into::into).collect();
        Self { label: label.into(), categories, ..Self::default() }
    }

    /// An axis of counts: linear, with ticks at whole numbers.
    pub fn counts(label: impl Into<String>) -> Self {
        Self { whole: true, ..Self::linear(label) }
    }

    /// The scale that is drawn: names stand on a linear one.
    pub(crate) fn effective_scale(&self) -> Scale {
        if self.categories.is_empty() { self.scale } else { Scale::Linear }
    }
}

impl Series {
    /// A series with the colour of its place in the panel and no spread.
    pub fn new(name: impl Into<String>, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, mark, ..Self::default() }
    }
}
