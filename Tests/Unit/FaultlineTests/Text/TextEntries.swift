import Faultline
import FaultlineLog
import FaultlineObjects
import FaultlineStore
import FaultlineText
import Testing

/// The content of a text index, as docs/FileFormat.md describes it: read by the document alone, or made of objects.
struct TextEntries: Equatable {
    /// By term and object: for each field that has it, how often, and where if the key is not too long.
    var postings: [String: [RecordID: [Int: [Int]]]] = [:]
    /// By object: the words of each field.
    var lengths: [RecordID: [Int]] = [:]
    var aside: Set<RecordID> = []

    /// Reads an index.
    init(of index: TextIndex, at snapshot: Snapshot) throws {
        try snapshot.forEachEntry(in: index.definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) {
            key, id in
            try add(Array(key), id)
            return true
        }
    }

    private mutating func add(_ key: [UInt8], _ id: RecordID) throws {
        if key == [0xFF] {
            #expect(aside.insert(id).inserted)
            return
        }
        let mark = try #require(key.firstIndex(of: 0))
        let named = key[(mark + 1)..<(mark + 9)].reduce(RecordID(0)) { $0 << 8 | RecordID($1) }
        #expect(named == id)
        var rest = key.dropFirst(mark + 9)
        func number() throws -> Int {
            var value = 0
            var shift = 0
            while let byte = rest.popFirst() {
                value |= Int(byte & 127) << shift
                shift += 7
                if byte < 128 { return value }
            }
            throw CancellationError()
        }
        if mark == 0 {
            var numbers: [Int] = []
            while !rest.isEmpty { numbers.append(try number()) }
            #expect(lengths.updateValue(numbers, forKey: id) == nil)
            return
        }
        var fields: [Int: [Int]] = [:]
        while !rest.isEmpty {
            let head = try number()
            let frequency = head & 1 != 0 ? 1 : try number()
            if head & 2 != 0 {
                fields[head >> 2] = [-frequency]
                continue
            }
            var position = 0
            fields[head >> 2] = try (0..<frequency).map { _ in
                position += try number()
                return position
            }
        }
        let term = String(decoding: key[..<mark], as: UTF8.self)
        #expect(postings[term, default: [:]].updateValue(fields, forKey: id) == nil)
    }

    /// Makes the content of the texts of objects.
    init(_ objects: [(id: RecordID, texts: [String?])]) {
        let analyzer = TextAnalyzer()
        for (id, texts) in objects {
            if texts.contains(where: { $0?.utf8.count ?? 0 >= 4_096 }) {
                aside.insert(id)
                continue
            }
            var counts: [Int] = []
            var found: [String: [Int: [Int]]] = [:]
            for (field, text) in texts.enumerated() {
                var count = 0
                var text = text ?? ""
                text.withUTF8 { bytes in
                    analyzer.forEachTerm(in: bytes) { term, position, _ in
                        count += 1
                        found[String(decoding: term, as: UTF8.self), default: [:]][field, default: []].append(position)
                    }
                }
                counts.append(count)
            }
            lengths[id] = counts
            for (term, fields) in found {
                // Without positions where the key would be too long.
                let isLong = Self.byteCount(term, fields) > 1_024
                postings[term, default: [:]][id] = isLong ? fields.mapValues { [-$0.count] } : fields
            }
        }
    }

    private static func byteCount(_ term: String, _ fields: [Int: [Int]]) -> Int {
        func size(_ number: Int) -> Int { number < 128 ? 1 : number < 16_384 ? 2 : 3 }
        return fields.values.reduce(term.utf8.count + 9) { sum, places in
            let deltas = zip(places, [0] + places).map { $0 - $1 }
            return sum + 1 + (places.count == 1 ? 0 : size(places.count)) + deltas.reduce(0) { $0 + size($1) }
        }
    }
}
