#pragma once
#include <stddef.h>

/// Returns the number of currently allocated bytes, including mapped blocks.
size_t fl_test_allocated_byte_count(void);

/// Lets the allocator map each block of at least this size separately, and keep free memory for all smaller ones.
void fl_test_map_allocations(size_t byte_count);
