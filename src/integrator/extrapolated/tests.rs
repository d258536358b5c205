//! Tests of the arithmetic and of the scheme.

use super::double_double::{DoubleDouble, DoubleDoubles};
use super::limbs::Limbs;
use super::number::{Bodies, Columns, Number};
use super::solver::{low_parts, solver};
use super::{Accuracy, Extrapolated};
use crate::integrator::{Integrator, Progress};
use tisane_force::error::Result;
use tisane_force::force::{Accelerations, ForceEngine, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::digits::Digits;
use tisane_force::time::{Clock, Level, Time};

/// Returns pairs of numbers of all sizes with more digits than f64, by the generator of Marsaglia (2003).
fn pairs<T: Number>() -> Vec<(T, T)> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut number = move || {
        let sum = (0..3).fold(T::exact(0.0), |sum, k| {
            let size = libm::ldexp(random() as f64, (random() % 20) as i32 - 74 - 53 * k);
            sum.plus(T::exact(if random() % 2 == 0 { size } else { -size }))
        });
        sum.times(T::exact(libm::exp2((random() % 60) as f64 - 30.0)))
    };
    let mut found: Vec<(T, T)> = (0..400).map(|_| (number(), number())).collect();
    // Neighbours, of which the difference loses nearly all digits.
    let near = found.iter().map(|(a, b)| (*a, a.plus(b.times(T::exact(1e-25))))).collect::<Vec<_>>();
    found.extend(near);
    found
}

/// Number as a fraction, from its words: exact. [`None`] of those too long for 127 bits.
fn sum_of_parts(value: DoubleDouble) -> (f64, f64) {
    let mut words = Vec::new();
    value.write(&mut words);
    (f64::from_bits(words[0]), f64::from_bits(words[1]))
}

/// Returns a number from a decimal text such as "-12.34".
fn decimal<T: Number>(text: &str) -> T {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1.0), |rest| (rest, -1.0));
    let ten = T::exact(10.0);
    let whole = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(T::exact(0.0), |sum, digit| sum.times(ten).plus(T::exact(f64::from(digit - b'0'))));
    let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    (0..places).fold(whole, |value, _| value.times(T::reciprocal(10))).times(T::exact(sign))
}

/// Digits to which two numbers agree, relative to one.
fn digits_alike<T: Number>(a: T, b: T) -> f64 {
    -libm::log10(a.minus(b).rounded().abs().max(1e-300))
}

fn double_double_of<const L: usize>(value: DoubleDouble) -> Limbs<L> {
    let (hi, lo) = sum_of_parts(value);
    Limbs::exact(hi).plus(Limbs::exact(lo))
}

#[test]
fn double_double_results_are_those_of_many_bits_to_104_bits() {
    let near = |found: DoubleDouble, exact: Limbs<8>, size: Limbs<8>| {
        let error = double_double_of::<8>(found).minus(exact).rounded().abs();
        let bound = size.rounded().abs() * libm::exp2(-103.0);
        assert!(error <= bound, "{found:?}: {error:e} beside {bound:e}");
    };
    for (a, b) in pairs::<DoubleDouble>() {
        let (x, y) = (double_double_of::<8>(a), double_double_of::<8>(b));
        near(a.plus(b), x.plus(y), x.plus(y));
        near(a.minus(b), x.minus(y), x.minus(y));
        near(a.times(b), x.times(y), x.times(y));
        let square = a.times(a);
        let root = double_double_of::<8>(square).inverse_sqrt();
        near(square.inverse_sqrt(), root, root);
    }
    for k in 1..300 {
        near(DoubleDouble::reciprocal(k), Limbs::reciprocal(k), Limbs::reciprocal(k));
    }
}

/// Size of a number of two limbs as a whole number times 2^exponent.
fn integer(value: Limbs<2>) -> (bool, i64, u128) {
    let mut words = Vec::new();
    value.write(&mut words);
    ((words[0] & 1) == 1, ((words[0] as i64) >> 1) - 128, u128::from(words[2]) << 64 | u128::from(words[1]))
}

