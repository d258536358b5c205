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
/// Bytes of the host for a particle and for a neighbour where it is known whose lists a particle is in: numbers of 4 bytes in
/// vectors, with room to grow.
const OWNERS: [u64; 2] = [24, 8];
/// Bytes of a device for a source without its lists: state, forces, sums, exchanges.
const ON_DEVICE: u64 = 1300;
/// Bytes of a device for a place in a list: that of the old and that of the new one.
const PLACE: u64 = 8;
/// Bytes of a device for any number of particles: lists on their way to the host.
const PACKED: u64 = 64 << 20;

/// Returns the bytes for `n` particles with a mean `number` of neighbours: of the host beyond those of other schemes, and of a
/// device that takes the steps. Particles that change between block steps need to know whose lists they are in.
pub fn needed(order: Order, n: u64, number: f64, changes: bool) -> [u64; 2] {
    let state = if order == Order::Six { STATE[0] } else { STATE[1] };
    let others = n.saturating_sub(1);
    let number = number.min(others as f64);
    let places = ((MAX_LISTED * number) as u64 + 1).min(n) + 1;
    let [own, neighbour] = if changes { OWNERS } else { [0, 0] };
    let host = state + WORK + own + ((NEIGHBOUR + neighbour) as f64 * number) as u64;
    let each = [host, ON_DEVICE + PLACE * places.next_multiple_of(4)];
    let [host, device] = each.map(|bytes| bytes.saturating_mul(n));
    [host, device.saturating_add(PACKED)]
}

#[cfg(test)]
mod tests {
    use super::super::numbers::neighbour_number;
    use super::*;
    use tisane_force::states::history::History;
    use tisane_force::states::neighbours::Neighbours;
    use tisane_force::states::{Column, SchemeState, Values};

    #[test]
    fn the_state_is_that_of_the_columns() {
        let n = 100;
        for (order, expected) in [(Order::Six, STATE[0]), (Order::Four, STATE[1])] {
            let [points, derivatives] = order.history();
            let (history, of) = (History::new(n, points, derivatives), Neighbours::new(n, points, derivatives));
            let bytes = |column: Column<Values<'_>>| match column.values {
                Values::Vectors(of) => size_of_val(of),
                Values::Numbers(of) | Values::Reals(of) => size_of_val(of),
                Values::Moments(of) => size_of_val(of),
                Values::Steps(of, levels) => size_of_val(of) + size_of_val(levels),
                Values::Lists(of) => size_of_val(of),
                Values::Words(of) | Values::Digits(of) => size_of_val(of),
            };
            let all: usize = history.columns().into_iter().chain(of.columns()).map(bytes).sum();
            assert_eq!(all as u64, expected * n as u64, "{order:?}");
        }
    }

    #[test]
    fn memory_is_as_measured() {
        // 27 GB of a device for 2^20 particles with the default number; peaks of the host over those of hermite4.
        let gb = |bytes: u64| bytes as f64 / 1e9;
        let [_, device] = needed(Order::Six, 1 << 20, neighbour_number(1 << 20), false);
        assert!((gb(device) / 27.0 - 1.0).abs() < 0.05, "{device}");
        for (n, number, measured) in
            [(32768, 136.0, 0.160e9), (32768, 400.0, 0.357e9), (32768, 4.0, 0.063e9), (8192, 400.0, 0.102e9)]
        {
            let [host, _] = needed(Order::Six, n, number, false);
            assert!((host as f64 / measured - 1.0).abs() < 0.2, "{n} {number}: {host}, not {measured}");
        }
        assert_eq!(needed(Order::Four, 0, f64::INFINITY, false), [0, PACKED]);
        assert!(needed(Order::Six, u64::MAX, 9.0, false)[0] == u64::MAX);
        let [plain, changing] = [false, true].map(|changes| needed(Order::Six, 1000, 50.0, changes)[0]);
        assert_eq!(changing - plain, 1000 * (24 + 8 * 50));
    }
}
