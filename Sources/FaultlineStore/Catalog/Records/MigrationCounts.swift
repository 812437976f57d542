/// The work that a migration has done so far.
///
/// Kept with the migration's record, so that it continues with the migration.
package struct MigrationCounts: Codable, Sendable, Equatable {
    package var objectsRead = 0
    package var objectsWritten = 0
    package var objectsFound = 0
    package var objectsDropped = 0
    package var blobsMoved = 0
    package var blobsLeftBehind = 0
    package var resumes = 0
    package var objectsCopied = 0
    package var objectsDeleted = 0
    package var changesNotSaved = 0
    package var blobBytesRead = 0
    package var blobBytesWritten = 0
    package var blobBytesMoved = 0
    /// The stages that have begun, in their order.
    package var stages: [StageCounts] = []

    package init() {}
}

/// The work that one stage has done so far.
package struct StageCounts: Codable, Sendable, Equatable {
    /// Position of the stage among the steps of the migration.
    package var place: Int
    /// The version it leads from.
    package var from: String
    /// The version it leads to.
    package var to: String
    package var kind: String
    /// How often it was resumed.
    package var resumes = 0
    /// How often unfinished work was dropped for another revision, or on request; nil for 0.
    package var restarts: Int?
    /// By entity, in the order of processing.
    package var entities: [ObjectCounts] = []
    /// By mapping.
    package var mappings: [ObjectCounts] = []
    package var leftBehind: [LeftBehindCounts] = []
    /// For a streamed stage, the properties that both versions have; nil for other stages, and in records of releases
    /// that carried nothing over.
    package var properties: [CarriedProperty]?
    package var passes: [PassCounts] = []

    package init(place: Int, from: String, to: String, kind: String) {
        self.place = place
        self.from = from
        self.to = to
        self.kind = kind
    }
}

/// Objects of one entity, or of one mapping.
package struct ObjectCounts: Codable, Sendable, Equatable {
    package var name: String
    package var read = 0
    package var written = 0
    package var found = 0
    package var dropped = 0
    package var copied = 0
    package var deleted = 0

    package init(name: String) { self.name = name }
}

/// Objects whose values a stage leaves out.
package struct LeftBehindCounts: Codable, Sendable, Equatable {
    package var entity: String
    /// Nil if the whole entity was removed.
    package var attribute: String?
    package var objects: Int

    package init(entity: String, attribute: String?, objects: Int) {
        self.entity = entity
        self.attribute = attribute
        self.objects = objects
    }
}

/// The cost of one pass.
package struct PassCounts: Codable, Sendable, Equatable {
    package var name: String
    package var nanoseconds: UInt64 = 0
    /// Bytes written to the store's files.
    package var byteCount: UInt64 = 0

    package init(name: String) { self.name = name }
}

extension MigrationCounts {
    /// Decodes counts; those that an older record lacks are 0.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        objectsRead = try container.decode(Int.self, forKey: .objectsRead)
        objectsWritten = try container.decode(Int.self, forKey: .objectsWritten)
        objectsFound = try container.decode(Int.self, forKey: .objectsFound)
        objectsDropped = try container.decode(Int.self, forKey: .objectsDropped)
        blobsMoved = try container.decode(Int.self, forKey: .blobsMoved)
        blobsLeftBehind = try container.decode(Int.self, forKey: .blobsLeftBehind)
        resumes = try container.decode(Int.self, forKey: .resumes)
        objectsCopied = try container.decodeIfPresent(Int.self, forKey: .objectsCopied) ?? 0
        objectsDeleted = try container.decodeIfPresent(Int.self, forKey: .objectsDeleted) ?? 0
        changesNotSaved = try container.decodeIfPresent(Int.self, forKey: .changesNotSaved) ?? 0
        blobBytesRead = try container.decodeIfPresent(Int.self, forKey: .blobBytesRead) ?? 0
        blobBytesWritten = try container.decodeIfPresent(Int.self, forKey: .blobBytesWritten) ?? 0
        blobBytesMoved = try container.decodeIfPresent(Int.self, forKey: .blobBytesMoved) ?? 0
        stages = try container.decodeIfPresent([StageCounts].self, forKey: .stages) ?? []
        guard isPlausible else {
            throw DecodingError.dataCorruptedError(
                forKey: .objectsRead, in: container, debugDescription: "a count is negative, or larger than any store")
        }
    }

    /// Whether continuing from these counts cannot overflow.
    private var isPlausible: Bool {
        let own = [
            objectsRead, objectsWritten, objectsFound, objectsDropped, blobsMoved, blobsLeftBehind, resumes,
            objectsCopied, objectsDeleted, changesNotSaved, blobBytesRead, blobBytesWritten, blobBytesMoved,
        ]
        return own.allSatisfy(Self.isPlausible) && stages.allSatisfy(\.isPlausible)
    }

    fileprivate static func isPlausible(_ count: Int) -> Bool { count >= 0 && count <= 1 << 56 }
}

extension StageCounts {
    fileprivate var isPlausible: Bool {
        let objects = entities + mappings
        return ([place, resumes, restarts ?? 0] + leftBehind.map(\.objects)).allSatisfy(MigrationCounts.isPlausible)
            && objects.flatMap { [$0.read, $0.written, $0.found, $0.dropped, $0.copied, $0.deleted] }
                .allSatisfy(MigrationCounts.isPlausible)
            && (properties ?? []).allSatisfy(\.isPlausible)
            && passes.allSatisfy { $0.nanoseconds <= 1 << 60 && $0.byteCount <= 1 << 60 }
    }
}
