internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// The place of a container's store, and how it is opened.
struct StorePlace {
    let directory: String
    let disk: Disk
    let clock: Clock
    let options: LogOptions

    init(directory: String, disk: Disk, clock: Clock, options: LogOptions) {
        self.directory = directory
        self.disk = disk
        self.clock = clock
        self.options = options
    }

    /// - Parameters:
    ///   - configuration: Names the place.
    ///   - observer: Gets the store's events.
    ///   - storeID: The identifier of a store in memory; nil for a new one.
    init(_ configuration: ModelConfiguration, observer: (any LogObserver)?, storeID: (UInt64, UInt64)? = nil) {
        var options = configuration.options.log
        options.storeID = storeID
        options.observer = observer
        clock = .system
        if configuration.isStoredInMemoryOnly {
            options.durability = .async
            directory = "/store"
            disk = MemoryDisk()
        } else {
            let folder = configuration.url
            if !configuration.allowsSave {
                // Writes nothing, and leaves the lock to the writer.
                options.access = .reading
            }
            directory = folder.path(percentEncoded: false)
            disk = StoreDisk.current ?? PosixDisk()
        }
        self.options = options
    }

    /// Whether the directory has files, and so may be a store; creates nothing.
    func isPresent() throws(DiskError) -> Bool {
        guard try disk.isPresent(directory) else { return false }
        return try !disk.names(in: directory).isEmpty
    }

    /// Makes the parent folder of the store, if a store may be made there.
    func createParent() {
        guard options.access == .writing, disk is PosixDisk else { return }
        try? FileManager.default.createDirectory(
            at: URL(filePath: directory).deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    /// The same place, opened for reading: writes nothing, and leaves the lock to the writer.
    var forReading: StorePlace {
        var options = options
        options.access = .reading
        options.observer = nil
        return StorePlace(directory: directory, disk: disk, clock: clock, options: options)
    }

    /// The place of a copy of the store.
    ///
    /// - Parameters:
    ///   - directory: The directory of the copy.
    ///   - acceptsLostTail: Whether it may lack transactions that its large values know of.
    /// - Returns: The place, for writing.
    func copied(to directory: String, acceptsLostTail: Bool) -> StorePlace {
        var options = options
        options.access = .writing
        options.acceptsLostTail = acceptsLostTail
        options.observer = nil
        return StorePlace(directory: directory, disk: disk, clock: clock, options: options)
    }

    /// Opens the log of a copy that was made of this store, perhaps while it was written.
    ///
    /// Such a copy may lack transactions that its large values know of. The store itself must have them.
    ///
    /// - Throws: `.damaged`, with `missingTransactionCount`, if the store has lost its end, too; as `open`.
    func openCopy(in directory: String, _ memoryBudget: Int) throws(LogError) -> Log {
        do throws(LogError) { return try copied(to: directory, acceptsLostTail: false).open(memoryBudget) } catch {
            guard error.missingTransactionCount != nil else { throw error }
            try forReading.open(min(memoryBudget, 4 << 20)).close()
            return try copied(to: directory, acceptsLostTail: true).open(memoryBudget)
        }
    }

    /// Opens the log with the given number of bytes of memory.
    func open(_ memoryBudget: Int) throws(LogError) -> Log {
        var options = options
        options.memoryBudget = memoryBudget
        return try Log.open(directory, on: disk, clock: clock, options: options, deriver: RowIndexDeriver())
    }
}
