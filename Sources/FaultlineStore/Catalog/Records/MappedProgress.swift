internal import FaultlineLog

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

extension MappedProgress {
    /// Decodes progress; what a record of another release lacks is as at the beginning of the pass.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        pass = try container.decode(Pass.self, forKey: .pass)
        mapping = try container.decode(Int.self, forKey: .mapping)
        isBegun = try container.decodeIfPresent(Bool.self, forKey: .isBegun) ?? false
        lastDone = try container.decode(UInt64.self, forKey: .lastDone)
        done = try container.decodeIfPresent(Int.self, forKey: .done) ?? 0
        end = try container.decodeIfPresent(UInt64.self, forKey: .end) ?? 0
        merging = try container.decodeIfPresent([Int].self, forKey: .merging) ?? []
        leftBehindCount = try container.decodeIfPresent(Int.self, forKey: .leftBehindCount) ?? 0
        blobsLeftBehind = try container.decodeIfPresent(Int.self, forKey: .blobsLeftBehind) ?? 0
        guard isPlausible else {
            throw DecodingError.dataCorruptedError(
                forKey: .mapping, in: container, debugDescription: "a number is negative, or larger than any store")
        }
    }

    /// Whether going on from these numbers cannot overflow.
    private var isPlausible: Bool {
        (merging + [mapping, done, leftBehindCount, blobsLeftBehind]).allSatisfy { $0 >= 0 && $0 <= 1 << 56 }
            && lastDone <= Limits.recordIDMax && end <= Limits.recordIDMax
    }
}
