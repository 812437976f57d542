package import FaultlineDisk
import Glibc

/// The store's LOCK file: byte 0 held by the writer, byte 1 by each reader. `docs/FileFormat.md` section 1.
// Safe because the stored properties are immutable.
package final class StoreLock: @unchecked Sendable {
    private static let writerByte: UInt64 = 0
    private static let readerByte: UInt64 = 1

    /// Precedes the identifier of the system's start in the text.
    private static let startMark = ", start "

    private let file: DiskFile?
    private let byte: UInt64
    /// The process that took the lock.
    private let ownerProcess = getpid()
    /// Whether all writers since the last complete opening have run since the system's last start: then no power loss has
    /// taken bytes that were written, and not synchronized.
    let isSameStart: Bool

    private init(_ file: DiskFile?, byte: UInt64, isSameStart: Bool = false) {
        self.file = file
        self.byte = byte
        self.isSameStart = isSameStart
    }

    /// Whether another process is writing, for readers; does not take the byte, so that no writer conflicts with it.
    package func hasWriter() throws(LogError) -> Bool {
        guard let file else { return false }
        return try onDisk("asking for a writer") { () throws(DiskError) in
            try file.isLocked(byte: Self.writerByte, exclusively: false)
        }
    }

    /// The last writer, as the file describes it.
    ///
    /// The text is informative and never trusted.
    var owner: String { file.map(Self.ownerText) ?? "" }

    /// Takes the lock for an access.
    ///
    /// - Throws: `.lockedByAnother`, with the owner if the file names it.
    package static func take(_ path: String, on disk: Disk, for access: LogAccess, clock: Clock) throws(LogError)
        -> StoreLock
    {
        switch access {
        case .writing:
            let file = try openForWriting(path, on: disk)
            let isTaken = try onDisk("locking the store") { () throws(DiskError) in
                try file.lock(byte: writerByte, exclusively: true)
            }
            guard isTaken else {
                let owner = ownerText(file)
                file.close()
                throw LogError(
                    .lockedByAnother,
                    "The store is open for writing elsewhere\(owner.isEmpty ? "" : ", by \(owner)"). "
                        + "Close it there, or open it for reading.",
                    path: path)
            }
            let start = disk.systemStart
            let isSameStart = start != nil && startText(file) == start
            // Until the opening is complete the store is as the last start of the system left it.
            writeOwner(to: file, clock: clock, start: isSameStart ? start : nil)
            return StoreLock(file, byte: writerByte, isSameStart: isSameStart)
        case .reading:
            guard let file = try openForReading(path, on: disk) else { return StoreLock(nil, byte: readerByte) }
            _ = try onDisk("locking the store") { () throws(DiskError) in
                try file.lock(byte: readerByte, exclusively: false)
            }
            return StoreLock(file, byte: readerByte)
        }
    }

    /// Notes that the store was opened for writing, and that nothing of an earlier start of the system counts any more.
    func noteOpened(on disk: Disk, clock: Clock) {
        guard let file, !isSameStart, let start = disk.systemStart else { return }
        Self.writeOwner(to: file, clock: clock, start: start)
    }

    /// Releases the lock.
    ///
    /// Closing alone is not enough: a child process that another thread is just starting has a copy of the descriptor,
    /// which keeps the lock until the child replaces its program. A forked child that calls this, though, must not
    /// release its parent's lock.
    package func release() {
        if ownerProcess == getpid() { try? file?.unlock(byte: byte) }
        file?.close()
    }

    private static func openForWriting(_ path: String, on disk: Disk) throws(LogError) -> DiskFile {
        try onDisk("opening the store's lock") { () throws(DiskError) in try disk.openOrCreate(path) }
    }

    private static func openForReading(_ path: String, on disk: Disk) throws(LogError) -> DiskFile? {
        do {
            return try disk.open(path, for: .reading)
        } catch {
            // A copy of a store may lack the file.
            if error.code == .notFound { return nil }
            throw LogError(error, doing: "opening the store's lock")
        }
    }

    private static func ownerText(_ file: DiskFile) -> String { String(split(line(of: file)).owner) }

    /// The start of the system in which the last writer had opened the store.
    private static func startText(_ file: DiskFile) -> String? { split(line(of: file)).start.map(String.init) }

    /// The parts of a text, `OWNER, start IDENTIFIER`.
    private static func split(_ line: String) -> (owner: Substring, start: Substring?) {
        // Backwards: a host may have any name.
        var place = line.endIndex
        while place > line.startIndex {
            place = line.index(before: place)
            guard line[place] == ",", line[place...].hasPrefix(startMark) else { continue }
            return (line[..<place], line[place...].dropFirst(startMark.count))
        }
        return (line[...], nil)
    }

    private static func line(of file: DiskFile) -> String {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { bytes in
            guard let count = try? file.read(into: bytes, at: 0) else { return "" }
            let line = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[0..<count]).prefix {
                $0 >= 32 && $0 < 127
            }
            var text = Substring(String(decoding: line, as: UTF8.self))
            // Earlier versions padded the line with spaces.
            while text.last == " " { text.removeLast() }
            return String(text)
        }
    }

    /// Writes the text, which is for people, but for the start: without one the next opening takes the longer way, so an
    /// error does not matter.
    private static func writeOwner(to file: DiskFile, clock: Clock, start: String?) {
        var host = [CChar](repeating: 0, count: 65)
        gethostname(&host, 64)
        let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let time = UTCDate.text(secondsSince1970: clock.wallNanoseconds() / 1_000_000_000)
        let mark = start.map { startMark + $0 } ?? ""
        let bytes = Array("process \(getpid()) on \(name) since \(time)\(mark)\n".utf8)
        bytes.withUnsafeBytes { (source) in
            do throws(DiskError) {
                try file.write(source, at: 0)
                // The text of an earlier owner may have been longer.
                if try file.byteCount() > source.count { try file.cut(to: UInt64(source.count)) }
            } catch {
                return
            }
        }
    }
}
