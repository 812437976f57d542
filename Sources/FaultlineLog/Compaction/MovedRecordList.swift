/// Where the records of one step were moved to, before any table names their copies.
struct MovedRecordList {
    /// Records after which a step ends, however small they are.
    private static let recordCountMax = 65_536
    /// Records that are published in one writer's turn.
    private static let turnRecordCountMax = 8_192

    private var moves: [Move] = []
    /// Bytes of the records.
    private(set) var byteCount: UInt64 = 0
    /// Bytes before the records of their frames.
    private(set) var headByteCount: UInt64 = 0

    /// Whether no frame was written.
    var isEmpty: Bool { headByteCount == 0 }

    /// Whether a step ends with them, one of so many bytes.
    func isFull(for byteCountMax: UInt64) -> Bool {
        byteCount >= byteCountMax || moves.count >= Self.recordCountMax
    }

    /// Adds what a frame has.
    mutating func add(_ moves: [Move], byteCount: Int, headByteCount: Int) {
        self.moves += moves
        self.byteCount += UInt64(byteCount)
        self.headByteCount += UInt64(headByteCount)
    }

    mutating func removeAll() {
        moves.removeAll(keepingCapacity: true)
        byteCount = 0
        headByteCount = 0
    }

    /// Calls `body` with one turn's moves after the other, in the order of tables and objects: at least once.
    ///
    /// - Parameters:
    ///   - pageCountMax: Pages that one turn may change, each of which it has to copy.
    ///   - body: Gets the moves.
    /// - Throws: What `body` throws.
    mutating func forEachTurn(
        pageCountMax: Int, _ body: (ArraySlice<Move>) throws(LogError) -> Void
    ) throws(LogError) {
        moves.sort { ($0.table, $0.id) < ($1.table, $1.id) }
        var start = 0
        repeat {
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
            try body(moves[start..<end])
            start = end
        } while start < moves.count
    }
}
