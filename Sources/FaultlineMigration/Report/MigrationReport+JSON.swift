internal import Foundation

extension MigrationReport {
    /// Decodes a report; figures that an older release did not report are 0 or empty.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        versions = try container.decode([String].self, forKey: .versions)
        func count(_ key: CodingKeys) throws -> Int { try container.decodeIfPresent(Int.self, forKey: key) ?? 0 }
        objectsRead = try count(.objectsRead)
        objectsWritten = try count(.objectsWritten)
        objectsFound = try count(.objectsFound)
        objectsDropped = try count(.objectsDropped)
        objectsCopied = try count(.objectsCopied)
        objectsDeleted = try count(.objectsDeleted)
        changesNotSaved = try count(.changesNotSaved)
        blobsMoved = try count(.blobsMoved)
        blobsLeftBehind = try count(.blobsLeftBehind)
        blobBytes = BlobBytes(
            read: try count(.blobBytesRead), moved: try count(.blobBytesMoved), written: try count(.blobBytesWritten))
        resumes = try count(.resumes)
        bytesWritten = try count(.bytesWritten)
        nanoseconds = try count(.nanoseconds)
        stages = try container.decodeIfPresent([Stage].self, forKey: .stages) ?? []
        quarantined = try container.decodeIfPresent([Quarantined].self, forKey: .quarantined) ?? []
        gracePeriod = try container.decodeIfPresent(GracePeriod.self, forKey: .gracePeriod)
        stop = try container.decodeIfPresent(Stop.self, forKey: .stop)
        isDryRun = try container.decodeIfPresent(Bool.self, forKey: .isDryRun) ?? false
        sample = try container.decodeIfPresent(Int.self, forKey: .sample)
        failures = try container.decodeIfPresent([Failure].self, forKey: .failures) ?? []
        isIncomplete = try container.decodeIfPresent(Bool.self, forKey: .isIncomplete) ?? false
        diskBytesNeeded = try count(.diskBytesNeeded)
        diskBytesFree = try count(.diskBytesFree)
        lastPasses = try container.decodeIfPresent([Pass].self, forKey: .lastPasses) ?? []
    }

    /// Encodes every figure under the name of its property.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(versions, forKey: .versions)
        try container.encode(objectsRead, forKey: .objectsRead)
        try container.encode(objectsWritten, forKey: .objectsWritten)
        try container.encode(objectsFound, forKey: .objectsFound)
        try container.encode(objectsDropped, forKey: .objectsDropped)
        try container.encode(objectsCopied, forKey: .objectsCopied)
        try container.encode(objectsDeleted, forKey: .objectsDeleted)
        try container.encode(changesNotSaved, forKey: .changesNotSaved)
        try container.encode(blobsMoved, forKey: .blobsMoved)
        try container.encode(blobsLeftBehind, forKey: .blobsLeftBehind)
        try container.encode(blobBytesRead, forKey: .blobBytesRead)
        try container.encode(blobBytesMoved, forKey: .blobBytesMoved)
        try container.encode(blobBytesWritten, forKey: .blobBytesWritten)
        try container.encode(resumes, forKey: .resumes)
        try container.encode(bytesWritten, forKey: .bytesWritten)
        try container.encode(nanoseconds, forKey: .nanoseconds)
        try container.encode(stages, forKey: .stages)
        try container.encode(quarantined, forKey: .quarantined)
        try container.encodeIfPresent(gracePeriod, forKey: .gracePeriod)
        try container.encodeIfPresent(stop, forKey: .stop)
        try container.encode(isDryRun, forKey: .isDryRun)
        try container.encodeIfPresent(sample, forKey: .sample)
        try container.encode(failures, forKey: .failures)
        try container.encode(isIncomplete, forKey: .isIncomplete)
        try container.encode(diskBytesNeeded, forKey: .diskBytesNeeded)
        try container.encode(diskBytesFree, forKey: .diskBytesFree)
        try container.encode(lastPasses, forKey: .lastPasses)
    }

    /// The report as JSON, for a file: keys in alphabetical order, one on each line, so that two reports can be
    /// compared.
    ///
    /// - Throws: Nothing for reports of this release.
    /// - Complexity: O(n) for n stages, entities, mappings and failures.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }

    /// Decodes a report from JSON.
    ///
    /// - Throws: `DecodingError` if the text is no report.
    /// - Complexity: O(n) for n bytes.
    public init(json: String) throws {
        self = try JSONDecoder().decode(MigrationReport.self, from: Data(json.utf8))
    }
}

extension MigrationReport.Stage {
    /// Decodes a stage; a report of a release without properties or restarts has none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        from = try container.decode(String.self, forKey: .from)
        to = try container.decode(String.self, forKey: .to)
        kind = try container.decode(Kind.self, forKey: .kind)
        resumes = try container.decode(Int.self, forKey: .resumes)
        restarts = try container.decodeIfPresent(Int.self, forKey: .restarts) ?? 0
        entities = try container.decode([MigrationReport.Objects].self, forKey: .entities)
        mappings = try container.decode([MigrationReport.Objects].self, forKey: .mappings)
        leftBehind = try container.decode([MigrationReport.LeftBehind].self, forKey: .leftBehind)
        properties = try container.decodeIfPresent([MigrationReport.Property].self, forKey: .properties) ?? []
        passes = try container.decode([MigrationReport.Pass].self, forKey: .passes)
    }
}
