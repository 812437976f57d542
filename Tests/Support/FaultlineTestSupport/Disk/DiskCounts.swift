/// The counts of a counting disk.
package struct DiskCounts: Hashable, Sendable, CustomStringConvertible {
    package var opens = 0
    package var reads = 0
    package var bytesRead = 0
    package var writes = 0
    package var bytesWritten = 0
    package var reservations = 0
    package var synchronizations = 0
    package var directorySynchronizations = 0
    /// Creations of directories, removals and renames.
    package var entryChanges = 0
    /// Lists, lengths, identities, and queries of presence and space.
    package var questions = 0
    package var locks = 0

    package init() {}

    package static func - (later: DiskCounts, earlier: DiskCounts) -> DiskCounts {
        var difference = DiskCounts()
        difference.opens = later.opens - earlier.opens
        difference.reads = later.reads - earlier.reads
        difference.bytesRead = later.bytesRead - earlier.bytesRead
        difference.writes = later.writes - earlier.writes
        difference.bytesWritten = later.bytesWritten - earlier.bytesWritten
        difference.reservations = later.reservations - earlier.reservations
        difference.synchronizations = later.synchronizations - earlier.synchronizations
        difference.directorySynchronizations = later.directorySynchronizations - earlier.directorySynchronizations
        difference.entryChanges = later.entryChanges - earlier.entryChanges
        difference.questions = later.questions - earlier.questions
        difference.locks = later.locks - earlier.locks
        return difference
    }

    package var description: String {
        "\(opens) opens, \(reads) reads of \(bytesRead) bytes, \(writes) writes of \(bytesWritten) bytes, "
            + "\(reservations) reservations, \(synchronizations) synchronizations, \(directorySynchronizations) of directories, "
            + "\(entryChanges) changes of entries, \(questions) questions, \(locks) locks"
    }
}
