extension MigrationReport {
    /// Makes the report of several stores: the sums of their counts, and their stages one after the other.
    package init(joining reports: [MigrationReport]) {
        self.init()
        for report in reports { add(report) }
    }

    private mutating func add(_ other: MigrationReport) {
        versions += other.versions
        objectsRead += other.objectsRead
        objectsWritten += other.objectsWritten
        objectsFound += other.objectsFound
        objectsDropped += other.objectsDropped
        objectsCopied += other.objectsCopied
        objectsDeleted += other.objectsDeleted
        changesNotSaved += other.changesNotSaved
        blobsMoved += other.blobsMoved
        blobsLeftBehind += other.blobsLeftBehind
        blobBytes.read += other.blobBytes.read
        blobBytes.moved += other.blobBytes.moved
        blobBytes.written += other.blobBytes.written
        resumes += other.resumes
        bytesWritten += other.bytesWritten
        nanoseconds += other.nanoseconds
        stages += other.stages
        lastPasses += other.lastPasses
        quarantined += other.quarantined
        gracePeriod = gracePeriod ?? other.gracePeriod
        failures += other.failures
    }
}
