#include "CFaultline.h"

#include <pthread.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Faultline's formats and this checksum are written for little-endian machines"
#endif

/* The polynomial 0x1EDC6F41 with its bits reversed: bit i of a state stands for x^(31 - i). */
#define POLYNOMIAL 0x82F63B78u

static inline uint64_t load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline uint32_t load32(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* MARK: slicing by eight (Kounavis and Berry, "A systematic approach to building high performance software-based CRC
 * generators"). tables[k][b] is the state that byte b leaves behind after k further zero bytes. */

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t state = byte;
        for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (POLYNOMIAL & (0u - (state & 1)));
        tables[0][byte] = state;
    }
    for (int slice = 1; slice < 8; slice++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
        }
}

static uint32_t update_by_tables(uint32_t state, const uint8_t *bytes, size_t count) {
    pthread_once(&tables_once, fill_tables);
    for (; count >= 8; bytes += 8, count -= 8) {
        uint32_t low = load32(bytes) ^ state, high = load32(bytes + 4);
        state = tables[7][low & 0xFF] ^ tables[6][(low >> 8) & 0xFF] ^ tables[5][(low >> 16) & 0xFF]
              ^ tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][(high >> 8) & 0xFF]
              ^ tables[1][(high >> 16) & 0xFF] ^ tables[0][high >> 24];
    }
    for (; count > 0; bytes++, count--) state = (state >> 8) ^ tables[0][(state ^ *bytes) & 0xFF];
    return state;
}

/* MARK: the CRC instruction.
 *
 * It takes three cycles but one can start every cycle, so a single chain of them uses a third of the machine. The
 * interleaved form cuts a block into three lanes of n words, runs three chains, and joins them: a state followed by n
 * zero words is the state times x^(64 n). With both factors in reversed bit order a carry-less product of two 32-bit
 * polynomials comes out one bit low in 64, and the instruction itself multiplies by x^32 when it reduces; hence the
 * factor kept for n words is x^(64 n - 33). For n = 1 that is x^31, the single bit 1, and one instruction on a zero
 * word leads from n to n + 1. */

#define LANE_WORDS_MAX 256
/* Below, joining the lanes takes as long as the chain that they shorten. */
#define LANE_WORDS_MIN 8

#if defined(__x86_64__)

#include <nmmintrin.h>
#include <wmmintrin.h>
#define CRC_TARGET __attribute__((target("sse4.2")))
#define JOIN_TARGET __attribute__((target("sse4.2,pclmul")))
#define crc_word(state, word) ((uint32_t)_mm_crc32_u64((state), (word)))
#define crc_half(state, word) _mm_crc32_u32((state), (word))
#define crc_byte(state, byte) _mm_crc32_u8((state), (byte))

static bool has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
static bool has_product(void) { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"); }

JOIN_TARGET static inline uint64_t product(uint32_t left, uint32_t right) {
    __m128i long_product = _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)left), _mm_cvtsi32_si128((int)right), 0);
    return (uint64_t)_mm_cvtsi128_si64(long_product);
}

#elif defined(__aarch64__)

#include <arm_acle.h>
#include <arm_neon.h>
#include <sys/auxv.h>
#define CRC_TARGET __attribute__((target("crc")))
#define JOIN_TARGET __attribute__((target("crc,aes")))
#define crc_word(state, word) __crc32cd((state), (word))
#define crc_half(state, word) __crc32cw((state), (word))
#define crc_byte(state, byte) __crc32cb((state), (byte))

/* From the kernel's user interface; not every libc's headers carry them. */
static bool has_instruction(void) { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }
static bool has_product(void) { return has_instruction() && (getauxval(AT_HWCAP) & (1UL << 4)) != 0; }

JOIN_TARGET static inline uint64_t product(uint32_t left, uint32_t right) {
    return vgetq_lane_u64(vreinterpretq_u64_p128(vmull_p64((poly64_t)left, (poly64_t)right)), 0);
}

#endif

#ifdef CRC_TARGET

/* factors[n] moves a state past n zero words; factors[0] is not used. */
static uint32_t factors[2 * LANE_WORDS_MAX + 1];

CRC_TARGET static void fill_factors(void) {
    factors[1] = 1;
    for (int n = 1; n < 2 * LANE_WORDS_MAX; n++) factors[n + 1] = crc_word(factors[n], 0);
}

CRC_TARGET static inline uint32_t update_serially(uint32_t state, const uint8_t *bytes, size_t count) {
    uint32_t running = state;
    for (; count >= 32; bytes += 32, count -= 32) {
        running = crc_word(running, load64(bytes));
        running = crc_word(running, load64(bytes + 8));
        running = crc_word(running, load64(bytes + 16));
        running = crc_word(running, load64(bytes + 24));
    }
    for (; count >= 8; bytes += 8, count -= 8) running = crc_word(running, load64(bytes));
    if (count & 4) {
        running = crc_half(running, load32(bytes));
        bytes += 4;
    }
    for (count &= 3; count > 0; bytes++, count--) running = crc_byte(running, *bytes);
    return running;
}

JOIN_TARGET static inline uint32_t update_lanes(uint32_t state, const uint8_t *bytes, size_t words) {
    const uint8_t *second = bytes + 8 * words, *third = second + 8 * words;
    uint32_t first_state = state, second_state = 0, third_state = 0;
    for (size_t at = 0; at < 8 * words; at += 8) {
        first_state = crc_word(first_state, load64(bytes + at));
        second_state = crc_word(second_state, load64(second + at));
        third_state = crc_word(third_state, load64(third + at));
    }
    uint64_t joined = product(first_state, factors[2 * words]) ^ product(second_state, factors[words]);
    return crc_word(0, joined) ^ third_state;
}

JOIN_TARGET static uint32_t update_interleaved(uint32_t state, const uint8_t *bytes, size_t count) {
    for (; count >= 24 * LANE_WORDS_MAX; bytes += 24 * LANE_WORDS_MAX, count -= 24 * LANE_WORDS_MAX)
        state = update_lanes(state, bytes, LANE_WORDS_MAX);
    size_t words = count / 24;
    if (words >= LANE_WORDS_MIN) {
        state = update_lanes(state, bytes, words);
        bytes += 24 * words;
        count -= 24 * words;
    }
    return update_serially(state, bytes, count);
}

#endif

/* MARK: choice. Made once, before main, so that a call tests one variable. Until then the tables answer. */

static enum fl_crc32c_method chosen = FL_CRC32C_TABLES;

__attribute__((constructor)) static void choose(void) {
#ifdef CRC_TARGET
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    if (has_instruction()) {
        fill_factors();
        chosen = has_product() ? FL_CRC32C_INTERLEAVED : FL_CRC32C_SERIAL;
    }
#endif
}

bool fl_crc32c_has(enum fl_crc32c_method method) { return method <= chosen; }

uint32_t fl_crc32c_by(enum fl_crc32c_method method, const void *bytes, size_t byte_count, uint32_t seed) {
    switch (method) {
#ifdef CRC_TARGET
    case FL_CRC32C_INTERLEAVED: return ~update_interleaved(~seed, bytes, byte_count);
    case FL_CRC32C_SERIAL: return ~update_serially(~seed, bytes, byte_count);
#endif
    default: return ~update_by_tables(~seed, bytes, byte_count);
    }
}

uint32_t fl_crc32c(const void *bytes, size_t byte_count, uint32_t seed) {
    return fl_crc32c_by(chosen, bytes, byte_count, seed);
}
