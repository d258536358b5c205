use super::evaluate::{Factors, Quantities};
use super::program::{Input, Op};
use super::*;
use crate::formula::Parameter;
use proptest::prelude::*;

fn law(potential: &str, parameters: &[(&str, f64)]) -> Law {
    Law::new(LawSource::new(Formula::Potential(potential.into()), parameters)).unwrap_or_else(|it| panic!("{it}"))
}

/// Returns the message of a formula that is wrong, in units with names.
fn mistake(formula: Formula) -> Mistake {
    let parameter = |name: &str, dimension| Parameter { name: name.into(), value: 2.0, dimension };
    let source = LawSource {
        formula,
        parameters: vec![parameter("lambda", GravityDimension::LENGTH), parameter("n", GravityDimension::NONE)],
        columns: vec![Column { name: "charge".into(), unit: 1.0, dimension: GravityDimension::NONE }],
        has_units: true,
    };
    Law::new(source).expect_err("a mistake")
}

fn evaluate(law: &Law, s: f64, mass: [f64; 2]) -> Factors<f64> {
    law.program().evaluate(&Quantities { s2: s * s, mass, source: &[], target: &[] }, &mut Vec::new())
}

#[test]
fn newton_as_a_law_is_as_short_as_newton_built_in() {
    let newton = law("-G*m_i*m_j/s", &[]);
    let ops = &newton.program().ops;
    // m_j, 1/s, m_j/s, 1/s², m_j/s³, −3, m_j/s⁵, −3 m_j/s⁵: no mass of the target
    assert_eq!(ops.len(), 8, "{ops:?}");
    assert!(!newton.program().reads_target());
    assert_eq!(newton.accelerations().ops.len(), 5);
    let pair = crate::gravity::pair(3.0, [0.3, 0.4, 1.2], [0.0; 3], 0.0);
    let of = newton.program().evaluate(
        &Quantities {
            s2: crate::gravity::softened_square([0.3, 0.4, 1.2], 0.0),
            mass: [3.0, 0.0],
            source: &[],
            target: &[],
        },
        &mut Vec::new(),
    );
    assert_eq!((of.factor, of.minus_potential), (pair.m_s3, pair.m_s));
}

#[test]
fn a_massless_target_is_accelerated_where_the_formula_has_its_mass() {
    for formula in ["-m_i*m_j/s", "-m_i*m_j/s - m_j*m_i*exp(-s)", "m_i*if(s < 1, s^2 - 1, log(s))*m_j", "-(m_i/s)*m_j"]
    {
        let law = law(formula, &[]);
        assert!(!law.program().reads_target(), "{formula}");
        assert!(evaluate(&law, 0.7, [1.0, 0.0]).factor.is_finite(), "{formula}");
    }
}

#[test]
fn every_operation_is_derived_and_checked_by_differences() {
    // `Law::new` compares the derivatives with differences; here with the derivative by hand at one place.
    let s: f64 = 0.8;
    let cases: [(&str, f64); 12] = [
        ("s^2", 2.0 * s),
        ("sqrt(1 + s^2)", s / (1.0 + s * s).sqrt()),
        ("exp(-s^2)", -2.0 * s * (-s * s).exp()),
        ("log(1 + s)", 1.0 / (1.0 + s)),
        ("sin(2*s)*cos(s)", 2.0 * (2.0 * s).cos() * s.cos() - (2.0 * s).sin() * s.sin()),
        ("(1 + s)^(-3/2)", -1.5 * (1.0 + s).powf(-2.5)),
        ("s^0.3", 0.3 * s.powf(-0.7)),
        ("(1 + s)^s", (1.0 + s).powf(s) * ((1.0 + s).ln() + s / (1.0 + s))),
        ("min(s, 1)^2 + max(s, 1)", 2.0 * s),
        ("abs(s - 1)", -1.0),
        ("if(s < 1, s^3, 3*s - 2)", 3.0 * s * s),
        ("if(s > 1, s, s^2/2 + 1/2)", s),
    ];
    for (formula, by_hand) in cases {
        let of = evaluate(&law(formula, &[]), s, [1.0, 1.0]);
        assert!((of.factor * s - by_hand).abs() < 1e-13, "{formula}: {} is not {by_hand}", of.factor * s);
    }
}