/// The exact result on four limbs, rounded to two by hand, is the result on two.
#[test]
fn limbs_round_to_nearest_ties_to_even() {
    let wide = |value: Limbs<2>| {
        let (negative, exponent, size) = integer(value);
        let part = |bits: u128, shift: i64| {
            let high = Limbs::<5>::exact((bits as u64 >> 32) as f64 * 4_294_967_296.0);
            let whole = high.plus(Limbs::exact(f64::from(bits as u32)));
            whole.times(Limbs::exact(libm::ldexp(1.0, (exponent + shift) as i32)))
        };
        let sum = part(size >> 64, 64).plus(part(size & u128::from(u64::MAX), 0));
        if negative { Limbs::exact(0.0).minus(sum) } else { sum }
    };
    let check = |found: Limbs<2>, exact: Limbs<5>, what: &str| {
        let error = wide(found).minus(exact);
        if error == Limbs::exact(0.0) {
            return;
        }
        let (_, exponent, size) = integer(found);
        let twice = error.plus(error).rounded().abs() / libm::ldexp(1.0, exponent as i32);
        // At a power of two the numbers below it are nearer.
        let ulp = if size == 1 << 127 && (error.rounded() > 0.0) == (found.rounded() > 0.0) { 0.5 } else { 1.0 };
        assert!(twice < ulp || (twice == ulp && size & 1 == 0), "{what}: {twice} units, {found:?}");
    };
    for (a, b) in pairs::<Limbs<2>>() {
        check(a.plus(b), wide(a).plus(wide(b)), "sum");
        check(a.minus(b), wide(a).minus(wide(b)), "difference");
        check(a.times(b), wide(a).times(wide(b)), "product");
    }
    // Half a unit of the last place, in both directions.
    let one = Limbs::<2>::exact(1.0);
    let half = Limbs::exact(libm::exp2(-128.0));
    assert_eq!(one.plus(half), one);
    let next = one.plus(half).plus(half.plus(half));
    assert_eq!(next.plus(half), next.plus(half.plus(half)));
    assert_eq!(one.minus(one), Limbs::exact(0.0));
    assert!(Limbs::<2>::exact(0.0).inverse_sqrt().rounded().is_nan());
    assert!(Limbs::<2>::exact(f64::INFINITY).plus(one).rounded().is_nan());
}

#[test]
fn numbers_of_f64_come_back_and_words_make_the_same_number() {
    for value in [0.0, 1.0, -0.1, 1e300, 5e-324, -2.5e-310, std::f64::consts::PI] {
        assert_eq!(Limbs::<4>::exact(value).rounded(), value);
        assert_eq!(DoubleDouble::exact(value).rounded(), value);
    }
    for (a, _) in pairs::<Limbs<3>>() {
        let mut words = Vec::new();
        a.write(&mut words);
        assert_eq!(Limbs::read(&words), Some(a));
        words[3] = 1;
        assert_eq!(Limbs::<3>::read(&words), None);
    }
    for (a, _) in pairs::<DoubleDouble>() {
        let mut words = Vec::new();
        a.write(&mut words);
        assert_eq!(DoubleDouble::read(&words), Some(a));
    }
    assert_eq!(DoubleDouble::read(&[1f64.to_bits(), 1f64.to_bits()]), None);
    assert_eq!(DoubleDouble::read(&[f64::NAN.to_bits(), 0]), None);
}

#[test]
fn inverse_roots_have_all_bits() {
    fn check<const L: usize>() {
        for k in [2.0, 3.0, 0.7, 1e-30, 12345.678] {
            let (x, y) = (Limbs::<L>::exact(k), Limbs::<L>::exact(k).inverse_sqrt());
            let bits = -libm::log2(x.times(y.times(y)).minus(Limbs::exact(1.0)).rounded().abs().max(1e-320));
            assert!(bits > f64::from(Limbs::<L>::BITS.min(1060)) - 4.0, "{L} limbs: {bits} bits");
        }
    }
    check::<3>();
    check::<4>();
    check::<6>();
    check::<8>();
    check::<16>();
}

