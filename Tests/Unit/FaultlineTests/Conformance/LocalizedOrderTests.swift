import Faultline
import FaultlineTestSupport
import Testing

@Model final class Folio {
    var name: String
    var caption: String?

    init(_ name: String, _ caption: String? = nil) {
        self.name = name
        self.caption = caption
    }
}

/// The comparators of sort descriptors that Foundation lacks on Linux.
@Suite struct LocalizedOrderTests {
    private let context: ModelContext

    init() throws {
        let store = try TestStore(Folio.self)
        let writer = store.context()
        for name in ["file 10", "Zebra", "File 9", "äpfel", "apfel", "file 1"] {
            writer.insert(Folio(name, name.hasPrefix("f") ? name : nil))
        }
        try writer.save()
        context = store.context()
    }

    private func names(_ order: [SortDescriptor<Folio>], limit: Int? = nil) throws -> [String] {
        var descriptor = FetchDescriptor<Folio>(sortBy: order)
        descriptor.fetchLimit = limit
        return try context.fetch(descriptor).map(\.name)
    }

    @Test("S49: localizedStandard orders texts as lists of files do")
    func standard() throws {
        let ordered = ["apfel", "äpfel", "file 1", "File 9", "file 10", "Zebra"]
        #expect(try names([SortDescriptor(\.name, comparator: .localizedStandard)]) == ordered)
        let first = try names([SortDescriptor(\.name, comparator: .localizedStandard)], limit: 3)
        #expect(first == Array(ordered.prefix(3)))
        #expect(
            try names([SortDescriptor(\.name, comparator: .localizedStandard, order: .reverse)])
                == ordered.reversed())
        #expect(try names([.init(\.name, comparator: .lexical)]).first == "File 9")
    }

    @Test("S49: localized orders digits as letters")
    func localized() throws {
        #expect(
            try names([SortDescriptor(\.name, comparator: .localized)])
                == ["apfel", "äpfel", "file 1", "file 10", "File 9", "Zebra"])
    }

    @Test("S49: a text that is nil comes first, and later keys decide between equal ones")
    func optional() throws {
        #expect(
            try names([
                SortDescriptor(\.caption, comparator: .localizedStandard),
                SortDescriptor(\.name, comparator: .localizedStandard, order: .reverse),
            ]) == ["Zebra", "File 9", "äpfel", "apfel", "file 1", "file 10"])
    }

    @Test("S49: unsaved objects are in the order too")
    func unsaved() throws {
        context.insert(Folio("file 2"))
        #expect(
            try names([SortDescriptor(\.name, comparator: .localizedStandard)])
                == ["apfel", "äpfel", "file 1", "file 2", "File 9", "file 10", "Zebra"])
    }
}
