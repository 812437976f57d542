import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Mapping models that have no equivalent: one error that lists all places.
struct MappingLoweringTests {
    private final class OtherPolicy: NSEntityMigrationPolicy {}

    private static func file(_ change: (inout [WrittenMapping]) -> Void) throws -> MappingModelFile {
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        change(&mappings)
        return try MappingModelFile(xml: MappingText.model(mappings), name: "M", path: "M.xml")
    }

    private func failure(
        _ company: CompanyPackage, _ file: MappingModelFile,
        policies: [String: NSEntityMigrationPolicy.Type] = [:],
        functions: [String: MappingModelFile.Function] = [:], leavesOut: Bool = false
    ) -> MappingModelError? {
        do {
            _ = try file.mappingModel(
                from: company.old, to: company.new, policies: policies, functions: functions,
                leavingOutUnexpressed: leavesOut)
            return nil
        } catch { return error }
    }

    @Test func `all places are listed, with the expression and the reason`() throws {
        let company = try CompanyPackage(
            new: ModelText.attribute("a", "String") + ModelText.attribute("b", "Integer 16"))
        let file = try Self.file { mappings in
            mappings[0].properties += [
                .attribute("a", .subquery(.source("department"), "x", .constant(true))),
                .attribute("b", .constant(.integer(70_000))), .attribute("titel"),
            ]
            mappings[0].properties[0].expression = .source("nam")
            mappings[0].properties[1].expression = .function(.source("salary"), "sparkle", [])
            mappings[0].properties[2].expression = .source("department")
            mappings[1].condition = "title == name OR title == 'a'"
            mappings[2].from = "Emploee"
        }
        let error = try #require(failure(company, file))
        #expect(error.code == .unknownName && error.path == "M.xml")
        let places = error.findings.map { "\($0.place): \($0.name)" }
        #expect(
            places == [
                "EmployeeToEmployee.name: nam", "EmployeeToEmployee.salary: FUNCTION($source.salary, \"sparkle\")",
                "EmployeeToEmployee.a: SUBQUERY($source.department, $x, TRUEPREDICATE)",
                "EmployeeToEmployee.b: 70000", "EmployeeToEmployee.titel: titel",
                "EmployeeToEmployee.department: $source.department", "DepartmentToDepartment: title == name",
                "EmploeeToPhoto: Emploee",
            ], "\(places)")
        #expect(error.description.contains("Did you mean \"name\"?"))
        #expect(error.description.contains("Did you mean \"Employee\"?"))
        #expect(file.unexpressed(from: company.old, to: company.new) == error.findings)

