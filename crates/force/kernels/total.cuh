// Sum over the bags of a span, for kernels in which a thread loops over them in order.
#pragma once
#include "canonical.cuh"

/// Number of levels of the tree in a span: at most 2^(DEPTH - 1) bags in the modes that sum by the tree.
constexpr int DEPTH = 12;

/// WIDTH sums over bags for T targets, in the mode's order: by the tree, one after the other, or none where there is
/// one running sum.
template <class M, int T, int WIDTH> struct Total {
    static constexpr bool TREE = M::ORDER == Order::Tree;
    using Node = typename M::Node;
    TreeSum<Node, T * WIDTH, TREE ? DEPTH : 1> tree;
    Node in_order[T * WIDTH];

    __device__ __forceinline__ Total() {
#pragma unroll
        for (int k = 0; k < T * WIDTH; ++k) in_order[k] = zero<Node>();
    }

    /// Adds the sums of a bag and resets them for the next bag.
    template <class S> __device__ __forceinline__ void take(S (&sums)[T]) {
        if (M::ORDER == Order::Running) return;
        Node node[T * WIDTH];
#pragma unroll
        for (int k = 0; k < T * WIDTH; ++k) node[k] = sums[k / WIDTH].node(k % WIDTH);
        if (TREE) {
            tree.push(node);
        } else {
            append([&](int k) { return node[k]; });
        }
#pragma unroll
        for (int j = 0; j < T; ++j) sums[j].clear();
    }

    /// Adds the next bag's sums, which another thread computed, in the modes that add bags in order.
    template <class F> __device__ __forceinline__ void append(F node) {
#pragma unroll
        for (int k = 0; k < T * WIDTH; ++k) in_order[k] = plus(in_order[k], node(k));
    }

    template <class S> __device__ __forceinline__ void finish(const S (&sums)[T], Node (&node)[T * WIDTH]) const {
        if (TREE) {
            tree.root(node);
        } else {
#pragma unroll
            for (int k = 0; k < T * WIDTH; ++k)
                node[k] = M::ORDER == Order::Running ? sums[k / WIDTH].node(k % WIDTH) : in_order[k];
        }
    }
};
