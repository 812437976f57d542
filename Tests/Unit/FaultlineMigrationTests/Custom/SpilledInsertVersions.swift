import Faultline
import FaultlineMigration
import FaultlineObjects
import FaultlineTestSupport
import Foundation

/// Models whose new objects a custom stage lets go before its save.
enum SpilledInsertVersions {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Item.self, Page.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Item {
            var number: Int
            init(number: Int) { self.number = number }
        }

        @Model final class Page {
            @Attribute(.unique) var code: String
            var title: String
            init(code: String, title: String) {
                self.code = code
                self.title = title
            }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Item.self, Page.self, Line.self, Tag.self, Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Item {
            var number: Int
            @Relationship(inverse: \Line.item) var lines: [Line] = []
            @Relationship(deleteRule: .cascade, inverse: \Note.item) var notes: [Note] = []
            init(number: Int) { self.number = number }
        }

        @Model final class Page {
            @Attribute(.unique) var code: String
            var title: String
            @Relationship(inverse: \Line.page) var line: Line?
            init(code: String, title: String) {
                self.code = code
                self.title = title
            }
        }

        @Model final class Line {
            #Index<Line>([\.number])
            var number: Int
            var text: String
            var comment: String?
            /// Without an inverse.
            var next: Line?
            var page: Page?
            var item: Item?
            @Relationship(inverse: \Tag.lines) var tags: [Tag] = []
            init(number: Int, text: String) {
                self.number = number
                self.text = text
            }
        }

        /// Of one item from its initializer on.
        @Model final class Note {
            var number: Int
            var item: Item
            var text: String
            init(number: Int, item: Item, text: String, beforeText: () throws -> Void = {}) throws {
                self.number = number
                self.item = item
                try beforeText()
                guard !text.isEmpty else { throw EmptyText() }
                self.text = text
            }
        }

        struct EmptyText: Error {}

        @Model final class Tag {
            var name: String
            var lines: [Line] = []
            init(name: String) { self.name = name }
        }
    }

    /// The code of the stage.
    struct Closure: Sendable {
        let run: @Sendable (ModelContext) throws -> Void
        @TaskLocal static var current = Closure { _ in }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            let closure = Closure.current
            return [
                .custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: { try closure.run($0) })
            ]
        }
    }

    static let itemCount = 5
    static let pageCount = 40

    static func fill(_ stores: Stores) throws {
        try stores.use(V1.self) { _, context in
            for number in 0..<itemCount { context.insert(V1.Item(number: number)) }
            for number in 0..<pageCount { context.insert(V1.Page(code: "page \(number)", title: "old \(number)")) }
            try context.save()
        }
    }

    /// Options by which a context lets new objects go once they take so many bytes.
    static func options(share: Int) -> MigrationOptions {
        var options = MigrationOptions(memoryCeiling: 16 << 20)
        options.batchByteCount = share
        return options
    }
}
