internal import FaultlineLog
internal import FaultlineText

/// The postings of all terms with some beginning, ordered by objects: those of a range of objects at a time, in the
/// memory budget.
///
/// Not for two threads at once.
final class PrefixPostings {
    /// The least memory of a range of several objects, in bytes.
    static let byteCountMin = 64 << 10

    /// The postings of a range of objects.
    final class Window {
        /// The first object behind the range; `UInt64.max` if none is.
        let end: RecordID
        fileprivate let start: RecordID
        private let postings: [GatheredPostings.Posting]
        private let payloads: [UInt8]
        private let budget: MemoryBudget
        private let byteCount: Int

        fileprivate init(from start: RecordID, _ gathered: GatheredPostings, _ budget: MemoryBudget) {
            self.start = start
            end = gathered.end
            postings = gathered.postings
            payloads = gathered.payloads
            self.budget = budget
            byteCount = gathered.byteCount
            budget.reserve(byteCount, for: .buffers)
        }

        deinit { budget.release(byteCount, for: .buffers) }

        fileprivate func covers(_ id: RecordID) -> Bool { start <= id && (id < end || end == .max) }

        func id(_ place: Int) -> RecordID { postings[place].id }

        /// The postings of the first object that is not below another one, from a place on; nil if there is none.
        func first(from id: RecordID, behind place: Int) -> Range<Int>? {
            var (low, high) = (place, postings.count)
            if low < high, postings[low].id < id {
                while low < high {
                    let middle = (low + high) / 2
                    if postings[middle].id < id { low = middle + 1 } else { high = middle }
                }
            }
            guard low < postings.count else { return nil }
            var end = low + 1
            while end < postings.count, postings[end].id == postings[low].id { end += 1 }
            return low..<end
        }

        func withPayload<R>(_ place: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
            payloads.withUnsafeBytes {
                body(UnsafeRawBufferPointer(rebasing: $0[postings[place].start..<postings[place].end]))
            }
        }
    }

    private let term: TextTerm
    private let index: TextIndex
    private let snapshot: Snapshot
    private let budget: MemoryBudget
    private let byteCountMax: Int
    private var last: Window?

    /// - Parameters:
    ///   - term: The beginning.
    ///   - index: The index.
    ///   - snapshot: The state that is read.
    ///   - budget: Has the memory.
    ///   - byteCountMax: The memory of a range of objects; nil for a share of the budget.
    /// - Throws: The error of a query if the beginning stands for more words than one may; errors of reading.
    init(
        _ term: TextTerm, of index: TextIndex, in snapshot: Snapshot, _ budget: MemoryBudget, byteCountMax: Int? = nil
    ) throws(TextSearchFailure) {
        self.term = term
        self.index = index
        self.snapshot = snapshot
        self.budget = budget
        self.byteCountMax = byteCountMax ?? max(budget.byteCount / 8, Self.byteCountMin)
        do throws(StoreError) { last = try load(from: 1) } catch { throw .store(error) }
        if last == nil { throw .query(.prefixTooShort(term)) }
    }

    /// The range that an object is in.
    func window(from id: RecordID) throws(StoreError) -> Window {
        if let last, last.covers(id) { return last }
        last = nil
        guard let loaded = try load(from: id) else { throw index.malformed() }
        last = loaded
        return loaded
    }

    /// Reads the postings from an object on, as many as memory holds; nil if there are too many words.
    private func load(from start: RecordID) throws(StoreError) -> Window? {
        switch try loadLive(from: start) {
        case .window(let window): return window
        case .tooManyWords: return nil
        case .unknown: break
        }
        var gathered = GatheredPostings(byteCountMax: byteCountMax)
        var word: [UInt8] = []
        var wordCount = 0
        var isMalformed = false
        do throws(LogError) {
            let cursor = try snapshot.cursor(in: index.definition, prefix: term.bytes)
            var isThere = try cursor?.advance() ?? false
            while isThere, let cursor {
                let key = cursor.key
                guard let byteCount = key.firstIndex(of: TextTerms.lengthsMark), byteCount >= term.bytes.count,
                    let id = key.bigEndianID(at: byteCount + 1), id == cursor.id
                else {
                    isMalformed = true
                    break
                }
                if !key.prefix(byteCount).elementsEqual(word) {
                    word = Array(key.prefix(byteCount))
                    wordCount += 1
                    if wordCount > TextQuery.expansionMax { return nil }
                }
                if id < start {
                    isThere = try cursor.advance(toNotBelow: (word + [TextTerms.lengthsMark]).followed(by: start))
                    continue
                }
                if id >= gathered.end {
                    isThere = try cursor.advance(toNotBelow: word + [TextTerms.lengthsMark + 1])
                    continue
                }
                gathered.add(id, UnsafeRawBufferPointer(rebasing: key.dropFirst(byteCount + 9)))
                isThere = try cursor.advance()
            }
        } catch { throw StoreError(error) }
        if isMalformed { throw index.malformed() }
        gathered.order()
        return Window(from: start, gathered, budget)
    }

    private enum Loaded {
        case window(Window)
        case tooManyWords
        /// The postings are not known to be live.
        case unknown
    }

    /// Reads the postings from an object on, if all are known to be live.
    private func loadLive(from start: RecordID) throws(StoreError) -> Loaded {
        var gathered = GatheredPostings(byteCountMax: byteCountMax)
        let wordCount: Int?
        do throws(LogError) {
            wordCount = try snapshot.forEachPosting(
                in: index.definition, prefix: term.bytes, notBelow: start, termCountMax: TextQuery.expansionMax
            ) { (term, id, bytes) in
                gathered.add(id, term: UInt32(truncatingIfNeeded: term), bytes)
            }
        } catch { throw StoreError(error) }
        guard let wordCount else { return .unknown }
        guard wordCount <= TextQuery.expansionMax else { return .tooManyWords }
        gathered.order()
        // Two parts of the index may have the same entry.
        if gathered.hasRepeats { return .unknown }
        if let first = gathered.postings.first, let last = gathered.postings.last,
            first.id == 0 || last.id > Limits.recordIDMax
        {
            throw index.malformed()
        }
        return .window(Window(from: start, gathered, budget))
    }
}
