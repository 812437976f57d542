#if Service
import Configuration
import FaultlineService
import Testing

/// Configurations that are read.
@Suite struct ConfigurationTests {
    private func reader(_ values: [AbsoluteConfigKey: ConfigValue]) -> ConfigReader {
        ConfigReader(provider: InMemoryProvider(values: values))
    }

    @Test func `no key is needed`() throws {
        let read = try ModelConfiguration(config: reader([:]))
        #expect(read == ModelConfiguration())
        var options = StoreOptions()
        options.memoryBudget = 123 << 20
        options.migration.gracePeriod = .seconds(5)
        #expect(try ModelConfiguration(config: reader([:]), options: options).options == options)
    }

    @Test func `variables of the environment set all options`() throws {
        let variables = [
            "STORE_PATH": "/var/lib/photos.store", "STORE_NAME": "photos", "STORE_ALLOWS_SAVE": "false",
            "STORE_MEMORY_BUDGET": "268435456", "STORE_DURABILITY": "async", "STORE_HISTORY": "kept",
            "STORE_RETENTION_SECONDS": "86400", "STORE_RETENTION_BYTE_COUNT": "1073741824",
            "STORE_HISTORY_DAYS": "7", "STORE_CHECKPOINT_BYTE_COUNT": "1048576", "STORE_COMPRESSES_BLOBS": "false",
            "STORE_REWRITES_WHEN_IDLE": "false", "STORE_ALLOWS_REMOTE_FILE_SYSTEM": "true",
            "STORE_PERFORMING_THREAD_COUNT": "3", "STORE_PERFORMING_QUEUE_LIMIT": "50",
            "STORE_PERFORMING_LONGEST_WAIT_SECONDS": "2.5", "STORE_MIGRATION_MEMORY_CEILING": "33554432",
            "STORE_MIGRATION_BYTES_PER_SECOND": "1000000", "STORE_MIGRATION_WORKER_COUNT": "2",
            "STORE_MIGRATION_CHECKS_SPACE": "false", "STORE_MIGRATION_GRACE_PERIOD_SECONDS": "3600",
        ]
        let config = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables))
        let read = try ModelConfiguration(config: config.scoped(to: "store"))
        var expected = ModelConfiguration("photos", url: URL(filePath: "/var/lib/photos.store"), allowsSave: false)
        expected.options.memoryBudget = 256 << 20
        expected.options.durability = .async
        expected.options.history = .kept(for: .seconds(7 * 86_400))
        expected.options.retention = .kept(for: .seconds(86_400), byteCountMax: 1 << 30)
        expected.options.checkpointByteCount = 1 << 20
        expected.options.compressesBlobs = false
        expected.options.rewritesWhenIdle = false
        expected.options.allowsRemoteFileSystem = true
        expected.options.performing.threadCount = 3
        expected.options.performing.queueLimit = 50
        expected.options.performing.longestWait = .milliseconds(2_500)
        expected.options.migration.memoryCeiling = 32 << 20
        expected.options.migration.bytesPerSecond = 1_000_000
        expected.options.migration.workerCount = 2
        expected.options.migration.checksSpace = false
        expected.options.migration.gracePeriod = .seconds(3_600)
        #expect(read.options == expected.options)
        #expect(read.url.path == expected.url.path && read.name == "photos" && !read.allowsSave)
    }

    @Test func `typed values and words are read`() throws {
        let read = try ModelConfiguration(
            config: reader([
                "inMemory": true, "history": "off", "memoryBudget": 4_194_304,
                "performing.longestWaitSeconds": 2, "allowsSave": true,
            ]))
        #expect(read.isStoredInMemoryOnly && read.allowsSave)
        #expect(read.options.history == .off && read.options.memoryBudget == 4 << 20)
        #expect(read.options.performing.longestWait == .seconds(2))
        #expect(try ModelConfiguration(config: reader(["history": "unlimited"])).options.history == .unlimited)
        let name = try ModelConfiguration(config: reader(["name": "trips"]))
        #expect(name.name == "trips" && name.url == ModelConfiguration("trips").url)
    }

    @Test(arguments: [
        ("durability", "fast" as ConfigValue, "sync or async"),
        ("durability", 1, "sync or async"),
        ("memoryBudget", 4_194_303, "a whole number of bytes, from 4194304 to 1099511627776"),
        ("memoryBudget", "64 MiB", "a whole number of bytes, from 4194304 to 1099511627776"),
        ("memoryBudget", 1.5, "a whole number of bytes, from 4194304 to 1099511627776"),
        ("performing.threadCount", 0, "a whole number of threads, from 1 to 1024"),
        ("performing.threadCount", -1, "a whole number of threads, from 1 to 1024"),
        ("performing.longestWaitSeconds", -0.5, "a number of seconds, from 0 to 86400"),
        (
            "performing.longestWaitSeconds", ConfigValue(.double(.nan), isSecret: false),
            "a number of seconds, from 0 to 86400"
        ),
        (
            "performing.longestWaitSeconds", ConfigValue(.double(.infinity), isSecret: false),
            "a number of seconds, from 0 to 86400"
        ),
        ("migration.workerCount", 5, "a whole number of threads, from 1 to 4"),
        ("migration.memoryCeiling", 1, "a whole number of bytes, from 16777216 to 1099511627776"),
        ("allowsSave", "maybe", "true or false"),
        ("compressesBlobs", 1, "true or false"),
        ("historyDays", 36_501, "a whole number of days, from 0 to 36500"),
        ("history", "", "kept or unlimited or off"),
        ("path", "", "the path of a directory, which is made if it is missing"),
        ("path", 5, "a text"),
        ("name", "a/b", "a name of 1 to 200 bytes without a slash"),
        ("name", "", "a name of 1 to 200 bytes without a slash"),
    ])
    func `a value that cannot be used is refused`(key: String, value: ConfigValue, allowed: String) throws {
        let config = reader([AbsoluteConfigKey(key.split(separator: ".").map(String.init)): value])
        let error = #expect(throws: StoreConfigurationError.self) { try ModelConfiguration(config: config) }
        #expect(error?.key == key)
        #expect(error?.allowed == allowed)
        #expect(error?.description == "\(key) is \"\(error?.value ?? "?")\". Allowed: \(allowed).")
    }

    @Test func `values that contradict each other are refused`() throws {
        let place = #expect(throws: StoreConfigurationError.self) {
            try ModelConfiguration(config: reader(["path": "/a", "inMemory": true]))
        }
        #expect(place?.key == "inMemory")
        let history = #expect(throws: StoreConfigurationError.self) {
            try ModelConfiguration(config: reader(["history": "off", "historyDays": 3]))
        }
        #expect(history?.key == "history" && history?.value == "off")
    }
}
#endif
