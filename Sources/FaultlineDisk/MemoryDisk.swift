internal import Synchronization

/// A disk in memory, for in-memory stores.
///
/// All data counts as durable. A file exists until its entry is removed and its last handle is closed.
// Safe because all state is under the mutex.
package final class MemoryDisk: Disk, @unchecked Sendable {
    private struct State {
        var files: [String: MemoryFile] = [:]
        var directories: Set<String> = []
        var nextNode: UInt64 = 1
        var nodes: [String: UInt64] = [:]
    }

    private let state = Guarded(State())
    private let device = UInt64.random(in: 1...UInt64.max)

    package override init() { super.init() }

    private func error(_ code: DiskError.Code, _ call: SystemCall, _ path: String) -> DiskError {
        DiskError(code: code, systemCall: call, path: path)
    }

    package override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        let found: MemoryFile? = state.withLock { state in
            switch access {
            case .reading, .updating:
                return state.files[path]
            case .creating:
                guard state.files[path] == nil else { return nil }
                let made = MemoryFile()
                state.files[path] = made
                state.nodes[path] = state.nextNode
                state.nextNode += 1
                return made
            }
        }
        guard let found else {
            throw error(access == .creating ? .exists : .notFound, .open, path)
        }
        return MemoryDiskFile(path: path, file: found)
    }

    package override func names(in directory: String) throws(DiskError) -> [String] {
        let names: [String]? = state.withLock { state in
            guard state.directories.contains(directory) else { return nil }
            let prefix = directory + "/"
            return (Array(state.files.keys) + Array(state.directories)).compactMap { path in
                guard path.hasPrefix(prefix) else { return nil }
                let name = path.dropFirst(prefix.count)
                return name.contains("/") ? nil : String(name)
            }.sorted()
        }
        guard let names else { throw error(.notFound, .open, directory) }
        return names
    }

    package override func isPresent(_ path: String) throws(DiskError) -> Bool {
        state.withLock { $0.files[path] != nil || $0.directories.contains(path) }
    }

    package override func createDirectory(_ path: String) throws(DiskError) {
        guard state.withLock({ $0.directories.insert(path).inserted }) else { throw error(.exists, .mkdir, path) }
    }

    package override func remove(_ path: String) throws(DiskError) {
        guard state.withLock({ $0.files.removeValue(forKey: path) }) != nil else {
            throw error(.notFound, .unlink, path)
        }
    }

    package override func removeDirectory(_ path: String) throws(DiskError) {
        guard state.withLock({ $0.directories.remove(path) }) != nil else { throw error(.notFound, .rmdir, path) }
    }

    package override func rename(_ source: String, to target: String) throws(DiskError) {
        let isDone = state.withLock { state in
            guard let file = state.files.removeValue(forKey: source) else { return false }
            state.files[target] = file
            state.nodes[target] = state.nodes.removeValue(forKey: source)
            return true
        }
        guard isDone else { throw error(.notFound, .rename, source) }
    }

    package override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {}

    package override func identity(of path: String) throws(DiskError) -> FileIdentity {
        let node: UInt64? = state.withLock { state in
            if let node = state.nodes[path] { return node }
            guard state.directories.contains(path) else { return nil }
            state.nodes[path] = state.nextNode
            state.nextNode += 1
            return state.nodes[path]
        }
        guard let node else { throw error(.notFound, .stat, path) }
        return FileIdentity(device: device, inode: node)
    }

    package override func freeByteCount(in directory: String) throws(DiskError) -> UInt64 { 1 << 40 }

    package override func fileSystem(of path: String) throws(DiskError) -> FileSystemKind { .tmpfs }
}

/// The bytes of a file in memory, in pieces of 256 KiB, so that no bytes are copied when the file grows.
private final class MemoryFile: Sendable {
    static let pieceByteCount = 256 << 10

    // Safe because it is only used under the mutex.
    struct Content: @unchecked Sendable {
        var pieces: [UnsafeMutableRawPointer] = []
        var byteCount = 0
        var exclusive: [UInt64: ObjectIdentifier] = [:]
        var shared: [UInt64: Set<ObjectIdentifier>] = [:]
    }

    let content = Guarded(Content())

    deinit {
        content.withLock { content in
            for piece in content.pieces { piece.deallocate() }
        }
    }
}

