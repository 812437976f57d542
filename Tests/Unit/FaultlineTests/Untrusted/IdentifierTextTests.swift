import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// Identifiers as text, in addresses.
@Suite struct IdentifierTextTests {
    private let store: TestStore

    init() throws { store = try .ofDocuments(10) }

    @Test func `a stored object is found by the text of its identifier`() throws {
        let document = try store.context().first(Document.self)
        let text = "\(document.persistentModelID)"
        let parts = text.split(separator: "~")
        #expect(parts.count == 3 && parts[0] == "Document" && parts[2].count == 32)
        let identifier = try #require(PersistentIdentifier(text))
        #expect(identifier == document.persistentModelID)
        #expect(try store.context().existing(identifier, as: Document.self)?.title == document.title)
    }

    @Test func `the text of a temporary identifier leads to nothing`() throws {
        let context = store.context()
        let document = Document("new", number: 1)
        context.insert(document)
        let text = "\(document.persistentModelID)"
        #expect(text.split(separator: "~").count == 2)
        let identifier = try #require(PersistentIdentifier(text))
        #expect(identifier != document.persistentModelID)
        #expect("\(identifier)" == text)
        #expect(try context.existing(identifier) == nil)
        try context.save()
        #expect(try context.existing(identifier) == nil)
    }

    @Test(arguments: ["Größe", "a~b", "a.b", "100%", "/../", " ", "", "日本", "_Rock_9"])
    func `every name of an entity makes one segment of a path`(entity: String) throws {
        let known = try store.context().first(Document.self).persistentModelID
        let identifier = try known.tampered(entity: entity)
        let text = "\(identifier)"
        let unreserved = CharacterSet(charactersIn: "_.~").union(.alphanumerics)
        #expect(text.unicodeScalars.allSatisfy { $0.isASCII && unreserved.contains($0) })
        #expect(PersistentIdentifier(text) == identifier)
    }

    @Test func `an identifier has no second text`() throws {
        let known = try store.context().first(Document.self).persistentModelID
        let text = "\(known)"
        let parts = text.split(separator: "~").map(String.init)
        let digits = parts[2]
        let number = UInt64(parts[1]) ?? 0
        let wrong = [
            "", "~", "~~", "Document", "Document~", "Document~~", text + "~", text + " ", "~" + text,
            "Document~0\(number)~\(digits)", "Document~+\(number)~\(digits)", "Document~-1~\(digits)",
            "Document~0~\(digits)", "Document~0", "Document~\(UInt64.max)~\(digits)", "Document~\(UInt64.max)",
            "Document~99999999999999999999999~\(digits)", "Document~1~\(digits.uppercased())x",
            "Document~1~\(digits.dropLast())", "Document~1~" + String(repeating: "0", count: 32),
            "Document~1~" + String(repeating: "0", count: 31) + "1", ".44ocument~\(number)~\(digits)",
            "Do.cument~1", "Document.~1", "Document.4~1", "Document.FF~1", "Gr.c3~1", "Größe~1", "a b~1",
            String(repeating: "x", count: 4_097) + "~1", String(repeating: "x", count: 1 << 20),
        ]
        for text in wrong { #expect(PersistentIdentifier(text) == nil, "\(text.prefix(80))") }
        let long = String(repeating: "x", count: 4_096) + "~1"
        #expect(PersistentIdentifier(long)?.description == long)
    }

    @Test func `10,000 changed texts are refused or have one text`() throws {
        let known = try store.context().first(Document.self).persistentModelID
        let original = Array("\(known)".utf8)
        let alphabet = Array("~.0f9D+- %\u{e9}z".utf8)
        var random = Seed(30)
        var acceptedCount = 0
        for _ in 0..<10_000 {
            var bytes = original
            for _ in 0...Int(random.next() % 3) {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 3 {
                case 0: bytes[place] = alphabet[Int(random.next() % UInt64(alphabet.count))]
                case 1: bytes.remove(at: place)
                default: bytes.insert(alphabet[Int(random.next() % UInt64(alphabet.count))], at: place)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let identifier = PersistentIdentifier(text) else { continue }
            acceptedCount += 1
            #expect(identifier.description == text)
        }
        #expect(acceptedCount > 0 && acceptedCount < 10_000)
    }
}
