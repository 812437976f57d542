/// Reads a keyed value of the catalog by hand, and checks each member.
///
/// The catalog is read at every opening of a store. `Decodable` creates a container type for each set of keys, which
/// takes longer than all the rest of the opening.
///
/// Unknown keys are skipped; the members may come in any order.
struct CatalogValue {
    private let view: NestedView
    /// The depth of containers, with the value itself.
    let depth: Int
    /// The index at which the search for the next key begins: values are read in the order in which they were written.
    private var next = 0

    /// - Throws: If the value is not a keyed one.
    init(_ view: NestedView, depth: Int = 1) throws(CatalogFault) {
        guard view.tag == .keyed else { throw CatalogFault("a \(view.tag) stands where a keyed value was expected") }
        guard depth <= NestedTag.depthMax else { throw CatalogFault("values lie too deep within each other") }
        self.view = view
        self.depth = depth
    }

    /// Views the bytes of a whole entry.
    init(_ bytes: UnsafeRawBufferPointer) throws(CatalogFault) {
        guard let view = NestedView(bytes) else { throw CatalogFault("its bytes are not a whole value") }
        try self.init(view)
    }

    /// The value of a key; nil if the key is missing, or the value is nil.
    private mutating func find(_ key: StaticString) throws(CatalogFault) -> NestedView? {
        let bytes = UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        guard let index = view.index(ofKey: bytes, from: next) else { return nil }
        guard let value = view.element(at: index) else {
            throw CatalogFault("the bytes of \(key) are not a whole value")
        }
        next = index + 1 < view.count ? index + 1 : 0
        return value.isNil ? nil : value
    }

    private func missing(_ key: StaticString) -> CatalogFault { CatalogFault("\(key) is missing") }

    private func wrong(_ key: StaticString) -> CatalogFault { CatalogFault("\(key) has a value that it cannot have") }

    // MARK: Scalars

    mutating func optionalString(_ key: StaticString) throws(CatalogFault) -> String? {
        guard let value = try find(key) else { return nil }
        guard let string = value.string else { throw wrong(key) }
        return string
    }

    mutating func string(_ key: StaticString) throws(CatalogFault) -> String {
        guard let string = try optionalString(key) else { throw missing(key) }
        return string
    }

    mutating func optionalInteger<Number: FixedWidthInteger>(
        _ key: StaticString, as type: Number.Type = Number.self
    ) throws(CatalogFault) -> Number? {
        guard let value = try find(key) else { return nil }
        guard let number = value.integer(type) else { throw wrong(key) }
        return number
    }

    mutating func integer<Number: FixedWidthInteger>(
        _ key: StaticString, as type: Number.Type = Number.self
    ) throws(CatalogFault) -> Number {
        guard let number = try optionalInteger(key, as: type) else { throw missing(key) }
        return number
    }

    mutating func optionalBool(_ key: StaticString) throws(CatalogFault) -> Bool? {
        guard let value = try find(key) else { return nil }
        guard let bool = value.bool else { throw wrong(key) }
        return bool
    }

    mutating func bool(_ key: StaticString) throws(CatalogFault) -> Bool {
        guard let bool = try optionalBool(key) else { throw missing(key) }
        return bool
    }

    // MARK: Values within

    mutating func optionalValue(_ key: StaticString) throws(CatalogFault) -> CatalogValue? {
        guard let value = try find(key) else { return nil }
        do throws(CatalogFault) { return try CatalogValue(value, depth: depth + 1) } catch { throw error.at(key) }
    }

    mutating func value(_ key: StaticString) throws(CatalogFault) -> CatalogValue {
        guard let value = try optionalValue(key) else { throw missing(key) }
        return value
    }

    /// The elements of a list; nil if it is missing.
    ///
    /// Memory grows with the elements that `read` accepts, not with the count in the bytes.
    mutating func optionalList<Element>(
        _ key: StaticString, _ read: (NestedView, _ depth: Int) throws(CatalogFault) -> Element
    ) throws(CatalogFault) -> [Element]? {
        guard let list = try find(key) else { return nil }
        return try Self.elements(of: list, key, depth + 1, read)
    }

    private static func elements<Element>(
        of list: NestedView, _ key: StaticString, _ depth: Int,
        _ read: (NestedView, _ depth: Int) throws(CatalogFault) -> Element
    ) throws(CatalogFault) -> [Element] {
        guard list.tag == .array, depth <= NestedTag.depthMax else { throw CatalogFault("\(key) is not a list") }
        var elements: [Element] = []
        for index in 0..<list.count {
            do throws(CatalogFault) {
                guard let element = list.element(at: index) else {
                    throw CatalogFault("its bytes are not a whole value")
                }
                elements.append(try read(element, depth + 1))
            } catch { throw error.at(key, index) }
        }
        return elements
    }

    mutating func list<Element>(
        _ key: StaticString, _ read: (NestedView, _ depth: Int) throws(CatalogFault) -> Element
    ) throws(CatalogFault) -> [Element] {
        guard let list = try optionalList(key, read) else { throw missing(key) }
        return list
    }

    /// A list of keyed values.
    mutating func values<Element>(
        _ key: StaticString, _ read: (inout CatalogValue) throws(CatalogFault) -> Element
    ) throws(CatalogFault) -> [Element] {
        try list(key) { (view, depth) throws(CatalogFault) in
            var value = try CatalogValue(view, depth: depth)
            return try read(&value)
        }
    }

    /// A list of numbers.
    mutating func integers<Number: FixedWidthInteger>(
        _ key: StaticString, as type: Number.Type = Number.self
    ) throws(CatalogFault) -> [Number] {
        try list(key) { (view, _) throws(CatalogFault) in
            guard let number = view.integer(type) else { throw CatalogFault("it is no number of its range") }
            return number
        }
    }

    /// A list of lists of names; empty if it is missing.
    mutating func groupsOfNames(_ key: StaticString) throws(CatalogFault) -> [[String]] {
        try optionalList(key) { (view, depth) throws(CatalogFault) in
            try Self.elements(of: view, "group", depth) { (view, _) throws(CatalogFault) in
                guard let name = view.string else { throw CatalogFault("it is no text") }
                return name
            }
        } ?? []
    }
}

/// The reason why a catalog entry cannot be read, and the place in it.
struct CatalogFault: Error {
    private(set) var message: String

    init(_ message: String) { self.message = message }

    /// The same fault, with the member that it was found in.
    func at(_ key: StaticString) -> CatalogFault { CatalogFault("\(key): \(message)") }

    /// The same fault, with the list's element that it was found in.
    func at(_ key: StaticString, _ index: Int) -> CatalogFault { CatalogFault("\(key) \(index): \(message)") }
}
