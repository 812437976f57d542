public import FaultlineObjects

/// The sections of a result: neighbouring objects with the same title.
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
    /// Neighbouring objects with the same title.
    public struct Section: RandomAccessCollection, Identifiable {
        /// The value of the objects' property.
        public let title: SectionTitle
        /// The positions of the objects in the whole result.
        public let range: Range<Int>
        private let elements: [Element]

        init(_ title: SectionTitle, _ range: Range<Int>, of elements: [Element]) {
            self.title = title
            self.range = range
            self.elements = elements
        }

        /// The title.
        public var id: SectionTitle { title }
        /// Zero.
        public var startIndex: Int { 0 }
        /// The number of objects.
        public var endIndex: Int { range.count }
        /// The object at a position in the section.
        ///
        /// - Complexity: O(1).
        public subscript(position: Int) -> Element { elements[range.lowerBound + position] }
    }

    private let sections: [Section]

    init(_ elements: [Element], _ title: (Element) -> SectionTitle) {
        var sections: [Section] = []
        var first = 0
        var current: SectionTitle?
        for (place, element) in elements.enumerated() {
            let next = title(element)
            if let current, current != next {
                sections.append(Section(current, first..<place, of: elements))
                first = place
            }
            current = next
        }
        if let current { sections.append(Section(current, first..<elements.count, of: elements)) }
        self.sections = sections
    }

    var titles: [SectionTitle] { sections.map(\.title) }

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { sections.count }
    /// The section at a position.
    ///
    /// - Complexity: O(1).
    public subscript(position: Int) -> Section { sections[position] }
}

@available(*, unavailable, message: "The results of a fetch belong to their context. Pass identifiers.")
extension SectionedResults: Sendable {}

@available(*, unavailable, message: "The results of a fetch belong to their context. Pass identifiers.")
extension SectionedResults.Section: Sendable {}
