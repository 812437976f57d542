#include "CFaultlineTestSupport.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>

size_t fl_test_allocated_byte_count(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

void fl_test_map_allocations(size_t byte_count) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, (int)byte_count);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 64 << 20);
    // Grows the heap once, so that it need not grow later.
    for (int round = 0; round < 4; round++) {
        volatile char *block = malloc(byte_count - 4096);
        if (block) block[0] = 1;
        free((void *)block);
    }
}
