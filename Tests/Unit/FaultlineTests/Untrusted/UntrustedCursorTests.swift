import Faultline
import FaultlineTestSupport
import Testing

@Model final class Ranked {
    #Index<Ranked>([\.rank, \.name])

    var rank: Int
    var name: String
    var weight: Double?

    init(_ rank: Int, _ name: String, weight: Double?) {
        self.rank = rank
        self.name = name
        self.weight = weight
    }
}

/// Cursors that came back from a client.
@Suite struct UntrustedCursorTests {
    private let store: TestStore
    private let context: ModelContext
    private static let orders: [[SortDescriptor<Ranked>]] = [
        [], [SortDescriptor(\.rank), SortDescriptor(\.name, comparator: .lexical)],
        [SortDescriptor(\.rank, order: .reverse), SortDescriptor(\.name, comparator: .lexical, order: .reverse)],
        [SortDescriptor(\.weight)],
    ]

    init() throws {
        store = try TestStore(Ranked.self, Document.self)
        context = store.context()
        for number in 0..<20 { context.insert(Ranked(number, "n\(number)", weight: Double(number))) }
        try context.save()
    }

    private func cursor(_ descriptor: FetchDescriptor<Ranked>, size: Int = 5) throws -> FetchCursor {
        try #require(try context.fetchPage(descriptor, size: size).cursor)
    }