/// The sums over pairs on vector units are those over pairs one by one on limbs, also of particles without mass.
#[test]
fn accelerations_of_both_arithmetics_agree() {
    for n in [2, 3, 8, 9, 17, 31] {
        let rows = usize::next_multiple_of(n, DoubleDoubles::ROWS);
        let mass: Vec<f64> = (0..n).map(|i| if i % 4 == 3 { 0.0 } else { 1.0 / (1.0 + i as f64) }).collect();
        let coordinate = |c: usize, i: usize| libm::sin((3 * i + c) as f64) * (1.0 + i as f64 / 7.0);
        let epsilon = 1.0 / 64.0;
        let mut padded = mass.clone();
        padded.resize(rows, 0.0);
        let (mut pos, mut acc) = (DoubleDoubles::zeros(3 * rows), DoubleDoubles::zeros(3 * rows));
        let (mut exact_pos, mut exact_acc) = (Vec::<Limbs<4>>::zeros(3 * n), Vec::<Limbs<4>>::zeros(3 * n));
        for c in 0..3 {
            for i in 0..n {
                // Two particles without mass at one place.
                let i_of = if i == 7 { 3 } else { i };
                pos.set(c * rows + i, DoubleDouble::exact(coordinate(c, i_of)));
                exact_pos.set(c * n + i, Limbs::exact(coordinate(c, i_of)));
            }
        }
        let epsilon2 = DoubleDouble::exact(epsilon * epsilon);
        DoubleDoubles::accelerate(&Bodies { n, mass: padded, epsilon2 }, &pos, &mut acc);
        let epsilon2 = Limbs::exact(epsilon * epsilon);
        Columns::accelerate(&Bodies { n, mass: mass.clone(), epsilon2 }, &exact_pos, &mut exact_acc);
        for c in 0..3 {
            for i in 0..n {
                let exact = exact_acc.get(c * n + i);
                let error = double_double_of::<4>(acc.get(c * rows + i)).minus(exact).rounded().abs();
                assert!(error < 1e-27, "N = {n}, particle {i}: {error:e}");
            }
        }
    }
}

/// Engine that must not be asked for anything but to hold the particles.
struct Idle;

impl ForceEngine<Accelerations> for Idle {
    fn load(&mut self, _: &Particles) -> Result<()> {
        Ok(())
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        unreachable!("the scheme has its own forces")
    }

    fn evaluate(&mut self, _: Time, _: Targets<'_>, _: &mut Accelerations) -> Result<()> {
        unreachable!("the scheme has its own forces")
    }
}

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 };

