import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Testing

private enum Tag1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Tag.self, Box.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Tag {
        @Attribute(.unique) var text: String
        var box: Box?
        init(_ text: String) { self.text = text }
    }

    @Model final class Box {
        var name: String
        @Relationship(inverse: \Tag.box) var tags: [Tag] = []
        init(_ name: String) { self.name = name }
    }
}

/// Without boxes, and texts are not unique.
private enum Tag2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Tag.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Tag {
        var text: String
        init(_ text: String) { self.text = text }
    }
}

/// Containers of a schema from before a migration.
struct OutdatedReadingTests {
    private static func tag(_ text: String) -> FetchDescriptor<Tag1.Tag> {
        FetchDescriptor(predicate: #Predicate { $0.text == text })
    }

    private func checkOutdated(_ body: () throws -> Void) {
        #expect { try body() } throws: { ($0 as? StorageError)?.code == .outdated }
    }

    @Test func `a context reads on in the state before a migration that drops its tables`() throws {
        let stores = Stores()
        let old = try stores.open(Tag1.self)
        let context = ModelContext(old)
        let box = Tag1.Box("box")
        context.insert(box)
        for number in 0..<10 {
            let tag = Tag1.Tag("\(number)")
            tag.box = box
            context.insert(tag)
        }
        try context.save()
        let other = ModelContext(old)
        #expect(try other.fetchCount(Self.tag("3")) == 1)
        let new = try stores.open(Tag2.self)
        let after = ModelContext(new)
        for tag in try after.all(Tag2.Tag.self) where tag.text == "3" { after.delete(tag) }
        try after.save()

        for reader in [context, other] {
            #expect(try reader.fetch(Self.tag("3")).map(\.text) == ["3"])
            #expect(try reader.fetchCount(Self.tag("3")) == 1)
            #expect(try reader.all(Tag1.Tag.self).count == 10)
            let boxes = try reader.all(Tag1.Box.self)
            #expect(boxes.map(\.name) == ["box"])
            #expect(boxes.first?.tags.count == 10)
        }
        context.insert(Tag1.Tag("late"))
        checkOutdated { try context.save() }
        // It never had that state.
        let late = ModelContext(old)
        checkOutdated { _ = try late.fetch(Self.tag("3")) }
        checkOutdated { _ = try late.fetchCount(FetchDescriptor<Tag1.Box>()) }
        checkOutdated { _ = try late.all(Tag1.Tag.self) }
        try old.close()
        #expect(try after.fetchCount(FetchDescriptor<Tag2.Tag>()) == 9)
        try new.close()
    }

    @Test func `objects that a stage has rewritten are read as they were`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let old = try stores.open(Work1.self)
        let context = ModelContext(old)
        let count = try context.fetchCount(FetchDescriptor<Work1.Employee>())
        #expect(count > 0)
        let new = try stores.open(Work2.self, WorkPlan.self)
        #expect(try context.all(Work1.Employee.self).count == count)
        checkOutdated { _ = try ModelContext(old).all(Work1.Employee.self) }
        try old.close()
        try new.close()
    }

    @Test func `a context follows the store behind a migration that only adds`() throws {
        let stores = Stores()
        let old = try stores.open(Books1.self)
        let context = ModelContext(old)
        for number in 0..<10 as Range<Int32> { context.insert(Books1.Book("title \(number)", pages: number)) }
        try context.save()
        let new = try stores.open(IndexedBooks1.self)
        let after = ModelContext(new)
        for book in try after.all(IndexedBooks1.Book.self) where book.pages > 6 { after.delete(book) }
        try after.save()
        #expect(try context.all(Books1.Book.self).count == 7)
        #expect(try ModelContext(old).all(Books1.Book.self).count == 7)
        try old.close()
        try new.close()
    }
}