    @Test(
        "A3: a cursor with a number that no store has is refused",
        arguments: [0, 336 * UInt64(UInt32.max) + 1, 1 << 48, 1 << 63, UInt64.max])
    func numberOfNoStore(_ number: UInt64) throws {
        for order in Self.orders {
            let descriptor = FetchDescriptor<Ranked>(sortBy: order)
            let whole = try cursor(descriptor)
            #expect(throws: (any Error).self) {
                let tampered = try whole.tampered({ $0["number"] = number })
                _ = try context.fetchPage(descriptor, after: tampered, size: 5)
            }
        }
    }

    @Test("A3: behind a cursor that lies behind all objects there is an empty page")
    func behindTheLast() throws {
        for number in [999, 1 << 40, 336 * UInt64(UInt32.max)] {
            let tampered = try cursor(FetchDescriptor<Ranked>()).tampered({ $0["number"] = number })
            for predicate in [nil, #Predicate<Ranked> { $0.name.count > 0 }, #Predicate<Ranked> { $0.rank >= 3 }] {
                let page = try context.fetchPage(FetchDescriptor(predicate: predicate), after: tampered, size: 5)
                #expect(page.objects.isEmpty && page.isLast)
            }
        }
    }

    @Test("A3: a cursor of another store, entity or order is refused, and the error names which")
    func anotherFetch() throws {
        let descriptor = FetchDescriptor<Ranked>(sortBy: Self.orders[1])
        let whole = try cursor(descriptor)
        let long = String(repeating: "x", count: 4_000)
        let tampered = [
            ("another store", try whole.tampered({ $0["store"] = String(repeating: "7", count: 32) })),
            ("never saved", try whole.tampered({ $0["store"] = nil })),
            ("Document", try whole.tampered({ $0["entity"] = "Document" })),
            ("xxx", try whole.tampered({ $0["entity"] = long })),
            ("-rank", try whole.tampered(order: ["-rank", "+name"])),
            ("xxx", try whole.tampered(order: [long])),
            ("2", try whole.tampered(keys: [[0]])),
        ]
        for (named, cursor) in tampered {
            let error = #expect(throws: SwiftDataError.self) {
                try context.fetchPage(descriptor, after: cursor, size: 5)
            }
            let text = try #require(error).explanation
            #expect(error == .unsupportedSortDescriptor)
            #expect(text.contains(named) && text.utf8.count < 1_000, "\(text.prefix(1_000))")
        }
    }

    @Test("A3: a cursor with a sort key that no value has is refused, and the error names the property")
    func keyOfNoValue() throws {
        let one: [UInt8] = [1, 0x80, 0, 0, 0, 0, 0, 0, 3]
        let text: [UInt8] = [1] + Array("n3".utf8) + [0, 0]
        for order in Self.orders[1...2] {
            let descriptor = FetchDescriptor<Ranked>(sortBy: order)
            let whole = try cursor(descriptor)
            // A key that a value can have is accepted.
            let page = try context.fetchPage(descriptor, after: whole.tampered(keys: [one, text]), size: 5)
            #expect(page.objects.first?.rank == (order[0].order == .forward ? 4 : 2))
            let wrong: [(property: String, keys: [[UInt8]])] = [
                ("rank", [[], text]), ("rank", [[7], text]), ("rank", [one.dropLast(), text]),
                ("rank", [one + [0], text]), ("rank", [[UInt8](repeating: 255, count: 40_000), text]),
                ("name", [one, []]), ("name", [one, [1]]), ("name", [one, text.dropLast()]),
                ("name", [one, text + [1]]), ("name", [one, [1, 65, 0, 1, 0, 0]]),
                ("name", [one, [UInt8](repeating: 0, count: 100_000)]),
            ]
            for (property, keys) in wrong {
                let error = #expect(throws: SwiftDataError.self, "\(property) \(keys.map { $0.prefix(20) })") {
                    try context.fetchPage(descriptor, after: whole.tampered(keys: keys), size: 5)
                }
                #expect(error == .unsupportedSortDescriptor && error?.explanation.contains(property) == true)
            }
        }
    }

    @Test("A3: a sort key of any length is a place in the order")
    func longKey() throws {
        let one: [UInt8] = [1, 0x80, 0, 0, 0, 0, 0, 0, 3]
        let long: [UInt8] = [1] + [UInt8](repeating: 110, count: 300_000) + [0, 0]
        for (order, first) in [(Self.orders[1], 4), (Self.orders[2], 3)] {
            let descriptor = FetchDescriptor<Ranked>(sortBy: order)
            let page = try context.fetchPage(
                descriptor, after: cursor(descriptor).tampered(keys: [one, long]), size: 5)
            #expect(page.objects.first?.rank == first)
        }
    }

    @Test func `the text of a cursor is its place, in one parameter of a URL`() throws {
        for order in Self.orders {
            let descriptor = FetchDescriptor<Ranked>(sortBy: order)
            let whole = try cursor(descriptor)
            let text = "\(whole)"
            #expect(text.utf8.allSatisfy { Self.alphabet.contains($0) } && text.utf8.count < 100)
            #expect(FetchCursor(text) == whole)
            let page = try context.fetchPage(descriptor, after: FetchCursor(text), size: 5)
            let expected = try context.fetchPage(descriptor, after: whole, size: 5)
            #expect(page.objects.map(\.rank) == expected.objects.map(\.rank))
        }
    }

    @Test func `every other text of a cursor is refused`() throws {
        let text = "\(try cursor(FetchDescriptor<Ranked>(sortBy: Self.orders[1])))"
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count { #expect(FetchCursor(String(decoding: bytes[..<length], as: UTF8.self)) == nil) }
        for wrong in [text + "A", text + "=", " " + text, text + "AAAA", "é", "e30=", "+/+/", "AQ"] {
            #expect(FetchCursor(wrong) == nil)
        }
        // A changed text is refused, or it is the text of another cursor, which a fetch refuses or takes.
        var random = Seed(7)
        for _ in 0..<3_000 {
            var changed = bytes
            changed[Int(random.next() % UInt64(bytes.count))] = Self.alphabet[Int(random.next() % 64)]
            let changedText = String(decoding: changed, as: UTF8.self)
            guard let read = FetchCursor(changedText) else { continue }
            #expect("\(read)" == changedText)
            let descriptor = FetchDescriptor<Ranked>(sortBy: Self.orders[1])
            do { _ = try context.fetchPage(descriptor, after: read, size: 5) } catch {
                #expect(error as? SwiftDataError == .unsupportedSortDescriptor)
            }
        }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
