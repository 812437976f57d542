/// Objects that a loop calls often: it keeps them, and no call counts references.
struct UncountedList<Element: AnyObject>: ~Copyable {
    private let kept: [Element]
    private let items: UnsafeMutableBufferPointer<Unmanaged<Element>>

    init(_ elements: [Element]) {
        kept = elements
        items = .allocate(capacity: elements.count)
        _ = items.initialize(fromContentsOf: elements.map(Unmanaged.passUnretained))
    }

    deinit { items.deallocate() }

    @inline(__always) var count: Int { items.count }

    /// Passes an object to `body`, which must not keep it longer than the list.
    @inline(__always)
    func with<R, E: Error>(_ place: Int, _ body: (Element) throws(E) -> R) throws(E) -> R {
        var result: R?
        var failure: E?
        items[place]._withUnsafeGuaranteedRef { element in
            do throws(E) { result = try body(element) } catch { failure = error }
        }
        if let failure { throw failure }
        return result.unsafelyUnwrapped
    }
}
