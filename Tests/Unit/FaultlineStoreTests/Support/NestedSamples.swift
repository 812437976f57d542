import FaultlineStore

/// Types of every shape for which coding is derived by the compiler or written by hand.
enum NestedSamples {
    struct Numbers: Codable, Equatable {
        var bool = true
        var int = Int.min
        var int8 = Int8.min
        var int16 = Int16.min
        var int32 = Int32.min
        var int64 = Int64.max
        var uint = UInt.max
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64 = UInt64.max
        var int128 = Int128.min
        var uint128 = UInt128.max
        var small128: Int128 = -5
        var float = Float.pi
        var double = -Double.pi
        var string = "e\u{301} 日本 \u{0} 😀"
    }

    enum Shape: Codable, Equatable {
        case empty
        case circle(radius: Double)
        case polygon([[Int]], String?)
        indirect case group([Shape], named: [String: Shape])
    }

    enum Color: String, Codable, CaseIterable { case red, green }

    struct IntKeyed: Codable, Hashable { var id: Int }

    struct Collections: Codable, Equatable {
        var optionals: [Int?] = [1, nil, 3]
        var missing: String?
        var present: String? = "x"
        var byString = ["b": 1, "a": 2, "": 3]
        var byInt = [3: "c", -1: "a"]
        var byColor: [Color: Int] = [.red: 1, .green: 2]
        var byStruct = [IntKeyed(id: 1): [true], IntKeyed(id: 2): []]
        var set: Set<Int> = [5, 6, 7]
        var empty: [String] = []
        var large = Dictionary(uniqueKeysWithValues: (0..<40).map { ("key \($0)", $0) })
        var shapes: [Shape] = [
            .empty, .circle(radius: 1.5), .polygon([[1, 2], []], nil),
            .group([.empty], named: ["x": .circle(radius: 2), "a": .empty]),
        ]
    }

    /// Types in the role of a higher layer's: their own coding must never be used.
    protocol Foreign: Codable, Equatable {
        var scalar: NestedScalar { get }
        init?(_ scalar: NestedScalar)
    }

    struct Moment: Foreign {
        var seconds = 1234.5
        var scalar: NestedScalar { .date(seconds) }
    }

    struct Identity: Foreign {
        var first: UInt64 = 1
        var second: UInt64 = 2
        var scalar: NestedScalar { .uuid(first, second) }
    }

    struct Bytes: Foreign {
        var bytes: [UInt8] = [1, 2, 3]
        var scalar: NestedScalar { .data(bytes) }
    }

    struct Address: Foreign {
        var text = "https://example.com/a?b"
        var scalar: NestedScalar { .string(text) }
    }

    struct Amount: Foreign {
        var value = StoredDecimal(mantissa: 125, exponent: -1, isNegative: true)
        var scalar: NestedScalar { .decimal(value) }
    }

    struct Special: Codable, Equatable {
        var moment = Moment()
        var identity = Identity()
        var bytes = Bytes()
        var address: Address? = Address()
        var amount = Amount()
        var moments = [Moment(seconds: 0)]
        var byName = ["x": Moment(seconds: 9)]
    }

    class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    final class Dog: Animal {
        var tricks: [String]

        private enum CodingKeys: String, CodingKey { case tricks }

        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(tricks, forKey: .tricks)
        }
    }

    /// Uses nested containers by hand, in an unusual order.
    struct ByHand: Codable, Equatable {
        var first = 1
        var list = ["x", "y"]
        var inner = 2.5
        var last = "z"

        private enum Keys: String, CodingKey { case first, list, deep, inner, twice, last }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            last = try container.decode(String.self, forKey: .last)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            self.list = []
            while !list.isAtEnd {
                if try list.decodeNil() { continue }
                var element = try list.nestedUnkeyedContainer()
                self.list.append(try element.decode(String.self))
            }
            let deep = try container.nestedContainer(keyedBy: Keys.self, forKey: .deep)
            inner = try deep.decode(Double.self, forKey: .inner)
            first = try container.superDecoder(forKey: .first).singleValueContainer().decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var deep = container.nestedContainer(keyedBy: Keys.self, forKey: .deep)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try container.encode(0, forKey: .last)
            for text in self.list {
                try list.encodeNil()
                var element = list.nestedUnkeyedContainer()
                try element.encode(text)
            }
            try container.encode(last, forKey: .last)
            let first = container.superEncoder(forKey: .first)
            try deep.encode(inner, forKey: .inner)
            var single = first.singleValueContainer()
            try single.encode(self.first)
        }
    }

    final class Link: Codable {
        var next: Link?
        init(next: Link?) { self.next = next }

        static func chain(_ count: Int) -> Link? { (0..<count).reduce(nil) { next, _ in Link(next: next) } }
    }

    /// The higher layer's scalars.
    struct Scalars: NestedScalarCoding {
        func scalar<Value: Encodable>(for value: Value) -> NestedScalar? { (value as? any Foreign)?.scalar }

        func isScalar<Value: Decodable>(_ type: Value.Type) -> Bool { type is any Foreign.Type }

        func value<Value: Decodable>(_ type: Value.Type, from scalar: NestedScalar) -> Value? {
            (type as? any Foreign.Type)?.init(scalar) as? Value
        }
    }
}

extension NestedSamples.Foreign {
    init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "Not a scalar."))
    }

    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: "Not a scalar."))
    }
}

extension NestedSamples.Moment {
    init?(_ scalar: NestedScalar) {
        guard case .date(let seconds) = scalar else { return nil }
        self.init(seconds: seconds)
    }
}

extension NestedSamples.Identity {
    init?(_ scalar: NestedScalar) {
        guard case .uuid(let first, let second) = scalar else { return nil }
        self.init(first: first, second: second)
    }
}

extension NestedSamples.Bytes {
    init?(_ scalar: NestedScalar) {
        guard case .data(let bytes) = scalar else { return nil }
        self.init(bytes: bytes)
    }
}

extension NestedSamples.Address {
    init?(_ scalar: NestedScalar) {
        guard case .string(let text) = scalar else { return nil }
        self.init(text: text)
    }
}

extension NestedSamples.Amount {
    init?(_ scalar: NestedScalar) {
        guard case .decimal(let value) = scalar else { return nil }
        self.init(value: value)
    }
}
