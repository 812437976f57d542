// swift-format-ignore-file: NeverForceUnwrap

import Faultline
import FaultlineTestSupport
import Testing

/// A row for each form of expression that `#Predicate` takes.
///
/// It checks that a fetch finds the objects that the same closure finds in plain Swift.
@Suite struct PredicateFormTests {
    private struct Row<T: PersistentModel> {
        let form: String
        let predicate: Predicate<T>
        let plain: (T) -> Bool

        init(_ form: String, _ predicate: Predicate<T>, _ plain: @escaping (T) -> Bool) {
            self.form = form
            self.predicate = predicate
            self.plain = plain
        }
    }

    private let least = 3
    private static let texts = ["", "alpha", "Alphabet", "ÄLPHA", "beta", "étude", "42"]

    private func store() throws -> TestStore {
        let store = try TestStore(Scalars.self, Optionals.self, User.self)
        let context = store.context()
        for number in 0..<60 {
            let object = Scalars()
            object.bool = number % 2 == 0
            object.int = number % 8
            object.double = Double(number % 6)
            object.string = Self.texts[number % 7]
            object.date = Date(timeIntervalSinceReferenceDate: Double(number % 7))
            object.color = Color.allCases[number % 3]
            object.rank = Rank.allCases[number % 3]
            object.numbers = (0..<(number % 4)).map { 3 + $0 * (number % 3) }
            object.dictionary = number % 3 == 0 ? [:] : ["a": Double(number % 4) + 0.5]
            context.insert(object)
            let other = Optionals()
            other.int = number % 3 == 0 ? nil : number % 8
            other.string = number % 4 == 1 ? nil : Self.texts[number % 7]
            other.color = number % 4 == 0 ? nil : Color.allCases[number % 3]
            context.insert(other)
        }
        let teams = ["Reds", "Blues"].map(Team.init)
        teams.forEach(context.insert)
        for number in 0..<12 {
            let user = User("\(number)", first: "f\(number)", last: "\(number)", age: number)
            user.team = number % 3 == 0 ? nil : teams[number % 2]
            context.insert(user)
        }
        try context.save()
        return store
    }

    private func check<T: PersistentModel>(_ rows: [Row<T>], _ store: TestStore) throws {
        let objects = try store.context().all(T.self)
        for row in rows {
            let wanted = objects.filter(row.plain).map(\.persistentModelID)
            #expect(!wanted.isEmpty && wanted.count < objects.count, "\(row.form) tells nothing apart")
            let found = try store.context().fetch(FetchDescriptor(predicate: row.predicate))
            #expect(found.map(\.persistentModelID) == wanted, "\(row.form)")
        }
    }

