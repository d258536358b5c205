// The canonical sum: mirrors src/force/canonical.rs. Bags of BAG consecutive sources, then the aligned pairwise tree.
#pragma once
#include "precision.cuh"

/// Number of sources in a bag.
constexpr int BAG = 64;

/// Sum of the nodes of WIDTH sums that arrive in order, like a binary counter: level l is kept where bit l of the count
/// is set.
template <class N, int WIDTH, int DEPTH> struct TreeSum {
    N nodes[DEPTH][WIDTH];
    u32 count = 0;

    /// Adds the next node of each sum; destroys `node`.
    __device__ __forceinline__ void push(N (&node)[WIDTH]) {
        int level = 0;
        for (; count >> level & 1; ++level) {
#pragma unroll
            for (int k = 0; k < WIDTH; ++k) node[k] = plus(nodes[level][k], node[k]);
        }
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) nodes[level][k] = node[k];
        ++count;
    }

    /// Returns the roots over all nodes: the remaining ones merge from the right, missing children left out.
    __device__ __forceinline__ void root(N (&node)[WIDTH]) const {
        bool empty = true;
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) node[k] = zero<N>();
        for (int level = 0; level < DEPTH; ++level) {
            if (count >> level & 1) {
#pragma unroll
                for (int k = 0; k < WIDTH; ++k) node[k] = empty ? nodes[level][k] : plus(nodes[level][k], node[k]);
                empty = false;
            }
        }
    }
};
