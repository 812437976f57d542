import Faultline
import Testing

/// A value that is not `Codable`.
struct Mark: Equatable {
    var letter: String
}

final class MarkTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        guard let mark = value as? Mark, mark.letter != "?" else { return nil }
        return Data(mark.letter.utf8)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, !data.isEmpty else { return nil }
        return Mark(letter: String(decoding: data, as: UTF8.self))
    }
}

@Model final class Marked {
    @Attribute(.transformable(by: MarkTransformer.self)) var mark: Mark
    @Attribute(.transformable(by: MarkTransformer.self)) var other: Mark?
    @Attribute(.transformable(by: "MarksByName")) var named: Mark?
    var text = ""

    init(_ mark: Mark) { self.mark = mark }
}

@Model class MarkedRoot {
    @Attribute(.transformable(by: MarkTransformer.self)) var mark: Mark = Mark(letter: "b")

    init() {}
}

@Model final class MarkedHeir: MarkedRoot {
    @Attribute(.transformable(by: MarkTransformer.self)) var own: Mark = Mark(letter: "o")

    override init() { super.init() }
}

@Model final class SealedNote {
    @Attribute(.unique, .transformable(by: Doubling.self)) var key: Data

    init(_ key: Data) { self.key = key }
}

/// Keeps each byte twice.
final class Doubling: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Data).map { $0 + $0 } }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { Data($0.prefix($0.count / 2)) }
    }
}

@Suite(.timeLimit(.minutes(2))) struct TransformableTests {
    @Test(arguments: [false, true]) func `a unique transformed value is found by its getter's value`(isUnsaved: Bool)
        throws
    {
        let store = try TestStore(SealedNote.self)
        let context = store.context()
        for number in 1...3 { context.insert(SealedNote(Data([UInt8(number)]))) }
        if !isUnsaved { try context.save() }
        let wanted = Data([2])
        #expect(try context.fetch(FetchDescriptor<SealedNote>(predicate: #Predicate { $0.key == wanted })).count == 1)
        #expect(try context.first(\SealedNote.key, equals: wanted)?.key == wanted)
        #expect(try context.first(\SealedNote.key, equals: wanted + wanted) == nil)
    }

    @Test func `values pass their transformer`() throws {
        let store = try TestStore(Marked.self)
        let context = store.context()
        let marked = Marked(Mark(letter: "a"))
        #expect(marked.mark == Mark(letter: "a") && marked.other == nil)
        context.insert(marked)
        try context.save()
        marked.other = Mark(letter: "b")
        marked.setTransformableValue(forKey: \.mark, to: Mark(letter: "c"))
        #expect(marked.getTransformableValue(forKey: \.mark) == Mark(letter: "c") && marked.hasChanges)
        try context.save()
        try store.reopen()
        let reading = store.context()
        let read = try #require(try reading.fetch(FetchDescriptor<Marked>()).first)
        #expect(read.mark == Mark(letter: "c") && read.other == Mark(letter: "b"))
        #expect(read.getTransformableValue(forKey: \.other) == Mark(letter: "b"))
        read.other = nil
        try reading.save()
        #expect(try store.context().fetch(FetchDescriptor<Marked>()).first?.other == nil)
    }

    @Test func `in classes of a hierarchy`() throws {
        let store = try TestStore(MarkedRoot.self, MarkedHeir.self)
        let context = store.context()
        let heir = MarkedHeir()
        #expect(heir.mark.letter == "b" && heir.own.letter == "o")
        context.insert(heir)
        heir.own = Mark(letter: "p")
        heir.setTransformableValue(forKey: \.mark, to: Mark(letter: "q"))
        try context.save()
        let read = try #require(try store.context().fetch(FetchDescriptor<MarkedHeir>()).first)
        #expect(read.mark.letter == "q" && read.own.letter == "p")
    }

    @Test func `a value that the transformer refuses is not saved`() throws {
        let store = try TestStore(Marked.self)
        let context = store.context()
        let marked = Marked(Mark(letter: "a"))
        context.insert(marked)
        try context.save()
        marked.mark = Mark(letter: "?")
        #expect(marked.mark == Mark(letter: "a"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        marked.mark = Mark(letter: "b")
        try context.save()
        // Before the insertion, too.
        context.insert(Marked(Mark(letter: "?")))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func `transformers by name`() throws {
        let name = NSValueTransformerName("MarksByName")
        let store = try TestStore(Marked.self)
        let context = store.context()
        let marked = Marked(Mark(letter: "a"))
        context.insert(marked)
        marked.named = Mark(letter: "n")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        ValueTransformer.setValueTransformer(MarkTransformer(), forName: name)
        marked.named = Mark(letter: "n")
        try context.save()
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        #expect(ValueTransformer.transformer(forName: NSValueTransformerName("MarkTransformer")) is MarkTransformer)
        ValueTransformer.setValueTransformer(nil, forName: name)
        let reading = store.context()
        let read = try #require(try reading.fetch(FetchDescriptor<Marked>()).first)
        #expect(read.named == nil)
        read.text = "changed"
        #expect(throws: SwiftDataError.modelValidationFailure) { try reading.save() }
    }
}
