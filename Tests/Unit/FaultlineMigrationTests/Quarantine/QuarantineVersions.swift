import Faultline
import Foundation

/// Books that require authors, loans that require books, tags by links, notes that may have an author.
enum Stock1: VersionedSchema {
    static var models: [any PersistentModel.Type] {
        [Author.self, Book.self, Loan.self, Tag.self, Note.self]
    }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Author {
        var name: String
        var born: Date?
        var mentor: Author?
        @Attribute(.externalStorage) var portrait: Data?
        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var price: Double = 1.5
        var author: Author
        @Relationship(inverse: \Tag.books) var tags: [Tag] = []
        init(title: String, author: Author) {
            self.title = title
            self.author = author
        }
    }

    @Model final class Loan {
        var day: Int
        var book: Book
        init(day: Int, book: Book) {
            self.day = day
            self.book = book
        }
    }

    @Model final class Tag {
        var label: String
        var books: [Book] = []
        init(label: String) { self.label = label }
    }

    @Model final class Note {
        var text: String
        var author: Author?
        init(text: String) { self.text = text }
    }
}

/// Like `Stock1`, with prices in cents, and unique labels.
enum Stock2: VersionedSchema {
    static var models: [any PersistentModel.Type] {
        [Author.self, Book.self, Loan.self, Tag.self, Note.self, Card.self]
    }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Author {
        var name: String
        var initial: String
        var mentor: Author?
        @Attribute(.externalStorage) var portrait: Data?
        init(name: String) {
            self.name = name
            initial = String(name.prefix(1))
        }
    }

    @Model final class Book {
        var title: String
        var cents: Int
        var author: Author
        @Relationship(inverse: \Tag.books) var tags: [Tag] = []
        init(title: String, cents: Int, author: Author) {
            self.title = title
            self.cents = cents
            self.author = author
        }
    }

    @Model final class Loan {
        var day: Int
        var book: Book
        init(day: Int, book: Book) {
            self.day = day
            self.book = book
        }
    }

    @Model final class Tag {
        @Attribute(.unique) var label: String
        var books: [Book] = []
        init(label: String) { self.label = label }
    }

    @Model final class Note {
        var text: String
        var author: Author?
        init(text: String) { self.text = text }
    }

    /// Made from authors: the origin of a card cannot be determined.
    @Model final class Card {
        var title: String
        var author: Author
        init(title: String, author: Author) {
            self.title = title
            self.author = author
        }
    }
}

/// Like `Stock2`, with one property more and without loans: the schema of a later release.
enum Stock3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Author.self, Book.self, Tag.self, Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Author {
        var name: String
        var initial: String
        var rank: Int = 0
        var mentor: Author?
        @Attribute(.externalStorage) var portrait: Data?
        init(name: String) {
            self.name = name
            initial = ""
        }
    }

    @Model final class Book {
        var title: String
        var cents: Int
        var author: Author
        @Relationship(inverse: \Tag.books) var tags: [Tag] = []
        init(title: String, cents: Int, author: Author) {
            self.title = title
            self.cents = cents
            self.author = author
        }
    }

    @Model final class Tag {
        @Attribute(.unique) var label: String
        var books: [Book] = []
        init(label: String) { self.label = label }
    }

    @Model final class Note {
        var text: String
        var author: Author?
        init(text: String) { self.text = text }
    }
}

/// How a test's stage behaves.
struct StockStage: Sendable {
    var failing: Set<String> = []
    /// Whether books are written before the authors that they require.
    var booksFirst = false
    var makesCards = false
    var isMapped = false
    var isLightweight = false
    @TaskLocal static var current = StockStage()

    struct Stopped: Error {}

    fileprivate func check(_ name: String) throws { if failing.contains(name) { throw Stopped() } }
}

