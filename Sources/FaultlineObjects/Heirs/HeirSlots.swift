internal import Synchronization

/// The slots of the properties that subclasses declare, in the objects of one home: an accessor knows the position of
/// its property in its own class only.
enum HeirSlots {
    private static let lastNumber = Atomic<Int>(0)

    static func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    /// The tables of some classes: for the number of each, the slots of the properties that it declares.
    static func make(_ lists: [Int: [Int]]) -> UnsafePointer<UnsafePointer<Int>?>? {
        guard let last = lists.keys.max() else { return nil }
        // The first entry holds the number of the others.
        let tables = UnsafeMutablePointer<UnsafePointer<Int>?>.allocate(capacity: last + 1)
        tables.initialize(repeating: nil, count: last + 1)
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: last)
        tables[0] = UnsafePointer(count)
        for (number, slots) in lists {
            let list = UnsafeMutablePointer<Int>.allocate(capacity: max(slots.count, 1))
            for (place, slot) in slots.enumerated() { (list + place).initialize(to: slot) }
            tables[number] = UnsafePointer(list)
        }
        return UnsafePointer(tables)
    }

    static func free(_ tables: UnsafePointer<UnsafePointer<Int>?>?) {
        guard let tables else { return }
        let last = tables[0]?.pointee ?? 0
        for number in 0...last { tables[number]?.deallocate() }
        tables.deallocate()
    }

    /// The slots of a class; nil if the objects of the type are of no such class.
    @inline(__always)
    static func list(_ tables: UnsafePointer<UnsafePointer<Int>?>?, _ number: Int) -> UnsafePointer<Int>? {
        guard let tables, number <= tables[0].unsafelyUnwrapped.pointee else { return nil }
        return tables[number]
    }
}
