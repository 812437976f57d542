import Faultline
import FaultlineTestSupport
import Foundation
import Testing

@Model final class Room {
    var name: String
    /// The name of a property that SwiftData refuses.
    var description: String = "empty"
    init(_ name: String) { self.name = name }
}

@Model final class Stay {
    #Unique<Stay>([\.day, \.room], [\.code])
    var day: Int
    var code: String
    var guest: String
    @Relationship(inverse: nil) var room: Room?

    init(_ day: Int, _ code: String, _ guest: String, in room: Room?) {
        self.day = day
        self.code = code
        self.guest = guest
        self.room = room
    }
}

enum MixedVersions {
    enum Old {
        @Model final class Bunk {
            var label: String = ""
            init() {}
        }
        @Model final class Chest {
            @Relationship(inverse: nil) var bunk: New.Bunk?
            init() {}
        }
    }
    enum New {
        @Model final class Bunk {
            var name: String = ""
            init() {}
        }
    }
}

/// Statements on classes of models, their constraints, and model actors.
@Suite struct ModelStatements {
    @ModelActor actor Clerk {
        /// The number of rooms, counted on the actor's executor.
        func add(_ name: String) throws -> Int {
            preconditionIsolated()
            modelContext.insert(Room(name))
            try modelContext.save()
            return try modelContext.fetchCount(FetchDescriptor<Room>())
        }
    }

    @Test func `S7, S71: methods of a model actor run on its executor, with objects of its own`() async throws {
        let store = try TestStore(Room.self)
        let clerk = Clerk(modelContainer: store.container)
        for number in 1...3 { #expect(try await clerk.add("room \(number)") == number) }
    }

    @Test func `S21, S22: several constraints, one of them with a relationship to one`() throws {
        let store = try TestStore(Stay.self)
        let context = store.context()
        let (north, south) = (Room("north"), Room("south"))
        context.insert(Stay(1, "a", "Ada", in: north))
        context.insert(Stay(1, "b", "Ben", in: south))
        try context.save()
        // Equal in day and room, and in the code.
        context.insert(Stay(1, "c", "Cleo", in: north))
        context.insert(Stay(2, "b", "Dora", in: south))
        try context.save()
        let found = try store.reopened().fetch(FetchDescriptor<Stay>(sortBy: [SortDescriptor(\.code)]))
        #expect(found.map(\.guest) == ["Dora", "Cleo"] && found.map(\.day) == [2, 1])
        #expect(found.map(\.room?.name) == ["south", "north"])
    }

    @Test func `S50 (otherwise): a property may be named description`() throws {
        let store = try TestStore(Room.self)
        let context = store.context()
        let room = Room("north")
        room.description = "two beds"
        context.insert(room)
        try context.save()
        #expect(try store.reopened().first(Room.self).description == "two beds")
    }

    @Test func `S70: two classes of one name are refused, where a relationship leads to another version`() {
        #expect(throws: SchemaError.self) {
            try ModelContainer(
                for: MixedVersions.Old.Bunk.self, MixedVersions.Old.Chest.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
    }
}
