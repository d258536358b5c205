use super::super::field::tide_times;
use super::super::places::vector;
use super::*;
use crate::formula::Parameter;
use crate::formula::dimension::GravityDimension;
use proptest::prelude::*;

fn field(potential: &str, parameters: &[(&str, f64)]) -> FormulaField {
    FormulaField::checked(&FieldSource::new(potential, parameters), Vec3::zeros()).unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn a_plummer_sphere_as_a_formula_is_the_built_in_one() {
    let (position, parameters) = (Vec3::new(0.5, -1.0, 2.0), [("mass", 3.0), ("a", 0.75)]);
    let source = FieldSource::new("-G*mass/sqrt(r^2 + a^2)", &parameters);
    let formula = FormulaField::checked(&source, position).unwrap();
    let built_in = super::super::plummer::Plummer { mass: 3.0, position, scale_radius: 0.75 };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} is not {b}");
    for (x, v) in [(Vec3::new(1.0, 0.25, 1.5), Vec3::new(0.5, -2.0, 1.0)), (position, Vec3::x())] {
        close(formula.pot(x, 0.0), built_in.pot(x, 0.0));
        assert!((formula.acc(x, 0.0) - built_in.acc(x, 0.0)).norm() < 1e-14);
        assert!((formula.jerk(x, v, 0.0) - built_in.jerk(x, v, 0.0)).norm() < 1e-14);
        formula.tide(x, 0.0).into_iter().zip(built_in.tide(x, 0.0)).for_each(|(a, b)| close(a, b));
        assert_eq!(formula.rate(x, v, 0.0), [0.0; 2]);
    }
}

/// Difference quotient of fourth order.
fn slope(f: impl Fn(f64) -> f64) -> f64 {
    const H: f64 = 1e-3;
    let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(k * H));
    (a - 8.0 * b + 8.0 * c - d) / (12.0 * H)
}

#[test]
fn verify_derivatives_by_differences_in_place_and_time() {
    let formulas = [
        "-(1 + 0.5*sin(3*t))/sqrt(r^2 + 0.25)",
        "log(x^2 + 2*y^2 + 3*z^2 + 0.4) + x*y*cos(t)",
        "exp(-t)*gammap(0.6, r^2)/r - 0.2*(x*cos(2*t) + y*sin(2*t))^2",
        "if(r < 1.2, r^4/(1 + R), r^3*1.2/(1 + R))*t^2",
    ];
    for formula in formulas {
        let field = field(formula, &[]);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{formula}: {a} is not {b}");
        for (x, v, t) in [
            (Vec3::new(0.7, -0.4, 1.1), Vec3::new(0.3, 1.2, -0.5), 0.3),
            (Vec3::new(-0.4, 0.3, 0.2), Vec3::new(-1.0, 0.1, 2.0), 1.75),
        ] {
            for (k, unit) in [Vec3::x(), Vec3::y(), Vec3::z()].into_iter().enumerate() {
                close(field.acc(x, t)[k], -slope(|h| field.pot(x + h * unit, t)));
                let tide = tide_times(field.tide(x, t), unit);
                (0..3).for_each(|l| close(tide[l], slope(|h| field.acc(x + h * unit, t)[l])));
                close(field.jerk(x, v, t)[k], slope(|h| field.acc(x + h * v, t + h)[k]));
            }
            let [rate, along] = field.rate(x, v, t);
            close(rate, slope(|h| field.pot(x, t + h)));
            close(along, slope(|h| field.rate(x + h * v, v, t + h)[0]));
        }
    }
}

/// On any vector unit, for whole chunks of places and for some, with all operations.
#[test]
fn several_places_together_have_the_bits_of_each_alone() {
    let formulas = [
        "-(1 + 0.5*sin(3*t))/sqrt(r^2 + 0.25) + min(x, y)*max(y, z)*1e-3",
        "log(x^2 + 2*y^2 + 3*z^2 + 0.4) + x*y*cos(t) - R^1.7/(1 + r)",
        "exp(-t)*gammap(0.6, r^2)/r - 0.2*(x*cos(2*t) + y*sin(2*t))^2",
        "if(r < 1.2, r^4/(1 + R), r^3*1.2/(1 + R))*t^2",
    ];
    let place = |k: usize| Vec3::from_fn(|axis, _| ((k * (5 + 2 * axis) + axis) % 31) as f64 / 10.0 - 1.4);
    for formula in formulas {
        let field = FormulaField { position: Vec3::new(0.25, 0.5, -0.125), ..field(formula, &[]) };
        for width in Width::available() {
            let together = FormulaField { width, ..field.clone() };
            for number in [1, 2, LANES - 1, LANES] {
                let pos: Vec<Vec3> = (0..number).map(place).collect();
                let vel: Vec<Vec3> = (0..number).map(|k| place(k + 7)).collect();
                let at = Places::new(&pos, &vel);
                let (acc, forces) = (together.accelerations(&at, 0.75), together.forces(&at, 0.75));
                let (rates, tides) = (together.rates(&at, 0.75), together.tides(&at, 0.75));
                for lane in 0..number {
                    let (x, v) = (pos[lane], vel[lane]);
                    let want = (field.acc(x, 0.75), field.jerk(x, v, 0.75), field.pot(x, 0.75));
                    assert!(want.2.is_finite() && forces.of(lane) == want, "{formula}, {width:?}, {lane} of {number}");
                    assert_eq!(vector(&acc, lane), want.0);
                    assert_eq!(rates.map(|rate| rate[lane]), field.rate(x, v, 0.75));
                    assert_eq!(tides.map(|it| it[lane]), field.tide(x, 0.75));
                }
            }
        }
    }
}

