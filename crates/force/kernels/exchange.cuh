// Words by which running thread blocks exchange data: 16 bytes that are written and read as one, of which the last four
// are the number of the exchange. A reader waits until it finds the number that it expects; then the other twelve bytes
// are those of that exchange. Nothing needs a fence: a word is never torn (PTX ISA, "Packed data types": accesses of
// .b128 are single), and no word is written again before all have read it.
#pragma once
#include "precision.cuh"

__device__ __forceinline__ ulonglong2 load_word(const uint4 *from) {
    ulonglong2 word;
    asm volatile("{ .reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w; }"
                 : "=l"(word.x), "=l"(word.y)
                 : "l"(from)
                 : "memory");
    return word;
}

__device__ __forceinline__ void store_word(uint4 *to, ulonglong2 word) {
    asm volatile("{ .reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w; }" ::"l"(to), "l"(word.x),
                 "l"(word.y)
                 : "memory");
}

__device__ __forceinline__ void store_header(u64 *to, u64 header) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(header) : "memory");
}

// Between devices, which write into each other's memory, a word is two of 8 bytes that are each written as one: half of an
// f64, and the number of the exchange. Of longer ones that is known within a device alone.
__device__ __forceinline__ void send_words(ulonglong2 *to, ulonglong2 words) {
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(words.x), "l"(words.y) : "memory");
}
__device__ __forceinline__ ulonglong2 sent_words(const ulonglong2 *from) {
    ulonglong2 words;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(words.x), "=l"(words.y) : "l"(from) : "memory");
    return words;
}
__device__ __forceinline__ void send_number(u64 *to, u64 number) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(number) : "memory");
}
__device__ __forceinline__ u64 sent_number(const u64 *from) {
    u64 number;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(number) : "l"(from) : "memory");
    return number;
}

/// Returns the words with an f64.
__device__ __forceinline__ ulonglong2 words_of(double number, u32 exchange) {
    u64 bits = (u64)__double_as_longlong(number), of = (u64)exchange << 32;
    return {(u32)bits | of, bits >> 32 | of};
}

/// Returns true if words are those of the exchange, and their number.
__device__ __forceinline__ bool has_number(ulonglong2 words, u32 exchange, double &number) {
    number = __longlong_as_double((long long)((u32)words.x | words.y << 32));
    return (u32)(words.x >> 32) == exchange && (u32)(words.y >> 32) == exchange;
}

/// Returns a word with three numbers.
__device__ __forceinline__ ulonglong2 word_of(u32 a, u32 b, u32 c, u32 exchange) {
    return {a | (u64)b << 32, c | (u64)exchange << 32};
}

/// Returns a word with a node. The rest is filled with the number of the exchange: of a word whose bits are not all used
/// the compiler (ptxas 13.0) reads the used ones by several loads.
__device__ __forceinline__ ulonglong2 word_of(double node, u32 exchange) {
    return {(u64)__double_as_longlong(node), exchange | (u64)exchange << 32};
}
__device__ __forceinline__ ulonglong2 word_of(float node, u32 exchange) {
    return word_of(__float_as_uint(node), exchange, exchange, exchange);
}
__device__ __forceinline__ ulonglong2 word_of(Twofold node, u32 exchange) {
    return word_of(__float_as_uint(node.hi), __float_as_uint(node.lo), exchange, exchange);
}

/// Returns true if a word is that of the exchange.
__device__ __forceinline__ bool is_of(ulonglong2 word, u32 exchange) { return (u32)(word.y >> 32) == exchange; }

/// Returns true if a word is that of the exchange, and its node.
__device__ __forceinline__ bool has_node(ulonglong2 word, u32 exchange, double &node) {
    node = __longlong_as_double((long long)word.x);
    return word.y == (exchange | (u64)exchange << 32);
}
__device__ __forceinline__ bool has_node(ulonglong2 word, u32 exchange, Twofold &node) {
    node = {__uint_as_float((u32)word.x), __uint_as_float((u32)(word.x >> 32))};
    return word.y == (exchange | (u64)exchange << 32);
}
__device__ __forceinline__ bool has_node(ulonglong2 word, u32 exchange, float &node) {
    node = __uint_as_float((u32)word.x);
    return word.y == (exchange | (u64)exchange << 32) && (u32)(word.x >> 32) == exchange;
}

/// Number of times that a word is looked for before the wait is given up: some seconds, far more than any step takes.
constexpr u32 MAX_TRIES = 1u << 23;

/// Waits, with a whole warp together, until what `arrived` reads is there for each of its lanes. Ends the launch with an
/// error if it does not come: a fault must not hold the device for ever.
template <class F> __device__ __forceinline__ void wait_until(F arrived) {
    for (u32 tries = 0; __any_sync(~0u, !arrived()); ++tries)
        if (tries > MAX_TRIES) __trap();
}