    @Test func operators() throws {
        let store = try store()
        try check(
            [
                Row("a property", #Predicate { $0.bool }) { $0.bool },
                Row("not", #Predicate { !$0.bool }) { !$0.bool },
                Row("equal", #Predicate { $0.int == 3 }) { $0.int == 3 },
                Row("not equal", #Predicate { $0.int != 3 }) { $0.int != 3 },
                Row("less", #Predicate { $0.int < 3 || $0.int >= 7 }) { $0.int < 3 || $0.int >= 7 },
                Row("more", #Predicate { $0.int > 3 && $0.double <= 2 }) { $0.int > 3 && $0.double <= 2 },
                Row("arithmetic", #Predicate { $0.int * 2 - 1 + $0.int % 3 > $0.int / 2 + 6 }) {
                    $0.int * 2 - 1 + $0.int % 3 > $0.int / 2 + 6
                },
                Row("division", #Predicate { $0.double / 2 > 1 }) { $0.double / 2 > 1 },
                Row("minus", #Predicate { -$0.int < -3 }) { -$0.int < -3 },
            ] as [Row<Scalars>], store)
    }

    @Test func `ranges and collections`() throws {
        let store = try store()
        let numbers = [1, 2, 3]
        let named = ["Alphabet", "x"]
        let range = 2..<5
        try check(
            [
                Row("closed range", #Predicate { (2...5).contains($0.int) }) { (2...5).contains($0.int) },
                Row("range", #Predicate { (2..<5).contains($0.int) }) { (2..<5).contains($0.int) },
                Row("captured range", #Predicate { range.contains($0.int) }) { range.contains($0.int) },
                Row("list", #Predicate { numbers.contains($0.int) }) { numbers.contains($0.int) },
                Row("written list", #Predicate { [1, 5].contains($0.int) }) { [1, 5].contains($0.int) },
                Row("element", #Predicate { $0.numbers.contains(3) }) { $0.numbers.contains(3) },
                Row("text", #Predicate { $0.string.contains("lph") }) { $0.string.contains("lph") },
                Row("test", #Predicate { $0.numbers.contains { $0 > 4 } }) { $0.numbers.contains { $0 > 4 } },
                Row("labelled test", #Predicate { $0.numbers.contains(where: { $0 > 4 }) }) {
                    $0.numbers.contains { $0 > 4 }
                },
                Row("inner names", #Predicate { one in one.numbers.contains { $0 > one.int && $0 > 3 } }) { one in
                    one.numbers.contains { $0 > one.int && $0 > 3 }
                },
                Row("all", #Predicate { $0.numbers.allSatisfy { $0 < 6 } }) { $0.numbers.allSatisfy { $0 < 6 } },
                Row("filter", #Predicate { $0.numbers.filter { $0 > 3 }.count == 1 }) {
                    $0.numbers.filter { $0 > 3 }.count == 1
                },
                Row("minimum", #Predicate { ($0.numbers.min() ?? 0) > 2 }) { ($0.numbers.min() ?? 0) > 2 },
                Row("maximum", #Predicate { ($0.numbers.max() ?? 0) > 5 }) { ($0.numbers.max() ?? 0) > 5 },
                Row("beginning", #Predicate { $0.string.starts(with: "al") }) { $0.string.hasPrefix("al") },
                Row("prefix", #Predicate { $0.string.hasPrefix("Al") }) { $0.string.hasPrefix("Al") },
                Row("element at", #Predicate { !$0.numbers.isEmpty && $0.numbers[0] == 3 }) { $0.numbers.first == 3 },
                Row("part", #Predicate { $0.numbers.count > 1 && $0.numbers[0..<2].contains(4) }) {
                    $0.numbers.prefix(2).contains(4) && $0.numbers.count > 1
                },
                Row("key", #Predicate { $0.dictionary["a"] == 2.5 }) { $0.dictionary["a"] == 2.5 },
                Row("key with default", #Predicate { $0.dictionary["a", default: 2.5] == 2.5 }) {
                    $0.dictionary["a", default: 2.5] == 2.5
                },
                Row("ternary", #Predicate { $0.bool ? $0.int > 4 : $0.int < 2 }) { $0.bool ? $0.int > 4 : $0.int < 2 },
                Row("search", #Predicate { $0.string.localizedStandardContains("LPHA") }) {
                    $0.string.localizedStandardContains("LPHA")
                },
                Row("compare", #Predicate { $0.string.caseInsensitiveCompare("ALPHA") == .orderedSame }) {
                    $0.string.caseInsensitiveCompare("ALPHA") == .orderedSame
                },
                Row("order", #Predicate { $0.string.localizedCompare("b") == .orderedAscending }) {
                    $0.string.localizedCompare("b") == .orderedAscending
                },
                Row("captured texts", #Predicate { named.contains($0.string) }) { named.contains($0.string) },
            ] as [Row<Scalars>], store)
    }

    @Test func `constants of all kinds`() throws {
        let store = try store()
        let status = (color: Color.green, text: "alpha")
        let limit: Int? = 4
        let start = Date(timeIntervalSinceReferenceDate: 63)
        let names = ["ALPHA", "BETA"]
        func double(_ number: Int) -> Int { number * 2 }
        try check(
            [
                Row("case", #Predicate { $0.color == Color.green }) { $0.color == .green },
                Row("case without its type", #Predicate { $0.color == .green }) { $0.color == .green },
                Row("cases", #Predicate { [Color.green, .red].contains($0.color) }) { $0.color != .blue },
                Row("member", #Predicate { $0.color == status.color }) { $0.color == status.color },
                Row("own property", #Predicate { $0.int >= least }) { $0.int >= 3 },
                Row("self", #Predicate { $0.int >= self.least }) { $0.int >= 3 },
                Row("call of a method", #Predicate { $0.string == status.text.uppercased().lowercased() }) {
                    $0.string == "alpha"
                },
                Row("call of a function", #Predicate { $0.int == double(3) }) { $0.int == 6 },
                Row("initializer", #Predicate { $0.int == Int(3.7) }) { $0.int == 3 },
                Row("date", #Predicate { $0.date > start.addingTimeInterval(-60) }) {
                    $0.date > Date(timeIntervalSinceReferenceDate: 3)
                },
                Row("closure", #Predicate { names.map { $0.lowercased() }.contains($0.string) }) {
                    ["alpha", "beta"].contains($0.string)
                },
                Row("negative number", #Predicate { $0.int - 3 == -1 }) { $0.int == 2 },
                Row("arithmetic", #Predicate { $0.int == least + 2 * 1 }) { $0.int == 5 },
                Row("unwrapped", #Predicate { $0.int == limit! }) { $0.int == 4 },
                Row("default", #Predicate { $0.int == limit ?? 0 }) { $0.int == 4 },
                Row("element", #Predicate { $0.string == names[0] || $0.int == [7, 8][0] }) { $0.int == 7 },
                Row("chain", #Predicate { $0.int == limit?.magnitude.distance(to: 8) ?? 0 }) { $0.int == 4 },
                Row("choice", #Predicate { $0.int == (names.isEmpty ? 1 : 2) }) { $0.int == 2 },
                Row("joined text", #Predicate { $0.string == "al" + "pha" }) { $0.string == "alpha" },
                Row("interpolation", #Predicate { $0.string == "\(least + 39)" }) { $0.string == "42" },
                Row("pattern", #Predicate { $0.string.contains(/[0-9]+/) }) { $0.string == "42" },
                Row("typed parameter", #Predicate { (one: Scalars) in one.int == 3 }) { $0.int == 3 },
                Row("returned", #Predicate { $0.int == 3 }) { $0.int == 3 },
                Row("in parentheses", Predicate<Scalars>.all([#Predicate<Scalars>({ (($0.int)) == (3) })])) {
                    $0.int == 3
                },
            ] as [Row<Scalars>], store)
    }

    @Test func `optional values`() throws {
        let store = try store()
        let pair: Int? = 4
        try check(
            [
                Row("nil", #Predicate { $0.int == nil }) { $0.int == nil },
                Row("not nil", #Predicate { nil != $0.int }) { $0.int != nil },
                Row("equal", #Predicate { $0.int == 4 }) { $0.int == 4 },
                Row("case", #Predicate { $0.color == .green }) { $0.color == .green },
                Row("coalesced", #Predicate { ($0.int ?? 9) > 6 }) { ($0.int ?? 9) > 6 },
                Row("unwrapped", #Predicate { $0.int != nil && $0.int! > 4 }) { ($0.int ?? 0) > 4 },
                Row("chain", #Predicate { $0.string?.isEmpty == true }) { $0.string?.isEmpty == true },
                Row("chain with a call", #Predicate { $0.string?.contains("lph") ?? true }) {
                    $0.string?.contains("lph") ?? true
                },
                Row("flatMap", #Predicate { $0.int.flatMap { $0 > 3 } ?? false }) { $0.int.map { $0 > 3 } ?? false },
                Row("if let", #Predicate { if let int = $0.int { int > 3 } else { true } }) { ($0.int ?? 9) > 3 },
                Row(
                    "several conditions",
                    #Predicate { one in
                        if let int = one.int, let string = one.string, int > 2 {
                            string.contains("lph") || int == 7
                        } else if one.int == nil {
                            one.string == nil
                        } else {
                            false
                        }
                    }
                ) {
                    guard let int = $0.int else { return $0.string == nil }
                    guard let string = $0.string, int > 2 else { return false }
                    return string.contains("lph") || int == 7
                },
                Row("captured", #Predicate { if let pair, pair == $0.int { true } else { false } }) { $0.int == 4 },
                Row("is", #Predicate { ($0.int as Int?) == 4 }) { $0.int == 4 },
            ] as [Row<Optionals>], store)
        let name = "Reds"
        try check(
            [
                Row("to one", #Predicate { $0.team?.name == name }) { $0.team?.name == "Reds" },
                Row("there and back", #Predicate { $0.team?.users.first?.team?.name == name }) {
                    $0.team?.users.first?.team?.name == "Reds"
                },
                Row("members", #Predicate { $0.team?.users.contains { $0.age > 9 && $0.age < 11 } == true }) {
                    $0.team?.users.contains { $0.age == 10 } == true
                },
                Row("key path", #Predicate { $0.team?.users.allSatisfy(\.isYoung) == true }) {
                    $0.team?.users.allSatisfy(\.isYoung) == true
                },
            ] as [Row<User>], store)
    }

    @Test func `expressions have any value`() throws {
        let store = try store()
        let sum = #Expression<Scalars, Int> { $0.int + least }
        let part = #Expression<Scalars, Double> { $0.bool ? 1 : $0.double / 2 }
        let name = #Expression<Optionals, String> { if let text = $0.string { text } else { "none" } }
        for object in try store.context().all(Scalars.self) {
            #expect(try sum.evaluate(object) == object.int + 3)
            #expect(try part.evaluate(object) == (object.bool ? 1 : object.double / 2))
        }
        for object in try store.context().all(Optionals.self) {
            #expect(try name.evaluate(object) == object.string ?? "none")
        }
    }

    @Test func `constants are computed once`() throws {
        let store = try store()
        var count = 0
        func next() -> Int {
            count += 1
            return count
        }
        let predicate = #Predicate<Scalars> { $0.int > 0 && $0.int == next() }
        #expect(try store.context().fetch(FetchDescriptor(predicate: predicate)).map(\.int).first == 1)
        #expect(count == 1)
    }
}

extension User {
    fileprivate var isYoung: Bool { age < 11 }
}
