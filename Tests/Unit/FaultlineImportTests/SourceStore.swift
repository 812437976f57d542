#if Import
internal import CSQLite
internal import Faultline
internal import FaultlineTestSupport
internal import Foundation
internal import Testing

/// A store as Core Data writes it, made by SQL in a folder of its own.
final class SourceStore {
    private let temporary = TemporaryDirectory()
    let folder: URL
    let url: URL
    /// The place for a new store.
    let destination: URL
    private var database: OpaquePointer?

    /// Makes a store with entities: their names in the order of their numbers, each with the number of its parent.
    init(
        _ entities: [(name: String, parent: Int)], name: String = "photos.sqlite", keepsLog: Bool = false
    ) throws {
        folder = URL(filePath: temporary.path + "/old", directoryHint: .isDirectory)
        destination = URL(filePath: temporary.path + "/photos.store")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: name)
        #expect(sqlite3_open(url.path, &database) == SQLITE_OK)
        if keepsLog { run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
        run(
            """
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
            """)
        for (index, entity) in entities.enumerated() {
            run("INSERT INTO Z_PRIMARYKEY VALUES (\(index + 1), '\(entity.name)', \(entity.parent), 0)")
        }
        let hashes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, Data(repeating: 0xAB, count: 32)) })
        let plist = try PropertyListSerialization.data(
            fromPropertyList: ["NSStoreModelVersionHashes": hashes, "NSStoreType": "SQLite"], format: .binary,
            options: 0)
        run("INSERT INTO Z_METADATA VALUES (1, '0F4B7E5C-8F0B-4E8C-9B55-3F2E0A6C1D11', \(Self.hex(plist)))")
    }

    deinit { sqlite3_close(database) }

    /// Runs statements.
    func run(_ sql: String) {
        var message: UnsafeMutablePointer<CChar>?
        let status = sqlite3_exec(database, sql, nil, nil, &message)
        #expect(status == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "") in \(sql)")
        sqlite3_free(message)
    }

    /// Bytes as SQL writes them.
    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }

    /// Closes the connection, so that the log is moved into the database.
    func close() {
        sqlite3_close(database)
        database = nil
    }

    /// Ends the connection without moving the log: copies of the files take the place of the files.
    func abandon() throws {
        let kept = try files.filter { !$0.key.hasSuffix("-shm") && !$0.key.hasPrefix(".") }
        sqlite3_close(database)
        database = nil
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasPrefix(".") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        for (name, bytes) in kept { try bytes.write(to: folder.appending(path: name)) }
    }

    /// The bytes of all files in the folder, by name, with those of large values.
    var files: [String: Data] {
        get throws {
            var files: [String: Data] = [:]
            let names = FileManager.default.enumerator(atPath: folder.path)
            while let name = names?.nextObject() as? String {
                let path = folder.appending(path: name)
                if try path.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
                    files[name + "/"] = Data()
                } else {
                    files[name] = try Data(contentsOf: path)
                }
            }
            return files
        }
    }

    /// Writes a large value, and returns the bytes of the column that leads to it.
    func addExternal(_ bytes: Data) throws -> [UInt8] {
        let name = UUID().uuidString
        let place = folder.appending(
            path: ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try bytes.write(to: place.appending(path: name))
        return [2] + Array(name.utf8) + [0]
    }
}
#endif
