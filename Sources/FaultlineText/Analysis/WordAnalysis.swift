/// Reads a text once: words of ASCII byte by byte, all others segment by segment.
struct WordAnalysis {
    typealias Body = (
        _ term: UnsafeBufferPointer<UInt8>, _ position: Int, _ range: Range<Int>, _ kind: TermKind
    ) -> Void

    private let reader: ScalarReader
    private let table: ScalarTable
    private var buffer: TermBuffer
    private var position = 0
    private var run = LetterRun()

    init(reader: ScalarReader, buffer: UnsafeMutablePointer<UInt8>) {
        self.reader = reader
        table = .shared
        self.buffer = TermBuffer(bytes: buffer, table: table)
    }

    @inline(__always)
    mutating func run(_ body: Body) {
        let text = reader.bytes
        let count = reader.count
        let lowercase = table.words
        var offset = 0
        while offset < count {
            let byte = lowercase[Int(text[offset])]
            if byte == 0 {
                offset += 1
            } else if byte == ScalarTable.beyondASCII {
                offset = readSegment(from: offset, body)
            } else if let end = readASCII(from: offset, body) {
                offset = end
            } else {
                offset = readSegment(from: offset, body)
            }
        }
        endRun(body)
    }

    // MARK: ASCII

    /// Reads a word that begins with a letter or digit of ASCII, and returns its end; nil if a scalar beyond ASCII
    /// follows, which may belong to it.
    @inline(__always)
    private mutating func readASCII(from start: Int, _ body: Body) -> Int? {
        let text = reader.bytes
        let count = reader.count
        let lowercase = table.words
        let term = buffer.bytes
        if !run.isEmpty { endRun(body) }
        var length = 0
        var hasSeparator = false
        var offset = start
        while true {
            var byte = lowercase[Int(text[offset])]
            repeat {
                if length < TextAnalyzer.termByteCountMax {
                    term[length] = byte
                    length += 1
                }
                offset += 1
                guard offset < count else { break }
                byte = lowercase[Int(text[offset])]
            } while byte &- 1 < 0x7F
            guard offset < count else { break }
            if byte == ScalarTable.beyondASCII { return nil }
            // Between two digits a separator belongs to the number.
            guard Self.isDigit(text[offset - 1]), Self.joinsDigits(text[offset]), offset + 1 < count else { break }
            let next = text[offset + 1]
            if next >= 0x80 { return nil }
            guard Self.isDigit(next) else { break }
            if length < TextAnalyzer.termByteCountMax {
                term[length] = text[offset]
                length += 1
            }
            hasSeparator = true
            offset += 1
        }
        buffer.setCount(length, isFull: offset - start > length)
        if hasSeparator { buffer.dropSeparatorsOfThousands() }
        body(buffer.term, position, start..<offset, buffer.kind)
        position += 1
        return offset
    }

    @inline(__always) private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// The members of MidNum, MidNumLet and Single_Quote in ASCII.
    @inline(__always) private static func joinsDigits(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "'")
    }

    // MARK: All scripts

    /// Reads the segment that begins at an offset, and returns its end.
    private mutating func readSegment(from start: Int, _ body: Body) -> Int {
        let breaker = WordBreaker(reader: reader, table: table)
        let segment = breaker.segment(from: start)
        guard segment.isWord else { return segment.end }
        var word = SegmentWord()
        var offset = start
        while offset < segment.end {
            let (scalar, length) = reader.scalar(at: offset)
            let entry = table[scalar]
            let next = offset + length
            let kind = entry.wordBreak
            if kind.isAttached {
                // Belongs to the letter before it, in a word or in a run.
                if word.isOpen {
                    buffer.appendFolded(scalar, entry)
                    word.end = next
                } else if run.end == offset {
                    addToRun(scalar, entry, offset..<next, body)
                }
            } else if entry.isBigram {
                endWord(&word, body)
                addToRun(scalar, entry, offset..<next, body)
                word.last = kind
            } else if entry.isWord {
                if !word.isOpen { beginWord(&word, at: offset, body) }
                buffer.appendFolded(scalar, entry)
                word.end = next
                word.last = kind
            } else if word.isOpen, kind.joinsNumbers, word.last == .numeric, breaker.following(next) == .numeric {
                buffer.appendFolded(scalar, entry)
                word.hasSeparator = true
            } else if word.last != .hebrewLetter || kind != .singleQuote && kind != .doubleQuote {
                endWord(&word, body)
            }
            offset = next
        }
        endWord(&word, body)
        return segment.end
    }

    private mutating func beginWord(_ word: inout SegmentWord, at start: Int, _ body: Body) {
        endRun(body)
        buffer.clear()
        word.isOpen = true
        word.hasSeparator = false
        word.start = start
    }

    private mutating func endWord(_ word: inout SegmentWord, _ body: Body) {
        guard word.isOpen else { return }
        word.isOpen = false
        word.last = .other
        if word.hasSeparator { buffer.dropSeparatorsOfThousands() }
        guard buffer.count > 0 else { return }
        body(buffer.term, position, word.start..<word.end, buffer.kind)
        position += 1
    }

    // MARK: Scripts without spaces

    /// Adds the folded letters of a scalar to the run, or begins one.
    private mutating func addToRun(_ scalar: UInt32, _ entry: ScalarEntry, _ range: Range<Int>, _ body: Body) {
        if run.end != range.lowerBound { endRun(body) }
        run.end = range.upperBound
        forEachFolded(scalar, entry, table) { part in
            let letter = LetterRun.Letter(scalar: part, combiningClass: table[part].combiningClass, range: range)
            if run.takesDirectly(letter) {
                if let pair = run.append(letter) { emit(pair.first, pair.second, .whole, body) }
            } else {
                run.add(letter)
                emitPairs(body)
            }
        }
        run.extendLast(to: range.upperBound)
    }

    private mutating func endRun(_ body: Body) {
        run.close()
        emitPairs(body)
        let (first, second) = run.finish()
        guard let second else { return }
        if let first { emit(first, second, .whole, body) }
        emit(second, nil, first == nil ? .single : .lastOfRun, body)
    }

    private mutating func emitPairs(_ body: Body) {
        while let pair = run.nextPair() { emit(pair.first, pair.second, .whole, body) }
    }

    private mutating func emit(_ first: LetterRun.Letter, _ second: LetterRun.Letter?, _ kind: TermKind, _ body: Body) {
        // The buffer is free: a word ends before a run begins, and a run before a word.
        TermBuffer.encode(first.scalar, buffer.bytes)
        var length = TermBuffer.byteCount(first.scalar)
        if let second {
            TermBuffer.encode(second.scalar, buffer.bytes + length)
            length += TermBuffer.byteCount(second.scalar)
        }
        let end = max(first.range.upperBound, second?.range.upperBound ?? 0)
        body(UnsafeBufferPointer(start: buffer.bytes, count: length), position, first.range.lowerBound..<end, kind)
        position += 1
    }
}

/// The word that is being read in a segment.
private struct SegmentWord {
    var isOpen = false
    var hasSeparator = false
    var start = 0
    var end = 0
    /// The last scalar that is not attached to another one.
    var last = WordBreak.other
}
