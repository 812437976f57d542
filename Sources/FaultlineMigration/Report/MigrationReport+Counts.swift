internal import FaultlineStore

extension MigrationReport {
    /// Makes the report of a migration's counts.
    ///
    /// - Parameters:
    ///   - versions: The versions that the migration passes through.
    ///   - counts: The counts of the stages.
    ///   - lastPasses: The switch, and the passes after it.
    init(_ versions: [String], _ counts: MigrationCounts, lastPasses: [PassCounts]) {
        self.init()
        self.versions = versions
        objectsRead = counts.objectsRead
        objectsWritten = counts.objectsWritten
        objectsFound = counts.objectsFound
        objectsDropped = counts.objectsDropped
        objectsCopied = counts.objectsCopied
        objectsDeleted = counts.objectsDeleted
        changesNotSaved = counts.changesNotSaved
        blobsMoved = counts.blobsMoved
        blobsLeftBehind = counts.blobsLeftBehind
        blobBytes = BlobBytes(
            read: counts.blobBytesRead, moved: counts.blobBytesMoved, written: counts.blobBytesWritten)
        resumes = counts.resumes
        stages = counts.stages.map(Stage.init)
        self.lastPasses = lastPasses.compactMap(Pass.init)
        let passes = stages.flatMap(\.passes) + self.lastPasses
        bytesWritten = passes.reduce(0) { $0 &+ $1.bytesWritten }
        nanoseconds = passes.reduce(0) { $0 &+ $1.nanoseconds }
    }
}

extension MigrationReport.Stage {
    fileprivate init(_ counts: StageCounts) {
        from = counts.from
        to = counts.to
        kind = Kind(rawValue: counts.kind) ?? .lightweight
        resumes = counts.resumes
        restarts = counts.restarts ?? 0
        entities = counts.entities.map(MigrationReport.Objects.init)
        mappings = counts.mappings.map(MigrationReport.Objects.init)
        leftBehind = counts.leftBehind.map {
            MigrationReport.LeftBehind(entity: $0.entity, attribute: $0.attribute, objects: $0.objects)
        }
        properties = (counts.properties ?? []).map(MigrationReport.Property.init)
        passes = counts.passes.compactMap(MigrationReport.Pass.init)
    }
}

extension MigrationReport.Property {
    fileprivate init(_ property: CarriedProperty) {
        entity = property.entity
        name = property.property
        had = property.had
        have = property.carried + property.set
        isCarriedOver = !property.isSet
    }
}

extension MigrationReport.Objects {
    fileprivate init(_ counts: ObjectCounts) {
        name = counts.name
        read = counts.read
        written = counts.written
        found = counts.found
        dropped = counts.dropped
        copied = counts.copied
        deleted = counts.deleted
    }
}

extension MigrationReport.Pass {
    fileprivate init?(_ counts: PassCounts) {
        guard let pass = MigrationPass(rawValue: counts.name) else { return nil }
        self.pass = pass
        nanoseconds = Int(clamping: counts.nanoseconds)
        bytesWritten = Int(clamping: counts.byteCount)
    }
}

extension MigrationSteps.Step {
    /// The kind of stage that a report names.
    var kind: MigrationReport.Stage.Kind {
        if closures != nil { return .custom }
        if !mappingModels.isEmpty { return .mapped }
        return streamedEntities.isEmpty ? .lightweight : .streamed
    }
}