/// The Pythagorean problem (Burrau 1913).
fn pythagorean() -> Particles {
    let pos = [[1.0, 3.0], [-2.0, -1.0], [1.0, -1.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    Particles::new(vec![3.0, 4.0, 5.0], pos.to_vec(), vec![Vec3::zeros(); 3])
}

/// Returns the particles at t = `end`, in calls of up to `max` steps.
fn run(mut p: Particles, tolerance: f64, bits: u32, end: u64, max: u64) -> (Particles, Progress) {
    let mut scheme = Extrapolated::new(Accuracy { tolerance, bits }, CLOCK);
    let mut sum = scheme.start(&mut p, &mut Idle).unwrap();
    while sum.now < Time::from_dt_max(end) {
        let done = scheme.advance(&mut p, &mut Idle, Time::from_dt_max(end), max).unwrap();
        assert!(done.block_steps > 0 && done.block_steps <= max);
        sum = sum.plus(&done);
    }
    (p, sum)
}

/// Digits to which x and y of the three bodies are those of a text.
fn digits_of<T: Number>(p: &Particles, expected: [[&str; 2]; 3]) -> f64 {
    let words = &p.states.get::<Digits>().words;
    let found = |i: usize, c: usize| T::read(&words[(6 * i + c) * T::WORDS..][..T::WORDS]).unwrap();
    let all = (0..3).flat_map(|i| (0..2).map(move |c| (i, c)));
    all.map(|(i, c)| digits_alike(found(i, c), decimal(expected[i][c]))).fold(f64::INFINITY, f64::min)
}

/// Two solutions of 192 and 256 bits by a program in MPFR agree in these digits.
const AT_10: [[&str; 2]; 3] = [
    ["0.7784804101380854931090928104211615", "0.1413923002900861686167927708724563"],
    ["-2.02509247797819858616035837545258", "0.09721938414605839650247149165131092"],
    ["1.152985736299707573062831014109367", "-0.1626108874908984183720528558445225"],
];

#[test]
fn validate_pythagorean_in_double_double() {
    let digits = [1e-12, 1e-18, 1e-24].map(|tolerance| {
        let (p, _) = run(pythagorean(), tolerance, 106, 10, u64::MAX);
        digits_of::<DoubleDouble>(&p, AT_10)
    });
    // Three digits are lost to the number of steps and to the growth of errors.
    assert!(digits[0] > 8.0 && digits[1] > digits[0] + 5.0 && digits[2] > digits[1] + 5.0, "{digits:?}");
}

#[test]
fn validate_pythagorean_in_192_bits() {
    let (p, done) = run(pythagorean(), 1e-37, 192, 10, u64::MAX);
    let digits = digits_of::<Limbs<3>>(&p, AT_10);
    assert!(digits > 33.0, "{digits}, {done:?}");
}

#[test]
fn calls_and_restarts_change_no_bit() {
    for (bits, tolerance) in [(106, 1e-20), (256, 1e-30)] {
        let (whole, done) = run(pythagorean(), tolerance, bits, 4, u64::MAX);
        let (parts, of_parts) = run(pythagorean(), tolerance, bits, 4, 3);
        assert!(whole == parts && done == of_parts, "{bits} bits");
        // Another integrator that has the particles alone, as from a checkpoint, from amid two multiples of dt_max.
        let mut first = Extrapolated::new(Accuracy { tolerance, bits }, CLOCK);
        let mut p = pythagorean();
        first.start(&mut p, &mut Idle).unwrap();
        let now = first.advance(&mut p, &mut Idle, Time::from_dt_max(4), 7).unwrap().now;
        let mut second = Extrapolated::new(Accuracy { tolerance, bits }, CLOCK);
        second.resume(&p, now, &mut Idle).unwrap();
        second.advance(&mut p, &mut Idle, Time::from_dt_max(4), u64::MAX).unwrap();
        assert!(p == whole, "{bits} bits");
        assert_eq!(p.state_sha256(&CLOCK), whole.state_sha256(&CLOCK));
        // The hash knows digits that f64 does not have.
        let mut other = whole.clone();
        other.states.get_mut::<Digits>().words[1] ^= 1;
        assert_ne!(other.state_sha256(&CLOCK), whole.state_sha256(&CLOCK));
    }
}

#[test]
fn a_kick_takes_effect_and_the_other_digits_stay() {
    let (mut p, _) = run(pythagorean(), 1e-20, 106, 2, u64::MAX);
    let before = p.states.get::<Digits>().words.clone();
    p.vel[0].x += 0.5;
    let mut stored = p.clone();
    solver(&p, 106, 0.0, 1e-20).unwrap().store(&mut stored);
    let after = &stored.states.get::<Digits>().words;
    assert_eq!((f64::from_bits(after[6]), after[7]), (p.vel[0].x, 0));
    assert_eq!((&after[..6], &after[8..]), (&before[..6], &before[8..]));
    // Words that are none are an error, not a number.
    p.states.get_mut::<Digits>().words[1] = f64::NAN.to_bits();
    assert!(solver(&p, 106, 0.0, 1e-20).is_err());
}

/// With both parts a position has the digits that f64 does not have.
#[test]
fn low_parts_are_what_f64_leaves_of_the_numbers() {
    assert!(low_parts(&pythagorean()).is_none());
    for (bits, tolerance) in [(106, 1e-24), (192, 1e-30)] {
        let (mut p, _) = run(pythagorean(), tolerance, bits, 10, u64::MAX);
        let [pos, vel] = low_parts(&p).unwrap();
        for (i, [x, y]) in AT_10.iter().enumerate() {
            for (c, text) in [x, y].into_iter().enumerate() {
                let found = Limbs::<4>::exact(p.pos[i][c]).plus(Limbs::exact(pos[i][c]));
                let digits = digits_alike(found, decimal(text));
                assert!(digits > 19.0, "{bits} bits: {digits}");
                assert!(pos[i][c].abs() <= p.pos[i][c].abs() * libm::exp2(-53.0));
            }
        }
        // A velocity that was changed is exactly what it was changed to.
        assert!(vel[1].x != 0.0);
        p.vel[1].x += 0.5;
        assert_eq!(low_parts(&p).unwrap()[1][1], Vec3::new(0.0, vel[1].y, vel[1].z));
    }
}

#[test]
fn rows_that_leave_take_their_digits_with_them() {
    let (mut p, _) = run(pythagorean(), 1e-20, 192, 1, u64::MAX);
    let words = p.states.get::<Digits>().words.clone();
    p.remove_rows(&[1]);
    let each = words.len() / 3;
    assert_eq!(p.states.get::<Digits>().words, [&words[..each], &words[2 * each..]].concat());
}

#[test]
fn a_moment_between_steps_is_reached_without_a_trace() {
    let (p, _) = run(pythagorean(), 1e-20, 106, 1, u64::MAX);
    let mut scheme = Extrapolated::new(Accuracy { tolerance: 1e-20, bits: 106 }, CLOCK);
    scheme.resume(&p, Time::from_dt_max(1), &mut Idle).unwrap();
    let moment = Time(Time::from_dt_max(1).0 + Level(7).ticks());
    let there = scheme.synchronised(&p, moment, &mut Idle).unwrap();
    assert!(there.time.iter().all(|time| *time == moment) && there.pos != p.pos);
    // By shorter steps from there, the end of the step is the same to the tolerance.
    let mut through = there;
    let mut short = Extrapolated::new(Accuracy { tolerance: 1e-22, bits: 106 }, CLOCK);
    short.resume(&through, moment, &mut Idle).unwrap();
    short.advance(&mut through, &mut Idle, Time::from_dt_max(2), u64::MAX).unwrap();
    let mut direct = p;
    scheme.advance(&mut direct, &mut Idle, Time::from_dt_max(2), u64::MAX).unwrap();
    for i in 0..3 {
        assert!((through.pos[i] - direct.pos[i]).norm() < 1e-14);
    }
}

#[test]
fn a_passage_closer_than_the_shortest_step_is_followed_in_parts_of_it() {
    // From rest but for 10^-6 of the speed on a circle: the pericentre is at 5·10^-13 of the distance, where a radian takes 10^-18.
    let pos = vec![Vec3::new(-0.5, 0.0, 0.0), Vec3::new(0.5, 0.0, 0.0)];
    let vel = vec![Vec3::new(0.0, -5e-7, 0.0), Vec3::new(0.0, 5e-7, 0.0)];
    let from = Particles::new(vec![0.5; 2], pos, vel);
    let accuracy = Accuracy { tolerance: 1e-26, bits: 192 };
    let (mut p, mut there) = (from.clone(), Extrapolated::new(accuracy, CLOCK));
    there.start(&mut p, &mut Idle).unwrap();
    let mut shortest = Level(0);
    let until = Time::from_dt_max(2);
    while there.advance(&mut p, &mut Idle, until, 1).unwrap().now < until {
        shortest = shortest.max(p.step[0]);
    }
    // They have passed each other and part again.
    assert!(shortest == Level::DEEPEST && p.vel[0].x < -0.1, "{shortest:?} {}", p.vel[0].x);
    let mut back = Extrapolated::new(accuracy, Clock { dt_max: -CLOCK.dt_max, ..CLOCK });
    back.resume(&p, Time::default(), &mut Idle).unwrap();
    while back.advance(&mut p, &mut Idle, until, u64::MAX).unwrap().now < until {}
    assert!((p.pos[0] - from.pos[0]).norm() < 1e-9, "{:e}", (p.pos[0] - from.pos[0]).norm());
}

#[test]
fn a_collision_without_softening_is_an_error_and_softening_a_passage() {
    let two = || {
        let pos = vec![Vec3::new(-0.5, 0.0, 0.0), Vec3::new(0.5, 0.0, 0.0)];
        Particles::new(vec![0.5; 2], pos, vec![Vec3::zeros(); 2])
    };
    let mut scheme = Extrapolated::new(Accuracy { tolerance: 1e-18, bits: 106 }, CLOCK);
    let mut p = two();
    scheme.start(&mut p, &mut Idle).unwrap();
    let error = scheme.advance(&mut p, &mut Idle, Time::from_dt_max(4), u64::MAX).unwrap_err().to_string();
    assert!(error.contains("does not converge"), "{error}");
    let (mut p, mut scheme) = (two(), Extrapolated::new(Accuracy { tolerance: 1e-18, bits: 106 }, CLOCK));
    scheme.set_softening(0.125);
    scheme.start(&mut p, &mut Idle).unwrap();
    scheme.advance(&mut p, &mut Idle, Time::from_dt_max(4), u64::MAX).unwrap();
    let energy = |p: &Particles| {
        let kinetic = 0.25 * (p.vel[0].norm_squared() + p.vel[1].norm_squared());
        kinetic - 0.25 / ((p.pos[1] - p.pos[0]).norm_squared() + 0.125 * 0.125).sqrt()
    };
    assert!((energy(&p) - energy(&two())).abs() < 1e-15, "{}", energy(&p) - energy(&two()));
}
