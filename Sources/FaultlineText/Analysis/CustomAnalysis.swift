/// Folds the words that a custom tokenizer finds.
struct CustomAnalysis {
    private let reader: ScalarReader
    private var buffer: TermBuffer
    private var position = 0

    init(reader: ScalarReader, buffer: UnsafeMutablePointer<UInt8>) {
        self.reader = reader
        self.buffer = TermBuffer(bytes: buffer, table: .shared)
    }

    /// Adds a word, if its offsets lie in the text.
    mutating func add(
        _ word: Range<Int>,
        _ body: (_ term: UnsafeBufferPointer<UInt8>, _ position: Int, _ range: Range<Int>, _ kind: TermKind) -> Void
    ) {
        guard word.lowerBound >= 0, word.upperBound <= reader.count, !word.isEmpty else { return }
        let part = ScalarReader(bytes: reader.bytes, count: word.upperBound)
        buffer.clear()
        var offset = word.lowerBound
        while offset < word.upperBound {
            let (scalar, length) = part.scalar(at: offset)
            buffer.appendFolded(scalar, buffer.table[scalar])
            offset += length
        }
        guard buffer.count > 0 else { return }
        body(buffer.term, position, word, buffer.kind)
        position += 1
    }
}
