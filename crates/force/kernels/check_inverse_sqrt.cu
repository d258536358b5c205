// Compares the quick 1/sqrt(x) of precision.cuh with the compiler's two IEEE operations: for every x for which the last
// step could round wrongly (see there), and for random x. A separate program:
#include "precision.cuh"
#include <cstdio>
#include <cstdlib>

__device__ const double HARD[] = {
#include "hard_inverse_sqrt.inc"
};
constexpr int HARD_COUNT = sizeof(HARD) / sizeof(double);
/// Powers of 4 by which the hard values are scaled, from 4^-LOW on: the range of the quick path.
constexpr int LOW = 484, SCALES = 980;

__device__ u64 wrong, quick;

__device__ void check(double x) {
    bool odd = false;
    double got = inverse_sqrt(x, odd), want = inverse_sqrt(x);
    if (odd) return;
    atomicAdd(&quick, 1);
    if (__double_as_longlong(got) != __double_as_longlong(want)) {
        if (atomicAdd(&wrong, 1) < 100) printf("1/sqrt(%a) is %a, came as %a\n", x, want, got);
    }
}

__global__ void hard() {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < HARD_COUNT * SCALES) check(scalbn(HARD[k / SCALES], 2 * (k % SCALES - LOW)));
}

/// splitmix64 of a counter: mantissa, and an exponent of 0 or 1 (every other range is the same by scaling).
__global__ void random_values(u64 first, u64 count) {
    for (u64 k = first + blockIdx.x * blockDim.x + threadIdx.x; k < first + count; k += gridDim.x * (u64)blockDim.x) {
        u64 z = k * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        z ^= z >> 31;
        double x = __longlong_as_double(0x3ff0000000000000ll + (long long)(z >> 11));
        bool odd = false;
        if (__double_as_longlong(inverse_sqrt(x, odd)) != __double_as_longlong(inverse_sqrt(x)) || odd) check(x);
    }
}

int main(int arguments, char **argument) {
    u64 billions = arguments > 1 ? strtoull(argument[1], nullptr, 10) : 1;
    hard<<<(HARD_COUNT * SCALES + 127) / 128, 128>>>();
    for (u64 k = 0; k < billions; ++k) random_values<<<4096, 256>>>(k << 30, 1ull << 30);
    u64 found = 1, compared = 0;
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&found, wrong, sizeof found);
    cudaMemcpyFromSymbol(&compared, quick, sizeof compared);
    printf("%d hard values at %d scales (%llu compared), %llu·2^30 random values: %llu wrong (%s)\n", HARD_COUNT, SCALES,
           compared, billions, found, cudaGetErrorString(error));
    return error != cudaSuccess || found != 0;
}
