internal import FaultlineLog

/// The progress of a mapped stage that resumes where it was stopped.
package struct MappedProgress: Codable, Sendable, Equatable {
    /// A pass over all mappings; each pass ends before the next begins.
    package enum Pass: Int, Codable, Sendable, Comparable {
        case make, relate, check
        /// Records values that no new object uses for deletion: by entity, not by mapping.
        case leave

        package static func < (one: Pass, other: Pass) -> Bool { one.rawValue < other.rawValue }
    }

    package var pass = Pass.make
    /// Index of the current mapping.
    package var mapping = 0
    /// In the first pass: whether the preparations for the mapping's objects are done.
    package var isBegun = false
    /// The last object that is done: in the first pass the number of the old one, in the second that of the new one or
    /// of its association.
    package var lastDone: UInt64 = 0
    /// Objects that are done.
    package var done = 0
    /// In the second pass: the last object to be done; 0 before that is known.
    package var end: UInt64 = 0
    /// Indices of mappings whose new objects may have more than one old object.
    package var merging: [Int] = []
    /// The number of catalog records of data to be deleted after the switch, before the last pass.
    package var leftBehindCount = 0
    /// The number of blobs recorded for deletion before the last pass.
    package var blobsLeftBehind = 0

    /// The number of the rule by which mappings make rows with their references, which the second pass then does not
    /// set; 0 if all make objects.
    package var rowRule = 0

    package init() {}
}

extension MappedProgress {
    /// Decodes progress; members that a record of another release lacks have their values of the pass's beginning.
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
        rowRule = try container.decodeIfPresent(Int.self, forKey: .rowRule) ?? 0
        guard isPlausible else {
            throw DecodingError.dataCorruptedError(
                forKey: .mapping, in: container, debugDescription: "a number is negative, or larger than any store")
        }
    }

    /// Whether continuing from these numbers cannot overflow.
    private var isPlausible: Bool {
        (merging + [mapping, done, leftBehindCount, blobsLeftBehind, rowRule]).allSatisfy { $0 >= 0 && $0 <= 1 << 56 }
            && lastDone <= Limits.recordIDMax && end <= Limits.recordIDMax
    }
}
