import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// Tests the quarantine of objects that cannot be converted, and of objects that refer to them.
struct QuarantineTests {
    func options(_ batch: Int = 2_000, limit: Int = 1_000) -> MigrationOptions {
        var options = MigrationOptions(onFailure: .quarantine(limit: limit))
        options.batchByteCount = batch
        return options
    }

    /// Entity and number of each object in the quarantine, with the rule that it violates.
    func listed(_ container: ModelContainer) throws -> [String] {
        var listed: [String] = []
        try container.quarantine().enumerate { listed.append("\($0.entityName) \($0.number) \($0.rule.rawValue)") }
        return listed
    }

    private func counts(_ report: MigrationReport) -> [String] {
        report.quarantined.map { "\($0.stage) \($0.entity) \($0.rule.rawValue) \($0.objects)" }
    }

    func object(_ entity: String, _ number: UInt64, in container: ModelContainer) throws -> QuarantinedObject {
        var found: QuarantinedObject?
        try container.quarantine().enumerate {
            if $0.entityName == entity, $0.number == number { found = $0 }
        }
        return try #require(found)
    }

    /// The objects that referred to this one, and the elements of its collections.
    func related(_ object: QuarantinedObject, _ container: ModelContainer) throws -> [String: [UInt64]] {
        var related: [String: [UInt64]] = [:]
        try container.quarantine().enumerateRelated {
            guard $0.id == object.id else { return }
            let name =
                $0.refersToObject ? "\($0.entityName).\($0.propertyName)" : "\($0.propertyName) → \($0.entityName)"
            related[name, default: []] += $0.numbers
        }
        return related
    }

    static let portrait = Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    /// Makes authors a0 to a9 with two books each; books 2n and 2n + 1 have the tags t0 and t(n % 3), each has a loan.
    private func makeStock() throws -> Stores {
        let stores = Stores()
        try stores.use(Stock1.self) { _, context in
            let tags = (0..<3).map { Stock1.Tag(label: "t\($0)") }
            tags.forEach(context.insert)
            var authors: [Stock1.Author] = []
            for number in 0..<10 {
                let author = Stock1.Author(name: "a\(number)")
                author.born = Date(timeIntervalSinceReferenceDate: Double(number))
                author.portrait = Self.portrait + Data([UInt8(number)])
                author.mentor = authors.last
                context.insert(author)
                authors.append(author)
                let note = Stock1.Note(text: "n\(number)")
                note.author = author
                context.insert(note)
            }
            try context.save()
            for number in 0..<20 {
                let book = Stock1.Book(title: "b\(number)", author: authors[number / 2])
                context.insert(book)
                book.tags = number / 2 % 3 == 0 ? [tags[0]] : [tags[0], tags[number / 2 % 3]]
                context.insert(Stock1.Loan(day: number, book: book))
                try context.save()
            }
        }
        return stores
    }

