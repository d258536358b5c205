// Sums over spans, in the mode's order.
#pragma once
#include "call.cuh"

/// Number of spans that a thread reads at a time: their loads are in flight together.
constexpr int CHUNK = 32;
/// Number of levels of the tree above a chunk, enough for all sources that a u32 can index.
constexpr int CHUNK_DEPTH = 17;

/// Returns the pairwise tree over COUNT nodes, a power of two.
template <int COUNT, class N> __device__ __forceinline__ N pairwise(const N *node) {
    if constexpr (COUNT == 1) return node[0];
    else return plus(pairwise<COUNT / 2>(node), pairwise<COUNT / 2>(node + COUNT / 2));
}

// Reads from L2: other multiprocessors may have written it in this kernel.
__device__ __forceinline__ double fresh(const double *node) { return __ldcg(node); }
__device__ __forceinline__ float fresh(const float *node) { return __ldcg(node); }
__device__ __forceinline__ Twofold fresh(const Twofold *node) {
    float2 both = __ldcg(reinterpret_cast<const float2 *>(node));
    return {both.x, both.y};
}

/// Returns sum number `s` of target `k` over the spans from `begin` to `end`; in a tree mode `begin` is aligned.
template <class M, class Call>
__device__ __forceinline__ typename M::Node over_spans(const Call &call, u32 k, u32 s, u32 begin, u32 end) {
    using Node = typename M::Node;
    TreeSum<Node, 1, M::ORDER == Order::Tree ? CHUNK_DEPTH : 1> tree;
    Node total = zero<Node>();
    for (u32 first = begin; first < end; first += CHUNK) {
        Node node[CHUNK];
#pragma unroll
        for (int c = 0; c < CHUNK; ++c)
            node[c] = first + c < end ? fresh(sum_of<M>(call, first + c, k, s)) : zero<Node>();
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
    return total;
}

/// Writes a force to the host's memory. Every -0 becomes +0, as in `Force::from_sums`.
template <class N> __device__ __forceinline__ void hand_over(const Call &call, u32 k, u32 s, N total) {
    call.out[(size_t)(call.first_target + k) * SUMS + s] = value(total) + 0.0;
}
