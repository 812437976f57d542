#include "CFaultlineTestSupport.h"

#include <malloc.h>

size_t fl_test_allocated_byte_count(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
