#if Import
internal import Faultline
internal import FaultlineImport
internal import Foundation
internal import Glibc
internal import Testing

/// Hierarchies of entities, each in one table.
@Suite struct SubentityImportTests {
    private func names(_ object: ManagedObject?, _ key: String) -> [String] {
        (object?.value(forKey: key) as? [ManagedObject])?.compactMap { $0.value(forKey: "name") as? String } ?? []
    }

    private func name(_ object: ManagedObject?, _ key: String) -> String? {
        (object?.value(forKey: key) as? ManagedObject)?.value(forKey: "name") as? String
    }

    private func context(_ source: SourceStore) throws -> ModelContext {
        try ModelContext(ModelContainer(opening: ModelConfiguration(url: source.destination)))
    }

    @Test func objectsOfAHierarchyAreInOneTable() throws {
        let source = try SourceStore([("Book", 0), ("Comic", 1), ("Novel", 1), ("Page", 0)])
        source.run(
            """
            CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZWEIGHT INTEGER,
                ZWEIGHT1 INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZPAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBOOK INTEGER, Z1_BOOK INTEGER,
                ZNAME VARCHAR);
            INSERT INTO ZBOOK VALUES (1, 1, 1, NULL, NULL, 'book'), (2, 2, 1, NULL, 7, 'comic'),
                (3, 3, 1, 8, NULL, 'novel'), (4, 2, 1, NULL, NULL, 'light');
            INSERT INTO ZPAGE VALUES (1, 4, 1, 1, 1, 'p'), (2, 4, 1, 2, 2, 'q');
            """)
        source.close()
        func weight() -> Schema.Attribute { Schema.Attribute(name: "weight", valueType: Int?.self) }
        let book = Schema.Entity(
            "Book", subentities: Schema.Entity("Comic", properties: weight()),
            Schema.Entity("Novel", properties: weight()), properties: SourceModel.name())
        let schema = Schema(
            book, Schema.Entity("Page", properties: SourceModel.name(), SourceModel.one("book", "Book", nil)))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.isComplete && report.notes.isEmpty, "\(report)")
        // The report has the entities of the source.
        #expect(report.entities.map(\.name) == ["Book", "Comic", "Novel", "Page"])
        #expect(report.entities.map(\.destinationCount) == [1, 2, 1, 2])
        #expect(report.entities[1].columns.map(\.name) == ["name", "weight"])
        #expect(report.entities[1].columns.map(\.destination.count) == [2, 1])
        let context = try context(source)
        #expect(context.container.schema.entities.map(\.name) == ["Book", "Page"])
        // The column of a property that two subentities have follows from the objects.
        let rows = try context.fetch(FetchRequest(entityName: "Book")).map { book in
            let marks = ["$Comic", "$Novel"].filter { book.value(forKey: $0) as? Bool == true }
            return
                "\(book.persistentModelID.primaryKey ?? 0) \(book.value(forKey: "name") ?? "") \(book.value(forKey: "weight") ?? "-") \(marks)"
        }
        #expect(rows == ["1 book - []", "2 comic 7 [\"$Comic\"]", "3 novel 8 [\"$Novel\"]", "4 light - [\"$Comic\"]"])
        #expect(try context.fetch(FetchRequest(entityName: "Page")).map { name($0, "book") } == ["book", "comic"])
    }

    @Test func collectionsAndSingleObjectsHaveObjectsOfSubentities() throws {
        let source = try SourceStore([("Car", 0), ("SportCar", 1), ("Person", 0)])
        source.run(
            """
            CREATE TABLE ZCAR (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZOWNER INTEGER, ZDRIVER INTEGER,
                ZNAME VARCHAR);
            CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSEAT INTEGER,
                ZRACER INTEGER, ZNAME VARCHAR);
            INSERT INTO ZPERSON VALUES (1, 3, 1, 2, 2, 'Anna'), (2, 3, 1, NULL, 1, 'Bea');
            INSERT INTO ZCAR VALUES (1, 1, 1, 1, NULL, 'van'), (2, 2, 1, 1, 1, 'racer'), (3, 2, 1, NULL, NULL, 'spare');
            """)
        source.close()
        let car = Schema.Entity(
            "Car", subentities: Schema.Entity("SportCar"),
            properties: SourceModel.name(), SourceModel.one("owner", "Person", "cars"),
            SourceModel.one("driver", "Person", "seat"))
        let person = Schema.Entity(
            "Person", properties: SourceModel.name(), SourceModel.many("cars", "Car", "owner"),
            SourceModel.one("seat", "Car", "driver"),
            SourceModel.one("racer", "SportCar", nil))
        let report = try StoreImport(from: source.url, to: source.destination, schema: Schema(car, person)).run()
        // A car is no sports car.
        let found = report.findings.map { "\($0.entity).\($0.property) \($0.reason.rawValue) \($0.objects)" }
        #expect(found == ["Person.racer missingObject [2]"])
        #expect(report.entities.allSatisfy { $0.columns.allSatisfy(\.isEqual) })
        let context = try context(source)
        let owner = try #require(try context.fetch(FetchRequest(entityName: "Person")).first)
        let racer = try context.fetch(FetchRequest(entityName: "Car"))[1]
        #expect(names(owner, "cars") == ["van", "racer"] && name(racer, "owner") == "Anna")
        #expect(name(racer, "driver") == "Anna" && name(owner, "seat") == "racer" && name(owner, "racer") == "racer")
    }

    /// Only objects of subentities say whose a column is; the entity between is abstract and has none.
    @Test func columnsOfAnAbstractEntityFollowFromItsSubentities() throws {
        let source = try SourceStore([("Animal", 0), ("Fish", 1), ("Mammal", 1), ("Dog", 3)])
        source.run(
            """
            CREATE TABLE ZANIMAL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZNAME1 VARCHAR);
            INSERT INTO ZANIMAL VALUES (1, 4, 1, 'Rex', NULL), (2, 4, 1, 'Bello', NULL);
            """)
        source.close()
        let animal = Schema.Entity(
            "Animal", subentities: Schema.Entity("Fish", properties: SourceModel.name()),
            Schema.Entity("Mammal", subentities: Schema.Entity("Dog"), properties: SourceModel.name()))
        let report = try StoreImport(from: source.url, to: source.destination, schema: Schema(animal)).run()
        #expect(report.isComplete && report.notes.isEmpty, "\(report)")
        let dogs = try context(source).fetch(FetchRequest(entityName: "Animal"))
        #expect(dogs.map { $0.value(forKey: "name") as? String } == ["Rex", "Bello"])
        #expect(dogs.allSatisfy { $0.value(forKey: "$Mammal") as? Bool == true && $0.value(forKey: "$Dog") != nil })
    }

    @Test func equalUniqueValuesOfTwoSubentitiesKeepAllObjects() throws {
        let source = try SourceStore([("Book", 0), ("Comic", 1), ("Novel", 1)])
        source.run(
            """
            CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCODE INTEGER, ZSHELF INTEGER,
                ZNAME VARCHAR);
            INSERT INTO ZBOOK VALUES (1, 2, 1, 1, 5, 'a'), (2, 3, 1, 1, 5, 'a'), (3, 3, 1, 2, 6, 'a');
            """)
        source.close()
        let comic = Schema.Entity("Comic", properties: SourceModel.name())
        let novel = Schema.Entity(
            "Novel", subentities: [], properties: [Schema.Attribute(name: "shelf", valueType: Int?.self)],
            uniquenessConstraints: [["shelf"]])
        let book = Schema.Entity(
            "Book", subentities: [comic, novel],
            properties: [Schema.Attribute(name: "code", options: [.unique], valueType: Int?.self)])
        let report = try StoreImport(from: source.url, to: source.destination, schema: Schema(entities: [book])).run()
        #expect(report.findings.map(\.reason) == [.duplicateValues] && report.objectCount == 3)
        #expect(report.findings.map(\.property) == ["code"] && report.findings.map(\.objects) == [[1, 2]])
        let container = try ModelContainer(opening: ModelConfiguration(url: source.destination))
        // A constraint of a subentity binds its own objects.
        #expect(container.schema.entities[0].allUniquenessConstraints == [["$Novel", "shelf"]])
    }

    private static func racing(_ kind: String) -> Schema {
        Schema(
            Schema.Entity("Car", subentities: Schema.Entity("SportCar"), properties: SourceModel.name()),
            Schema.Entity("Person", properties: SourceModel.one("racer", kind, nil)))
    }

    /// The tables of both models are the same.
    @Test func anImportByAnotherModelBeginsAgain() async throws {
        let source = try SourceStore([("Car", 0), ("SportCar", 1), ("Person", 0)])
        source.run(
            """
            CREATE TABLE ZCAR (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRACER INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO ZCAR SELECT i, 1 + i % 2, 1, 'car ' || i FROM n;
            INSERT INTO ZPERSON SELECT Z_PK, 3, 1, Z_PK FROM ZCAR;
            """)
        source.close()
        let line = "\(source.url.path) \(source.destination.path)"
        await #expect(processExitsWith: .signal(SIGKILL)) { [line = line as String] in
            let words = line.split(separator: " ").map(String.init)
            var work = StoreImport(
                from: URL(filePath: words[0]), to: URL(filePath: words[1]), schema: Self.racing("Car"))
            work.progress = { if $0.count >= 40_000 { kill(getpid(), SIGKILL) } }
            _ = try work.run()
        }
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.racing("SportCar")).run()
        #expect(!report.isResumed && report.findings.map(\.count) == [15_000])
    }

    /// A number of `Z_PRIMARYKEY` says whose row is read by whose columns.
    @Test func twoEntitiesOfOneNumberAreRefused() throws {
        for numbers in ["(1, 'Car', 0, 9), (1, 'Person', 0, 9)", "(0, 'Car', 0, 9)", "(-2, 'Car', 0, 9)"] {
            let source = try SourceStore([])
            source.run(
                """
                CREATE TABLE ZCAR (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
                CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
                INSERT INTO ZCAR VALUES (1, 1, 1, 'van');
                DROP TABLE Z_PRIMARYKEY;
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                INSERT INTO Z_PRIMARYKEY VALUES \(numbers);
                """)
            source.close()
            let schema = Schema(
                Schema.Entity("Car", properties: SourceModel.name()),
                Schema.Entity("Person", properties: SourceModel.name()))
            let error = #expect(throws: ImportError.self) {
                try StoreImport(from: source.url, to: source.destination, schema: schema).run()
            }
            #expect(error?.code == .damaged)
        }
    }

    /// Two entities of a hierarchy declare a collection alike, and share its table in the new store.
    @Test func linksOfTwoSubentitiesAreApart() throws {
        let source = try SourceStore([("Book", 0), ("Comic", 1), ("Novel", 1), ("Page", 0)])
        source.run(
            """
            CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZPAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z2PAGES INTEGER,
                Z3PAGES INTEGER, ZNAME VARCHAR);
            INSERT INTO ZBOOK VALUES (1, 2, 1, 'comic'), (2, 3, 1, 'novel');
            INSERT INTO ZPAGE VALUES (1, 4, 1, 1, 2, 'p'), (2, 4, 1, 1, NULL, 'q'), (3, 4, 1, NULL, 2, 'r');
            """)
        source.close()
        let book = Schema.Entity(
            "Book", subentities: Schema.Entity("Comic", properties: SourceModel.many("pages", "Page", nil)),
            Schema.Entity("Novel", properties: SourceModel.many("pages", "Page", nil)), properties: SourceModel.name())
        let schema = Schema(book, Schema.Entity("Page", properties: SourceModel.name()))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.isComplete, "\(report)")
        let counts = report.entities.flatMap { $0.columns.filter { $0.name == "pages" }.map(\.destination.count) }
        #expect(counts == [2, 2])
        let books = try context(source).fetch(FetchRequest(entityName: "Book"))
        #expect(books.map { names($0, "pages") } == [["p", "q"], ["p", "r"]])
    }

    @Test func aRequiredValueOfASubentityThatIsMissingHasItsDefaultOrZero() throws {
        let source = try SourceStore([("Book", 0), ("Comic", 1)])
        source.run(
            """
            CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZWEIGHT INTEGER, ZSIZE INTEGER,
                ZTITLE VARCHAR, ZLIMIT VARCHAR);
            INSERT INTO ZBOOK VALUES (1, 2, 1, NULL, NULL, NULL, NULL), (2, 1, 1, NULL, NULL, NULL, NULL);
            """)
        source.close()
        let comic = Schema.Entity(
            "Comic", properties: Schema.Attribute(name: "weight", valueType: Int.self),
            Schema.Attribute(name: "size", valueType: Int.self, defaultValue: 7),
            Schema.Attribute(name: "title", options: [.spotlight], valueType: String.self),
            Schema.Attribute(name: "limit", valueType: String?.self))
        comic.indexedTexts = [Schema.IndexedText(["limit"])]
        let report = try StoreImport(
            from: source.url, to: source.destination, schema: Schema(Schema.Entity("Book", subentities: comic))
        ).run()
        #expect(
            report.findings.map { "\($0.property) \($0.reason)" }.sorted() == [
                "size missingValue", "title missingValue", "weight missingValue",
            ])
        #expect(report.entities.allSatisfy { $0.columns.allSatisfy(\.isEqual) })
        #expect(report.notes.map { $0.prefix(13) } == ["Comic.title: ", "Comic.limit: "])
        let books = try context(source).fetch(FetchRequest(entityName: "Book"))
        #expect(books[0].value(forKey: "weight") as? Int == 0 && books[0].value(forKey: "size") as? Int == 7)
        #expect(books[0].value(forKey: "title") as? String == "" && books[0].value(forKey: "limit") == nil)
        #expect(["weight", "size", "title"].allSatisfy { books[1].value(forKey: $0) == nil })
    }

    @Test func theSchemaOfTablesIsNoModel() throws {
        let source = try SourceStore([("Book", 0), ("Comic", 1)])
        source.run("CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)")
        source.close()
        let schema = Schema(Schema.Entity("Book", subentities: Schema.Entity("Comic")))
        _ = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        let tables = try ModelContainer(opening: ModelConfiguration(url: source.destination)).schema
        do {
            _ = try StoreImport(
                from: source.url, to: source.destination.appendingPathExtension("2"), schema: tables
            ).run()
            Issue.record("The tables were taken for a model.")
        } catch let error as ImportError { #expect(error.code == .modelMismatch && error.entity == "Book") }
    }
}
#endif
