// Kernels of the papers, in f32, to be measured for comparison: simple pairwise; tiles of one dimension (Nyland, Harris
// and Prins 2007, GPU Gems 3, chapter 31) with unrolled loops and several threads a body; tiles of two dimensions (the
// report "GPU-accelerated simulation of gravitational N-body problem") in the report's stages. All include a particle's
// pair with itself in the sum, which softening makes a zero. Mirrored by crates/lab/src/literature/gpu_kernels.rs.
typedef unsigned int u32;

struct PaperCall {
    // Position and mass: [slot]; padding has no mass.
    const float4 *bodies;
    // Sums of the threads that share a target: [span][component][slot].
    float *partial;
    // Accelerations: [component][slot].
    float *out;
    float eps2;
    u32 bodies_count;
    // Number of bodies and padding.
    u32 slots;
    // Number of sources of a thread in two-dimensional tiles.
    u32 luf;
    u32 spans;
};

/// Pair of GPU Gems 3, listing 31-1: 20 operations. RSQRT: the hardware's 1/sqrt (the report, §4.5) replaces square
/// root and division.
template <bool RSQRT>
__device__ __forceinline__ void interact(float4 target, float4 source, float eps2, float (&acc)[3]) {
    float x = source.x - target.x, y = source.y - target.y, z = source.z - target.z;
    float s2 = __fmaf_rn(x, x, __fmaf_rn(y, y, __fmaf_rn(z, z, eps2)));
    float factor;
    if (RSQRT) {
        float root;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(s2));
        factor = source.w * (root * root * root);
    } else {
        factor = source.w * (1.0f / sqrtf(s2 * s2 * s2));
    }
    acc[0] = __fmaf_rn(x, factor, acc[0]);
    acc[1] = __fmaf_rn(y, factor, acc[1]);
    acc[2] = __fmaf_rn(z, factor, acc[2]);
}

__device__ __forceinline__ void keep(float *to, u32 slots, u32 i, const float (&acc)[3]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) to[(size_t)c * slots + i] = acc[c];
}

/// Simple pairwise (the report, §3.1): one thread a target, every source from global memory.
template <bool RSQRT> __device__ __forceinline__ void simple(const PaperCall &call) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 target = call.bodies[i];
    float acc[3] = {0, 0, 0};
    for (u32 j = 0; j < call.bodies_count; ++j) interact<RSQRT>(target, call.bodies[j], call.eps2, acc);
    keep(call.out, call.slots, i, acc);
}

