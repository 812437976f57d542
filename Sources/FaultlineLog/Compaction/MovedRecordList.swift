/// The new locations of one step's records, before any table names their copies.
struct MovedRecordList {
    /// The number of records that ends a step, however small they are.
    private static let recordCountMax = 65_536
    /// The number of records published at a time, with the writer lock held.
    private static let turnRecordCountMax = 8_192

    private var moves: [Move] = []
    private var takenCount = 0
    /// Bytes of the records.
    private(set) var byteCount: UInt64 = 0
    /// Bytes before the records of their frames.
    private(set) var headByteCount: UInt64 = 0

    /// Whether no frame was written.
    var isEmpty: Bool { headByteCount == 0 }

    /// Whether a step of `byteCountMax` bytes ends with them.
    func isFull(for byteCountMax: UInt64) -> Bool {
        byteCount >= byteCountMax || moves.count >= Self.recordCountMax
    }

    /// Adds the records of a frame.
    mutating func add(_ moves: [Move], byteCount: Int, headByteCount: Int) {
        self.moves += moves
        self.byteCount += UInt64(byteCount)
        self.headByteCount += UInt64(headByteCount)
    }

    mutating func removeAll() {
        moves.removeAll(keepingCapacity: true)
        takenCount = 0
        byteCount = 0
        headByteCount = 0
    }

    /// Takes the moves to be published at a time, in the order of tables and objects.
    ///
    /// - Parameter pageCountMax: Pages that they may change, each of which must be copied.
    /// - Returns: The moves, and bytes before the records of the frames. The first call returns all of these bytes; it
    ///   returns no moves if only deletes were moved.
    mutating func takeTurn(pageCountMax: Int) -> (moves: ArraySlice<Move>, headByteCount: UInt64) {
        if takenCount == 0 { moves.sort { ($0.table, $0.id) < ($1.table, $1.id) } }
        let start = takenCount
        var end = start
        var pageCount = 0
        var last = (table: UInt16(0), page: -1)
        while end < moves.count, end - start < Self.turnRecordCountMax {
            let place = (table: moves[end].table, page: TablePage.place(of: moves[end].id).page)
            if place != last {
                if pageCount == pageCountMax { break }
                pageCount += 1
                last = place
            }
            end += 1
        }
        takenCount = end
        return (moves[start..<end], start == 0 ? headByteCount : 0)
    }

    /// Whether all were taken.
    var isTaken: Bool { takenCount == moves.count }
}
