internal import FaultlineLog
internal import FaultlineText

/// Collects the terms of a row's texts and makes its keys.
struct TextKeyBuilder {
    private struct Occurrence {
        /// The first bytes of the term, as a number that orders like them.
        let word: UInt64
        let start: Int
        let count: Int
        let field: Int
        let position: Int
    }

    private let id: RecordID
    /// The terms, one behind the other.
    private var terms: [UInt8] = []
    private var occurrences: [Occurrence] = []
    private var lengths: [Int]

    init(id: RecordID, fieldCount: Int) {
        self.id = id
        lengths = Array(repeating: 0, count: fieldCount)
    }

    /// Adds the terms of a field's text.
    mutating func add(_ text: UnsafeRawBufferPointer, field: Int, _ analyzer: TextAnalyzer) {
        analyzer.forEachTerm(in: text.assumingMemoryBound(to: UInt8.self)) { term, position, _ in
            guard TextTerms.isTerm(term), let start = term.baseAddress else { return }
            lengths[field] += 1
            occurrences.append(
                Occurrence(
                    word: KeyBytes.word(start, term.count), start: terms.count, count: term.count, field: field,
                    position: position))
            terms.append(contentsOf: term)
        }
    }

    /// Makes the keys.
    mutating func finish() -> TextKeys {
        var keys = TextKeys()
        keys.append { bytes in
            bytes.append(TextTerms.lengthsMark)
            bytes.appendBigEndian(id)
            for length in lengths { bytes.appendVarint(length) }
        }
        terms.withUnsafeBytes { terms in
            func term(_ occurrence: Occurrence) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(
                    rebasing: terms[occurrence.start..<occurrence.start + occurrence.count])
            }
            occurrences.sort { left, right in
                if left.word != right.word { return left.word < right.word }
                let order =
                    left.count <= 8 && right.count <= 8
                    ? left.count - right.count : KeyBytes.order(term(left), term(right))
                if order != 0 { return order < 0 }
                return (left.field, left.position) < (right.field, right.position)
            }
            var first = 0
            while first < occurrences.count {
                let name = term(occurrences[first])
                var end = first + 1
                while end < occurrences.count, occurrences[end].word == occurrences[first].word,
                    KeyBytes.order(term(occurrences[end]), name) == 0
                { end += 1 }
                keys.append { append(name, first..<end, to: &$0) }
                first = end
            }
        }
        return keys
    }

    /// Appends the key of a term, without positions if it would be too long.
    private func append(_ term: UnsafeRawBufferPointer, _ range: Range<Int>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: term)
        bytes.append(TextTerms.lengthsMark)
        bytes.appendBigEndian(id)
        let payload = bytes.count
        appendFields(range, hasPositions: true, to: &bytes)
        guard bytes.count - start > TextTerms.keyByteCountMax else { return }
        TextKeys.cut(&bytes, to: payload)
        appendFields(range, hasPositions: false, to: &bytes)
    }

    private func appendFields(_ range: Range<Int>, hasPositions: Bool, to bytes: inout [UInt8]) {
        var place = range.lowerBound
        while place < range.upperBound {
            let field = occurrences[place].field
            var end = place + 1
            while end < range.upperBound, occurrences[end].field == field { end += 1 }
            let frequency = end - place
            bytes.appendVarint(field << 2 | (hasPositions ? 0 : 2) | (frequency == 1 ? 1 : 0))
            if frequency > 1 { bytes.appendVarint(frequency) }
            var previous = 0
            while place < end {
                let position = occurrences[place].position
                if hasPositions { bytes.appendVarint(position - previous) }
                previous = position
                place += 1
            }
        }
    }
}

extension [UInt8] {
    /// A key's beginning: a prefix with the number of an object.
    func followed(by id: RecordID) -> [UInt8] {
        var key = self
        key.appendBigEndian(id)
        return key
    }

    fileprivate mutating func appendBigEndian(_ number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    fileprivate mutating func appendVarint(_ number: Int) {
        var rest = UInt(bitPattern: number)
        while rest >= 128 {
            append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
