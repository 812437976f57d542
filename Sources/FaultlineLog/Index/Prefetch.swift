import CFaultline

/// Prefetches the cache line at `address`, without waiting for it; any address is allowed.
@inline(__always)
func prefetch(_ address: UnsafeRawPointer) {
    fl_prefetch(address)
}
