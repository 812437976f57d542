import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

enum NewerProgram {
    enum Kind: String, Codable { case plain, fast, secret }
    enum Level: Int, Codable { case low = 1, high = 2, top = 3 }

    @Model final class Ticket {
        var name: String
        var kind: Kind = Kind.plain
        var spare: Kind?
        var level: Level
        var link: URL?
        var home: URL

        init(_ name: String, _ kind: Kind, _ level: Level) {
            (self.name, self.kind, self.level) = (name, kind, level)
            spare = kind
            home = URL(filePath: "/")
        }
    }
}

enum OlderProgram {
    enum Kind: String, Codable { case fast, plain }
    enum Level: Int, Codable { case low = 1, high = 2 }

    @Model final class Ticket {
        var name: String
        var kind: Kind = Kind.plain
        var spare: Kind?
        var level: Level
        var link: URL?
        var home: URL

        init(_ name: String) {
            self.name = name
            level = .high
            home = URL(filePath: "/")
        }
    }
}

/// A9, A10: values that this program cannot interpret.
@Suite struct UnknownValueTests {
    private final class Errors: Sendable {
        private let all = Guarded<[String]>([])
        func add(_ error: any Error) { all.withLock { $0.append("\(error)") } }
        var texts: [String] { all.withLock { $0 } }
    }

    private let folder = TemporaryDirectory()
    private var configuration: ModelConfiguration {
        ModelConfiguration(url: URL(filePath: "\(folder.path)/test.store"))
    }

    /// A context of the older program, over a ticket that the newer one saved.
    private func older(
        _ change: (NewerProgram.Ticket) -> Void = { _ in }
    ) throws -> (context: ModelContext, errors: Errors) {
        let newer = try ModelContainer(for: Schema([NewerProgram.Ticket.self]), configurations: [configuration])
        let writer = ModelContext(newer)
        let ticket = NewerProgram.Ticket("t", .secret, .top)
        change(ticket)
        writer.insert(ticket)
        try writer.save()
        try newer.close()
        let container = try ModelContainer(for: Schema([OlderProgram.Ticket.self]), configurations: [configuration])
        let context = ModelContext(container)
        let errors = Errors()
        context.errorHandler = { errors.add($0) }
        return (context, errors)
    }

    @Test("A9: a case that this program lacks reads as the default, and the object is not saved")
    func requiredCase() throws {
        let (context, errors) = try older()
        let ticket = try context.first(OlderProgram.Ticket.self)
        #expect(ticket.kind == .plain)
        #expect(errors.texts.count == 1 && errors.texts[0].contains("Ticket.kind of object 1"))
        ticket.name = "changed"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        context.refresh(ticket, mergeChanges: false)
        ticket.kind = .fast
        try context.save()
        #expect(ticket.kind == .fast)
    }

    @Test("A9: a case without a default reads as the first case, where the enum does not list its cases")
    func firstCase() throws {
        let (context, errors) = try older()
        let ticket = try context.first(OlderProgram.Ticket.self)
        #expect(ticket.level == .low)
        #expect(errors.texts.count == 1)
        ticket.name = "changed"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test("A10: an optional case that this program lacks reads as nil, is told of, and the object is not saved")
    func optionalCase() throws {
        let (context, errors) = try older()
        let ticket = try context.first(OlderProgram.Ticket.self)
        #expect(ticket.spare == nil)
        #expect(errors.texts.count == 1)
        ticket.name = "changed"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        // The row does have a value.
        #expect(
            try context.fetchCount(FetchDescriptor<OlderProgram.Ticket>(predicate: #Predicate { $0.spare == nil })) == 0
        )
        #expect(
            try context.fetchCount(FetchDescriptor<OlderProgram.Ticket>(predicate: #Predicate { $0.spare != nil })) == 1
        )
    }

    @Test("A9: a change made before the value was read is refused too")
    func changedBefore() throws {
        let (context, _) = try older()
        let ticket = try context.first(OlderProgram.Ticket.self)
        ticket.name = "changed"
        #expect(ticket.level == .low)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test("A10: a text that is no URL is told of, and the object is not saved")
    func unknownURL() throws {
        let (context, errors) = try older { ticket in
            for name in ["link", "home"] {
                guard let slot = NewerProgram.Ticket._$modelType.slotsByName[name] else { continue }
                let core = ticket._$coreAddress()
                if core.pointee._$beginChange(slot) { String._$write("", &core.pointee, slot) }
            }
        }
        let ticket = try context.first(OlderProgram.Ticket.self)
        #expect(ticket.link == nil)
        #expect(errors.texts.count == 1 && errors.texts[0].contains("Ticket.link of object 1"))
        _ = ticket.home
        #expect(errors.texts.count == 2)
        ticket.name = "changed"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }
}
