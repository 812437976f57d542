import FaultlineCoreData

/// Four kinds of notes that repeat their fields.
enum NotesV1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Wine.self, Beer.self, Coffee.self, Tea.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Wine {
        var name: String
        var grapes: [String]
        init(name: String, grapes: [String]) {
            self.name = name
            self.grapes = grapes
        }
    }

    @Model final class Beer {
        var name: String
        var hops: [String]
        init(name: String, hops: [String]) {
            self.name = name
            self.hops = hops
        }
    }

    @Model final class Coffee {
        var name: String
        var beans: [String]
        init(name: String, beans: [String]) {
            self.name = name
            self.beans = beans
        }
    }

    @Model final class Tea {
        var name: String
        var leaves: [String]
        init(name: String, leaves: [String]) {
            self.name = name
            self.leaves = leaves
        }
    }
}

/// The parts of a drink.
struct DrinkParts: Codable, Equatable {
    var kind: String
    var names: [String]
}

/// A note on a drink.
protocol DrinkNote: PersistentModel {
    var title: String { get }
    var parts: DrinkParts { get }
}

/// Four other classes of one shape.
enum NotesV2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [WineNote.self, BeerNote.self, CoffeeNote.self, TeaNote.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class WineNote: DrinkNote {
        var title: String
        var parts: DrinkParts
        init(wine: String, grapes: [String]) {
            title = wine
            parts = DrinkParts(kind: "grapes", names: grapes)
        }
    }

    @Model final class BeerNote: DrinkNote {
        var title: String
        var parts: DrinkParts
        init(beer: String, hops: [String]) {
            title = beer
            parts = DrinkParts(kind: "hops", names: hops)
        }
    }

    @Model final class CoffeeNote: DrinkNote {
        var title: String
        var parts: DrinkParts
        init(coffee: String, beans: [String]) {
            title = coffee
            parts = DrinkParts(kind: "beans", names: beans)
        }
    }

    @Model final class TeaNote: DrinkNote {
        var title: String
        var parts: DrinkParts
        init(tea: String, leaves: [String]) {
            title = tea
            parts = DrinkParts(kind: "leaves", names: leaves)
        }
    }
}

/// The shape of `NotesPlan` for all four kinds.
enum FourNotesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
    static var stages: [MigrationStage] { [restructure] }
    // Safe because the closures of a stage run one after the other.
    nonisolated(unsafe) private static var wines: [NotesV2.WineNote] = []
    // Safe because the closures of a stage run one after the other.
    nonisolated(unsafe) private static var beers: [NotesV2.BeerNote] = []
    // Safe because the closures of a stage run one after the other.
    nonisolated(unsafe) private static var coffees: [NotesV2.CoffeeNote] = []
    // Safe because the closures of a stage run one after the other.
    nonisolated(unsafe) private static var teas: [NotesV2.TeaNote] = []
    static let restructure = MigrationStage.custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self,
        willMigrate: { context in
            wines = try context.fetch(FetchDescriptor<NotesV1.Wine>()).map {
                NotesV2.WineNote(wine: $0.name, grapes: $0.grapes)
            }
            beers = try context.fetch(FetchDescriptor<NotesV1.Beer>()).map {
                NotesV2.BeerNote(beer: $0.name, hops: $0.hops)
            }
            coffees = try context.fetch(FetchDescriptor<NotesV1.Coffee>()).map {
                NotesV2.CoffeeNote(coffee: $0.name, beans: $0.beans)
            }
            teas = try context.fetch(FetchDescriptor<NotesV1.Tea>()).map {
                NotesV2.TeaNote(tea: $0.name, leaves: $0.leaves)
            }
        },
        didMigrate: { context in
            wines.forEach { context.insert($0) }
            beers.forEach { context.insert($0) }
            coffees.forEach { context.insert($0) }
            teas.forEach { context.insert($0) }
            try context.save()
        })
}

/// The first attempt: new objects go into the context of the old version, and the error is printed.
enum FirstNotesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
    static var stages: [MigrationStage] { [restructure] }
    static let restructure = MigrationStage.custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self,
        willMigrate: { context in
            do {
                for wine in try context.fetch(FetchDescriptor<NotesV1.Wine>()) {
                    context.insert(NotesV2.WineNote(wine: wine.name, grapes: wine.grapes))
                    context.delete(wine)
                }
                try context.save()
            } catch {
                print(error)
            }
        }, didMigrate: nil)
}
