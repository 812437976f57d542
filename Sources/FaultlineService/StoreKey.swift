#if Service
internal import Configuration

/// The keys of a store's configuration.
enum StoreKey: String, CaseIterable {
    case path
    case name
    case inMemory
    case allowsSave
    case memoryBudget
    case durability
    case history
    case historyDays
    case retentionSeconds
    case retentionByteCount
    case checkpointByteCount
    case compressesBlobs
    case rewritesWhenIdle
    case allowsRemoteFileSystem
    case performThreads = "performing.threadCount"
    case performQueue = "performing.queueLimit"
    case performWait = "performing.longestWaitSeconds"
    case migrationMemory = "migration.memoryCeiling"
    case migrationRate = "migration.bytesPerSecond"
    case migrationWorkers = "migration.workerCount"
    case migrationChecksSpace = "migration.checksSpace"
    case migrationGracePeriod = "migration.gracePeriodSeconds"

    var key: ConfigKey { ConfigKey(rawValue) }
}
#endif
