internal import FaultlineLog

/// The entries of a term in a text index, which no call counts references of.
struct TermPostings: ~Copyable {
    private let index: TextIndex
    /// One cursor; none if the state lacks the index.
    private let cursor: UncountedList<PostingCursor>

    /// - Parameters:
    ///   - term: The term; empty for the lengths of all objects.
    ///   - index: The index.
    ///   - snapshot: The state that is read.
    /// - Throws: Errors of reading.
    init(_ term: [UInt8], of index: TextIndex, in snapshot: Snapshot) throws(StoreError) {
        self.index = index
        do throws(LogError) {
            let found = try snapshot.postings(in: index.definition, term: term)
            cursor = UncountedList(found.map { [$0] } ?? [])
        } catch { throw StoreError(error) }
    }

    /// Moves to the first object that is not below another one, which is above the current one.
    ///
    /// - Returns: The object found; `UInt64.max` at the end.
    /// - Throws: `malformed` for a key that no row has; errors of reading.
    @inline(__always)
    func seek(_ id: RecordID) throws(StoreError) -> RecordID {
        guard cursor.count > 0 else { return .max }
        let found: RecordID
        do throws(LogError) {
            found = try cursor.with(0) { (cursor) throws(LogError) in try cursor.next(notBelow: id) }
        } catch { throw StoreError(error) }
        if found == 0 || found > Limits.recordIDMax && found != .max { throw malformed() }
        return found
    }

    /// Passes the bytes of the current object's key behind term and object to `body`.
    @inline(__always)
    func withPayload<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { cursor.with(0) { body($0.payload) } }

    /// The error for a key that no row has.
    func malformed() -> StoreError { index.malformed() }
}