#[test]
fn mistakes_show_their_places() {
    let parameter = |name: &str, dimension| Parameter { name: name.into(), value: 2.0, dimension };
    let parameters = vec![parameter("mass", GravityDimension::MASS), parameter("a", GravityDimension::LENGTH)];
    let mistake = |formula: &str| {
        let source = FieldSource { parameters: parameters.clone(), has_units: true, ..FieldSource::new(formula, &[]) };
        FormulaField::checked(&source, Vec3::zeros()).expect_err(formula)
    };
    for (formula, problem, place) in [
        ("-G*mas/r", "unknown name `mas`: did you mean `mass`?", "mas"),
        ("-G*mass/r^2", "expected a velocity² (an energy per mass), found an acceleration", "-G*mass/r^2"),
        ("-G*mass/(r + 1)", "a length and a pure number are added", "r + 1"),
        ("-mass/a*gammap(2, r/a)", "expected a constant above 0 and at most 1.5 as the first argument of gammap", "2"),
        ("-mass/a*exp(t)", "expected a pure number as the argument of exp, found a time", "t"),
        ("if(r < a, mass/a, -mass/r)", "the potential jumps at r = 2 (internal units), from 1 to -1", ""),
    ] {
        let found = mistake(formula);
        assert!(found.problem.starts_with(problem), "{formula}: {}", found.problem);
        if !place.is_empty() {
            assert_eq!(&found.formula[found.span.clone()], place, "{formula}");
        }
    }
}

#[test]
fn a_kink_is_a_remark() {
    let kink = field("if(r < 2, 0.125*(r^2 - 4), 0)", &[]);
    assert_eq!(
        kink.notes(),
        ["the acceleration jumps between the parts of the formula: steps across are of low order"]
    );
    assert!(field("-1/r", &[]).notes().is_empty());
}

#[test]
fn a_formula_of_too_many_operations_is_refused() {
    let terms = (1..110).map(|k| format!("+sin({k}*x*y + {k}*z*t)*exp(-{k}*r)")).collect::<String>();
    let problem = FormulaField::checked(&FieldSource::new(&terms, &[]), Vec3::zeros()).expect_err("too long").problem;
    assert_eq!(problem, "the formula is too long: it needs more than 4096 operations");
}

/// Returns a random formula.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["x", "y", "z", "t", "r", "R", "2", "0.5"]).prop_map(str::to_owned);
    leaf.prop_recursive(4, 16, 3, |inner| {
        let two = (inner.clone(), inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "^"]));
        prop_oneof![
            two.prop_map(|(a, b, sign)| format!("({a}{sign}{b})")),
            (inner.clone(), prop::sample::select(vec!["exp", "log", "sin", "cos", "sqrt", "abs", "-"]))
                .prop_map(|(a, function)| format!("{function}({a})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("if({a} < 1, {b}, max({c}, {a}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_an_answer(text in "\\PC*") {
        let _ = FormulaField::checked(&FieldSource::new(&text, &[]), Vec3::zeros());
    }

    #[test]
    fn random_formulas_have_right_derivatives(text in formula()) {
        // The check by differences is inside; only these answers may come.
        if let Err(mistake) = FormulaField::checked(&FieldSource::new(&text, &[]), Vec3::zeros()) {
            let expected = ["the potential jumps", "the constant part", "the formula is too long"];
            prop_assert!(expected.iter().any(|it| mistake.problem.starts_with(it)), "{}", mistake);
        }
    }
}

#[test]
fn wrong_derivatives_are_found() {
    let right = Programs::compile(&FieldSource::new("-1/sqrt(r^2 + 1)", &[])).expect("a formula");
    assert_eq!(check::check(&right), Ok(vec![]));
    let wrong = Programs { acc: right.jerk.clone(), ..right.clone() };
    assert!(check::check(&wrong).expect_err("a wrong force").starts_with("the derivative of the potential at r ="));
}