        let rest = try Self.file { mappings in
            mappings[0].properties += [
                .attribute("a", .subquery(.source("department"), "x", .constant(true))),
                .attribute("b", .constant(.integer(70_000))),
            ]
        }
        #expect(failure(company, rest)?.findings.count == 2 && failure(company, rest)?.code == .unexpressed)
        #expect(failure(company, rest, leavesOut: true) == nil)
        #expect(failure(company, file, leavesOut: true)?.findings.count == 4)
    }

    @Test(arguments: [
        "salary > 'x'", "salary > name", "ANY department.title == 'a'", "department == 'a'",
        "department.employees.@count > 1",
        "name MATCHES '('", "salary IN {1, 'a'}", "salary BETWEEN {1}", "name <[c] 'a'", "photo CONTAINS 'a'",
        "name == nil AND %d", "salary LIKE '1*'", "peers == 3",
    ]) func `a condition without an equivalent is an error in any case`(condition: String) throws {
        let company = try CompanyPackage()
        let file = try Self.file { $0[0].condition = condition }
        let error = try #require(failure(company, file, leavesOut: true))
        #expect(error.findings.map(\.place) == ["EmployeeToEmployee"] && file.mappings[0].filter != nil)
    }

    @Test(arguments: [
        ("salary < 5", 5), ("5 > salary", 5), ("salary <= 4.5 AND salary >= 2.5", 3),
        ("name IN {'employee 1', 'employee 2'}", 2),
        ("salary BETWEEN {1.5, 3.5}", 3), ("name CONTAINS 'ee 1'", 11), ("name BEGINSWITH[c] 'EMPLOYEE 2'", 11),
        ("name ENDSWITH '7'", 3), ("name LIKE '*1'", 3), ("name LIKE 'employee ?'", 10),
        ("name LIKE[c] 'EMPL*ee 2*'", 11),
        ("name ==[c] 'Employee 3'", 1), ("name !=[c] 'Employee 3'", 29), ("name MATCHES[c] '.*E [12]\\\\d'", 20),
        ("department.title == 'department 1'", 10), ("department == nil", 0), ("photo == nil", 10),
        ("photo != nil", 20),
        ("NOT (salary < 5)", 25), ("FALSEPREDICATE", 0), ("TRUEPREDICATE OR salary < 5", 30),
        ("TRUEPREDICATE AND salary < 5", 5), ("FALSEPREDICATE OR salary < 5", 5), ("salary != 0.5", 29),
        ("name == 'employee 1' AND NOT TRUEPREDICATE", 0),
    ]) func `a condition selects old objects`(condition: String, count: Int) throws {
        let company = try CompanyPackage()
        let place = StorePlace()
        try company.makeStore(in: place)
        let file = try Self.file { $0[0].condition = condition }
        let mapping = try file.mappingModel(from: company.old, to: company.new)
        try place.use(company.new, mapping: mapping, dropping: true) { _, context in
            try #expect(context.all("Employee").count == count)
        }
    }

    @Test func `conditions look at members of relationships`() throws {
        let company = try CompanyPackage()
        let place = StorePlace()
        try company.makeStore(in: place, count: 4)
        for (condition, count) in [
            ("ANY employees.salary > 3", 1), ("NONE employees.salary > 3", 2), ("ALL employees.salary < 2", 1),
        ] {
            let file = try Self.file { $0[1].condition = condition }
            let mapping = try file.mappingModel(from: company.old, to: company.new)
            let filter = try #require(mapping.entityMappings[1].sourceFilter)
            try place.use(company.old) { _, context in
                var request = NSFetchRequest<NSManagedObject>(entityName: "Department")
                request.filter = filter
                try #expect(context.fetch(request).count == count, "\(condition)")
            }
        }
    }

    // MARK: Code

    @Test func `policies and functions are found by their names, with and without the module`() throws {
        let company = try CompanyPackage()
        let file = try Self.file { mappings in
            mappings[0].policy = "Company.SplitPhotoPolicy"
            mappings[1].policy = "NSEntityMigrationPolicy"
            mappings[1].properties[0].expression = .function(
                .variable("entityPolicy"), "convert:", [.source("title")])
        }
        let functions: [String: MappingModelFile.Function] = ["convert:": { arguments, _ in arguments[0] }]
        for name in ["SplitPhotoPolicy", "Company.SplitPhotoPolicy"] {
            let mapping = try file.mappingModel(
                from: company.old, to: company.new, policies: [name: SplitPhotoPolicy.self], functions: functions)
            #expect(mapping.entityMappings[0].entityMigrationPolicy == SplitPhotoPolicy.self)
            #expect(mapping.entityMappings[0].mappingType == .custom)
            #expect(mapping.entityMappings[1].entityMigrationPolicy == nil)
        }
        for name in ["Other.SplitPhotoPolicy", "SplitFotoPolicy"] {
            let error = try #require(failure(company, file, policies: [name: OtherPolicy.self], functions: functions))
            #expect(error.code == .unknownPolicy && error.findings.map(\.name) == ["Company.SplitPhotoPolicy"])
            #expect(
                error.description.contains("Did you mean \"\(name == "SplitFotoPolicy" ? name : "SplitPhotoPolicy")\"?")
            )
        }
        let policies: [String: NSEntityMigrationPolicy.Type] = ["SplitPhotoPolicy": SplitPhotoPolicy.self]
        let error = try #require(failure(company, file, policies: policies, functions: ["konvert:": { _, _ in nil }]))
        #expect(error.code == .unknownFunction && error.description.contains("Did you mean \"konvert:\"?"))
        #expect(failure(company, file, policies: policies)?.description.contains("Pass it in `functions`") == true)
        #expect(file.unexpressed(from: company.old, to: company.new) == [])

        let unprefixed = try Self.file { $0[0].policy = "SplitPhotoPolicy" }
        let both = ["A.SplitPhotoPolicy": SplitPhotoPolicy.self, "B.SplitPhotoPolicy": OtherPolicy.self]
        let several = try #require(failure(company, unprefixed, policies: both))
        #expect(several.description.contains("A.SplitPhotoPolicy, B.SplitPhotoPolicy"))
    }

    @Test func `mappings of entities that inherit list the properties above`() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("Cars.xcdatamodeld")
        func model(_ extra: String) -> Data {
            let car = ModelText.entity(
                "Car", "",
                ModelText.attribute("plate", "String")
                    + ModelText.relationship("owner", to: "Person", inverse: "cars", "optional=\"YES\" maxCount=\"1\""))
            let sport = ModelText.entity(
                "SportCar", "parentEntity=\"Car\"", ModelText.attribute("speed", "Integer 16") + extra)
            let person = ModelText.entity(
                "Person", "",
                ModelText.relationship("cars", to: "Car", inverse: "owner", "optional=\"YES\" toMany=\"YES\""))
            return ModelText.model([car, sport, person].joined(separator: "\n"))
        }
        try ModelText.write(
            ["Cars": model(""), "Cars 2": model(ModelText.attribute("color", "String"))], current: "Cars 2", to: url)
        let package = try ModelPackage(contentsOf: url)
        let car: [WrittenMapping.Property] = [.attribute("plate"), .relationship("owner")]
        let file = try MappingModelFile(
            xml: MappingText.model(
                [
                    WrittenMapping(from: "Car", to: "Car", properties: car),
                    WrittenMapping(
                        from: "SportCar", to: "SportCar",
                        properties: car + [.attribute("speed"), .attribute("color", .text("red"))]),
                    WrittenMapping(from: "Person", to: "Person", properties: [.relationship("cars")]),
                ], from: "Cars", to: "Cars 2"), name: "M")
        #expect(file.unexpressed(from: package.versions[0].schema, to: package.current.schema) == [])
        let place = StorePlace()
        try place.use(package.versions[0].schema) { _, context in
            let owner = context.make("Person", [:])
            context.make("Car", ["plate": "C", "owner": owner])
            context.make("SportCar", ["plate": "S", "speed": 200])
            try context.save()
        }
        let mapping = try file.mappingModel(from: package.versions[0].schema, to: package.current.schema)
        try place.use(package.current.schema, mapping: mapping) { _, context in
            let sport = try #require(try context.all("SportCar").first)
            #expect(sport["plate"] as? String == "S" && sport["color"] as? String == "red")
            let owner = try #require(try context.all("Person").first)
            #expect((owner["cars"] as? [NSManagedObject])?.map { $0["plate"] as? String } == ["C"])
        }
    }

    // MARK: Choosing

    @Test func `a mapping model is found by hashes, by names, or by properties`() throws {
        let company = try CompanyPackage()
        let versions = company.package.versions
        let edited = try Self.file { _ in }
        #expect(edited.leads(from: versions[0], to: versions[1]) && !edited.leads(from: versions[1], to: versions[0]))
        let other = try MappingModelFile(
            xml: MappingText.model(CompanyPackage.mappings, from: "Company 2", to: "Company 3"), name: "M")
        #expect(!other.leads(from: versions[0], to: versions[1]))
        #expect(other.fits(from: company.old, to: company.new) && !other.fits(from: company.new, to: company.old))
        let compiled = try MappingModelFile(
            compiled: ArchiveWriter.mappingModel(CompanyPackage.compiledMappings), name: "M")
        #expect(
            compiled.leads(from: versions[0], to: versions[1]) && !compiled.leads(from: versions[1], to: versions[0]))
        var short = CompanyPackage.compiledMappings
        short[1].properties.removeLast()
        let fewer = try MappingModelFile(compiled: ArchiveWriter.mappingModel(short), name: "M")
        #expect(!fewer.leads(from: versions[0], to: versions[1]))

        #expect(try NSMappingModel(from: [], forSourceModel: company.old, destinationModel: company.new) == nil)
        for name in ["A.cdm", "B.cdm"] {
            try ArchiveWriter.mappingModel(CompanyPackage.compiledMappings).write(to: company.url(name))
        }
        let error = #expect(throws: MappingModelError.self) {
            try NSMappingModel(
                from: [URL(filePath: company.folder.path)], forSourceModel: company.old, destinationModel: company.new)
        }
        #expect(error?.code == .ambiguous && error?.findings.map(\.name) == ["A", "B"])
    }

    @Test(arguments: [true, false]) func `the hashes of a compiled package decide`(isBinary: Bool) throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("Shop.momd")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for name in ["Shop", "Shop 2"] {
            var writer = ArchiveWriter()
            let entity = writer.entity("Book", [writer.attribute("title", 700)])
            try writer.model([entity]).write(to: url.appendingPathComponent("\(name).mom"))
        }
        let hashes = ["Shop": Data([1, 2]), "Shop 2": Data([3, 4])]
        let pairs = hashes.sorted { $0.key < $1.key }
        let list = ListValue.dictionary([
            ("NSManagedObjectModel_CurrentVersionName", .text("Shop 2")),
            (
                "NSManagedObjectModel_VersionHashes",
                .dictionary(pairs.map { ($0.key, .dictionary([("Book", .data($0.value))])) })
            ),
        ])
        let text =
            "<plist><dict><key>NSManagedObjectModel_CurrentVersionName</key><string>Shop 2</string>"
            + "<key>NSManagedObjectModel_VersionHashes</key><dict>"
            + pairs.map {
                "<key>\($0.key)</key><dict><key>Book</key><data>\n\($0.value.base64EncodedString())\n</data></dict>"
            }.joined() + "</dict></dict></plist>"
        try (isBinary ? list.bytes : Data(text.utf8)).write(to: url.appendingPathComponent("VersionInfo.plist"))
        let package = try ModelPackage(contentsOf: url)
        #expect(package.current.name == "Shop 2" && package.versions[0].entityHashes == ["Book": Data([1, 2])])

        func file(
            _ source: Data, _ destination: Data?, _ property: String = "title"
        ) throws -> MappingModelFile {
            var writer = ArchiveWriter()
            let mapping = writer.mapping(
                WrittenMapping(name: "M", from: "Book", to: "Book", properties: [.attribute(property)]), kind: 4,
                hashes: (source, destination))
            return try MappingModelFile(compiled: writer.mappingModel([mapping]), name: "M")
        }
        #expect(try file(Data([1, 2]), Data([3, 4])).leads(from: package.versions[0], to: package.versions[1]))
        #expect(try !file(Data([3, 4]), Data([1, 2])).leads(from: package.versions[0], to: package.versions[1]))
        #expect(try !file(Data([1, 2]), Data([1, 2])).leads(from: package.versions[0], to: package.versions[1]))
        // With the hashes of one side alone, the properties decide.
        #expect(try file(Data([1, 2]), nil).leads(from: package.versions[0], to: package.versions[1]))
        #expect(try !file(Data([1, 2]), nil, "name").leads(from: package.versions[0], to: package.versions[1]))
    }
}
