import CFaultline

/// Wall time, for what is stored; nothing in the engine waits or decides by it.
package struct Clock: Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    ///
    /// May run backwards.
    package let wallNanoseconds: @Sendable () -> Int64

    package init(wallNanoseconds: @escaping @Sendable () -> Int64) {
        self.wallNanoseconds = wallNanoseconds
    }

    /// The system's clock.
    package static let system = Clock { fl_wall_nanoseconds() }
}
