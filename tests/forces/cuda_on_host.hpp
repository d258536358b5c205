// What kernels use of CUDA, for a C++ compiler: IEEE operations, and a warp of one lane.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#define __device__
#define __forceinline__ inline
#define TISANE_IEEE
// The seeds of approximations: nothing here needs them.
#define asm(...)
using std::min;

struct float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct double2 {
    double x, y;
};

template <class To, class From> To bits(From from) {
    To to;
    static_assert(sizeof to == sizeof from, "numbers of one size");
    std::memcpy(&to, &from, sizeof to);
    return to;
}
inline long long __double_as_longlong(double x) { return bits<long long>(x); }
inline double __longlong_as_double(long long x) { return bits<double>(x); }
inline int __float_as_int(float x) { return bits<int>(x); }
inline float __int_as_float(int x) { return bits<float>(x); }
inline unsigned __float_as_uint(float x) { return bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return bits<float>(x); }
inline int __double2hiint(double x) { return (int)(bits<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return (int)bits<unsigned long long>(x); }
inline double __hiloint2double(int hi, int lo) {
    return bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline float __frcp_rn(float x) { return 1.0f / x; }
// A warp of one lane.
template <class T> T __shfl_xor_sync(unsigned, T x, int) { return x; }
inline bool __any_sync(unsigned, bool x) { return x; }
inline void __syncwarp() {}
