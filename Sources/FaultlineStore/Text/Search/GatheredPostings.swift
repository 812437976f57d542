internal import FaultlineLog

/// The postings of several words, as many objects from the first on as memory holds, until they are ordered.
struct GatheredPostings {
    struct Posting {
        let id: RecordID
        /// A hash of its word; 0 if that does not matter.
        let term: UInt32
        let start: Int
        let end: Int
    }

    private(set) var postings: [Posting] = []
    private(set) var payloads: [UInt8] = []
    /// The first object whose postings are left out; `UInt64.max` if none is.
    private(set) var end = RecordID.max
    private let byteCountMax: Int

    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    var byteCount: Int { postings.count * MemoryLayout<Posting>.stride + payloads.count }

    /// Adds a posting, unless its object is left out; leaves out half of the objects if they are too many.
    mutating func add(_ id: RecordID, term: UInt32 = 0, _ payload: UnsafeRawBufferPointer) {
        guard id < end else { return }
        append(id, term, payload)
        if byteCount > byteCountMax { halve() }
    }

    /// Brings the postings into the order of their objects, then of their words.
    mutating func order() { postings.sort { $0.id != $1.id ? $0.id < $1.id : $0.term < $1.term } }

    /// Whether an object has two postings of a word; they are in order.
    var hasRepeats: Bool {
        postings.indices.dropFirst().contains { place in
            postings[place].id == postings[place - 1].id && postings[place].term == postings[place - 1].term
        }
    }

    private mutating func append(_ id: RecordID, _ term: UInt32, _ payload: some Sequence<UInt8>) {
        let start = payloads.count
        payloads.append(contentsOf: payload)
        postings.append(Posting(id: id, term: term, start: start, end: payloads.count))
    }

    /// Drops the postings of the upper half of objects; keeps those of one at least.
    private mutating func halve() {
        order()
        end = max(postings[postings.count / 2].id, postings[0].id + 1)
        let all = self
        postings.removeAll(keepingCapacity: true)
        payloads.removeAll(keepingCapacity: true)
        for posting in all.postings where posting.id < end {
            append(posting.id, posting.term, all.payloads[posting.start..<posting.end])
        }
    }
}
