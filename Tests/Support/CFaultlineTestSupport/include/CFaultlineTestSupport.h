#pragma once
#include <stddef.h>

/// Returns the number of currently allocated bytes, including mapped blocks.
size_t fl_test_allocated_byte_count(void);

/// Lets the allocator map each block of at least this size separately, and keep free memory for all smaller ones.
void fl_test_map_allocations(size_t byte_count);

/// Runs `body` in a child made by fork, which SIGALRM ends after some seconds, and returns its result, at most 255; or
/// the negated number of the signal that ended the child.
int fl_test_in_child(int (*body)(void *context), void *context, unsigned seconds);
