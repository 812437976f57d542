/// Sizes of tests of which an unoptimized build, ten times as slow, does a part.
///
/// `make check` runs the part, and proofs of the same property in an optimized build; `make check-night` runs all tests
/// in an optimized build.
package enum TestSize {
    /// A size, or its part in an unoptimized build.
    package static func of(_ size: Int, unoptimized part: Int) -> Int {
        #if DEBUG
        part
        #else
        size
        #endif
    }
}
