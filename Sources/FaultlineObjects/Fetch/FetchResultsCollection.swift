/// The result of a fetch in batches: its elements are made a batch at a time, on access.
///
/// The set of objects and their order stay as they were at the fetch, in eight bytes an object. One batch of objects is
/// held at a time, so that a walk over any number of objects takes the memory of one batch, unless other code keeps
/// them. Access to an element of another batch reads that batch's rows at once: reading its objects fires no fault.
///
/// It belongs to its context's thread, task or actor. A batch is read in the context's state at that time: an object
/// that was deleted since is included, and its `isDeleted` is true. Errors are reported to the context's
/// `errorHandler`, as for every getter.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    /// One batch, shared by the copies of a collection.
    private final class Batch {
        var range = 0..<0
        var elements: [Element] = []
    }

    private let make: (Range<Int>) -> [Element]
    private let batchSize: Int
    private let batch = Batch()

    /// The number of elements.
    public let count: Int

    /// - Parameters:
    ///   - count: The number of elements.
    ///   - batchSize: How many are made at once; below 1 for all.
    ///   - make: Makes the elements of a range of positions.
    init(count: Int, batchSize: Int, make: @escaping (Range<Int>) -> [Element]) {
        self.count = count
        self.batchSize = batchSize < 1 ? Swift.max(count, 1) : batchSize
        self.make = make
    }

    /// All elements, made already.
    package init(_ elements: [Element]) { self.init(count: elements.count, batchSize: 0) { Array(elements[$0]) } }

    /// Zero.
    public var startIndex: Int { 0 }
    /// `count`.
    public var endIndex: Int { count }

    /// The element at a position, made with its whole batch if that is not the current one.
    ///
    /// - Complexity: O(1) within the batch; otherwise O(n) for the n rows of another batch.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count, "FetchResultsCollection: index \(position) is out of range.")
        if !batch.range.contains(position) {
            let first = position - position % batchSize
            let range = first..<(first + Swift.min(batchSize, count - first))
            // The old batch is released before the new one is made.
            batch.range = 0..<0
            batch.elements = []
            batch.elements = make(range)
            batch.range = range
        }
        return batch.elements[position - batch.range.lowerBound]
    }
}

// Unavailable as for the context, whose objects it returns.
@available(*, unavailable, message: "The results of a fetch belong to their context. Pass identifiers.")
extension FetchResultsCollection: Sendable {}
