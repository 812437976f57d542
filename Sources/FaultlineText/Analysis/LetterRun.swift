/// A run of letters of scripts without spaces.
///
/// The last two letters wait, because a mark that follows may change them, and marks wait for the next letter, to come
/// in canonical order.
struct LetterRun {
    struct Letter {
        var scalar: UInt32
        var combiningClass: UInt8
        var range: Range<Int>
    }

    /// Most marks that are put in order; more are none of any language.
    private static let markCountMax = 16

    /// Where the run ends in the text; -1 if there is none.
    var end = -1
    private var first: Letter?
    private var second: Letter?
    /// Marks with a class of combination, in order, then perhaps the letter that follows them.
    private var queue: [Letter] = []
    private var isQueueReady = false

    var isEmpty: Bool { end < 0 }

    /// Whether a letter needs no place in a queue of marks.
    @inline(__always) func takesDirectly(_ letter: Letter) -> Bool { letter.combiningClass == 0 && queue.isEmpty }

    /// Adds a letter or a mark.
    ///
    /// `nextPair` must be called then until it has no more pairs.
    mutating func add(_ letter: Letter) {
        var place = queue.count
        if letter.combiningClass != 0 {
            while place > 0, queue[place - 1].combiningClass > letter.combiningClass { place -= 1 }
        }
        queue.insert(letter, at: place)
        isQueueReady = letter.combiningClass == 0 || queue.count > Self.markCountMax
    }

    /// The next pair that no later letter can change.
    mutating func nextPair() -> (first: Letter, second: Letter)? {
        guard isQueueReady else { return nil }
        for (index, letter) in queue.enumerated() {
            guard let pair = append(letter) else { continue }
            queue.removeFirst(index + 1)
            return pair
        }
        queue.removeAll(keepingCapacity: true)
        isQueueReady = false
        return nil
    }

    /// Adds a letter that the run takes directly, or the next one of the queue.
    ///
    /// - Returns: The pair that is complete now, if there is one.
    mutating func append(_ letter: Letter) -> (first: Letter, second: Letter)? {
        guard let last = second else {
            second = letter
            return nil
        }
        if let composed = compose(last.scalar, letter.scalar) {
            let range = last.range.lowerBound..<max(last.range.upperBound, letter.range.upperBound)
            second = Letter(scalar: composed, combiningClass: 0, range: range)
            return nil
        }
        defer {
            first = last
            second = letter
        }
        return first.map { ($0, last) }
    }

    /// Lets the last letter cover the marks behind it that folding drops.
    mutating func extendLast(to end: Int) {
        guard queue.isEmpty, let last = second, last.range.upperBound < end else { return }
        second?.range = last.range.lowerBound..<end
    }

    /// Lets `nextPair` return all pairs but the last one.
    mutating func close() { isQueueReady = true }

    /// Ends a run that is closed, and returns the letters that wait.
    mutating func finish() -> (first: Letter?, second: Letter?) {
        defer {
            end = -1
            first = nil
            second = nil
        }
        return (first, second)
    }
}
