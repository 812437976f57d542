package import FaultlineLog

/// Some of an owner's members, and the place behind them.
package struct MemberPage {
    /// Their numbers, in their order.
    package fileprivate(set) var numbers: [RecordID] = []
    /// Whether there are no more.
    package fileprivate(set) var isLast = false
    fileprivate var last: (key: [UInt8], id: RecordID)?

    /// A page before the first.
    package init() {}

    /// Whether nothing was read yet.
    package var isNew: Bool { last == nil && !isLast }
}

extension Snapshot {
    /// Reads the next members of an owner in a relationship index.
    ///
    /// - Parameters:
    ///   - owner: The owner.
    ///   - index: The index.
    ///   - limit: The most members to read.
    ///   - page: The members before; then those that were read.
    /// - Throws: `LogError` if the index cannot be read.
    package func readMembers(
        of owner: RecordID, in index: IndexDefinition, next limit: Int, _ page: inout MemberPage
    ) throws {
        var numbers: [RecordID] = []
        let last = page.last
        var next = last
        func take(_ key: UnsafeRawBufferPointer, _ id: RecordID) -> Bool {
            if let last, id <= last.id, key.elementsEqual(last.key) { return true }
            guard let number = MemberKey.member(key, id: id) else { return true }
            numbers.append(number)
            next = (Array(key), id)
            return numbers.count < limit
        }
        try MemberKey.withPrefix(owner: owner) { prefix in
            guard let last else { return try forEachEntry(in: index, prefix: prefix, take) }
            try last.key.withUnsafeBytes { try forEachEntry(in: index, prefix: prefix, from: $0, take) }
        }
        page.numbers = numbers
        page.last = next
        page.isLast = numbers.count < limit
    }
}
