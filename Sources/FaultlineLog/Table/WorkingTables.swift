/// The tables as the newest transaction sees them: copy-on-write where a captured version shares them, in place
/// elsewhere.
///
/// `capture` is O(1): it returns the present version and begins a new one. Between two captures each changed part is
/// copied at most once: a page, its chunk, the table's root, the set.
///
/// Concurrency: guarded by the writer lock.
package struct WorkingTables {
    package let cache: PageCache
    private(set) var version: UInt64
    package private(set) var set: TableSet
    /// The sequence number that changed pages are marked with.
    var sequence: UInt64 = 0
    /// The version that rolling back a transaction restores.
    private(set) var captured: TableSet

    // The page written last; most writes go to the same one.
    private var lastTable: UInt16 = 0
    private var lastPage = -1
    private var lastRoot: TableRoot?
    private var lastEntries: UnsafeMutableRawPointer?

    package init(cache: PageCache) {
        self.cache = cache
        version = 1
        set = TableSet(version: 1)
        captured = set
    }

    /// Returns the present version; later changes are made on copies.
    mutating func capture() -> TableSet {
        leavePage()
        captured = set
        version += 1
        return captured
    }

    /// Reverts every change since the last capture.
    mutating func restore() {
        set = captured
        version += 1
        forgetPlace()
    }

    /// Reverts every change since `set` was captured.
    mutating func restore(to set: TableSet) {
        self.set = set
        captured = set
        version += 1
        forgetPlace()
    }

    /// Leaves the page written last, and removes it if it has no object left.
    ///
    /// To be called before pages of the working version are stored: they may not be changed in place any more.
    package mutating func leavePage() {
        if let entries = lastEntries, entries[TablePage.Fields.count] == 0 { lastRoot?.removeOwnedPage(lastPage) }
        forgetPlace()
    }

    /// Whether nothing has changed since the last capture.
    var isCaptured: Bool { captured === set && lastRoot == nil }

    private mutating func forgetPlace() {
        lastTable = 0
        lastPage = -1
        lastRoot = nil
        lastEntries = nil
    }

    /// The location of an object.
    @inline(__always)
    func location(of id: RecordID, in table: UInt16) throws(LogError) -> Location {
        guard let root = set[table] else { return .absent }
        return try root.location(of: id)
    }

    func nextID(in table: UInt16) -> RecordID { set[table]?.nextID ?? 1 }

    /// The table's root as an object that may be changed in place.
    mutating func ownedRoot(_ table: UInt16) -> TableRoot {
        if let root = set[table], root.version == version { return root }
        if set.version != version { set = TableSet(copying: set, version: version) }
        let root: TableRoot
        if let old = set[table] {
            root = TableRoot(copying: old, version: version)
        } else {
            root = TableRoot(table: table, version: version, cache: cache)
        }
        set.set(root, for: table)
        return root
    }

    /// Replaces a location.
    ///
    /// - Returns: The previous location.
    @inline(__always)
    package mutating func replace(_ id: RecordID, in table: UInt16, with location: Location) throws(LogError)
        -> Location
    {
        let (page, entry) = TablePage.place(of: id)
        if page != lastPage || table != lastTable { try moveTo(table, page) }
        guard let entries = lastEntries, let root = lastRoot else { return .absent }
        let place = entries + (TablePage.headerByteCount + entry * Location.byteCount)
        let old = Location(reading: place)
        location.write(to: place)
        if old.isAbsent != location.isAbsent {
            let change = location.isAbsent ? -1 : 1
            entries[TablePage.Fields.count] = UInt16(
                truncatingIfNeeded: Int(entries[TablePage.Fields.count]) + change)
            root.recordCount += change
        }
        if id >= root.nextID { root.nextID = id + 1 }
        return old
    }

    /// The location of an object that is about to be replaced: moves to its page, as `replace` will.
    @inline(__always)
    mutating func locationToReplace(of id: RecordID, in table: UInt16) throws(LogError) -> Location {
        guard id > 0, id <= Limits.recordIDMax else { return .absent }
        let (page, entry) = TablePage.place(of: id)
        if page != lastPage || table != lastTable { try moveTo(table, page) }
        guard let entries = lastEntries else { return .absent }
        return Location(reading: entries + (TablePage.headerByteCount + entry * Location.byteCount))
    }

    @inline(never)
    private mutating func moveTo(_ table: UInt16, _ page: Int) throws(LogError) {
        // The root written last belongs to the working version: capturing a version always resets it.
        let known = table == lastTable ? lastRoot : nil
        leavePage()
        let root = known ?? ownedRoot(table)
        let handle = try root.ownedPage(page)
        lastTable = table
        lastPage = page
        lastRoot = root
        lastEntries = handle.pointee.page
        lastEntries?[TablePage.Fields.sequence] = sequence
    }

    /// Allocates identifiers.
    mutating func allocate(_ count: Int, in table: UInt16) -> RecordID {
        let root = ownedRoot(table)
        let first = root.nextID
        root.nextID += UInt64(count)
        return first
    }

    /// Removes a table.
    mutating func drop(_ table: UInt16) {
        // The page written last may belong to another table.
        leavePage()
        if set.version != version { set = TableSet(copying: set, version: version) }
        set.set(nil, for: table)
    }

    /// Raises the next identifier of a table, as the manifest requires.
    mutating func raiseNextID(of table: UInt16, to next: RecordID) {
        let root = ownedRoot(table)
        if root.nextID < next { root.nextID = next }
    }
}
