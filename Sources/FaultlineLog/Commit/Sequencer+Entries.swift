extension Sequencer {
    /// Adds an index entry to the transaction under way.
    func stageEntry(
        _ index: IndexDefinition, key: UnsafeRawBufferPointer, id: RecordID, isDelete: Bool
    ) throws(LogError) {
        try index.checkSize(of: key)
        stage.append(index, key: key, hash: hash(index, key), id: id, isDelete: isDelete)
        stage.reserve(in: budget)
    }

    /// The object that has a key of a unique index, as the transaction under way sees it.
    func firstID(in index: IndexDefinition, key: UnsafeRawBufferPointer) throws(LogError) -> RecordID? {
        let hash = hash(index, key)
        let freed: [RecordID]
        switch stage.find(index, key: key, hash: hash) {
        case .taken(let id): return id
        case .freed(let ids): freed = ids
        }
        if stage.absentKeys.contains(hash, of: index.id) { return nil }
        // Spilled entries have the number that the transaction will get.
        guard let state = indexes.find(index.id) else { return nil }
        do throws(LogError) {
            guard let id = try state.pointee.firstID(key: key, hash: hash, at: sequence + 1) else { return nil }
            return freed.contains(id) ? nil : id
        } catch {
            throw state.pointee.noting(error)
        }
    }

    /// Walks over the entries that the transactions before the one under way have left.
    func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        guard let state = indexes[index.id] else { return }
        do {
            // Spilled entries have the next number, so they are not seen.
            try state.forEachEntry(prefix: prefix, at: sequence, body)
        } catch let error as LogError {
            throw state.noting(error)
        }
    }

    /// Finds out which of many keys nobody has, so that looking them up is cheap.
    func prefetch(_ index: IndexDefinition, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        guard let state = indexes.find(index.id) else { return }
        let window = 64
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: window) { hashes in
            withUnsafeTemporaryAllocation(of: Bool.self, capacity: window) { isAbsent in
                guard let hash = hashes.baseAddress, let isAbsent = isAbsent.baseAddress else { return }
                var first = 0
                while first < keys.count {
                    let part = UnsafeBufferPointer(rebasing: keys[first..<min(first + window, keys.count)])
                    IndexHash.hash(part, prefixByteCountMax: index.searchPrefix.byteCountMax, into: hash)
                    note(UnsafeBufferPointer(start: hash, count: part.count), isAbsent, state.pointee)
                    first += part.count
                }
            }
        }
    }

    /// Notes which of some hashes no key of an index has.
    private func note(
        _ hashes: UnsafeBufferPointer<UInt64>, _ isAbsent: UnsafeMutablePointer<Bool>, _ state: borrowing IndexState
    ) {
        state.prefetch(hashes: hashes)
        for number in 0..<hashes.count {
            // What memtables have, a look-up finds there.
            (isAbsent + number).initialize(to: !state.isInMemtables(hash: hashes[number]))
        }
        withUnsafeTemporaryAllocation(of: Bool.self, capacity: hashes.count) { found in
            guard let found = found.baseAddress else { return }
            for run in state.runs {
                for number in 0..<hashes.count { (found + number).initialize(to: isAbsent[number]) }
                // What cannot be read is not absent; the look-up itself will say so.
                do throws(LogError) { try run.filter(hashes, found) } catch { return }
                for number in 0..<hashes.count where found[number] { isAbsent[number] = false }
            }
            for number in 0..<hashes.count where isAbsent[number] {
                stage.absentKeys.insert(hashes[number], of: state.definition.id)
            }
        }
    }

    /// The hash of a key's search prefix.
    @inline(__always)
    private func hash(_ index: IndexDefinition, _ key: UnsafeRawBufferPointer) -> UInt64 {
        IndexHash.hash(key, prefixByteCountMax: index.searchPrefix.byteCountMax)
    }
}
