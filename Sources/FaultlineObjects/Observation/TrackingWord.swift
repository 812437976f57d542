internal import CFaultline
internal import FaultlineDisk
internal import Observation

/// Whether the calling thread runs inside of `withObservationTracking`.
///
/// Swift's Observation stores that in a thread-local word, which it does not export; calling one of its registrars
/// takes longer than most getters. So the word is searched once: a new thread compares its thread-local words before
/// tracking, inside of it, and inside a nested tracking. If not exactly one word matches, nothing is tracked.
enum TrackingWord {
    typealias Address = UnsafePointer<UnsafeMutableRawPointer?>

    /// Whether the thread's reads are being tracked.
    @inline(__always)
    static var isSet: Bool {
        if let word = fl_tracking_word_get() { return word.pointee != nil }
        return find().pointee != nil
    }

    /// Runs `body` without tracking: for reads that the library makes for itself.
    static func withoutTracking<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        guard isSet else { return try body() }
        let word = fl_tracking_word_get()
        fl_tracking_word_set(never)
        defer { fl_tracking_word_set(word) }
        return try body()
    }

    private static let place = TrackingWordSearch.place()
    /// The word that threads read if the tracking word is unknown.
    // Safe because it is never written.
    nonisolated(unsafe) private static let never: Address = {
        let word = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)
        word.initialize(to: nil)
        return Address(word)
    }()

    /// Finds the calling thread's word and keeps it for the thread.
    @inline(never)
    private static func find() -> Address {
        let word = place.flatMap(TrackingWordSearch.address) ?? never
        fl_tracking_word_set(word)
        return word
    }
}

/// The search for the position of the word.
// Safe because only its own thread uses it until it was joined.
private final class TrackingWordSearch: @unchecked Sendable {
    /// A word of a module's thread-local memory.
    struct Place: Equatable {
        let module: Int
        let index: Int
    }

    /// The words of the calling thread.
    private final class Words {
        var places: [Place] = []
        var addresses: [TrackingWord.Address] = []
        var values: [UInt] = []

        init() {
            fl_visit_thread_words(Unmanaged.passUnretained(self).toOpaque()) { context, module, words, count in
                guard let context, let words else { return }
                let found = Unmanaged<Words>.fromOpaque(context).takeUnretainedValue()
                for index in 0..<count {
                    found.places.append(Place(module: module, index: index))
                    found.addresses.append(words + index)
                    found.values.append(UInt(bitPattern: words[index]))
                }
            }
        }
    }

    private var found: Place?

    /// The position of the word, the same in every thread; nil if it cannot be determined.
    static func place() -> Place? {
        let search = TrackingWordSearch()
        // A new thread tracks nothing yet.
        SystemThread { search.run() }?.join()
        return search.found
    }

    /// The word of the calling thread.
    static func address(of place: Place) -> TrackingWord.Address? {
        touch()
        let words = Words()
        return words.places.firstIndex(of: place).map { words.addresses[$0] }
    }

    /// Makes the runtime create the calling thread's word.
    private static func touch() {
        let observation = ObjectObservation()
        observation.noteRead(0)
    }

    private func run() {
        Self.touch()
        let before = Words()
        var outer = before
        var inner = before
        withObservationTracking {
            outer = Words()
            withObservationTracking {
                inner = Words()
            } onChange: {
            }
        } onChange: {
        }
        let after = Words()
        guard [outer, inner, after].allSatisfy({ $0.places == before.places }) else { return }
        let candidates = before.places.indices.filter {
            before.values[$0] == 0 && after.values[$0] == 0 && outer.values[$0] != 0 && inner.values[$0] != 0
                && outer.values[$0] != inner.values[$0]
        }
        if candidates.count == 1 { found = before.places[candidates[0]] }
    }
}
