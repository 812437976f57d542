/// How far a mapped stage is that goes on where it was stopped.
package struct MappedProgress: Codable, Sendable, Equatable {
    /// What is done to all mappings before the next is done to any.
    package enum Pass: Int, Codable, Sendable, Comparable {
        case make, relate, check
        /// Values that no new object took are given up: of entities, not of mappings.
        case leave

        package static func < (one: Pass, other: Pass) -> Bool { one.rawValue < other.rawValue }
    }

    package var pass = Pass.make
    /// Place of the mapping under way.
    package var mapping = 0
    /// In the first pass: whether what comes before the mapping's objects was done.
    package var isBegun = false
    /// The last object that is done: in the first pass the number of the old one, in the second that of the new one or
    /// of its association.
    package var lastDone: UInt64 = 0
    /// Objects that are done.
    package var done = 0
    /// In the second pass: the last object that there is to do; 0 before that is known.
    package var end: UInt64 = 0
    /// Places of mappings of which a new object has more than one old one.
    package var merging: [Int] = []
    /// Catalog records of what is to be deleted after the switch, before the last pass.
    package var leftBehindCount = 0
    /// Values that were counted as left behind, before the last pass.
    package var blobsLeftBehind = 0

    package init() {}
}
