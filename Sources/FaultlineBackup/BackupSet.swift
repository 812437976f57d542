internal import FaultlineDisk
internal import FaultlineLog

/// A directory of backups: one folder for each, and one for the files that several share.
///
/// The lock of the directory is held as long as the value is in use, shared by restores.
struct BackupSet {
    let directory: String
    let disk: Disk
    private let lock: DiskFile

    private static let lockName = "LOCK"
    private static let sharedName = "files"
    private static let digitCount = 10

    var sharedDirectory: String { directory + "/" + Self.sharedName }

    func folder(of number: Int) -> String { directory + "/" + Self.name(of: number) }

    func path(of file: BackupFile, in record: BackupRecord) -> String {
        (file.isShared ? sharedDirectory : folder(of: record.number)) + "/" + file.name
    }

    private static func name(of number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, digitCount - digits.count)) + digits
    }

    private static func number(of name: String) -> Int? {
        guard let number = Int32(name).map(Int.init), number > 0, Self.name(of: number) == name else { return nil }
        return number
    }

    // MARK: Opening

    /// Opens the directory to write a backup; makes it if it is not there.
    ///
    /// - Throws: `BackupError` of code `unsuitable` if it holds other files, of code `underWay` if it is in use.
    static func openForWriting(_ path: String, on disk: Disk) throws -> BackupSet {
        let directory = DirectoryPath.trimmed(path)
        try onDisk("making the directory of the backups") { () throws(DiskError) in
            if try !disk.isPresent(directory) {
                try disk.createDirectory(directory)
                disk.restrictToOwner(directory)
            }
        }
        let names = try names(in: directory, on: disk)
        if let foreign = names.first(where: { !isOwn($0) }) {
            throw BackupError(
                .unsuitable, "The directory holds files of no backup, such as \(foreign). Choose another one.",
                path: directory)
        }
        let path = directory + "/" + lockName
        let lock = try onDisk("locking the backups") { () throws(DiskError) in
            try disk.openOrCreate(path)
        }
        return try BackupSet(directory, disk, lock, exclusively: true)
    }

    /// Opens the directory to read backups.
    ///
    /// - Throws: `BackupError` of code `notFound` if it holds no backups, of code `underWay` if one is written there.
    static func openForReading(_ path: String, on disk: Disk) throws -> BackupSet {
        let directory = DirectoryPath.trimmed(path)
        let lock: DiskFile
        do throws(DiskError) { lock = try disk.open(directory + "/" + lockName, for: .reading) } catch {
            guard error.code == .notFound || error.code == .notDirectory else {
                throw LogError(error, doing: "opening the backups")
            }
            throw BackupError(.notFound, "There are no backups in this directory.", path: directory)
        }
        return try BackupSet(directory, disk, lock, exclusively: false)
    }

    private init(_ directory: String, _ disk: Disk, _ lock: DiskFile, exclusively: Bool) throws {
        self.directory = directory
        self.disk = disk
        self.lock = lock
        let isTaken = try onDisk("locking the backups") { () throws(DiskError) in
            try lock.lock(byte: 0, exclusively: exclusively)
        }
        guard isTaken else {
            lock.close()
            throw BackupError(
                .underWay, "The backups are in use: a backup or a restore is under way. Wait until it has ended.",
                path: directory)
        }
    }

    func close() {
        try? lock.unlock(byte: 0)
        lock.close()
    }

    private static func names(in directory: String, on disk: Disk) throws(LogError) -> [String] {
        try onDisk("listing the backups") { () throws(DiskError) in try disk.names(in: directory) }
    }

    private static func isOwn(_ name: String) -> Bool {
        name == lockName || name == sharedName || number(of: name) != nil
    }

    // MARK: Backups

    /// The backups of a directory, ascending.
    struct Content {
        var finished: [BackupRecord] = []
        /// The numbers of those that were begun and not finished.
        var unfinished: [Int] = []
        /// Those whose list does not verify, or is of a newer release.
        var faults: [(number: Int, error: BackupError)] = []

        /// The greatest number; 0 for none.
        var newest: Int { max(finished.last?.number ?? 0, unfinished.last ?? 0, faults.last?.number ?? 0) }
    }

    /// Reads the lists of all backups.
    ///
    /// - Throws: `LogError` if the disk fails.
    func content() throws -> Content {
        var content = Content()
        for number in try Self.names(in: directory, on: disk).compactMap(Self.number).sorted() {
            let path = folder(of: number) + "/" + BackupRecord.fileName
            do {
                if let record = try BackupRecord.read(path, number: number, on: disk) {
                    content.finished.append(record)
                } else {
                    content.unfinished.append(number)
                }
            } catch let error as BackupError {
                content.faults.append((number, error))
            }
        }
        return content
    }

    /// Makes the folder of a new backup, and the one for shared files.
    func makeFolder(of number: Int) throws(LogError) {
        try onDisk("making the directory of a backup") { () throws(DiskError) in
            if try !disk.isPresent(sharedDirectory) { try disk.createDirectory(sharedDirectory) }
            try disk.createDirectory(folder(of: number))
        }
    }

    /// Makes a backup finished: writes its record, durably, when all its files are durable.
    func finish(_ record: BackupRecord) throws {
        let folder = folder(of: record.number)
        let bytes = try record.bytes()
        let path = folder + "/" + BackupRecord.fileName
        try onDisk("writing the list of a backup") { () throws(DiskError) in
            try disk.synchronizeDirectory(sharedDirectory, site: "backup.shared")
            try disk.synchronizeDirectory(directory, site: "backup.directory")
            // An interrupted backup may have made the directory.
            try disk.synchronizeDirectory(DirectoryPath.parent(of: directory), site: "backup.parent")
            let file = try disk.open(path + ".tmp", for: .creating)
            defer { file.close() }
            try bytes.withUnsafeBufferPointer { (buffer) throws(DiskError) in
                try file.write(UnsafeRawBufferPointer(buffer), at: 0)
            }
            try file.synchronize(site: "backup.record")
            try disk.rename(path + ".tmp", to: path)
            try disk.synchronizeDirectory(folder, site: "backup.folder")
        }
    }

    /// Removes the folder of a backup: its record first, so that a crash leaves an unfinished one.
    func removeFolder(of number: Int) throws(LogError) {
        let folder = folder(of: number)
        try onDisk("removing a backup") { () throws(DiskError) in
            let record = folder + "/" + BackupRecord.fileName
            if try disk.isPresent(record) {
                try disk.remove(record)
                try disk.synchronizeDirectory(folder, site: "backup.removal")
            }
            for name in try disk.names(in: folder) { try disk.remove(folder + "/" + name) }
            try disk.removeDirectory(folder)
        }
    }

    /// Removes the shared files that no backup has.
    func removeSharedFiles(except records: [BackupRecord]) throws(LogError) {
        let used = Set(records.flatMap { $0.files.lazy.filter(\.isShared).map(\.name) })
        try onDisk("removing files of removed backups") { () throws(DiskError) in
            for name in try disk.names(in: sharedDirectory) where !used.contains(name) {
                try disk.remove(sharedDirectory + "/" + name)
            }
        }
    }
}