enum StockPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Stock1.self, Stock2.self, Stock3.self] }
    static var stages: [MigrationStage] {
        [
            StockStage.current.isMapped ? mapped : streamed,
            .lightweight(fromVersion: Stock2.self, toVersion: Stock3.self),
        ]
    }

    private static var streamed: MigrationStage {
        let authors = StreamedEntity(Stock1.Author.self) { old, output in
            try StockStage.current.check(old.name)
            let new = Stock2.Author(name: old.name)
            let mentor: Stock2.Author? = try output.object(migratedFrom: old.mentor)
            new.mentor = mentor
            new.setBlob(old.blob(\.portrait), for: \.portrait)
            try output.insert(new)
            if StockStage.current.makesCards, let mentor {
                try output.insert(Stock2.Card(title: old.name, author: mentor))
            }
        }
        let books = StreamedEntity(Stock1.Book.self) { old, output in
            try StockStage.current.check(old.title)
            guard let author: Stock2.Author = try output.object(migratedFrom: old.author) else { return }
            let new = Stock2.Book(title: old.title, cents: Int(old.price * 100), author: author)
            try output.insert(new)
        }
        let isReversed = StockStage.current.booksFirst
        return isReversed
            ? .streamed(fromVersion: Stock1.self, toVersion: Stock2.self, books, authors)
            : .streamed(fromVersion: Stock1.self, toVersion: Stock2.self, authors, books)
    }

    private static var mapped: MigrationStage {
        .mapped(
            fromVersion: Stock1.self, toVersion: Stock2.self,
            MappingModel(
                EntityMapping(from: "Author", to: "Author", attributes: [PropertyMapping("initial", initial)]),
                EntityMapping(from: "Book", to: "Book", attributes: [PropertyMapping("cents", cents)])))
    }

    private static var initial: ValueExpression {
        .computed { source, _ in
            let name = source["name"] as? String ?? ""
            try StockStage.current.check(name)
            return String(name.prefix(1))
        }
    }

    private static var cents: ValueExpression {
        .computed { source, _ in
            try StockStage.current.check(source["title"] as? String ?? "")
            return Int((source["price"] as? Double ?? 0) * 100)
        }
    }
}

/// Two lightweight steps over tickets and readers.
enum Desk1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Reader.self, Ticket.self, Club.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Reader {
        var email: String
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(inverse: \Club.readers) var clubs: [Club] = []
        init(email: String) { self.email = email }
    }

    @Model final class Ticket {
        var number: Int
        var reader: Reader?
        init(number: Int) { self.number = number }
    }

    @Model final class Club {
        var name: String
        var readers: [Reader] = []
        init(name: String) { self.name = name }
    }
}

/// Emails are unique, and tickets have readers.
enum Desk2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Reader.self, Ticket.self, Club.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Reader {
        @Attribute(.unique) var email: String
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(inverse: \Club.readers) var clubs: [Club] = []
        init(email: String) { self.email = email }
    }

    @Model final class Ticket {
        var number: Int
        var reader: Reader
        init(number: Int, reader: Reader) {
            self.number = number
            self.reader = reader
        }
    }

    @Model final class Club {
        var name: String
        var readers: [Reader] = []
        init(name: String) { self.name = name }
    }
}

/// Readers are written again.
enum Desk3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Reader.self, Ticket.self, Club.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Reader {
        @Attribute(.unique) var email: String
        var host: String
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(inverse: \Club.readers) var clubs: [Club] = []
        init(email: String) {
            self.email = email
            host = ""
        }
    }

    @Model final class Ticket {
        var number: Int
        var reader: Reader
        init(number: Int, reader: Reader) {
            self.number = number
            self.reader = reader
        }
    }

    @Model final class Club {
        var name: String
        var readers: [Reader] = []
        init(name: String) { self.name = name }
    }
}

enum DeskPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Desk1.self, Desk2.self, Desk3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Desk1.self, toVersion: Desk2.self),
            .streamed(
                fromVersion: Desk2.self, toVersion: Desk3.self,
                StreamedEntity(Desk2.Reader.self) { old, output in
                    let new = Desk3.Reader(email: old.email)
                    new.host = String(old.email.split(separator: "@").last ?? "")
                    new.setBlob(old.blob(\.photo), for: \.photo)
                    try output.insert(new)
                }),
        ]
    }
}
