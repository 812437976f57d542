package import FaultlineLog
internal import FaultlineDisk
internal import Glibc
internal import Synchronization

/// Counts the rows of an entity that satisfy a filter which the stored bytes alone can answer.
///
/// Rows are tested in batches without a branch for each row; two threads count an entity of many rows, half of the
/// numbers each.
package struct RowCount {
    /// The number of rows from which on a second thread is worthwhile.
    static let threadedCountMin = 100_000
    private static let readAheadByteCount = 128 << 10

    private let store: RowStore
    private let snapshot: Snapshot
    private let entity: EntityStorage
    private let filter: RowFilter

    package init(_ filter: RowFilter, _ entity: EntityStorage, _ store: RowStore, _ snapshot: Snapshot) {
        self.filter = filter
        self.entity = entity
        self.store = store
        self.snapshot = snapshot
    }

    /// Counts all rows of the entity.
    ///
    /// - Throws: `LogError` or `StoreError` for the first row that cannot be read; `CancellationError` if the task is
    ///   cancelled.
    package func count() throws -> (matches: Int, rowsRead: Int) {
        let counted = try countAll()
        for targets in filter.targets { try targets.check() }
        return counted
    }

    private func countAll() throws -> (matches: Int, rowsRead: Int) {
        let end = snapshot.nextID(of: entity.table)
        guard end > 1 else { return (0, 0) }
        guard snapshot.recordCount(of: entity.table) >= Self.threadedCountMin, sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
        else {
            return try count(1, through: end, nil)
        }
        let middle = end / 2
        let other = CountingThread { thread in try count(middle + 1, through: end, thread) }
        guard other.start() else { return try count(1, through: end, nil) }
        // Waits for the other thread in any case: it reads memory that is borrowed here.
        let first = Result { try count(1, through: middle, nil) }
        if case .failure = first { other.stop() }
        let second = other.join()
        let (left, right) = (try first.get(), try second.get())
        return (left.matches + right.matches, left.rowsRead + right.rowsRead)
    }

    /// Counts the rows of some numbers.
    ///
    /// - Parameters:
    ///   - first: The first number.
    ///   - last: The last number.
    ///   - thread: The thread that counts, which belongs to no task and may be stopped; nil for that of the task.
    /// - Returns: The rows that match, and those read.
    /// - Throws: As `count()`.
    private func count(
        _ first: RecordID, through last: RecordID, _ thread: CountingThread?
    ) throws -> (matches: Int, rowsRead: Int) {
        var cancellation = CancellationPoint()
        let rows = UnsafeMutablePointer<UnsafeRawPointer>.allocate(capacity: 256)
        defer { rows.deallocate() }
        var programs: [UInt16: RowProgram] = [:]
        var matches = 0
        var rowsRead = 0
        try snapshot.scan(entity.table, from: first, through: last, readAhead: Self.readAheadByteCount) { records in
            rowsRead += records.count
            if let thread {
                if thread.isStopped { return false }
            } else {
                try cancellation.pass(records.count)
            }
            var start = 0
            while start < records.count {
                let layout = records[start].layout
                let program: RowProgram
                if let known = programs[layout] {
                    program = known
                } else {
                    program = try store.program(filter, layout: layout, entity: entity)
                    programs[layout] = program
                }
                // A run of rows with the same layout.
                var end = start
                if !program.mayNeedValues, let byteCount = store.fixedByteCount(ofLayout: layout, entity) {
                    while end < records.count, records[end].layout == layout {
                        guard records[end].row.count >= byteCount, let base = records[end].row.baseAddress else {
                            break
                        }
                        rows[end - start] = base
                        end += 1
                    }
                    matches += program.countMatches(rows: rows, count: end - start)
                }
                // Other rows are checked, and refused, one by one.
                while end < records.count, end == start || program.mayNeedValues, records[end].layout == layout {
                    if try program.matches(store.view(records[end], of: entity), in: snapshot) { matches += 1 }
                    end += 1
                }
                start = end
            }
            return true
        }
        return (matches, rowsRead)
    }
}

extension RowProgram {
    /// Whether a row matches; reads values outside of the row if the answer depends on them.
    package func matches(_ row: RowView, in snapshot: Snapshot) throws(LogError) -> Bool {
        try matches(
            row,
            loading: { (_, reference) throws(LogError) in
                guard let byteCount = Int(exactly: reference.byteCount) else {
                    throw LogError(
                        .damaged, "A row names a value of \(reference.byteCount) bytes. Run `faultline verify`.")
                }
                var value = [UInt8](repeating: 0, count: byteCount)
                var failure: LogError?
                value.withUnsafeMutableBytes { target in
                    do throws(LogError) {
                        try snapshot.readBlob(reference.identifier, range: 0..<reference.byteCount, into: target)
                    } catch { failure = error }
                }
                if let failure { throw failure }
                return value
            })
    }
}

/// A count on a separate thread.
// Safe because the result is written by the thread and read after it was joined.
private final class CountingThread: @unchecked Sendable {
    typealias Output = (matches: Int, rowsRead: Int)

    private let body: (CountingThread) throws -> Output
    private var result: Result<Output, any Error> = .success((0, 0))
    private var thread: SystemThread?
    private let isStopping = Atomic(false)

    init(_ body: @escaping (CountingThread) throws -> Output) { self.body = body }

    var isStopped: Bool { isStopping.load(ordering: .relaxed) }

    /// Ends the count at the next rows, because its result is not needed.
    func stop() { isStopping.store(true, ordering: .relaxed) }

    /// False if the system refuses a thread.
    func start() -> Bool {
        thread = SystemThread { self.result = Result { try self.body(self) } }
        return thread != nil
    }

    func join() -> Result<Output, any Error> {
        thread?.join()
        return result
    }
}
