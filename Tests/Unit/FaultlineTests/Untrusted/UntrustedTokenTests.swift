import Faultline
import Testing

/// History tokens and transaction identifiers that came from a client.
@Suite struct UntrustedTokenTests {
    private let one = String(repeating: "7", count: 32)

    private func decode(_ text: String) throws -> DefaultHistoryToken {
        try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8))
    }

    private func token(_ store: String, _ number: String, timeOf other: String? = nil) -> String {
        #"{"transactions":{"\#(store)":\#(number)},"microseconds":{"\#(other ?? store)":5}}"#
    }

    @Test("A3: a history token is decoded with bounds, and as older releases wrote it")
    func bounds() throws {
        #expect(try decode(token(one, "12")).tokenValue == [one: 12])
        #expect(try decode(token(one, "0")).tokenValue == [one: 0])
        for number in ["-1", "\(336 * UInt64(UInt32.max) + 1)", "\(Int64.max)", "\(Int64.min)", "1e30", "null"] {
            #expect(throws: DecodingError.self, "\(number)") { try decode(token(one, number)) }
        }
        let two = String(repeating: "8", count: 32)
        for text in [
            token("x", "1"), token(one, "1", timeOf: two), #"{"transactions":{},"microseconds":{"\#(one)":5}}"#,
            #"{"transactions":{"\#(one)":5}}"#, "[]", "",
        ] {
            #expect(throws: DecodingError.self, "\(text)") { try decode(text) }
        }
        let many = (0..<1_025).map { String($0, radix: 16) }.map { String(repeating: "0", count: 32 - $0.count) + $0 }
        let numbers = many.map { "\"\($0)\":1" }.joined(separator: ",")
        #expect(throws: DecodingError.self) {
            try decode("{\"transactions\":{\(numbers)},\"microseconds\":{\(numbers)}}")
        }
    }

    @Test("A3: the history behind a number that was never given is expired")
    func neverGiven() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let document = Document("d")
        context.insert(document)
        try context.save()
        let name = try #require(document.persistentModelID.storeIdentifier)
        for number in ["99", "\(336 * UInt64(UInt32.max))"] {
            let decoded = try decode(token(name, number))
            #expect(throws: SwiftDataError.historyTokenExpired) {
                let _: [DefaultHistoryTransaction] = try context.fetchHistory(
                    HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token > decoded }))
            }
            try context.deleteHistory(
                HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token > decoded }))
        }
    }
}
