import FaultlineStore
import Testing

struct NestedCodingTests {
    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        let bytes = try NestedEncoder.encode(value, scalars: NestedSamples.Scalars())
        return try bytes.withUnsafeBytes {
            try NestedDecoder.decode(Value.self, from: $0, scalars: NestedSamples.Scalars())
        }
    }

    @Test func givesBackEveryShape() throws {
        #expect(try roundTrip(NestedSamples.Numbers()) == NestedSamples.Numbers())
        #expect(try roundTrip(NestedSamples.Collections()) == NestedSamples.Collections())
        #expect(try roundTrip(NestedSamples.Special()) == NestedSamples.Special())
        #expect(try roundTrip(NestedSamples.ByHand()) == NestedSamples.ByHand())
        #expect(try roundTrip([NestedSamples.Color.red, .green]) == [.red, .green])
        #expect(try roundTrip(7) == 7)
        #expect(try roundTrip("text") == "text")
        #expect(try roundTrip(Int?.none) == nil)
        #expect(try roundTrip([Double.infinity, -0.0]).map(\.bitPattern) == [Double.infinity, -0.0].map(\.bitPattern))
        #expect(try roundTrip(Double.nan).isNaN)
        #expect(try roundTrip([[[Int]]]()) == [])
    }

    @Test func givesBackClassesWithTheirSuperclasses() throws {
        let dog = try roundTrip(NestedSamples.Dog(name: "Rex", tricks: ["sit", "roll"]))

        #expect(dog.name == "Rex")
        #expect(dog.tricks == ["sit", "roll"])
    }

    @Test func writesWhatTheFormatSays() throws {
        struct Pair: Encodable {
            var a: Int8 = -2
            var bc: [UInt8?] = [7, nil]
        }

        let bytes = try NestedEncoder.encode(Pair())

        let element: [UInt8] = [4, 7, 0, 0, 0, 0, 0, 0, 0]
        let array: [UInt8] = [12, 22, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0] + element + [0]
        let number: [UInt8] = [3, 0xFE, 255, 255, 255, 255, 255, 255, 255]
        let ends: [UInt8] = [1, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 36, 0, 0, 0]
        let rest: [UInt8] = [2, 0, 0, 0] + ends + Array("abc".utf8) + number + array
        #expect(array.count == 27)
        #expect(bytes == [13, UInt8(rest.count), 0, 0, 0] + rest)
    }

    @Test func givesEqualBytesForEqualDictionariesAndSets() throws {
        var left: [String: Set<Int>] = [:]
        var right: [String: Set<Int>] = [:]
        for index in 0..<50 { left["k\(index)", default: []].formUnion([index, index + 1, index * 7]) }
        for index in (0..<50).reversed() { right["k\(index)", default: []].formUnion([index * 7, index + 1, index]) }
        right.reserveCapacity(1000)
        let (first, second) = (
            Dictionary(
                uniqueKeysWithValues: left.map { (NestedSamples.IntKeyed(id: $0.value.count), $0.key) }.prefix(1)
            ),
            ["z": [3: true, 1: false]]
        )

        #expect(try NestedEncoder.encode(left) == NestedEncoder.encode(right))
        #expect(try roundTrip(left) == right)
        #expect(try roundTrip(first) == first)
        #expect(try roundTrip(second) == second)
    }

    @Test func findsMembersWithoutDecodingTheRest() throws {
        let bytes = try NestedEncoder.encode(NestedSamples.Collections())

        bytes.withUnsafeBytes { bytes in
            let view = NestedView(bytes)
            #expect(view?.member("present")?.string == "x")
            #expect(view?.member("missing") == nil)
            #expect(view?.member(path: ["byString", "a"])?.integer(Int.self) == 2)
            #expect(view?.member(path: ["byString", "c"]) == nil)
            #expect(view?.member("optionals")?.count == 3)
            #expect(view?.member("optionals")?.element(at: 1)?.isNil == true)
            #expect(view?.member("optionals")?.element(at: 3) == nil)
            #expect(view?.member(path: ["present", "x"]) == nil)
        }
    }

    /// Decodes the keys of a large container from the last to the first.
    private struct Backwards: Decodable {
        let numbers: [Int]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            numbers = try container.allKeys.reversed().map { try container.decode(Int.self, forKey: $0) }
        }

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    @Test(arguments: [3, 15, 16, 17, 60]) func findsKeysInAnyOrder(count: Int) throws {
        let numbers = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \(100 + $0)", $0) })

        let bytes = try NestedEncoder.encode(numbers)

        let read = try bytes.withUnsafeBytes { try NestedDecoder.decode(Backwards.self, from: $0) }
        #expect(read.numbers == Array((0..<count).reversed()))
    }

    @Test func viewsOnlyValuesOfTheirWholeSize() {
        func isValue(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { NestedView($0) != nil } }

        #expect(isValue([7, 1, 0, 0, 0, 0x61]))
        #expect(!isValue([7, 2, 0, 0, 0, 0x61]))
        #expect(!isValue([7, 0, 0, 0, 0, 0x61]))
        #expect(!isValue([8, 255, 255, 255, 255]))
        #expect(isValue([0]))
        #expect(!isValue([0, 0]))
        #expect(!isValue([14]))
        #expect(isValue([12, 4, 0, 0, 0, 0, 0, 0, 0]))
        #expect(!isValue([12, 4, 0, 0, 0, 1, 0, 0, 0]))
        #expect(!isValue([3, 0, 0, 0, 0, 0, 0, 0]))
    }

    @Test func refusesWhatIsTooDeep() throws {
        let deepest = NestedSamples.Link.chain(128)
        let tooDeep = NestedSamples.Link.chain(129)

        #expect(throws: EncodingError.self) { try NestedEncoder.encode(tooDeep) }
        var bytes = try NestedEncoder.encode(deepest)
        #expect(try bytes.withUnsafeBytes { try NestedDecoder.decode(NestedSamples.Link.self, from: $0) }.next != nil)
        // One more level around it, which no encoder writes.
        let inner = bytes
        bytes = [13] + le(inner.count + 16) + le(1) + le(4) + le(inner.count) + Array("next".utf8) + inner
        #expect(throws: DecodingError.self) {
            try bytes.withUnsafeBytes { try NestedDecoder.decode(NestedSamples.Link.self, from: $0) }
        }
        #expect(throws: EncodingError.self) { try NestedEncoder.encode(NestedSamples.Link.chain(100_000)) }
    }

    private func le(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) } }

    @Test func saysWhatIsMissingOrWrong() throws {
        struct Wants: Codable { var a: Int }
        func fails(_ bytes: @autoclosure () throws -> [UInt8], _ isRight: (DecodingError) -> Bool) -> Bool {
            let result = Result {
                let bytes = try bytes()
                return try bytes.withUnsafeBytes { try NestedDecoder.decode(Wants.self, from: $0) }
            }
            if case .failure(let error as DecodingError) = result { return isRight(error) }
            return false
        }

        #expect(fails(try NestedEncoder.encode(["b": 1])) { if case .keyNotFound = $0 { true } else { false } })
        #expect(fails(try NestedEncoder.encode(["a": "x"])) { if case .typeMismatch = $0 { true } else { false } })
        #expect(
            fails(try NestedEncoder.encode(["a": Int?.none])) { if case .valueNotFound = $0 { true } else { false } }
        )
        #expect(
            fails(try NestedEncoder.encode(["a": UInt64.max])) { if case .dataCorrupted = $0 { true } else { false } }
        )
        #expect(fails(try NestedEncoder.encode([1])) { if case .typeMismatch = $0 { true } else { false } })
        #expect(fails([]) { if case .dataCorrupted = $0 { true } else { false } })
        #expect(
            fails(try NestedEncoder.encode(["a": 1]).dropLast()) { if case .dataCorrupted = $0 { true } else { false } }
        )
        #expect(
            try NestedEncoder.encode(["a": 1.0]).withUnsafeBytes { try NestedDecoder.decode(Wants.self, from: $0) }.a
                == 1
        )
    }

    @Test func refusesTwoValuesInOnePlace() {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var first = encoder.singleValueContainer()
                try first.encode(1)
                var second = encoder.unkeyedContainer()
                try second.encode(2)
            }
        }

        #expect(throws: EncodingError.self) { try NestedEncoder.encode([Twice()]) }
    }

    /// A type that keeps its decoder.
    private struct Keeper: Codable {
        let decoder: (any Decoder)?
        init() { decoder = nil }
        init(from decoder: any Decoder) throws { self.decoder = decoder }
        func encode(to encoder: any Encoder) throws { var list = encoder.unkeyedContainer(); try list.encode("text") }
    }

    @Test func closesDecodersWhenTheValueIsDone() throws {
        let bytes = try NestedEncoder.encode(Keeper())

        let keeper = try bytes.withUnsafeBytes { try NestedDecoder.decode(Keeper.self, from: $0) }

        #expect(throws: DecodingError.self) { try keeper.decoder?.unkeyedContainer() }
        #expect(throws: DecodingError.self) { try keeper.decoder?.singleValueContainer().decode(Int.self) }
    }

    /// Reads everything there is, and tries beyond the end.
    private func walk(_ view: NestedView?, depth: Int = 0) -> Int {
        guard let view, depth < 200 else { return 0 }
        var sum = view.string?.count ?? 0
        sum += view.data?.count ?? 0
        sum += view.scalar == nil ? 0 : 1
        sum += view.integer(Int8.self) == nil ? 0 : 1
        sum += view.integer(UInt128.self) == nil ? 0 : 1
        sum += view.floatingPoint(Float.self) == nil ? 0 : 1
        for index in -1..<min(view.count + 1, 200) {
            sum += view.key(at: index)?.count ?? 0
            sum += walk(view.element(at: index), depth: depth + 1)
        }
        return sum + walk(view.member("name"), depth: depth + 1)
    }

    private func tryAll(_ bytes: ArraySlice<UInt8>) {
        let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { exact.deallocate() }
        exact.copyBytes(from: bytes)
        let raw = UnsafeRawBufferPointer(exact)
        let scalars = NestedSamples.Scalars()
        _ = walk(NestedView(raw))
        _ = try? NestedDecoder.decode(NestedSamples.Numbers.self, from: raw, scalars: scalars)
        _ = try? NestedDecoder.decode(NestedSamples.Collections.self, from: raw, scalars: scalars)
        _ = try? NestedDecoder.decode(NestedSamples.Special.self, from: raw, scalars: scalars)
        _ = try? NestedDecoder.decode(NestedSamples.ByHand.self, from: raw, scalars: scalars)
        _ = try? NestedDecoder.decode(NestedSamples.Dog.self, from: raw, scalars: scalars)
        _ = try? NestedDecoder.decode(NestedSamples.Link.self, from: raw, scalars: scalars)
    }

    private func samples() throws -> [[UInt8]] {
        let scalars = NestedSamples.Scalars()
        return [
            try NestedEncoder.encode(NestedSamples.Numbers(), scalars: scalars),
            try NestedEncoder.encode(NestedSamples.Special(), scalars: scalars),
            try NestedEncoder.encode(NestedSamples.ByHand(), scalars: scalars),
            try NestedEncoder.encode(NestedSamples.Dog(name: "x", tricks: ["y"]), scalars: scalars),
            try NestedEncoder.encode(NestedSamples.Link.chain(5), scalars: scalars),
            try NestedEncoder.encode(NestedSamples.Collections(), scalars: scalars),
        ]
    }

    @Test func survivesTruncationsAndFlippedBits() throws {
        for sample in try samples().prefix(5) {
            var bytes = sample
            for count in 0..<bytes.count { tryAll(bytes[..<count]) }
            for bit in 0..<bytes.count * 8 {
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                tryAll(bytes[...])
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            }
        }
    }

    @Test func survivesMutatedBytes() throws {
        var seed = RowSeed(400)
        let samples = try samples()
        for _ in 0..<1_500 {
            var bytes = samples[seed.below(samples.count)]
            for _ in 0..<1 + seed.below(6) {
                let place = seed.below(bytes.count)
                switch seed.below(4) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: seed.next())
                case 1: bytes[place] = UInt8(seed.below(14))
                case 2: bytes[place] = [0, 1, 255, 127, 128][seed.below(5)]
                default: bytes.insert(UInt8(truncatingIfNeeded: seed.next()), at: place)
                }
            }
            tryAll(bytes[...])
        }
    }
}