#[test]
fn precedence_is_that_of_mathematics() {
    for (formula, value) in [
        ("2 + 3*4", 14.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("8/2/2", 2.0),
        ("1 - 2 - 3", -4.0),
        ("2*-3", -6.0),
        ("(1 + 2)*3", 9.0),
        ("2**3", 8.0),
        ("1.5e1 + .5", 15.5),
        ("if(1 < 2, 3, 4) + if(1 > 2, 30, 40)", 43.0),
        ("cos(0) + min(1, 2) + max(1, 2) + abs(-3)", 7.0),
    ] {
        let of = evaluate(&law(&format!("{formula} + 0*s"), &[]), 1.0, [1.0, 1.0]);
        assert_eq!(-of.minus_potential, value, "{formula}");
    }
}

#[test]
fn mistakes_show_their_places() {
    let long = format!("s{}", "+s".repeat(3000));
    let chain = format!("s{}", "+s".repeat(300));
    let deep = format!("{}s{}", "(".repeat(80), ")".repeat(80));
    let cases: &[(&str, &str, &str)] = &[
        ("-m_i*m_j*exp(-s/lamda)/s", "unknown name `lamda`: did you mean `lambda`?", "lamda"),
        ("-m_i*m_j*epx(-s/lambda)/s", "unknown function `epx`: did you mean `exp`?", "epx"),
        ("-m_i*m_j*exp(-s)/s", "expected a pure number as the argument of exp, found a length", "-s"),
        ("-m_i*m_j/s^2", "expected an energy, found mass^2 length^-2 (with G = 1)", "-m_i*m_j/s^2"),
        ("-m_i*m_j/(s + 1)", "a length and a pure number are added", "s + 1"),
        ("m_i*m_j/s*if(s < n, 1, 2)", "a length and a pure number are compared", "s < n"),
        ("-m_i*m_j/s*(s/lambda)^s", "expected a pure number as an exponent, found a length", "s"),
        ("-m_i*m_j/s^(s/lambda)", "a length is raised to a power that is not a constant", "s/lambda"),
        ("-m_i*m_j/s + 1/0", "the constant part of this is inf: is something divided by 0?", "1/0"),
        (
            "-m_i*m_j/s*log(n - 3)",
            "the constant part of this is not a real number: is something divided by 0?",
            "log(n - 3)",
        ),
        ("-m_i*m_j/", "expected a number, a name or `(`, found the end of the formula", ""),
        ("-m_i*m_j/s s", "expected an operator or the end of the formula, found `s`", "s"),
        ("-m_i*(m_j/s", "expected `)`, found the end of the formula", ""),
        ("-m_i*m_j/s # no", "`#` has no place in a formula", "#"),
        ("m_i*m_j*min(s)", "min has 2 arguments, found 1", "min(s)"),
        ("m_i*m_j/sqrt", "expected arguments after the function: sqrt(…)", "sqrt"),
        ("m_i*m_j/if(s, 1, 2)", "expected `<` or `>`, as in if(s < a, …, …), found `,`", ","),
        ("m_i*m_j/(1e999*s)", "the number is too large", "1e999"),
        (&long, "a formula has at most 4096 bytes, this one has 6001", ""),
        (&chain, "more than 256 operators in a row: put some into brackets", "s"),
        (&deep, "the formula is nested more than 64 deep", "("),
    ];
    for (formula, problem, place) in cases {
        let mistake = mistake(Formula::Potential((*formula).into()));
        assert_eq!(&mistake.problem, problem, "{formula}");
        assert_eq!(&mistake.formula[mistake.span.clone()], *place, "{formula}");
    }
    let shown = mistake(Formula::Potential("-m_i*m_j*exp(-s/lamda)/s".into())).to_string();
    assert!(shown.ends_with("\n  -m_i*m_j*exp(-s/lamda)/s\n                  ^^^^^"), "{shown}");
}

#[test]
fn a_formula_of_too_many_operations_is_refused() {
    let terms = (1..240).map(|k| format!("+sin({k}*s)")).collect::<String>();
    let source = LawSource::new(Formula::Potential(format!("1{terms}")), &[]);
    let problem = Law::new(source).expect_err("too long").problem;
    assert_eq!(problem, "the formula is too long: it needs more than 1024 operations");
}

#[test]
fn jumps_and_a_broken_symmetry_are_seen() {
    let of = |formula| mistake(formula).problem;
    let jump = of(Formula::Potential("-m_i*m_j*if(s < lambda, 1/s, 0)".into()));
    assert!(jump.starts_with("the potential jumps at s = 2 (internal units), from -0.62"), "{jump}");
    let unequal = of(Formula::Potential("-m_i^2/s".into()));
    assert!(unequal.starts_with("the potential energy of i and j is not that of j and i"), "{unequal}");
    let truncated =
        Law::new(LawSource::new(Formula::Acceleration("if(s < 2, m_j/s^2, 0)".into()), &[])).expect("a law");
    let [note] = truncated.notes() else { panic!("one note, found {:?}", truncated.notes()) };
    assert!(note.starts_with("the acceleration jumps at s = 2 "), "{note}");
    let one_sided = Law::new(LawSource::new(Formula::Acceleration("1/s^2".into()), &[])).expect("a law");
    assert_eq!(one_sided.notes(), ["the force of j on i is not that of i on j: momentum is not conserved"]);
    assert!(!one_sided.has_potential());
}

#[test]
fn units_are_those_of_the_parameters() {
    let with = |dimension| {
        let parameters = vec![Parameter { name: "a".into(), value: 0.5, dimension }];
        let formula = Formula::Potential("-m_i*m_j/sqrt(s^2 + a^2)".into());
        Law::new(LawSource { formula, parameters, columns: vec![], has_units: true })
    };
    assert!(with(GravityDimension::LENGTH).is_ok());
    assert!(with(GravityDimension::NONE).is_err());
    assert!(with(GravityDimension::MASS).is_err());
    // A velocity squared is an energy per mass, since G = 1.
    let velocity = GravityDimension::with_time(0.0, 1.0, -1.0);
    let parameters = vec![Parameter { name: "c".into(), value: 10.0, dimension: velocity }];
    let formula = Formula::Potential("-G*m_i*m_j/(s - 2*G*(m_i + m_j)/c^2)".into());
    assert!(Law::new(LawSource { formula, parameters, columns: vec![], has_units: true }).is_ok());
}

#[test]
fn names_have_one_meaning() {
    let named = |names: &[(&str, f64)]| Law::new(LawSource::new(Formula::Potential("1/s".into()), names)).map(|_| ());
    assert!(named(&[("a", 1.0), ("b2_", 2.0)]).is_ok());
    for bad in ["s", "m_i", "G", "exp", "if", "2a", "", "a b", "é"] {
        assert!(named(&[(bad, 1.0)]).is_err(), "{bad}");
    }
    assert!(named(&[("a", 1.0), ("a", 2.0)]).is_err());
}

#[test]
fn columns_of_particles_are_found_by_name() {
    let source = LawSource::new(Formula::Potential("q_i*q_j/s".into()), &[]).with_columns(&["q"]);
    let law = Law::new(source).expect("a law");
    let mut particles = Particles::new(vec![1.0; 2], vec![Default::default(); 2], vec![Default::default(); 2]);
    assert!(law.columns(&particles).is_err());
    particles.columns.push(crate::particles::NamedColumn { name: "q".into(), values: vec![1.0, -1.0] });
    assert_eq!(law.columns(&particles).expect("columns"), [&[1.0, -1.0]]);
    assert!(law.program().ops.contains(&Op::Input(Input::Source(0))));
    particles.columns[0].values.pop();
    assert!(law.columns(&particles).is_err());
}

/// Returns a random formula of this depth.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("s".to_owned()), Just("a".to_owned()), Just("2".to_owned()), Just("0.5".to_owned())];
    leaf.prop_recursive(4, 24, 3, |inner| {
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
    #[test]
    fn any_text_gets_an_answer(text in "\\PC*") {
        let _ = Law::new(LawSource::new(Formula::Potential(text), &[]));
    }

    #[test]
    fn random_formulas_have_right_derivatives(text in formula()) {
        // The check by differences is inside; only these answers may come.
        if let Err(mistake) = Law::new(LawSource::new(Formula::Potential(text), &[("a", 1.5)])) {
            let expected = ["the potential jumps", "the constant part", "the formula is too long"];
            prop_assert!(expected.iter().any(|it| mistake.problem.starts_with(it)), "{}", mistake);
        }
    }
}

#[test]
fn wrong_derivatives_are_found() {
    let right = law("-m_i*m_j*exp(-s)/s", &[]).program().clone();
    assert_eq!(check::check(&right), Ok(vec![]));
    let mut wrong = right.clone();
    wrong.slope = Some(wrong.factor);
    assert!(check::check(&wrong).expect_err("a wrong jerk").starts_with("the derivative of the acceleration at s ="));
    wrong = right;
    wrong.minus_potential = Some(wrong.factor);
    assert!(check::check(&wrong).expect_err("a wrong force").starts_with("the derivative of the potential at s ="));
}

#[test]
fn forces_that_underflow_are_no_mistake() {
    assert!(law("-m_i*m_j*exp(-s/lambda)/s", &[("lambda", 0.7)]).notes().is_empty());
}