// Safe because the file's state is under its mutex.
private final class MemoryDiskFile: DiskFile, @unchecked Sendable {
    private let file: MemoryFile

    init(path: String, file: MemoryFile) {
        self.file = file
        super.init(path: path)
    }

    deinit { releaseLocks() }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        guard let start = Int(exactly: offset), let target = buffer.baseAddress else { return 0 }
        // Safe because the pointer does not leave the closure.
        nonisolated(unsafe) let destination = target
        let wanted = buffer.count
        return file.content.withLock { content in
            guard start < content.byteCount else { return 0 }
            let count = min(wanted, content.byteCount - start)
            var done = 0
            while done < count {
                let place = start + done
                let within = place % MemoryFile.pieceByteCount
                let part = min(count - done, MemoryFile.pieceByteCount - within)
                (destination + done).copyMemory(
                    from: content.pieces[place / MemoryFile.pieceByteCount] + within, byteCount: part)
                done += part
            }
            return count
        }
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        guard let start = Int(exactly: offset), start <= 1 << 46 else {
            throw DiskError(code: .fileTooLarge, systemCall: .pwrite, path: path, offset: offset)
        }
        guard let source = bytes.baseAddress else { return }
        // Safe because the pointer does not leave the closure.
        nonisolated(unsafe) let origin = source
        let count = bytes.count
        file.content.withLock { content in
            let end = start + count
            while content.pieces.count * MemoryFile.pieceByteCount < end {
                let piece = UnsafeMutableRawPointer.allocate(byteCount: MemoryFile.pieceByteCount, alignment: 4_096)
                piece.initializeMemory(as: UInt8.self, repeating: 0, count: MemoryFile.pieceByteCount)
                content.pieces.append(piece)
            }
            var done = 0
            while done < count {
                let place = start + done
                let within = place % MemoryFile.pieceByteCount
                let part = min(count - done, MemoryFile.pieceByteCount - within)
                (content.pieces[place / MemoryFile.pieceByteCount] + within).copyMemory(
                    from: origin + done, byteCount: part)
                done += part
            }
            content.byteCount = max(content.byteCount, end)
        }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {}

    override func releaseReserve() throws(DiskError) {}

    override func cut(to byteCount: UInt64) throws(DiskError) {
        file.content.withLock { content in
            guard byteCount < UInt64(content.byteCount) else { return }
            content.byteCount = Int(byteCount)
            let within = content.byteCount % MemoryFile.pieceByteCount
            let pieceCount = content.byteCount / MemoryFile.pieceByteCount + (within > 0 ? 1 : 0)
            for piece in content.pieces[pieceCount...] { piece.deallocate() }
            content.pieces.removeSubrange(pieceCount...)
            // The bytes behind the end must read as zeros if the file grows again.
            guard within > 0, let last = content.pieces.last else { return }
            let rest = MemoryFile.pieceByteCount - within
            (last + within).initializeMemory(as: UInt8.self, repeating: 0, count: rest)
        }
    }

    override func synchronize(site: SyncSite) throws(DiskError) {}

    override func byteCount() throws(DiskError) -> UInt64 { UInt64(file.content.withLock { $0.byteCount }) }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        let me = ObjectIdentifier(self)
        return file.content.withLock { content in
            if let holder = content.exclusive[byte], holder != me { return false }
            if exclusively {
                guard (content.shared[byte] ?? []).subtracting([me]).isEmpty else { return false }
                content.shared[byte] = nil
                content.exclusive[byte] = me
            } else {
                content.exclusive[byte] = nil
                content.shared[byte, default: []].insert(me)
            }
            return true
        }
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        let me = ObjectIdentifier(self)
        return file.content.withLock { content in
            if let holder = content.exclusive[byte], holder != me { return true }
            return exclusively && !(content.shared[byte] ?? []).subtracting([me]).isEmpty
        }
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        let me = ObjectIdentifier(self)
        file.content.withLock { content in
            if content.exclusive[byte] == me { content.exclusive[byte] = nil }
            content.shared[byte]?.remove(me)
        }
    }

    override func forgetCachedPages() throws(DiskError) {}

    override func close() { releaseLocks() }

    private func releaseLocks() {
        let me = ObjectIdentifier(self)
        file.content.withLock { content in
            content.exclusive = content.exclusive.filter { $0.value != me }
            for byte in content.shared.keys { content.shared[byte]?.remove(me) }
        }
    }
}
