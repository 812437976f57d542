extension StoreOptions {
    /// The threads of a container's `perform`, and the calls that wait for them.
    ///
    ///     configuration.options.performing.longestWait = .seconds(2)  // then answer 503
    public struct Performing: Hashable, Sendable {
        /// The number of threads; nil, the default, for two for each processor.
        ///
        /// At least 1. As many of them run as there are processors. The others run where these are long at one call, as
        /// when they wait for the disk: for one or two milliseconds. Threads are made when there is work, and end when
        /// there was none for ten seconds. Contexts that save with `await` need one more thread, which synchronizes.
        public var threadCount: Int?
        /// Calls that wait in order of their priority: 10,000 by default, at least 1.
        ///
        /// Further ones wait, in order of their arrival, for a place among these. A waiting call holds no thread.
        public var queueLimit = 10_000
        /// How long a call may wait before its code begins; nil, the default, for no limit.
        ///
        /// Then it throws `StorageError` with the code `busy`, and has done nothing.
        public var longestWait: Duration?

        /// The defaults.
        public init() {}
    }
}
