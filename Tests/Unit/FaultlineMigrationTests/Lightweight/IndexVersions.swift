import Faultline
import Foundation

/// Books without an index.
enum Books1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int32
        var shelf: String?
        init(_ title: String, pages: Int32) {
            self.title = title
            self.pages = pages
        }
    }
}

/// The same with indexes: the meaning of the rows stays the same, so the fingerprint does too.
enum IndexedBooks1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Book {
        #Index<Book>([\.title], [\.shelf, \.pages])
        var title: String
        var pages: Int32
        var shelf: String?
        init(_ title: String, pages: Int32) {
            self.title = title
            self.pages = pages
        }
    }
}

/// One attribute is added with its index, one becomes wider, and one becomes required.
enum Books2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Book {
        #Index<Book>([\.title], [\.shelf, \.pages], [\.language, \.title], [\.rating])
        var title: String
        var pages: Int64
        var shelf: String = "floor"
        var language: String = "English"
        var rating: Int?
        init(_ title: String, pages: Int64) {
            self.title = title
            self.pages = pages
        }
    }
}

/// A unique attribute stays in the row, even if it requests external storage.
enum Codes1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Part.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Part {
        #Index<Part>([\.code])
        @Attribute(.unique, .externalStorage) var code: String
        var weight = 0
        init(_ code: String) { self.code = code }
    }
}

/// The attribute is no longer unique.
enum Codes2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Part.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Part {
        #Index<Part>([\.code])
        @Attribute(.externalStorage) var code: String
        var weight = 0
        init(_ code: String) { self.code = code }
    }
}
