internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

// The large values of old objects.

extension MappedStage {
    /// Allows a new object to take over a value of an old one, if no other has; else it gets a copy.
    func move(_ blob: UInt64, of entityName: String) {
        // Values in a table that the old state shares stay there. So do the values of a quarantined object, which may
        // be quarantined before or after another object has asked for them.
        guard !isKept(entityName), !course.quarantine.isOn else { return }
        movedBlobs.allow(blob)
    }

    private func isKept(_ sourceName: String) -> Bool {
        guard let table = record.sourceMap.entity(named: sourceName)?.table else { return true }
        return record.targetMap.tables.contains(table)
    }

    /// Puts the values of an old entity that no new object took over on the list of data that is deleted after the
    /// switch.
    func leaveBehind(_ entityName: String) throws {
        guard !isKept(entityName) else { return }
        var left: [UInt64] = []
        func flush() throws {
            guard !left.isEmpty else { return }
            try save(adding: left)
            left.removeAll(keepingCapacity: true)
        }
        // Values of quarantined objects stay.
        let isKept: (RecordID) -> Bool = { [unowned self] in isTaken($0, ofSource: entityName) }
        try source.forEachBlobs(entityNamed: entityName, except: isKept) { blobs, rowCount in
            try course.advance(by: rowCount)
            left += blobs.filter { !movedBlobs.contains($0, newest()) }
            if left.count >= 16_384 { try flush() }
        }
        try flush()
    }
}
