package import FaultlineDisk

// Inspects and changes the disk from outside.

extension SimulatedDisk {
    /// The disk's whole content, as a value that later operations do not change.
    func frozen() -> SimulatedState { guardian.withLock { state } }

    /// The disk for the next process after this one is killed: the system continues with all written bytes, durable or
    /// not, and handles and locks are gone.
    package func afterProcessDeath() -> SimulatedDisk {
        var state = frozen()
        for file in state.files.indices {
            state.files[file].handleCount = 0
            state.files[file].locks = []
        }
        state.reclaim()
        return SimulatedDisk(state: state)
    }

    /// Handles that are open on files.
    package var openHandleCount: Int { frozen().files.reduce(0) { $0 + $1.handleCount } }

    /// Locks that handles hold.
    package var lockCount: Int { frozen().files.reduce(0) { $0 + $1.locks.count } }

    /// The paths of all files, sorted.
    package var filePaths: [String] { fileSizes.keys.sorted() }

    /// The sizes of all files by path, in bytes, at one moment.
    package var fileSizes: [String: Int] {
        let state = frozen()
        var sizes: [String: Int] = [:]
        func visit(_ directory: Int, _ prefix: String) {
            for (name, node) in state.directories[directory].current {
                switch node {
                case .file(let file): sizes[prefix + name] = state.files[file].current.byteCount
                case .directory(let inner): visit(inner, prefix + name + "/")
                }
            }
        }
        visit(0, "/")
        return sizes
    }

    /// The present bytes of the file at a path; nil if there is none.
    package func bytes(of path: String) -> [UInt8]? {
        let state = frozen()
        var isBlocked = false
        guard case .file(let file)? = state.node(at: path, isBlocked: &isBlocked) else { return nil }
        return state.files[file].current.array
    }

    /// Changes bytes without an operation, on the medium and in the cache.
    ///
    /// - Returns: False if there is no such file, or it ends before.
    @discardableResult
    package func corrupt(_ path: String, at offset: Int, with change: (UInt8) -> UInt8) -> Bool {
        guardian.withLock {
            var isBlocked = false
            guard case .file(let file)? = state.node(at: path, isBlocked: &isBlocked), offset >= 0,
                offset < state.files[file].current.byteCount
            else { return false }
            let cached = state.files[file].current.bytes(at: offset, count: 1)
            state.files[file].current.overwrite(cached.map(change), count: 1, at: offset)
            let durable = state.files[file].durable.bytes(at: offset, count: 1)
            state.files[file].durable.overwrite(durable.map(change), count: durable.count, at: offset)
            return true
        }
    }

    /// Flips one bit without an operation; bit 0 is the lowest of the first byte.
    ///
    /// - Returns: False if there is no such file, or it ends before.
    @discardableResult
    package func flip(bit: Int, of path: String) -> Bool {
        corrupt(path, at: bit / 8) { $0 ^ (1 << UInt8(bit % 8)) }
    }

    /// Puts a durable file of these bytes at a path, replacing any file there; its directory must exist.
    package func place(_ bytes: [UInt8], at path: String) throws(DiskError) {
        try guardian.withLock { () throws(DiskError) in
            let entry = try entry(at: path, for: .open)
            let file = state.addFile()
            bytes.withUnsafeBytes { state.files[file].current.write($0, at: 0) }
            state.files[file].durable = state.files[file].current
            state.directories[entry.directory].current[entry.name] = .file(file)
            state.directories[entry.directory].durable[entry.name] = .file(file)
        }
    }
}
