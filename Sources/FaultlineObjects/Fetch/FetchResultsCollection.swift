/// The result of a fetch in batches: its elements are made a batch at a time, as they are asked for.
///
/// What was found, and in which order, stays as it was when it was fetched, in eight bytes an object. One batch of
/// objects is held at a time, so that going over any number of objects takes the memory of one batch, as long as nobody
/// else keeps them. To ask for an element of another batch reads that batch's rows at once: touching its objects fires
/// no fault.
///
/// It belongs to its context's thread, task or actor. A batch is read at the state that the context is then at: an
/// object that was deleted meanwhile is there, and says so by `isDeleted`. What cannot be read is reported to the
/// context's `errorHandler`, as for every getter.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    /// One batch, shared by the copies of a collection.
    private final class Batch {
        var range = 0..<0
        var elements: [Element] = []
    }

    private let make: (Range<Int>) -> [Element]
    private let batchSize: Int
    private let batch = Batch()

    /// How many were found.
    public let count: Int

    /// - Parameters:
    ///   - count: How many elements there are.
    ///   - batchSize: How many are made at once; below 1 for all.
    ///   - make: Makes the elements of some places.
    init(count: Int, batchSize: Int, make: @escaping (Range<Int>) -> [Element]) {
        self.count = count
        self.batchSize = batchSize < 1 ? Swift.max(count, 1) : batchSize
        self.make = make
    }

    /// Zero.
    public var startIndex: Int { 0 }
    /// `count`.
    public var endIndex: Int { count }

    /// The element at a place, made with the others of its batch if that is not the one at hand.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count, "FetchResultsCollection: index \(position) is out of range.")
        if !batch.range.contains(position) {
            let first = position - position % batchSize
            let range = first..<(first + Swift.min(batchSize, count - first))
            // The old batch goes before the new one comes.
            batch.range = 0..<0
            batch.elements = []
            batch.elements = make(range)
            batch.range = range
        }
        return batch.elements[position - batch.range.lowerBound]
    }
}

// Unavailable as for the context, whose objects it gives.
@available(*, unavailable, message: "The results of a fetch belong to their context. Pass identifiers.")
extension FetchResultsCollection: Sendable {}
