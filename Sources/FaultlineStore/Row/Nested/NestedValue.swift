/// A value of a tree before it is written as bytes.
enum NestedValue {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(Double)
    case float(Float)
    case string(String)
    case data([UInt8])
    case date(Double)
    case uuid(UInt64, UInt64)
    indirect case decimal(StoredDecimal)
    case container(NestedContainer)
    /// A value that an encoder fills in later.
    case slot(NestedSlot)

    init(_ scalar: NestedScalar) {
        switch scalar {
        case .date(let value): self = .date(value)
        case .uuid(let first, let second): self = .uuid(first, second)
        case .decimal(let value): self = .decimal(value)
        case .data(let bytes): self = .data(bytes)
        case .string(let text): self = .string(text)
        }
    }

    /// Measures the value and everything in it; sizes of containers are kept for writing.
    ///
    /// - Returns: Bytes of the value with its tag; nil if it is too deep or too large for a size field.
    func measure(depth: Int) -> Int? {
        switch self {
        case .null, .bool: return 1
        case .int, .uint, .double, .date: return 9
        case .float: return 5
        case .uuid: return 17
        case .decimal: return 1 + StoredDecimal.byteCount
        case .string(let text): return Self.sized(text.utf8.count)
        case .data(let bytes): return Self.sized(bytes.count)
        case .slot(let slot): return slot.value.measure(depth: depth)
        case .container(let container): return container.measure(depth: depth + 1)
        }
    }

    private static func sized(_ byteCount: Int) -> Int? { byteCount <= Int(UInt32.max) ? 5 + byteCount : nil }

    /// Bytes of a value that was measured.
    var measuredByteCount: Int {
        switch self {
        case .null, .bool: 1
        case .int, .uint, .double, .date: 9
        case .float: 5
        case .uuid: 17
        case .decimal: 1 + StoredDecimal.byteCount
        case .string(let text): 5 + text.utf8.count
        case .data(let bytes): 5 + bytes.count
        case .slot(let slot): slot.value.measuredByteCount
        case .container(let container): container.byteCount
        }
    }

    /// Writes a measured value; returns its end.
    func write(to place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        func tag(_ tag: NestedTag) { place.storeBytes(of: tag.rawValue, as: UInt8.self) }
        switch self {
        case .null:
            tag(.null)
            return place + 1
        case .bool(let value):
            tag(value ? .yes : .no)
            return place + 1
        case .int(let value):
            tag(.int)
            (place + 1).storeBytes(of: value, as: Int64.self)
        case .uint(let value):
            tag(.uint)
            (place + 1).storeBytes(of: value, as: UInt64.self)
        case .double(let value):
            tag(.double)
            (place + 1).storeBytes(of: value, as: Double.self)
        case .date(let value):
            tag(.date)
            (place + 1).storeBytes(of: value, as: Double.self)
        case .float(let value):
            tag(.float)
            (place + 1).storeBytes(of: value, as: Float.self)
            return place + 5
        case .uuid(let first, let second):
            tag(.uuid)
            (place + 1).storeBytes(of: first, as: UInt64.self)
            (place + 9).storeBytes(of: second, as: UInt64.self)
            return place + 17
        case .decimal(let value):
            tag(.decimal)
            value.write(to: place + 1)
            return place + 1 + StoredDecimal.byteCount
        case .string(var text):
            tag(.string)
            return text.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: place) }
        case .data(let bytes):
            tag(.data)
            return bytes.withUnsafeBytes { Self.write($0, to: place) }
        case .slot(let slot): return slot.value.write(to: place)
        case .container(let container): return container.write(to: place)
        }
        return place + 9
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer,
        to place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        (place + 1).storeBytes(of: UInt32(truncatingIfNeeded: bytes.count), as: UInt32.self)
        if let base = bytes.baseAddress { (place + 5).copyMemory(from: base, byteCount: bytes.count) }
        return place + 5 + bytes.count
    }
}

/// The result of an encoder.
final class NestedSlot {
    var value = NestedValue.null
    var isFilled = false
}

/// An array or a keyed container before it is written as bytes.
final class NestedContainer {
    let isKeyed: Bool
    private(set) var keys: [String] = []
    private(set) var values: [NestedValue] = []
    /// Bytes of the container with its tag, once measured.
    private(set) var byteCount = 0
    private var keyByteCount = 0
    private var indexOfKey: [String: Int] = [:]