    private func checkStock(_ context: ModelContext, without gone: Set<Int>) throws {
        let authors = try context.all(Stock2.Author.self).sorted { $0.name < $1.name }
        let left = (0..<10).filter { !gone.contains($0) }
        #expect(authors.map(\.name) == left.map { "a\($0)" })
        for (number, author) in zip(left, authors) {
            #expect(author.portrait == Self.portrait + Data([UInt8(number)]))
            #expect(author.mentor?.name == (number > 0 && !gone.contains(number - 1) ? "a\(number - 1)" : nil))
        }
        let books = try context.all(Stock2.Book.self)
        #expect(Set(books.map(\.title)) == Set((0..<20).filter { !gone.contains($0 / 2) }.map { "b\($0)" }))
        #expect(books.allSatisfy { $0.author.name == "a\((Int($0.title.dropFirst()) ?? 0) / 2)" && $0.cents == 150 })
        let loans = try context.all(Stock2.Loan.self)
        #expect(Set(loans.map(\.day)) == Set((0..<20).filter { !gone.contains($0 / 2) }))
        #expect(loans.allSatisfy { $0.book.title == "b\($0.day)" })
        let tags = try context.all(Stock2.Tag.self).sorted { $0.label < $1.label }
        #expect(Set(tags[0].books.map(\.title)) == Set(books.map(\.title)))
        let notes = try context.all(Stock2.Note.self)
        #expect(notes.count == 10 && notes.filter { $0.author == nil }.count == gone.count)
        let without = FetchDescriptor<Stock2.Note>(predicate: #Predicate { $0.author == nil })
        try #expect(context.fetchCount(without) == gone.count)
    }

    // MARK: Streamed stages

    @Test(arguments: [1, 2_000, 1 << 20])
    func `objects whose code throws are put aside whole, and the others go over`(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.failing = [0, 1, 50, 120, 121, 199]
        let old = try stores.open(Work1.self)
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options(batchByteCount)) { container, context in
                let numbers = try context.all(Work2.Employee.self).map(\.number).sorted()
                #expect(numbers == (0..<200).filter { $0 % 10 != 9 && !notes.failing.contains($0) })
                try #expect(listed(container) == notes.failing.sorted().map { "Employee \($0 + 1) code" })
                let report = container.migrationReport
                #expect(counts(report) == ["2.0.0 Employee code 6"])
                #expect(report.text.contains("  in quarantine: 6 objects of Employee, to 2.0.0: code\n"))
                #expect(report.description.contains("6 in quarantine"))
                try #expect(MigrationReport(json: report.json()) == report)
                #expect(report.objectsRead == 200 && report.stages.first?.entities.first?.dropped == 19)
                // Nothing is left of the objects made in part, and their photos are not among those left behind.
                try #expect(context.fetchCount(FetchDescriptor<Work2.Photo>()) == 37)
                #expect(report.blobsLeftBehind == 0)
            }
        }
        try old.close()
        try stores.use(Work2.self) { container, context in
            let first = try object("Employee", 1, in: container)
            #expect(first.fromVersion == "1.0.0" && first.toVersion == "2.0.0" && first.reason.contains("Stopped"))
            #expect(first.propertyNames == ["number", "name", "city", "photo", "boss", "room"])
            #expect(first["number"] == .integer(0) && first["name"] == .string("F0 L0") && first["boss"] == nil)
            #expect(first["room"] == .object(entity: "Room", number: 1))
            #expect(first["photo"] == .large(byteCount: 9_000))
            let quarantine = try container.quarantine()
            try #expect(quarantine.bytes(of: "photo", in: first) == WorkStore.photo(0))
            try #expect(quarantine.bytes(of: "photo", in: first, range: 100..<200) == WorkStore.photo(0)[100..<200])
            try #expect(quarantine.bytes(of: "name", in: first) == Data("F0 L0".utf8))
            try #expect(object("Employee", 51, in: container)["boss"] == .object(entity: "Employee", number: 6))
            // The objects that referred to it now refer to nothing, and are recorded.
            let referring = try related(first, container)
            #expect(referring == ["Employee.boss": Array(2...10), "Project.lead": [1]])
            let leads = try context.all(Work2.Project.self).filter { $0.lead == nil }.map(\.title)
            #expect(Set(leads) == ["p0", "p9"])
            for employee in try context.all(Work2.Employee.self) where employee.number < 10 {
                #expect(employee.boss == nil)
            }
            for room in try context.all(Work2.Room.self) {
                #expect(room.people.allSatisfy { !notes.failing.contains($0.number) })
            }
        }
        try #expect(stores.findings(Work2.self) == [])
    }

    @Test func `too many stop the migration, and with a higher limit it begins again`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let rows = try stores.rows()
        let notes = StageNotes()
        notes.failing = [3, 50, 120]
        try StageNotes.$current.withValue(notes) {
            let error = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options(1, limit: 2))
            }
            #expect(error?.code == .quarantineFull && error?.entityName == "Employee")
            #expect(error?.message.contains("More than 2 objects") == true)
            try stores.use(Work2.self, WorkPlan.self, migration: options(1, limit: 3)) { container, _ in
                #expect(container.migrationReport.resumes == 1)
                #expect(container.migrationReport.objectsRead == WorkStore.count)
                try #expect(listed(container) == ["Employee 4 code", "Employee 51 code", "Employee 121 code"])
            }
        }
        let others = Stores()
        try WorkStore.make(in: others)
        try #expect(others.rows() == rows)
        _ = StageNotes.$current.withValue(notes) {
            #expect(throws: MigrationError.self) {
                try others.open(Work2.self, WorkPlan.self, migration: options(1, limit: 2))
            }
        }
        // Opening the store under the old schema gives the migration up.
        try others.use(Work1.self) { container, _ in try #expect(listed(container).isEmpty) }
        try #expect(others.rows() == rows)
        try #expect(others.findings(Work1.self) == [])
        notes.failing = []
        try StageNotes.$current.withValue(notes) {
            try others.use(Work2.self, WorkPlan.self, migration: options()) { container, context in
                try #expect(listed(container).isEmpty)
                #expect(container.migrationReport.quarantined.isEmpty)
                try WorkStore.check(context)
            }
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `an object that requires a quarantined object goes with it`(booksFirst: Bool, isMapped: Bool) throws {
        let stores = try makeStock()
        var stage = StockStage()
        stage.failing = ["a3", "a7"]
        stage.booksFirst = booksFirst
        stage.isMapped = isMapped
        try StockStage.$current.withValue(stage) {
            try stores.use(Stock2.self, StockPlan.self, migration: options(1)) { container, context in
                try checkStock(context, without: [3, 7])
                let all = try listed(container)
                #expect(all.count == 10 && Set(all).count == 10)
                #expect(Set(all.prefix(2)) == ["Author 4 code", "Author 8 code"])
                #expect(all.contains("Loan 7 dangling") && all.contains("Loan 16 dangling"))
                let book = try object("Book", 7, in: container)
                #expect(book["author"] == .object(entity: "Author", number: 4) && book["price"] == .double(1.5))
                #expect(book.propertyName == "author")
                try #expect(related(book, container) == ["tags → Tag": [1], "Tag.books": [1], "Loan.book": [7]])
                let author = try object("Author", 4, in: container)
                #expect(
                    try related(author, container) == [
                        "Book.author": [7, 8], "Note.author": [4], "Author.mentor": [5],
                    ])
                #expect(author["born"] == .date(Date(timeIntervalSinceReferenceDate: 3)))
                let bytes = try container.quarantine().bytes(of: "portrait", in: author)
                #expect(bytes == Self.portrait + Data([3]))
                #expect(container.migrationReport.quarantined.reduce(0) { $0 + $1.objects } == 10)
            }
        }
        try #expect(stores.findings(Stock2.self) == [])
    }

    @Test func `a broken object of unknown origin stops the migration`() throws {
        let stores = try makeStock()
        let rows = try stores.rows()
        var stage = StockStage()
        stage.failing = ["a3"]
        stage.makesCards = true
        StockStage.$current.withValue(stage) {
            let error = #expect(throws: MigrationError.self) {
                try stores.open(Stock2.self, StockPlan.self, migration: options())
            }
            #expect(error?.code == .stageFailed && error?.entityName == "Card" && error?.propertyName == "author")
        }
        try stores.use(Stock1.self) { _, _ in }
        try #expect(stores.rows() == rows)
    }

    @Test func `the quarantine outlives later migrations, compaction and reopening, and is settled by hand`() throws {
        let stores = try makeStock()
        var stage = StockStage()
        stage.failing = ["a3"]
        try StockStage.$current.withValue(stage) {
            try stores.use(Stock2.self, StockPlan.self, migration: options()) { container, _ in
                try container.compact()
            }
            try stores.use(Stock3.self, StockPlan.self) { container, _ in
                #expect(container.migrationReport.quarantined.isEmpty)
                try container.compact()
            }
        }
        try #expect(stores.findings(Stock3.self) == [])
        try stores.use(Stock3.self) { container, _ in
            let quarantine = try container.quarantine()
            try #expect(listed(container).count == 5)
            let author = try object("Author", 4, in: container)
            try #expect(quarantine.bytes(of: "portrait", in: author) == Self.portrait + Data([3]))
            let blobs = container.rowStore.log.snapshot().recordCount(of: .blobs)
            #expect(blobs == 10)
            try quarantine.remove(author)
            try quarantine.remove(author)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 9)
            try #expect(container.quarantine().object(author.id) == nil)
            try #expect(listed(container).count == 4)
            try #expect(related(author, container) == [:])
        }
        try stores.use(Stock3.self) { container, _ in
            try #expect(listed(container).count == 4)
            let quarantine = try container.quarantine()
            var rest: [QuarantinedObject] = []
            try quarantine.enumerate { rest.append($0) }
            try quarantine.remove(rest + rest.prefix(1))
            #expect(container.rowStore.log.snapshot().recordCount(of: .quarantine) == 0)
        }
        try #expect(stores.findings(Stock3.self) == [])
    }

    // MARK: Mapped stages

    @Test(arguments: [1, 1 << 20])
    func `an object that a policy refuses is quarantined, with all objects made of it`(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let failing: Set<Int> = [0, 50, 120]
        let notes = PolicyNotes { source in
            if failing.contains(source["number"] as? Int ?? -1) { throw PolicyNotes.Stopped() }
        }
        try PolicyNotes.$current.withValue(notes) {
            try stores.use(Work2.self, MappedWorkPlan.self, migration: options(batchByteCount)) { container, context in
                try #expect(listed(container) == ["Employee 1 code", "Employee 51 code", "Employee 121 code"])
                let employees = try context.all(Work2.Employee.self)
                #expect(
                    employees.map(\.number).sorted() == (0..<200).filter { $0 % 10 != 9 && !failing.contains($0) })
                #expect(employees.allSatisfy { $0.photo == nil || $0.photo?.bytes == WorkStore.photo($0.number) })
                try #expect(context.fetchCount(FetchDescriptor<Work2.Photo>()) == 37)
                let first = try object("Employee", 1, in: container)
                try #expect(container.quarantine().bytes(of: "photo", in: first) == WorkStore.photo(0))
                try #expect(related(first, container) == ["Employee.boss": Array(2...10), "Project.lead": [1]])
                #expect(container.migrationReport.objectsRead == 177 + 37 + 177)
            }
        }
        try #expect(stores.findings(Work2.self) == [])
    }

    @Test func `new objects that break a rule take their old ones along`() throws {
        let stores = Stores()
        try MusicStore.make(in: stores)
        var album = MusicPlan.album
        album.sourceFilter = Filter.key("title") != "a0"
        let model = MappingModel(album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover)
        try MusicPlan.$model.withValue(model) {
            #expect(throws: MigrationError.self) { try stores.open(Music2.self, MusicPlan.self) }
            try stores.use(Music2.self, MusicPlan.self, migration: options()) { container, _ in
                let report = container.migrationReport
                #expect(report.quarantined.map(\.rule) == [.required] && report.quarantined.first?.objects == 4)
            }
        }
        try #expect(stores.findings(Music2.self) == [])
    }

    // MARK: Dry runs

    @Test func `a dry run shows the objects that would be quarantined, and leaves nothing`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let rows = try stores.rows()
        let notes = StageNotes()
        notes.failing = [0, 50]
        let report = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, WorkPlan.self, migration: options())
        }
        #expect(counts(report) == ["2.0.0 Employee code 2"])
        #expect(report.text.contains("  would go into the quarantine: 2 objects of Employee, to 2.0.0: code\n"))
        try #expect(stores.rows() == rows)
        try stores.use(Work1.self) { container, _ in try #expect(listed(container).isEmpty) }
    }
}
