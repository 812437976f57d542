/// The order of index entries, and comparison sorts by it.
///
/// Both sorts keep equal entries in their order.
struct SortOrder {
    /// The length of a prefix that all keys are known to share.
    var depth = 0

    /// Whether `a` must come before `b`: key ascending, identifier ascending, sequence number descending.
    @inline(__always)
    func isBefore(_ a: MemtableEntry, _ b: MemtableEntry) -> Bool {
        let order = KeyBytes.order(a.key + depth, a.keyByteCount &- depth, b.key + depth, b.keyByteCount &- depth)
        if order != 0 { return order < 0 }
        if a.id != b.id { return a.id < b.id }
        return a.sequence > b.sequence
    }

    func insertionSort(_ items: UnsafeMutablePointer<SortItem>, _ count: Int) {
        var index = 1
        while index < count {
            let item = items[index]
            var place = index
            while place > 0, isBefore(item.entry, items[place &- 1].entry) {
                items[place] = items[place &- 1]
                place &-= 1
            }
            items[place] = item
            index &+= 1
        }
    }

    /// Merges sorted pieces of growing length; `scratch` has room for `count` items.
    func mergeSort(_ items: UnsafeMutablePointer<SortItem>, _ count: Int, scratch: UnsafeMutablePointer<SortItem>) {
        var width = 8
        var start = 0
        while start < count {
            insertionSort(items + start, min(width, count &- start))
            start &+= width
        }
        var source = items, target = scratch
        while width < count {
            start = 0
            while start < count {
                let middle = min(start &+ width, count), end = min(middle &+ width, count)
                merge(
                    UnsafeBufferPointer(start: source + start, count: middle &- start),
                    UnsafeBufferPointer(start: source + middle, count: end &- middle), into: target + start)
                start = end
            }
            swap(&source, &target)
            width &*= 2
        }
        if source != items { items.update(from: source, count: count) }
    }

    /// Merges two sorted lists; of equal entries those of `a` come first.
    func merge(
        _ a: UnsafeBufferPointer<SortItem>, _ b: UnsafeBufferPointer<SortItem>,
        into target: UnsafeMutablePointer<SortItem>
    ) {
        var left = 0, right = 0, place = 0
        while left < a.count, right < b.count {
            let takesRight = isBefore(b[right].entry, a[left].entry)
            target[place] = takesRight ? b[right] : a[left]
            if takesRight { right &+= 1 } else { left &+= 1 }
            place &+= 1
        }
        if left < a.count, let rest = a.baseAddress {
            (target + place).update(from: rest + left, count: a.count &- left)
        }
        if right < b.count, let rest = b.baseAddress {
            (target + place).update(from: rest + right, count: b.count &- right)
        }
    }
}
