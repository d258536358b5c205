//! Memory that the scheme takes, for a forecast.

use super::numbers::{MAX_LISTED, Order};

/// Bytes of a particle's state beyond that of other schemes, without its neighbours, at orders 6 and 4.
const STATE: [u64; 2] = [353, 145];
/// Bytes of the host for a particle in a block of all, and in an output: forces in two parts, bits of neighbours, what
/// lists exchange. As measured on systems of 8192 and 32768 particles.
const WORK: u64 = 1500;
/// Bytes of the host for a neighbour: the lists that particles have, those that they get, with room to grow, and those of a
/// checkpoint on their way into the file. As measured.
const NEIGHBOUR: u64 = 24;
/// Bytes of a device for a source without its lists: state, forces, sums, exchanges.
const ON_DEVICE: u64 = 1300;
/// Bytes of a device for a place in a list: that of the old and that of the new one.
const PLACE: u64 = 8;
/// Bytes of a device for any number of particles: lists on their way to the host.
const PACKED: u64 = 64 << 20;

/// Returns the bytes for `n` particles with a mean `number` of neighbours: of the host beyond those of other schemes, and of a
/// device that takes the steps.
pub fn needed(order: Order, n: u64, number: f64) -> [u64; 2] {
    let state = if order == Order::Six { STATE[0] } else { STATE[1] };
    let others = n.saturating_sub(1);
    let number = number.min(others as f64);
    let places = ((MAX_LISTED * number) as u64 + 1).min(n) + 1;
    let each = [state + WORK + (NEIGHBOUR as f64 * number) as u64, ON_DEVICE + PLACE * places.next_multiple_of(4)];
    let [host, device] = each.map(|bytes| bytes.saturating_mul(n));
    [host, device.saturating_add(PACKED)]
}

#[cfg(test)]
mod tests {
    use super::super::numbers::neighbour_number;
    use super::*;
    use tisane_force::particles::{History, Neighbours, Particles, Vec3};

    #[test]
    fn the_state_is_that_of_the_columns() {
        let n = 100;
        for (order, expected) in [(Order::Six, STATE[0]), (Order::Four, STATE[1])] {
            let [points, derivatives] = order.history();
            let zeros = || vec![Vec3::zeros(); n];
            let mut p = Particles::new(vec![1.0; n], zeros(), zeros());
            p.history = History::new(n, points, derivatives);
            p.neighbours = Neighbours::new(n, points, derivatives);
            let of = &p.neighbours;
            let history = |of: &History| {
                let points =
                    of.points.iter().map(|it| size_of_val(&*it.acc) + size_of_val(&*it.jerk) + size_of_val(&*it.time));
                points.sum::<usize>() + of.derivatives.iter().map(|it| size_of_val(&**it)).sum::<usize>()
            };
            let vectors = [&of.acc, &of.jerk, &of.regular_acc, &of.regular_jerk].map(|it| size_of_val(&**it));
            let numbers =
                [size_of_val(&*of.regular_pot), size_of_val(&*of.regular_time), size_of_val(&*of.regular_step)];
            let lists = [size_of_val(&*of.radius), size_of_val(&*of.lists)];
            let columns: usize = vectors.iter().chain(&numbers).chain(&lists).sum();
            let all = columns + history(&p.history) + history(&of.regular_history);
            assert_eq!(all as u64, expected * n as u64, "{order:?}");
        }
    }

    #[test]
    fn memory_is_as_measured() {
        // 27 GB of a device for 2^20 particles with the default number; peaks of the host over those of hermite4.
        let gb = |bytes: u64| bytes as f64 / 1e9;
        let [_, device] = needed(Order::Six, 1 << 20, neighbour_number(1 << 20));
        assert!((gb(device) / 27.0 - 1.0).abs() < 0.05, "{device}");
        for (n, number, measured) in
            [(32768, 136.0, 0.160e9), (32768, 400.0, 0.357e9), (32768, 4.0, 0.063e9), (8192, 400.0, 0.102e9)]
        {
            let [host, _] = needed(Order::Six, n, number);
            assert!((host as f64 / measured - 1.0).abs() < 0.2, "{n} {number}: {host}, not {measured}");
        }
        assert_eq!(needed(Order::Four, 0, f64::INFINITY), [0, PACKED]);
        assert!(needed(Order::Six, u64::MAX, 9.0)[0] == u64::MAX);
    }
}
