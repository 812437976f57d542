internal import FaultlineLog
internal import FaultlineStore

/// New objects of a migration stage's context that the context has let go before their save: their rows are in uploads,
/// in the order in which the objects were inserted.
///
/// Only the context had such an object; references by its temporary number may lead to it. A save reads the rows one
/// after the other. Other calls that ask for new objects get all of them made again, under the numbers that they had:
/// `PendingChanges.inserted`.
///
/// Memory: about a kilobyte for each upload, which has a share of the ceiling; nothing for each object.
final class SpilledInserts {
    /// The objects that one upload has.
    struct Part {
        let upload: FinishedUpload
        let byteCount: UInt64
    }

    /// Makes all of them again: a function, because the state of a context names no operation on it.
    let makeAll: (SpilledInserts) -> [ObjectHandle]
    /// Called when the context has all of its new objects in memory again, with their number.
    let noteAll: (_ count: Int) -> Void
    private(set) var parts: [Part] = []
    private(set) var count = 0
    /// By ordinal of the entity.
    private(set) var counts: [Int]
    /// The first and the last temporary number: they rise.
    private var first: UInt64 = 0
    private(set) var last: UInt64 = 0
    /// Whether collections have some of them as members.
    var hasMembers = false
    /// For each of the first objects of the context's list, how many of these were inserted before it.
    private(set) var places: [Int] = []

    init(
        entityCount: Int, makeAll: @escaping (SpilledInserts) -> [ObjectHandle],
        noteAll: @escaping (_ count: Int) -> Void
    ) {
        self.makeAll = makeAll
        self.noteAll = noteAll
        counts = [Int](repeating: 0, count: entityCount)
    }

    /// Adds the objects of an upload.
    ///
    /// - Parameters:
    ///   - part: The upload.
    ///   - counts: How many it has, by ordinal of the entity.
    ///   - numbers: Their first and their last temporary number.
    ///   - places: For each object that stayed in memory, how many went before it.
    func add(_ part: Part, _ counts: [Int], numbers: ClosedRange<UInt64>, places: [Int]) {
        parts.append(part)
        if count == 0 { first = numbers.lowerBound }
        last = numbers.upperBound
        for ordinal in counts.indices {
            count += counts[ordinal]
            self.counts[ordinal] += counts[ordinal]
        }
        self.places += places
    }

    /// Whether a temporary number may be that of one of these.
    func mayHave(_ number: UInt64) -> Bool { number >= first && number <= last }

    /// How many of these were inserted before an object of the context's list.
    ///
    /// - Parameter position: The place in that list.
    /// - Returns: Their number.
    func countBefore(_ position: Int) -> Int { position < places.count ? places[position] : count }
}