/// Tiles of one dimension (GPU Gems 3, listings 31-2 and 31-3): p = blockDim.x targets, tiles of p sources in shared
/// memory, the loop unrolled UNROLL times, which divides p. Each of q = blockDim.y threads of a target takes a segment
/// of the sources.
template <bool RSQRT, int UNROLL> __device__ __forceinline__ void tiles(const PaperCall &call) {
    extern __shared__ float4 tile[];
    u32 p = blockDim.x, q = blockDim.y, i = blockIdx.x * p + threadIdx.x;
    float4 *mine = tile + threadIdx.y * p;
    float4 target = call.bodies[i];
    float acc[3] = {0, 0, 0};
    u32 segment = call.slots / q;
    for (u32 first = threadIdx.y * segment; first < (threadIdx.y + 1) * segment; first += p) {
        mine[threadIdx.x] = call.bodies[first + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (u32 j = 0; j < p; j += UNROLL) {
#pragma unroll
            for (u32 u = 0; u < UNROLL; ++u) interact<RSQRT>(target, mine[j + u], call.eps2, acc);
        }
        __syncthreads();
    }
    if (q > 1) {
        mine[threadIdx.x] = {acc[0], acc[1], acc[2], 0};
        __syncthreads();
        if (threadIdx.y > 0) return;
        for (u32 row = 1; row < q; ++row) {
            float4 more = tile[row * p + threadIdx.x];
            acc[0] += more.x;
            acc[1] += more.y;
            acc[2] += more.z;
        }
    }
    keep(call.out, call.slots, i, acc);
}

/// Place of the sources of two-dimensional tiles: in global memory; in shared memory, each thread's in a row; the same,
/// filled with a counter in memory, which spares a register (the report, §4.4); in shared memory, the threads' in turn,
/// so that they are in separate banks (§4.7).
enum class Sources { Global, Rows, Volatile, Strided };

/// Tiles of two dimensions (the report, §4.1): blockDim.y targets; each of the blockDim.x threads of a target takes
/// `luf` sources and passes on their sum. LEN, LUF: blockDim.x and luf where they are known in advance (the report's
/// GPU8), or 0.
template <bool RSQRT, Sources SOURCES, int LEN, int LUF, int UNROLL>
__device__ __forceinline__ void grid(const PaperCall &call) {
    extern __shared__ float4 tile[];
    const u32 len = LEN ? LEN : blockDim.x, luf = LUF ? LUF : call.luf;
    u32 i = blockIdx.y * blockDim.y + threadIdx.y, span = blockIdx.x * len + threadIdx.x;
    const float4 *from = call.bodies + (size_t)blockIdx.x * len * luf;
    u32 thread = threadIdx.y * len + threadIdx.x, threads = len * blockDim.y;
    if (SOURCES == Sources::Rows) {
        u32 each = len * luf / threads;
        for (u32 k = 0; k < each; ++k) tile[thread * each + k] = from[thread * each + k];
    } else if (SOURCES == Sources::Volatile) {
        u32 each = len * luf / threads;
        for (volatile u32 k = 0; k < each; k = k + 1) tile[thread * each + k] = from[thread * each + k];
    } else if (SOURCES == Sources::Strided) {
        for (u32 k = thread; k < len * luf; k += threads) tile[k] = from[k];
    }
    if (SOURCES != Sources::Global) __syncthreads();
    float4 target = call.bodies[i];
    float acc[3] = {0, 0, 0};
#pragma unroll UNROLL
    for (u32 k = 0; k < luf; ++k) {
        u32 place = SOURCES == Sources::Strided ? k * len + threadIdx.x : threadIdx.x * luf + k;
        interact<RSQRT>(target, SOURCES == Sources::Global ? from[place] : tile[place], call.eps2, acc);
    }
    keep(call.partial + (size_t)span * 3 * call.slots, call.slots, i, acc);
}

#define TISANE_PAPER(name, ...)                                                                                        \
    extern "C" __global__ void __launch_bounds__(1024) paper_##name(const __grid_constant__ PaperCall call) { __VA_ARGS__(call); }
TISANE_PAPER(simple_sqrt, simple<false>)
TISANE_PAPER(simple_rsqrt, simple<true>)
#define TISANE_PAPER_TILES(U)                                                                                          \
    TISANE_PAPER(tiles_sqrt_##U, tiles<false, U>)                                                                      \
    TISANE_PAPER(tiles_rsqrt_##U, tiles<true, U>)
TISANE_PAPER_TILES(1)
TISANE_PAPER_TILES(2)
TISANE_PAPER_TILES(4)
TISANE_PAPER_TILES(8)
TISANE_PAPER_TILES(16)
TISANE_PAPER_TILES(32)
TISANE_PAPER(grid_unrolled, grid<false, Sources::Global, 0, 0, 8>)
TISANE_PAPER(grid_rsqrt, grid<true, Sources::Global, 0, 0, 8>)
TISANE_PAPER(grid_shared, grid<true, Sources::Rows, 0, 0, 8>)
TISANE_PAPER(grid_registers, grid<true, Sources::Volatile, 0, 0, 8>)
TISANE_PAPER(grid_banks, grid<true, Sources::Strided, 0, 0, 8>)
#define TISANE_PAPER_FIXED(LEN, LUF) TISANE_PAPER(grid_fixed_##LEN##_##LUF, grid<true, Sources::Strided, LEN, LUF, 32>)
TISANE_PAPER_FIXED(1, 128)
TISANE_PAPER_FIXED(1, 256)
TISANE_PAPER_FIXED(1, 512)
TISANE_PAPER_FIXED(1, 1024)
TISANE_PAPER_FIXED(2, 128)
TISANE_PAPER_FIXED(2, 256)
TISANE_PAPER_FIXED(2, 512)
TISANE_PAPER_FIXED(4, 128)
TISANE_PAPER_FIXED(4, 256)
TISANE_PAPER_FIXED(8, 128)

/// Simple sum over the spans (the report, §4.1.2.1): one thread a target and component.
extern "C" __global__ void __launch_bounds__(256) paper_sum(const __grid_constant__ PaperCall call) {
    size_t k = blockIdx.x * blockDim.x + threadIdx.x, row = (size_t)3 * call.slots;
    if (k >= row) return;
    float sum = 0;
    for (u32 span = 0; span < call.spans; ++span) sum += call.partial[span * row + k];
    call.out[k] = sum;
}
