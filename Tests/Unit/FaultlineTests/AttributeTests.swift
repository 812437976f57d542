// swift-format-ignore-file: NeverForceUnwrap

import Faultline
import Testing

@Suite struct AttributeTests {
    /// Sets values of every kind, chosen by a variant: small, large, extreme.
    static func fill(_ object: Scalars, _ variant: Int) {
        let isOdd = variant % 2 == 1
        object.bool = isOdd
        object.int = isOdd ? .max : .min
        object.int8 = isOdd ? .max : .min
        object.int16 = isOdd ? .max : .min
        object.int32 = isOdd ? .max : .min
        object.int64 = isOdd ? .max : .min
        object.uint = isOdd ? .max : 1
        object.uint8 = isOdd ? .max : 1
        object.uint16 = isOdd ? .max : 1
        object.uint32 = isOdd ? .max : 1
        object.uint64 = isOdd ? .max : 1
        object.float = isOdd ? -1.5 : .greatestFiniteMagnitude
        object.double = isOdd ? .infinity : -.leastNonzeroMagnitude
        object.string = strings[variant % strings.count]
        object.date = Date(timeIntervalSinceReferenceDate: isOdd ? -1e9 : 725_000_000.125)
        object.uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(variant % 256)))
        object.url = URL(string: isOdd ? "https://example.org/a?b=c#d" : "file:///tmp/x%20y")!
        object.decimal = decimals[variant % decimals.count]
        object.data = datas[variant % datas.count]
        object.rank = Rank.allCases[variant % 3]
        object.color = Color.allCases[variant % 3]
        object.place = Place(
            city: strings[variant % strings.count], position: isOdd ? nil : .init(x: 1, y: -2),
            tags: isOdd ? ["a", ""] : [])
        object.shape = [.point, .circle(radius: 2.5), .named("n", [1, 2, 3])][variant % 3]
        object.numbers = Array(0..<(variant * 7))
        object.dictionary = isOdd ? ["a": 1, "ä": -2.5] : [:]
    }

    static let strings = [
        "", "fifteen bytes..", "sixteen bytes...", "Grüße 🧶 \u{65}\u{301}", String(repeating: "x", count: 5_000),
        "a\u{0}b",
        String(repeating: "é", count: 2_048), String(repeating: "z", count: 40_000),
    ]
    static let decimals: [Decimal] = [
        0, -1, Decimal(string: "12345678901234567890123456789012345678")!,
        Decimal(string: "-0.00000000000000000000000000000000000001")!, .nan, Decimal(string: "1e100")!,
        Decimal(string: "-99.95")!,
    ]
    static let datas = [0, 1, 4_095, 4_096, 100_000, 1 << 20].map { count in
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
    }

    static func expectEqual(_ object: Scalars, _ variant: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let wanted = Scalars()
        fill(wanted, variant)
        func check<V: Equatable>(_ keyPath: KeyPath<Scalars, V>) {
            #expect(
                object[keyPath: keyPath] == wanted[keyPath: keyPath], "\(keyPath), variant \(variant)",
                sourceLocation: sourceLocation)
        }
        check(\.bool); check(\.int); check(\.int8); check(\.int16); check(\.int32); check(\.int64)
        check(\.uint); check(\.uint8); check(\.uint16); check(\.uint32); check(\.uint64)
        check(\.float); check(\.double); check(\.string); check(\.date); check(\.uuid); check(\.url)
        if wanted.decimal.isNaN {
            #expect(object.decimal.isNaN, sourceLocation: sourceLocation)
        } else {
            check(\.decimal)
        }
        check(\.data); check(\.rank); check(\.color); check(\.place); check(\.shape); check(\.numbers)
        check(\.dictionary)
        #expect(
            Array(object.string.utf8) == Array(strings[variant % strings.count].utf8), sourceLocation: sourceLocation)
    }

    @Test(arguments: TestStore.Place.allCases) func valuesSurviveSaveAndReopening(place: TestStore.Place) throws {
        let store = try TestStore(Scalars.self, place: place)
        let context = store.context()
        var objects: [Scalars] = []
        for variant in 0..<56 {
            let object = Scalars()
            Self.fill(object, variant)
            Self.expectEqual(object, variant)
            context.insert(object)
            Self.expectEqual(object, variant)
            objects.append(object)
        }
        try context.save()
        for (variant, object) in objects.enumerated() { Self.expectEqual(object, variant) }
        for (variant, object) in try store.context().all(Scalars.self).enumerated() {
            Self.expectEqual(object, variant)
        }
        let again = try store.reopened().all(Scalars.self)
        #expect(again.count == 56)
        for (variant, object) in again.enumerated() {
            Self.expectEqual(object, variant)
            #expect(object.scratch == 7)
        }
    }

    @Test func valuesAreReplacedByOthersOfEveryKind() throws {
        let store = try TestStore(Scalars.self)
        let context = store.context()
        for variant in 0..<56 {
            let object = Scalars()
            Self.fill(object, variant)
            context.insert(object)
        }
        try context.save()
        for (variant, object) in try context.all(Scalars.self).enumerated() {
            Self.fill(object, variant + 1)
            Self.expectEqual(object, variant + 1)
        }
        try context.save()
        for (variant, object) in try context.all(Scalars.self).enumerated() { Self.expectEqual(object, variant + 1) }
        for (variant, object) in try store.reopened().all(Scalars.self).enumerated() {
            Self.expectEqual(object, variant + 1)
        }
    }

    @Test func anUpdateOfOneAttributeLeavesTheOthers() throws {
        let store = try TestStore(Scalars.self)
        let context = store.context()
        let object = Scalars()
        Self.fill(object, 5)
        context.insert(object)
        try context.save()
        object.int16 = 12
        try context.save()
        object.string = "short"
        try context.save()
        object.data = Data([9])
        try context.save()
        object.scratch = 8
        #expect(!context.hasChanges)
        let again = try store.reopened().first(Scalars.self)
        #expect(again.int16 == 12)
        #expect(again.string == "short")
        #expect(again.data == Data([9]))
        #expect(again.scratch == 7)
        again.int16 = .max
        again.string = Self.strings[5]
        again.data = Self.datas[5]
        Self.expectEqual(again, 5)
    }

    private func fill(_ object: Optionals) {
        object.bool = true
        object.int = -1
        object.int8 = -8
        object.uint64 = .max
        object.float = 0.5
        object.double = -0.25
        object.string = ""
        object.date = Date(timeIntervalSinceReferenceDate: 5)
        object.uuid = UUID(uuid: (9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9))
        object.url = URL(string: "https://example.org")
        object.decimal = -3
        object.data = Data()
        object.rank = .high
        object.color = .blue
        object.place = Place(city: "Bonn")
        object.shape = .circle(radius: 1)
        object.numbers = []
    }

    private func expectFull(_ object: Optionals) {
        #expect(object.bool == true)
        #expect(object.int == -1)
        #expect(object.int8 == -8)
        #expect(object.uint64 == .max)
        #expect(object.float == 0.5)
        #expect(object.double == -0.25)
        #expect(object.string == "")
        #expect(object.date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(object.uuid == UUID(uuid: (9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)))
        #expect(object.url == URL(string: "https://example.org"))
        #expect(object.decimal == -3)
        #expect(object.data == Data())
        #expect(object.rank == .high)
        #expect(object.color == .blue)
        #expect(object.place == Place(city: "Bonn"))
        #expect(object.shape == .circle(radius: 1))
        #expect(object.numbers == [])
        #expect(object.named == "default name")
    }

    private func expectNil(_ object: Optionals) {
        #expect(object.bool == nil)
        #expect(object.int == nil)
        #expect(object.int8 == nil)
        #expect(object.uint64 == nil)
        #expect(object.float == nil)
        #expect(object.double == nil)
        #expect(object.string == nil)
        #expect(object.date == nil)
        #expect(object.uuid == nil)
        #expect(object.url == nil)
        #expect(object.decimal == nil)
        #expect(object.data == nil)
        #expect(object.rank == nil)
        #expect(object.color == nil)
        #expect(object.place == nil)
        #expect(object.shape == nil)
        #expect(object.numbers == nil)
    }

    @Test func optionalsAreNilOrHoldTheirValues() throws {
        let store = try TestStore(Optionals.self)
        let context = store.context()
        let empty = Optionals()
        empty.preset = nil
        let full = Optionals()
        fill(full)
        context.insert(empty)
        context.insert(full)
        expectNil(empty)
        try context.save()
        expectNil(empty)
        expectFull(full)
        #expect(empty.preset == nil)
        #expect(full.preset == 42)
        let second = try store.reopened()
        var objects = try second.all(Optionals.self)
        expectNil(objects[0])
        expectFull(objects[1])
        // Fills the empty object, and empties the full one.
        fill(objects[0])
        let other = objects[1]
        other.bool = nil; other.int = nil; other.int8 = nil; other.uint64 = nil; other.float = nil; other.double = nil
        other.string = nil; other.date = nil; other.uuid = nil; other.url = nil; other.decimal = nil; other.data = nil
        other.rank = nil; other.color = nil; other.place = nil; other.shape = nil; other.numbers = nil
        expectNil(other)
        try second.save()
        objects = try store.reopened().all(Optionals.self)
        expectFull(objects[0])
        expectNil(objects[1])
    }

    @Test func aChangedNestedMemberIsSaved() throws {
        let store = try TestStore(Scalars.self)
        let context = store.context()
        let object = Scalars()
        context.insert(object)
        try context.save()
        object.place.position = .init(x: 3, y: 4)
        object.place.tags.append("new")
        object.numbers.append(5)
        #expect(context.hasChanges)
        try context.save()
        let again = try store.reopened().first(Scalars.self)
        #expect(again.place == Place(city: "Rome", position: .init(x: 3, y: 4), tags: ["new"]))
        #expect(again.numbers == [5])
    }

    @Test func largeValuesReplacedAndRemovedLeaveNoBlobs() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let photo = Photo("a")
        photo.large = Data(repeating: 1, count: 100_000)
        photo.external = Data([1, 2, 3])
        context.insert(photo)
        try context.save()
        photo.large = Data(repeating: 2, count: 200_000)
        photo.external = Data([4])
        try context.save()
        #expect(photo.large == Data(repeating: 2, count: 200_000))
        photo.name = "b"
        try context.save()
        #expect(photo.external == Data([4]))
        let second = try store.reopened()
        var again = try second.first(Photo.self)
        #expect(again.large == Data(repeating: 2, count: 200_000))
        #expect(again.external == Data([4]))
        again.large = Data()
        again.external = nil
        try second.save()
        again = try store.reopened().first(Photo.self)
        #expect(again.large.isEmpty)
        #expect(again.external == nil)
    }
}
