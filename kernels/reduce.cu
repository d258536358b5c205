// The total over spans, in the mode's order. One thread a target and sum.
#include "call.cuh"

/// Spans that a thread reads at a time: their loads are in flight together.
constexpr int CHUNK = 32;
/// Levels of the tree above a chunk: room for all sources that a u32 can number.
constexpr int CHUNK_DEPTH = 17;

/// The pairwise tree over COUNT nodes, a power of two.
template <int COUNT, class N> __device__ __forceinline__ N pairwise(const N *node) {
    if constexpr (COUNT == 1) return node[0];
    else return plus(pairwise<COUNT / 2>(node), pairwise<COUNT / 2>(node + COUNT / 2));
}

template <class M> __device__ __forceinline__ void reduce(const Call &call) {
    using Node = typename M::Node;
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 k = thread / SUMS, s = thread % SUMS;
    if (k >= call.batch) return;
    TreeSum<Node, 1, M::ORDER == Order::Tree ? CHUNK_DEPTH : 1> tree;
    Node total = zero<Node>();
    for (u32 first = 0; first < call.spans; first += CHUNK) {
        Node node[CHUNK];
#pragma unroll
        for (int c = 0; c < CHUNK; ++c)
            node[c] = first + c < call.spans ? partial_of<M>(call, first + c, k)[s] : zero<Node>();
        if (M::ORDER == Order::Tree) {
            // Spans that do not exist are exact zeros, which change nothing.
            Node one[1] = {pairwise<CHUNK>(node)};
            tree.push(one);
        } else {
#pragma unroll
            for (int c = 0; c < CHUNK; ++c) total = plus(total, node[c]);
        }
    }
    if (M::ORDER == Order::Tree) {
        Node root[1];
        tree.root(root);
        total = root[0];
    }
    size_t target = call.first_target + k, n = call.targets;
    size_t place = s < 3 ? 3 * target + s : s < 6 ? 3 * n + 3 * target + (s - 3) : 6 * n + target;
    // Every -0 becomes +0, as in `Pull::from_sums`.
    call.out[place] = value(total) + 0.0;
}

#define TISANE_REDUCE(name, M)                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) reduce_##name(const __grid_constant__ Call call) {               \
        reduce<M>(call);                                                                                               \
    }
TISANE_EACH_MODE(TISANE_REDUCE)
