/// A queue in an array: first in, first out, in O(1) amortized.
struct Fifo<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes the oldest element.
    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let first = elements[head].take()
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head < 1_024)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Removes the elements that do not satisfy a condition; the others keep their order.
    mutating func keep(_ isKept: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map(isKept) ?? false }
        head = 0
    }

    func forEach(_ body: (Element) -> Void) {
        for case .some(let element) in elements[head...] { body(element) }
    }
}
