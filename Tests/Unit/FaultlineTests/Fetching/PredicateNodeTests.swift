// swift-format-ignore-file: NeverForceUnwrap

import Faultline
import FaultlineTestSupport
import Testing

/// A row for each node of Foundation's predicates.
///
/// It checks that a fetch finds the same objects as evaluating the predicate, and whether the predicate is evaluated on
/// the stored bytes.
@Suite struct PredicateNodeTests {
    /// How a predicate is evaluated.
    private enum Answer {
        /// By a filter of the stored bytes, which may use an index.
        case lowered
        /// On rows: no object is made.
        case rows
        /// On objects made for the purpose.
        case evaluated
    }

    private struct Row<T: PersistentModel> {
        let node: String
        let answer: Answer
        let predicate: Predicate<T>

        init(_ node: String, _ answer: Answer, _ predicate: Predicate<T>) {
            self.node = node
            self.answer = answer
            self.predicate = predicate
        }
    }

    private static let texts = ["", "alpha", "Alphabet", "ÄLPHA", "beta", "Ünïted", "e\u{301}tude", "étude", "42"]

    private static var scalars: [Row<Scalars>] {
        let three = 3
        let text = "alpha"
        let part = "LPH"
        let same = ComparisonResult.orderedSame
        let before = ComparisonResult.orderedAscending
        let red = Color.red
        let low = Rank.low
        let numbers = [1, 2, 3]
        let set: Set<Int> = [4, 5]
        let range = 2..<5
        let date = Date(timeIntervalSinceReferenceDate: 3)
        let half = 2.5
        return [
            Row("KeyPath", .lowered, #Predicate { $0.bool }),
            Row("KeyPath.count", .rows, #Predicate { $0.string.count == 5 }),
            Row("KeyPath.isEmpty", .rows, #Predicate { $0.string.isEmpty }),
            Row("KeyPath.rawValue", .rows, #Predicate { $0.rank.rawValue > 1 }),
            Row("KeyPath nested", .rows, #Predicate { $0.place.city == text }),
            Row("KeyPath.first", .rows, #Predicate { $0.numbers.first == 3 }),
            Row("Value", .lowered, #Predicate { _ in true }),
            Row("Conjunction", .lowered, #Predicate { $0.int > 1 && $0.string == text }),
            Row("Disjunction", .lowered, #Predicate { $0.int > 4 || $0.string == text }),
            Row("Negation", .lowered, #Predicate { !($0.int > 4) }),
            Row("Conditional", .rows, #Predicate { $0.bool ? $0.int > 4 : $0.int < 2 }),
            Row("Equal", .lowered, #Predicate { $0.int == three }),
            Row("Equal of two", .evaluated, #Predicate { $0.int == $0.scratch - 4 }),
            Row("Equal, enum", .lowered, #Predicate { $0.color == red }),
            Row("Equal, enum of numbers", .lowered, #Predicate { $0.rank == low }),
            Row("NotEqual", .lowered, #Predicate { $0.string != text }),
            Row("Comparison", .lowered, #Predicate { $0.date <= date }),
            Row("Arithmetic", .rows, #Predicate { $0.int * 2 + 1 - three > 6 }),
            Row("IntDivision", .rows, #Predicate { $0.int / 2 == 1 }),
            Row("FloatDivision", .rows, #Predicate { $0.double / 2 > 1 }),
            Row("IntRemainder", .rows, #Predicate { $0.int % 2 == 0 }),
            Row("UnaryMinus", .rows, #Predicate { -$0.int < -3 }),
            Row("Range", .rows, #Predicate { (0..<$0.int).contains(three) }),
            Row("RangeExpressionContains", .lowered, #Predicate { (2..<5).contains($0.int) }),
            Row("ClosedRange", .lowered, #Predicate { (2...5).contains($0.int) }),
            Row("RangeExpressionContains, captured", .rows, #Predicate { range.contains($0.int) }),
            Row("SequenceContains, array", .lowered, #Predicate { numbers.contains($0.int) }),
            Row("SequenceContains, set", .lowered, #Predicate { set.contains($0.int) }),
            Row("SequenceContains, stored", .rows, #Predicate { $0.numbers.contains(3) }),
            Row("SequenceContainsWhere", .rows, #Predicate { $0.numbers.contains { $0 > 5 } }),
            Row("SequenceAllSatisfy", .rows, #Predicate { $0.numbers.allSatisfy { $0 < 6 } }),
            Row("SequenceStartsWith", .lowered, #Predicate { $0.string.starts(with: "al") }),
            Row("SequenceMaximum", .rows, #Predicate { ($0.numbers.max() ?? 0) > 5 }),
            Row("SequenceMinimum", .rows, #Predicate { ($0.numbers.min() ?? 0) > 2 }),
            Row("Filter", .rows, #Predicate { $0.numbers.filter { $0 > 2 }.count == 1 }),
            Row("CollectionContainsCollection", .lowered, #Predicate { $0.string.contains("lph") }),
            Row("CollectionIndexSubscript", .rows, #Predicate { $0.numbers.count > 0 && $0.numbers[0] == 3 }),
            Row("DictionaryKeySubscript", .rows, #Predicate { $0.dictionary["a"] == half }),
            Row(
                "DictionaryKeyDefaultValueSubscript", .rows,
                #Predicate { $0.dictionary["a", default: 0] == half }),
            Row(
                "StringLocalizedStandardContains", .rows,
                #Predicate { $0.string.localizedStandardContains(part) }),
            Row("StringLocalizedCompare", .rows, #Predicate { $0.string.localizedCompare(text) == before }),
            Row(
                "StringCaseInsensitiveCompare", .rows,
                #Predicate { $0.string.caseInsensitiveCompare(text) == same }),
            Row("Transient", .evaluated, #Predicate { $0.scratch == 7 && $0.int > 2 }),
        ]
    }

    private static var optionals: [Row<Optionals>] {
        let three = 3
        let text = "alpha"
        let word = "Alphabet"
        return [
            Row("NilLiteral", .lowered, #Predicate { $0.int == nil }),
            Row("NilLiteral, not", .lowered, #Predicate { $0.string != nil }),
            Row("Equal, optional", .lowered, #Predicate { $0.string == word }),
            Row("OptionalFlatMap", .rows, #Predicate { $0.int.flatMap { $0 > three } ?? false }),
            Row("OptionalFlatMap, chain", .rows, #Predicate { $0.place?.city == text }),
            Row("NilCoalesce", .rows, #Predicate { ($0.int ?? 9) > three }),
            Row("ForcedUnwrap", .rows, #Predicate { $0.int != nil && $0.int! > three }),
            Row("if let", .rows, #Predicate { if let int = $0.int { int > three } else { false } }),
        ]
    }

    private static func check<T: PersistentModel>(_ rows: [Row<T>], _ store: TestStore) throws {
        for row in rows {
            let all = store.context()
            let objects = try all.all(T.self)
            let wanted = try objects.filter { try row.predicate.evaluate($0) }.map(\.persistentModelID)
            if row.node != "Value" {
                #expect(!wanted.isEmpty && wanted.count < objects.count, "\(row.node) tells nothing apart")
            }
            let context = store.context()
            let descriptor = FetchDescriptor(predicate: row.predicate)
            #expect(try context.fetchIdentifiers(descriptor) == wanted, "\(row.node)")
            #expect(try context.fetch(descriptor).map(\.persistentModelID) == wanted, "\(row.node)")
            let listings = context.core.reports.walked.candidateListings
            #expect(try context.fetchCount(descriptor) == wanted.count, "\(row.node)")
            // A filter counts rows; for any other answer each row is visited.
            let isFiltered = context.core.reports.walked.candidateListings == listings
            #expect(isFiltered == (row.answer == .lowered), "\(row.node)")
            #expect(try context.explain(descriptor).isAnsweredByRows == (row.answer != .evaluated), "\(row.node)")
        }
    }

    @Test func everyNodeIsAnswered() throws {
        let store = try TestStore(Scalars.self, Optionals.self)
        let context = store.context()
        for number in 0..<72 {
            let object = Scalars()
            object.bool = number % 2 == 0
            object.int = number % 8
            object.int64 = Int64(number % 5)
            object.double = Double(number % 6)
            object.string = Self.texts[number % 9]
            object.date = Date(timeIntervalSinceReferenceDate: Double(number % 7))
            object.color = Color.allCases[number % 3]
            object.rank = Rank.allCases[number % 3]
            object.place.city = Self.texts[number % 9]
            object.numbers = Array((0..<(number % 4)).map { 3 + $0 * (number % 3) })
            object.dictionary = number % 3 == 0 ? [:] : ["a": Double(number % 4) + 0.5]
            context.insert(object)
            let other = Optionals()
            other.int = number % 3 == 0 ? nil : number % 8
            other.string = number % 3 == 1 ? nil : Self.texts[number % 9]
            other.place = number % 3 == 2 ? nil : Place(city: Self.texts[number % 9])
            context.insert(other)
        }
        try context.save()
        try Self.check(Self.scalars, store)
        try Self.check(Self.optionals, store)
    }

    @Test func searchesOfPeopleLookPastCaseAndDiacritics() throws {
        let store = try TestStore(Song.self)
        let context = store.context()
        for name in ["alpha", "Alphabet", "ÄLPHA", "beta"] { context.insert(Song(name)) }
        try context.save()
        func names(_ predicate: Predicate<Song>) throws -> [String] {
            try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
        }
        let (same, before) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
        #expect(try names(#Predicate { $0.name.localizedStandardContains("lPH") }) == ["alpha", "Alphabet", "ÄLPHA"])
        #expect(try names(#Predicate { $0.name.caseInsensitiveCompare("ALPHA") == same }) == ["alpha"])
        #expect(try names(#Predicate { $0.name.localizedCompare("b") == before }) == ["alpha", "Alphabet", "ÄLPHA"])
    }
}
