//! Formulas of laws.

use tisane::law::evaluate::Quantities;
use tisane::law::{Column, Formula, Law, LawSource};

/// Parameters of the seeds.
const PARAMETERS: [(&str, f64); 9] = [
    ("a", 0.75),
    ("b", -2.0),
    ("c", 8.0),
    ("depth", 0.5),
    ("h", 1.5),
    ("k", 2.0),
    ("lambda", 0.3),
    ("radius", 3.0),
    ("sigma", 1.0),
];

/// Compiles any text as a potential or an acceleration, with and without units. A mistake has its place in the text; a
/// program that is accepted ends, and its short form has the same acceleration to the bit.
pub fn laws(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (has_units, formula) in [(false, Formula::Potential(text.into())), (true, Formula::Acceleration(text.into()))] {
        let source = LawSource { has_units, ..LawSource::new(formula, &PARAMETERS) };
        let columns = vec![Column { unit: 2.0, ..source.clone().with_columns(&["q"]).columns.remove(0) }];
        match Law::new(LawSource { columns, ..source }) {
            Ok(law) => evaluate(&law),
            Err(mistake) => {
                assert!(text.get(mistake.span.clone()).is_some(), "{mistake}");
                assert!(!mistake.problem.is_empty());
            }
        }
    }
}

fn evaluate(law: &Law) {
    for s2 in [0.0_f64, 0.5, 4.0] {
        let pair = Quantities { s2, mass: [1.5, 0.0], source: &[1.0], target: &[-1.0] };
        let whole = law.program().evaluate(&pair, &mut Vec::new());
        let alone = law.accelerations().evaluate(&pair, &mut Vec::new());
        assert_eq!(whole.factor.to_bits(), alone.factor.to_bits());
    }
}
