import FaultlineDisk

/// The parts of an opened log that writing needs.
struct LogParts {
    let directory: StoreDirectory
    let manifest: Manifest
    let publisher: Publisher
    let holds: SnapshotHolds
    let options: LogOptions
    let clock: Clock
    let cache: PageCache
    let blockCache: BlockCache
    let budget: MemoryBudget
    let retained: RetainedFiles?
}
