// Runs the pairs and sums of the kernels of a law on the host: compiled by a C++ compiler with USER_LAW, the file of the
// law's type, and with the folder of kernels on the include path. Takes the name of a mode; reads from standard input, as
// 8-byte numbers, N, eps^2, and for each particle position, velocity, mass and columns; writes for each particle the seven
// sums of the forces and the three of the accelerations, in f64. With "elementary" in place of a mode it reads pairs x, y up
// to the end, and writes e^x, ln x, sin x, cos x and x^y of each.
#include "cuda_on_host.hpp"

#include "law.cuh"
// After the kernels' own.
#include "acceleration.cuh"
#include "total.cuh"
#include USER_LAW

struct Input {
    u32 n, slots;
    double eps2;
    // Position and velocity; masses and columns, column by column.
    std::vector<double> state, mass;
};

/// Adds the bags in the mode's order, and writes the sums of a target.
template <class M, class B, class S, int SUMS_OF>
void sum(const Input &in, const std::vector<float4> &units, const B &body, u32 i, double *out) {
    B target[1] = {body};
    S sums[1];
    sums[0].clear();
    Total<M, 1, SUMS_OF> total;
    for (u32 bag = 0; bag * BAG < in.n; ++bag) {
        u32 place[1] = {i - bag * BAG};
        add_sources<M, 1, 1, true, false>(&units[(size_t)bag * BAG * B::UNITS], target, place, in.n - bag * BAG,
                                          (typename M::Real)in.eps2, sums, WholeBag{});
        total.take(sums);
    }
    typename M::Node node[SUMS_OF];
    total.finish(sums, node);
    for (int s = 0; s < SUMS_OF; ++s) out[s] = value(node[s]) + 0.0;
}

template <class Mode> void run(const Input &in) {
    using M = ByLaw<Mode, UserLaw>;
    std::vector<float4> bodies((size_t)in.slots * UNITS<M>), places((size_t)in.slots * Place<M>::UNITS);
    for (u32 i = 0; i < in.slots; ++i) {
        double pos[3], vel[3];
        for (int c = 0; c < 3; ++c) {
            pos[c] = i < in.n ? in.state[6 * i + c] : NOWHERE<M>;
            vel[c] = i < in.n ? in.state[6 * i + 3 + c] : 0;
        }
        Columns<typename M::Real, M::COLUMNS> columns;
        read_columns(in.mass.data(), in.slots, i, columns);
        float4 *body = &bodies[(size_t)i * UNITS<M>], *place = &places[(size_t)i * Place<M>::UNITS];
        write_body(body, Body<M>::of(pos, vel, in.mass[i]));
        write(body + Body<M>::STATE_UNITS, columns);
        write_place<M>(place, pos, in.mass[i]);
        write(place + Place<M>::STATE_UNITS, columns);
    }
    Call call{};
    std::vector<u32> index(in.n);
    for (u32 i = 0; i < in.n; ++i) index[i] = i;
    call.mass = const_cast<double *>(in.mass.data());
    call.target_index = index.data();
    call.target_state = in.state.data();
    call.sources = in.n;
    call.slots = in.slots;
    for (u32 i = 0; i < in.n; ++i) {
        double out[SUMS + COMPONENTS];
        u32 own;
        Body<M> target = read_target<M>(call, i, own);
        sum<M, Body<M>, Sums<M>, SUMS>(in, bodies, target, own, out);
        Place<M> place;
        read(&places[(size_t)i * Place<M>::UNITS], place);
        sum<M, Place<M>, Pulls<M>, COMPONENTS>(in, places, place, i, out + SUMS);
        std::fwrite(out, sizeof out, 1, stdout);
    }
}

/// Evaluates the elementary functions.
int elementary_functions() {
    double x[2];
    while (std::fread(x, sizeof x, 1, stdin) == 1) {
        double values[] = {elementary::exp(x[0]), elementary::log(x[0]), elementary::sin(x[0]), elementary::cos(x[0]),
                           elementary::pow(x[0], x[1]), elementary::exp((float)x[0])};
        std::fwrite(values, sizeof values, 1, stdout);
    }
    return 0;
}

int main(int, char **arguments) {
    if (std::string(arguments[1]) == "elementary") return elementary_functions();
    auto number = [] {
        double x = 0;
        if (std::fread(&x, sizeof x, 1, stdin) != 1) std::exit(1);
        return x;
    };
    Input in;
    in.n = (u32)number();
    in.eps2 = number();
    in.slots = (in.n + BAG - 1) / BAG * BAG;
    in.mass.resize((size_t)in.slots * (1 + UserLaw::COLUMNS));
    for (u32 i = 0; i < in.n; ++i) {
        for (int c = 0; c < 6; ++c) in.state.push_back(number());
        for (int c = 0; c <= UserLaw::COLUMNS; ++c) in.mass[(size_t)c * in.slots + i] = number();
    }
#define RUN_MODE(name, Mode)                                                                                           \
    if (std::string(arguments[1]) == #name) return run<Mode>(in), 0;
    TISANE_EACH_MODE(RUN_MODE)
    return 1;
}
