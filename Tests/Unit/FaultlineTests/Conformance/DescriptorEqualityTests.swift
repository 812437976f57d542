import Faultline
import Testing

/// Descriptors of fetches are compared by their form and values.
@Suite struct DescriptorEqualityTests {
    private typealias Descriptor = FetchDescriptor<Document>

    private func named(_ title: String, above number: Int = 1) -> Predicate<Document> {
        #Predicate { $0.title == title && $0.number > number }
    }

    private func isSame(_ left: Predicate<Document>?, _ right: Predicate<Document>?) -> Bool {
        Descriptor(predicate: left) == Descriptor(predicate: right)
    }

    @Test func `predicates of one form with equal values are equal`() {
        #expect(isSame(nil, nil) && !isSame(nil, named("a")) && !isSame(named("a"), nil))
        #expect(isSame(named("a"), named("a")) && !isSame(named("a"), named("b")))
        #expect(!isSame(named("a"), named("a", above: 2)))
        let title = "a"
        let number = 1
        // Another place, the same form.
        #expect(isSame(named("a"), #Predicate { $0.title == title && $0.number > number }))
        #expect(!isSame(named("a"), #Predicate { $0.title == title && $0.number < number }))
        #expect(!isSame(named("a"), #Predicate { $0.title == title || $0.number > number }))
        #expect(!isSame(#Predicate { $0.title == title }, #Predicate { $0.title != title }))
        #expect(!isSame(#Predicate { $0.number == number }, #Predicate { $0.number + 0 == number }))
        #expect(!isSame(#Predicate { $0.folder?.name == title }, #Predicate { $0.folder?.parent?.name == title }))
    }

    @Test func `nested variables, and other properties`() {
        let text = "x"
        let any: Predicate<Document> = #Predicate { $0.labels.contains { $0.text == text } }
        #expect(isSame(any, #Predicate { $0.labels.contains { label in label.text == text } }))
        #expect(!isSame(any, #Predicate { $0.labels.allSatisfy { $0.text == text } }))
        #expect(!isSame(any, #Predicate { document in document.labels.contains { _ in document.title == text } }))
        let crossed: Predicate<Document> = #Predicate { document in
            document.labels.contains { label in document.labels.contains { other in label.text == other.text } }
        }
        let straight: Predicate<Document> = #Predicate { document in
            document.labels.contains { label in document.labels.contains { other in other.text == other.text } }
        }
        #expect(isSame(crossed, crossed) && !isSame(crossed, straight))
    }

    @Test func `values without Equatable, and objects`() {
        func circled(_ values: [Int], _ folder: Folder) -> Predicate<Document> {
            let id = folder.persistentModelID
            return #Predicate { values.contains($0.number) && $0.folder?.persistentModelID == id }
        }
        let (one, two) = (Folder("1"), Folder("2"))
        #expect(isSame(circled([1, 2], one), circled([1, 2], one)))
        #expect(!isSame(circled([1, 2], one), circled([2, 1], one)))
        #expect(!isSame(circled([1, 2], one), circled([1, 2], two)))
    }

    @Test func `all other parts of a descriptor count`() {
        let plain = Descriptor(predicate: named("a"), sortBy: [SortDescriptor(\.title)])
        #expect(plain == Descriptor(predicate: named("a"), sortBy: [SortDescriptor(\.title)]))
        var all = [plain]
        func add(_ change: (inout Descriptor) -> Void) {
            var changed = plain
            change(&changed)
            #expect(changed == changed)
            all.append(changed)
        }
        add { $0.sortBy = [SortDescriptor(\.title, order: .reverse)] }
        add { $0.sortBy = [SortDescriptor(\.number)] }
        add { $0.sortBy = [] }
        add { $0.fetchLimit = 1 }
        add { $0.fetchOffset = 1 }
        add { $0.includePendingChanges = false }
        add { $0.propertiesToFetch = [\.title] }
        add { $0.relationshipKeyPathsForPrefetching = [\.folder] }
        add { $0.relationshipPathsForPrefetching = [[\Document.folder, \Folder.parent]] }
        for (place, one) in all.enumerated() { #expect(all.firstIndex(of: one) == place) }
    }
}
