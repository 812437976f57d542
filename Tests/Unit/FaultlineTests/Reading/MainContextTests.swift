import Faultline
import FaultlineTestSupport
import Testing

/// A16: the references between a container and its main context.
@MainActor @Suite struct MainContextTests {
    private let folder = TemporaryDirectory()

    private func open() throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Hall.self]),
            configurations: [ModelConfiguration(url: URL(filePath: "\(folder.path)/test.store"))])
    }

    @Test("A16: a container that is let go of closes its store, though its main context was used")
    func containerGoes() throws {
        weak var gone: ModelContainer?
        do {
            let container = try open()
            gone = container
            container.mainContext.insert(Hall("a"))
            try container.mainContext.save()
        }
        #expect(gone == nil)
        let again = try open()
        #expect(try again.mainContext.all(Hall.self).map(\.name) == ["a"])
    }

    @Test("A16: the main context keeps its container")
    func contextKeepsContainer() throws {
        var context: ModelContext? = try open().mainContext
        weak var container: ModelContainer?
        container = context?.container
        context?.insert(Hall("a"))
        try context?.save()
        #expect(try context?.all(Hall.self).count == 1)
        #expect(container != nil)
        context = nil
        #expect(container == nil)
    }

    @Test("A16: unsaved changes of the main context stay while the container does")
    func changesStay() throws {
        let container = try open()
        container.mainContext.autosaveEnabled = false
        let hall = Hall("a")
        container.mainContext.insert(hall)
        #expect(container.mainContext.hasChanges)
        #expect(hall.modelContext === container.mainContext)
        container.mainContext.author = "me"
        try container.mainContext.save()
        #expect(container.mainContext.author == "me")
        #expect(try ModelContext(container).all(Hall.self).count == 1)
    }

    @Test("A16: unsaved changes go with the container")
    func changesGo() throws {
        var container: ModelContainer? = try open()
        weak var gone: ModelContainer?
        gone = container
        let hall = Hall("a")
        container?.mainContext.autosaveEnabled = false
        container?.mainContext.insert(hall)
        container = nil
        #expect(gone == nil && hall.modelContext == nil && hall.name == "a")
    }
}