    private static let indexedCountMin = 16

    init(isKeyed: Bool) { self.isKeyed = isKeyed }

    func append(_ value: NestedValue) { values.append(value) }

    /// Sets a key's value; a later value replaces an earlier one.
    func set(_ value: NestedValue, forKey key: String) {
        if let index = index(ofKey: key) {
            values[index] = value
            return
        }
        keys.append(key)
        values.append(value)
        if keys.count > Self.indexedCountMin {
            indexOfKey[key] = keys.count - 1
        } else if keys.count == Self.indexedCountMin {
            for (index, key) in keys.enumerated() { indexOfKey[key] = index }
        }
    }

    private func index(ofKey key: String) -> Int? {
        keys.count < Self.indexedCountMin ? keys.firstIndex(of: key) : indexOfKey[key]
    }

    /// The container created earlier for a key, if any.
    func container(forKey key: String) -> NestedContainer? {
        guard let index = index(ofKey: key), case .container(let container) = values[index] else { return nil }
        return container
    }

    func measure(depth: Int) -> Int? {
        guard depth <= NestedTag.depthMax else { return nil }
        var total = 0
        for value in values {
            guard let byteCount = value.measure(depth: depth) else { return nil }
            total += byteCount
        }
        keyByteCount = keys.reduce(0) { $0 + $1.utf8.count }
        byteCount =
            NestedTag.containerHeaderByteCount + values.count * (isKeyed ? 8 : 4) + keyByteCount + total
        return byteCount <= Int(UInt32.max) ? byteCount : nil
    }

    func write(to place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        place.storeBytes(of: (isKeyed ? NestedTag.keyed : NestedTag.array).rawValue, as: UInt8.self)
        (place + 1).storeBytes(of: UInt32(truncatingIfNeeded: byteCount - 5), as: UInt32.self)
        (place + 5).storeBytes(of: UInt32(truncatingIfNeeded: values.count), as: UInt32.self)
        let ends = place + NestedTag.containerHeaderByteCount
        let stride = isKeyed ? 8 : 4
        let firstKey = ends + values.count * stride
        let firstValue = firstKey + keyByteCount
        var key = firstKey
        var value = firstValue
        for index in values.indices {
            if isKeyed {
                var text = keys[index]
                text.withUTF8 { text in
                    if let base = text.baseAddress { key.copyMemory(from: base, byteCount: text.count) }
                    key += text.count
                }
                (ends + index * stride).storeBytes(of: UInt32(truncatingIfNeeded: key - firstKey), as: UInt32.self)
            }
            value = values[index].write(to: value)
            (ends + index * stride + stride - 4)
                .storeBytes(of: UInt32(truncatingIfNeeded: value - firstValue), as: UInt32.self)
        }
        return value
    }

    /// Sorts the entries of a dictionary or set into an order that is the same in every process.
    func sort(isPaired: Bool) {
        if isKeyed {
            let order = keys.indices.sorted { keys[$0].utf8.lexicographicallyPrecedes(keys[$1].utf8) }
            (keys, values) = (order.map { keys[$0] }, order.map { values[$0] })
            indexOfKey = [:]
            if keys.count >= Self.indexedCountMin {
                for (index, key) in keys.enumerated() { indexOfKey[key] = index }
            }
            return
        }
        let step = isPaired ? 2 : 1
        guard values.count.isMultiple(of: step) else { return }
        let groups = stride(from: 0, to: values.count, by: step).map { ($0, values[$0].bytes ?? []) }
        let order = groups.sorted { $0.1.lexicographicallyPrecedes($1.1) }
        values = order.flatMap { values[$0.0..<$0.0 + step] }
    }
}

extension NestedValue {
    /// The value as bytes; nil if it is too deep or too large.
    var bytes: [UInt8]? {
        guard let byteCount = measure(depth: 0) else { return nil }
        return [UInt8](unsafeUninitializedCapacity: byteCount) { room, count in
            if let base = room.baseAddress { count = UnsafeRawPointer(write(to: base)) - UnsafeRawPointer(base) }
        }
    }
}
