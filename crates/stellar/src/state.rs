//! Types of stars and the state of one: plain data.

/// Type of a star, numbered as by Hurley, Pols & Tout (2000).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Main-sequence star, wholly or deeply convective: below about 0.7 solar masses.
    LowMassMainSequence = 0,
    /// Main-sequence star.
    MainSequence = 1,
    /// Star in the Hertzsprung gap.
    HertzsprungGap = 2,
    /// Star on the first giant branch.
    GiantBranch = 3,
    /// Star that burns helium in its core.
    CoreHeliumBurning = 4,
    /// Star on the early asymptotic giant branch.
    EarlyAsymptoticGiant = 5,
    /// Star on the thermally pulsing asymptotic giant branch.
    ThermallyPulsingGiant = 6,
    /// Naked helium star that burns helium in its core.
    HeliumMainSequence = 7,
    /// Naked helium star in its Hertzsprung gap.
    HeliumHertzsprungGap = 8,
    /// Naked helium star on its giant branch.
    HeliumGiantBranch = 9,
    /// White dwarf of helium.
    HeliumWhiteDwarf = 10,
    /// White dwarf of carbon and oxygen.
    CarbonOxygenWhiteDwarf = 11,
    /// White dwarf of oxygen and neon.
    OxygenNeonWhiteDwarf = 12,
    /// Neutron star.
    NeutronStar = 13,
    /// Black hole.
    BlackHole = 14,
    /// No remnant: the star has no mass any more.
    NoRemnant = 15,
}

/// Class of types that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Stars of the main sequence, types 0 and 1.
    MainSequence,
    /// Stars beyond the main sequence with an envelope of hydrogen, types 2 to 6.
    Giant,
    /// Naked helium stars, types 7 to 9.
    HeliumStar,
    /// White dwarfs, types 10 to 12.
    WhiteDwarf,
    /// Neutron stars, type 13.
    NeutronStar,
    /// Black holes, type 14.
    BlackHole,
}

impl Class {
    /// All classes, in the order of their types.
    pub const ALL: [Self; 6] =
        [Self::MainSequence, Self::Giant, Self::HeliumStar, Self::WhiteDwarf, Self::NeutronStar, Self::BlackHole];

    /// Returns the name of more than one, in lower case.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::MainSequence => "main sequence",
            Self::Giant => "giants",
            Self::HeliumStar => "helium stars",
            Self::WhiteDwarf => "white dwarfs",
            Self::NeutronStar => "neutron stars",
            Self::BlackHole => "black holes",
        }
    }
}

impl Kind {
    /// All types in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::LowMassMainSequence,
        Self::MainSequence,
        Self::HertzsprungGap,
        Self::GiantBranch,
        Self::CoreHeliumBurning,
        Self::EarlyAsymptoticGiant,
        Self::ThermallyPulsingGiant,
        Self::HeliumMainSequence,
        Self::HeliumHertzsprungGap,
        Self::HeliumGiantBranch,
        Self::HeliumWhiteDwarf,
        Self::CarbonOxygenWhiteDwarf,
        Self::OxygenNeonWhiteDwarf,
        Self::NeutronStar,
        Self::BlackHole,
        Self::NoRemnant,
    ];

    /// Returns the number of the type, 0 to 15.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the type of a number, 0 to 15.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LowMassMainSequence => "low-mass main sequence",
            Self::MainSequence => "main sequence",
            Self::HertzsprungGap => "Hertzsprung gap",
            Self::GiantBranch => "first giant branch",
            Self::CoreHeliumBurning => "core helium burning",
            Self::EarlyAsymptoticGiant => "early AGB",
            Self::ThermallyPulsingGiant => "thermally pulsing AGB",
            Self::HeliumMainSequence => "helium main sequence",
            Self::HeliumHertzsprungGap => "helium Hertzsprung gap",
            Self::HeliumGiantBranch => "helium giant branch",
            Self::HeliumWhiteDwarf => "He white dwarf",
            Self::CarbonOxygenWhiteDwarf => "C/O white dwarf",
            Self::OxygenNeonWhiteDwarf => "O/Ne white dwarf",
            Self::NeutronStar => "neutron star",
            Self::BlackHole => "black hole",
            Self::NoRemnant => "no remnant",
        }
    }

    /// Returns the class; [`None`] where nothing is left.
    #[must_use]
    pub fn class(self) -> Option<Class> {
        Some(match self.number() {
            0..=1 => Class::MainSequence,
            2..=6 => Class::Giant,
            7..=9 => Class::HeliumStar,
            10..=12 => Class::WhiteDwarf,
            13 => Class::NeutronStar,
            14 => Class::BlackHole,
            _ => return None,
        })
    }

    /// Returns true for white dwarfs, neutron stars, black holes and what left nothing.
    #[must_use]
    pub fn is_remnant(self) -> bool {
        self >= Self::HeliumWhiteDwarf
    }

    /// Returns true for naked helium stars, types 7 to 9.
    #[must_use]
    pub fn is_helium_star(self) -> bool {
        self >= Self::HeliumMainSequence && !self.is_remnant()
    }

    /// Returns true for the two types of the hydrogen main sequence.
    #[must_use]
    pub fn is_main_sequence(self) -> bool {
        self <= Self::MainSequence
    }
}

/// State of a star at one moment. With the metallicity and the options it determines the rest of its life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Type.
    pub kind: Kind,
    /// Effective initial mass M0, in solar masses: it fixes time scales and luminosities.
    pub effective_mass: f64,
    /// Present mass, in solar masses.
    pub mass: f64,
    /// Mass of the core, in solar masses: of helium for types 2 to 5, of carbon and oxygen for 6, 8 and 9, all of a
    /// remnant.
    pub core_mass: f64,
    /// Age since the epoch of the present life, in Myr: since zero age, of a helium star too; of a remnant since its
    /// birth.
    pub age: f64,
    /// Luminosity, in solar luminosities.
    pub luminosity: f64,
    /// Radius, in solar radii.
    pub radius: f64,
}

impl State {
    /// Returns the effective temperature in K: 1000 (1130 L/R²)^(1/4), as SSE has it. The Sun has 5797.9 K.
    #[must_use]
    pub fn temperature(&self) -> f64 {
        (1130.0 * self.luminosity / (self.radius * self.radius)).sqrt().sqrt() * 1000.0
    }
}
