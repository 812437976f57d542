#if Service
public import Configuration
public import Faultline

extension ModelConfiguration {
    /// Reads the place of a store and its options with a reader of swift-configuration: environment, files, arguments.
    ///
    ///     let config = ConfigReader(provider: EnvironmentVariablesProvider())
    ///     let configuration = try ModelConfiguration(config: config.scoped(to: "store"))  // STORE_PATH and others
    ///
    /// All keys are optional. *In a service* in the guide lists them with their units, ranges and defaults.
    ///
    /// - Parameters:
    ///   - config: The reader, scoped to the keys of one store.
    ///   - options: The options of keys that have no value.
    /// - Throws: `StoreConfigurationError` for a value that cannot be read, is out of its range, or is none of the
    ///   allowed ones.
    public init(config: ConfigReader, options: StoreOptions = StoreOptions()) throws {
        let values = ConfigurationValues(config)
        try self.init(place: values)
        self.options = try StoreOptions(values, options)
    }

    private init(place values: ConfigurationValues) throws {
        let path = try values.text(.path)
        let name = try values.text(.name)
        let isInMemory = try values.flag(.inMemory) ?? false
        let allowsSave = try values.flag(.allowsSave) ?? true
        if let path {
            guard !isInMemory else { throw values.refused(.inMemory, "true", "false, because path has a value") }
            guard !path.isEmpty, !path.contains("\0") else {
                throw values.refused(.path, path, "the path of a directory, which is made if it is missing")
            }
            self.init(name, url: URL(filePath: path, directoryHint: .isDirectory), allowsSave: allowsSave)
        } else {
            self.init(name, isStoredInMemoryOnly: isInMemory, allowsSave: allowsSave)
        }
        do {
            try validate()
        } catch {
            throw values.refused(
                name == nil ? .path : .name, name ?? path ?? "", "a name of 1 to 200 bytes without a slash")
        }
    }
}

extension StoreOptions {
    /// - Parameters:
    ///   - values: The reader.
    ///   - defaults: The options of keys that have no value.
    /// - Throws: `StoreConfigurationError` for a value that cannot be used.
    fileprivate init(_ values: ConfigurationValues, _ defaults: StoreOptions) throws {
        self = defaults
        memoryBudget = try values.integer(.memoryBudget, 4 << 20...1 << 40, "bytes") ?? memoryBudget
        durability = try values.choice(.durability, ["sync": Durability.sync, "async": .async]) ?? durability
        checkpointByteCount =
            try values.integer(.checkpointByteCount, 1 << 20...1 << 34, "bytes") ?? checkpointByteCount
        compressesBlobs = try values.flag(.compressesBlobs) ?? compressesBlobs
        rewritesWhenIdle = try values.flag(.rewritesWhenIdle) ?? rewritesWhenIdle
        allowsRemoteFileSystem = try values.flag(.allowsRemoteFileSystem) ?? allowsRemoteFileSystem
        try readHistory(values)
        try readRetention(values)
        try readPerforming(values)
        try readMigration(values)
    }

    private mutating func readHistory(_ values: ConfigurationValues) throws {
        let days = try values.integer(.historyDays, 0...36_500, "days")
        let kept = days.map { History.kept(for: .seconds(86_400 * $0)) }
        switch try values.choice(.history, ["kept": "kept", "unlimited": "unlimited", "off": "off"]) {
        case "unlimited" where days == nil: history = .unlimited
        case "off" where days == nil: history = .off
        case .some(let word) where word != "kept":
            throw values.refused(.history, word, "kept, because historyDays has a value")
        default: if let kept { history = kept }
        }
    }

    private mutating func readRetention(_ values: ConfigurationValues) throws {
        let duration = try values.seconds(.retentionSeconds, 0...3_153_600_000)
        let byteCount = try values.integer(.retentionByteCount, 0...1 << 50, "bytes")
        guard duration != nil || byteCount != nil else { return }
        retention = .kept(for: duration ?? .seconds(3_153_600_000), byteCountMax: byteCount ?? .max)
    }

    private mutating func readPerforming(_ values: ConfigurationValues) throws {
        performing.threadCount = try values.integer(.performThreads, 1...1_024, "threads") ?? performing.threadCount
        performing.queueLimit = try values.integer(.performQueue, 1...10_000_000, "calls") ?? performing.queueLimit
        performing.longestWait = try values.seconds(.performWait, 0...86_400) ?? performing.longestWait
    }

    private mutating func readMigration(_ values: ConfigurationValues) throws {
        migration.memoryCeiling =
            try values.integer(.migrationMemory, 16 << 20...1 << 40, "bytes") ?? migration.memoryCeiling
        migration.bytesPerSecond =
            try values.integer(.migrationRate, 1...1 << 40, "bytes in a second") ?? migration.bytesPerSecond
        migration.workerCount = try values.integer(.migrationWorkers, 1...4, "threads") ?? migration.workerCount
        migration.checksSpace = try values.flag(.migrationChecksSpace) ?? migration.checksSpace
        migration.gracePeriod = try values.seconds(.migrationGracePeriod, 0...3_153_600_000) ?? migration.gracePeriod
    }
}
#endif
