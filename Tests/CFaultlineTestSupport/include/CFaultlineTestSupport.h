#pragma once
#include <stddef.h>

/// Bytes that the allocator has given out and not got back, mapped blocks included.
size_t fl_test_allocated_byte_count(void);
