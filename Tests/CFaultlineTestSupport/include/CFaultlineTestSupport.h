#pragma once
#include <stddef.h>

/// Bytes that the allocator has given out and not got back, mapped blocks included.
size_t fl_test_allocated_byte_count(void);

/// Lets the allocator map each block of at least so many bytes by itself, and keep room for all smaller ones.
void fl_test_map_allocations(size_t byte_count);
