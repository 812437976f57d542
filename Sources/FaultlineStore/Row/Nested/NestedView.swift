/// A view of a value in a tree: finds members without decoding the others.
///
/// Nothing is trusted: a size or end that does not fit makes the member nil. The view borrows the bytes.
package struct NestedView {
    /// The bytes of the value with its tag, and maybe more behind.
    let bytes: UnsafeRawBufferPointer
    package let tag: NestedTag

    /// Views a value; nil if the bytes do not hold a whole one.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0,
            let tag = NestedTag(rawValue: base.load(as: UInt8.self))
        else { return nil }
        let rest = bytes.count - 1
        let isWhole: Bool
        switch tag {
        case .null, .no, .yes: isWhole = rest == 0
        case .int, .uint, .double, .date: isWhole = rest == 8
        case .float: isWhole = rest == 4
        case .uuid: isWhole = rest == 16
        case .decimal: isWhole = rest == StoredDecimal.byteCount
        case .string, .data:
            isWhole = rest >= 4 && Int((base + 1).loadUnaligned(as: UInt32.self)) == rest - 4
        case .array, .keyed:
            guard rest >= 8, Int((base + 1).loadUnaligned(as: UInt32.self)) == rest - 4 else { return nil }
            let count = Int((base + 5).loadUnaligned(as: UInt32.self))
            isWhole = count <= (rest - 8) / (tag == .keyed ? 8 : 4)
        }
        guard isWhole else { return nil }
        self.bytes = bytes
        self.tag = tag
    }

    /// Views a value of which only the size was checked.
    private init(tag: NestedTag, bytes: UnsafeRawBufferPointer) {
        self.tag = tag
        self.bytes = bytes
    }

    private func load<Value: BitwiseCopyable>(_ offset: Int, _ type: Value.Type) -> Value {
        bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }

    // MARK: Scalars

    package var isNil: Bool { tag == .null }

    package var bool: Bool? { tag == .yes ? true : tag == .no ? false : nil }

    /// The integer, if the value is in that type's range, or a floating-point number without a fraction.
    package func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        switch tag {
        case .int: Number(exactly: load(1, Int64.self))
        case .uint: Number(exactly: load(1, UInt64.self))
        case .double: Number(exactly: load(1, Double.self))
        case .float: Number(exactly: load(1, Float.self))
        case .data where Number.bitWidth == 128 && bytes.count == 21: Number(littleEndian: wide(Number.self))
        default: nil
        }
    }

    /// The 16 bytes of a wide integer.
    private func wide<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
        (0..<16).reduce(into: Number(0)) { number, index in
            number |= Number(truncatingIfNeeded: bytes[5 + index]) << Number(truncatingIfNeeded: 8 * index)
        }
    }

    /// The floating-point number, if the value is a number that the type can hold exactly.
    package func floatingPoint<Number: BinaryFloatingPoint>(_ type: Number.Type) -> Number? {
        switch tag {
        case .double, .date:
            let value = load(1, Double.self)
            // Safe because the types are the same.
            if Number.self == Double.self { return unsafeBitCast(value, to: Number.self) }
            return value.isNaN ? .nan : Number(exactly: value)
        case .float:
            let value = load(1, Float.self)
            return value.isNaN ? .nan : Number(exactly: value)
        case .int: return Number(exactly: load(1, Int64.self))
        case .uint: return Number(exactly: load(1, UInt64.self))
        default: return nil
        }
    }

    /// The UTF-8 of a string, not validated.
    package var text: UnsafeRawBufferPointer? {
        tag == .string ? UnsafeRawBufferPointer(rebasing: bytes[5...]) : nil
    }

    /// The string, if its bytes are valid UTF-8.
    package var string: String? { text.flatMap { String(validating: $0, as: UTF8.self) } }

    package var data: UnsafeRawBufferPointer? {
        tag == .data ? UnsafeRawBufferPointer(rebasing: bytes[5...]) : nil
    }

    /// The scalar of a date, UUID, decimal, data or string.
    package var scalar: NestedScalar? {
        switch tag {
        case .date: .date(load(1, Double.self))
        case .uuid: .uuid(load(1, UInt64.self), load(9, UInt64.self))
        case .decimal: bytes.baseAddress.map { .decimal(StoredDecimal(reading: $0 + 1)) }
        case .data: data.map { .data(Array($0)) }
        case .string: string.map { .string($0) }
        default: nil
        }
    }

    // MARK: Containers

    /// Elements of an array, entries of a keyed container; else 0.
    package var count: Int { tag == .array || tag == .keyed ? Int(load(5, UInt32.self)) : 0 }

    /// An array's element, or a keyed container's value; nil if there is none or its offset is invalid.
    package func element(at index: Int) -> NestedView? {
        guard index >= 0, index < count, let first = firstValue else { return nil }
        let start = index == 0 ? 0 : valueEnd(index - 1)
        let end = valueEnd(index)
        guard start <= end, first + end <= bytes.count else { return nil }
        return NestedView(UnsafeRawBufferPointer(rebasing: bytes[first + start..<first + end]))
    }

    /// A keyed container's key as UTF-8, not validated.
    package func key(at index: Int) -> UnsafeRawBufferPointer? {
        guard tag == .keyed, index >= 0, index < count else { return nil }
        let first = NestedTag.containerHeaderByteCount + count * 8
        let start = index == 0 ? 0 : keyEnd(index - 1)
        let end = keyEnd(index)
        guard start <= end, first + end <= bytes.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[first + start..<first + end])
    }

    /// The index of a key in a keyed container; the search begins at `start` and continues from 0.
    func index(ofKey key: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        let count = count
        for step in 0..<count {
            let index = start + step < count ? start + step : start + step - count
            if let candidate = self.key(at: index), StoredText.areEqual(candidate, key) { return index }
        }
        return nil
    }

    /// The value of a key of a keyed container.
    package func member(_ key: String) -> NestedView? {
        guard tag == .keyed else { return nil }
        var key = key
        guard let index = key.withUTF8({ index(ofKey: UnsafeRawBufferPointer($0)) }) else { return nil }
        return element(at: index)
    }

    /// The value at a path of keys.
    package func member(path: [String]) -> NestedView? {
        var view = self
        for key in path {
            guard let next = view.member(key) else { return nil }
            view = next
        }
        return view
    }

    /// The offset of the first value; nil if the keys do not end within the bytes.
    private var firstValue: Int? {
        guard tag == .keyed else { return NestedTag.containerHeaderByteCount + count * 4 }
        let keys = NestedTag.containerHeaderByteCount + count * 8
        let end = keys + (count == 0 ? 0 : keyEnd(count - 1))
        return end <= bytes.count ? end : nil
    }

    private func valueEnd(_ index: Int) -> Int {
        let stride = tag == .keyed ? 8 : 4
        return Int(load(NestedTag.containerHeaderByteCount + index * stride + stride - 4, UInt32.self))
    }

    private func keyEnd(_ index: Int) -> Int {
        Int(load(NestedTag.containerHeaderByteCount + index * 8, UInt32.self))
    }
}
