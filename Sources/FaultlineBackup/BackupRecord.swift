internal import FaultlineDisk
internal import FaultlineLog
internal import Foundation

/// A file of a backup.
struct BackupFile: Codable, Equatable {
    let name: String
    /// The bytes that belong to the backup: the file may be longer.
    let byteCount: UInt64
    /// CRC32C of these bytes.
    let checksum: UInt32
    /// headCRC of the last frame, for a hot or cold segment; 0 for none.
    let head: UInt32
    /// Whether the file is in the folder for all backups, not in that of this one.
    let isShared: Bool
}

/// The list of a backup's files, which `docs/Backup.md` describes.
///
/// Its file is written last, and makes the backup finished.
struct BackupRecord: Codable, Equatable {
    static let format = 1
    static let fileName = "BACKUP"

    let format: Int
    let number: Int
    let nanoseconds: Int64
    /// The identifiers of the store and of its instance, in 32 hexadecimal digits each.
    let store: String
    let instance: String
    let first: BackupMoment
    /// The end of the last transaction.
    let end: LogPlace
    let manifest: BackupFile
    let identity: BackupFile
    let files: [BackupFile]

    var last: BackupMoment { BackupMoment(end) }
    var byteCount: UInt64 { files.reduce(manifest.byteCount &+ identity.byteCount) { $0 &+ $1.byteCount } }
    var backup: Backup {
        Backup(number: number, nanoseconds: nanoseconds, first: first, last: last, byteCount: byteCount)
    }

    /// Whether the store still has all segments of the backup.
    func isContained(in state: ManifestState) -> Bool {
        files.allSatisfy { file in
            guard let (kind, number) = FileName.parse(file.name) else { return false }
            return kind != .hotSegment && kind != .blobSegment || state.files[number]?.kind == kind
        }
    }

    static func text(of id: StoreID) -> String { id.high.hexadecimal + id.low.hexadecimal }

    // MARK: The file

    private static let magic = "faultline-backup"
    /// The most bytes of a record: 1,000,000 files have 150 MB.
    private static let byteCountMax: UInt64 = 256 << 20

    /// The bytes of the file: a line with the format and the checksum of the rest, and JSON.
    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let json = Array(try encoder.encode(self))
        let checksum = json.withUnsafeBytes { CRC32C.checksum($0) }
        return Array("\(Self.magic) \(Self.format) \(checksum)\n".utf8) + json
    }

    /// Reads a record.
    ///
    /// - Returns: Nil if there is no such file: the backup was not finished.
    /// - Throws: `BackupError` of code `damaged` or `newerFormat`; `LogError` if the disk fails.
    static func read(_ path: String, number: Int, on disk: Disk) throws -> BackupRecord? {
        guard let bytes = try contents(path, on: disk) else { return nil }
        func damaged(_ problem: String) -> BackupError {
            BackupError(
                .damaged, "The list of a backup's files \(problem). Restore from another backup of the directory.",
                path: path)
        }
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")), lineEnd < 100 else {
            throw damaged("has no first line")
        }
        let words = String(decoding: bytes[..<lineEnd], as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == magic, let format = Int(words[1]) else {
            throw damaged("has no first line")
        }
        guard format == Self.format else {
            throw BackupError(
                .newerFormat, "A newer release wrote this backup, in format \(format). Restore it with that one.",
                path: path)
        }
        let json = bytes[(lineEnd + 1)...]
        guard json.withUnsafeBytes({ CRC32C.checksum($0) }) == UInt32(words[2]) else {
            throw damaged("does not verify")
        }
        let record: BackupRecord
        do { record = try JSONDecoder().decode(BackupRecord.self, from: Data(json)) } catch {
            throw damaged("cannot be read (\(error))")
        }
        guard record.isValid, record.number == number else { throw damaged("contradicts itself") }
        return record
    }

    /// Whether each name is that of a store's file, once, the moments are in order, and no number is out of range.
    private var isValid: Bool {
        let names = files.map(\.name)
        return names.allSatisfy { FileName.parse($0)?.kind != .manifest && FileName.parse($0) != nil }
            && Set(names).count == names.count && FileName.parse(manifest.name)?.kind == .manifest
            && identity.name == FileName.identity
            && (files + [manifest, identity]).allSatisfy { $0.byteCount <= Limits.countMax }
            && first.transaction <= last.transaction && end.isInRange
    }

    private static func contents(_ path: String, on disk: Disk) throws -> [UInt8]? {
        try onDisk("reading the list of a backup") { () throws(DiskError) -> [UInt8]? in
            let file: DiskFile
            do throws(DiskError) { file = try disk.open(path, for: .reading) } catch {
                guard error.code == .notFound else { throw error }
                return nil
            }
            defer { file.close() }
            let byteCount = Int(min(try file.byteCount(), byteCountMax))
            var bytes = [UInt8](repeating: 0, count: byteCount)
            let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(DiskError) in
                try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            }
            return Array(bytes[..<count])
        }
    }
}

extension BackupMoment {
    init(_ end: LogPlace) { self.init(transaction: end.sequence, nanoseconds: end.clockNanoseconds) }
}
