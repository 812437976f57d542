import FaultlineCoreData
import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

/// Stores that mapping models of files migrate.
struct MappingSceneTests {
    private let place = StorePlace()

    // MARK: A package, a mapping model, and a policy

    private func checkPhotos(_ company: CompanyPackage, _ mapping: NSMappingModel) throws {
        try place.use(company.new, mapping: mapping) { _, context in
            let employees = try context.all("Employee")
            #expect(employees.map(\.employeeNumber).sorted() == Array(0..<30))
            for employee in employees {
                let number = employee.employeeNumber
                #expect(employee.value(forKey: "salary") as? Double == Double(number) + 0.5)
                #expect(employee.value(forKeyPath: "department.title") as? String == "department \(number % 3)")
                #expect(employee.value(forKeyPath: "profile.photo") as? Data == CompanyPackage.photo(number))
            }
            #expect(try context.all("Photo").count == 20)
            for department in try context.all("Department") {
                #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 10)
            }
        }
    }

    @Test func `a policy of a mapping model moves photos into objects of their own`() throws {
        let company = try CompanyPackage()
        try company.makeStore(in: place)
        let url = company.url("Company1to2.xcmappingmodel")
        try MappingText.write(MappingText.model(CompanyPackage.mappings), to: url)
        let mapping = try NSMappingModel(
            contentsOf: url, forSourceModel: company.old, destinationModel: company.new,
            policies: ["SplitPhotoPolicy": SplitPhotoPolicy.self])
        try checkPhotos(company, mapping)
    }

    @Test func `a compiled mapping model is found in its folder, and does the same`() throws {
        let company = try CompanyPackage()
        try company.makeStore(in: place)
        try ArchiveWriter.mappingModel(CompanyPackage.compiledMappings).write(to: company.url("Company1to2.cdm"))
        let mapping = try #require(
            try NSMappingModel(
                from: [URL(filePath: company.folder.path)], forSourceModel: company.old, destinationModel: company.new,
                policies: ["Company.SplitPhotoPolicy": SplitPhotoPolicy.self]))
        try checkPhotos(company, mapping)
    }

    // MARK: Expressions

    /// The properties that a migration adds to employees, each by an expression.
    private static let computed: [(name: String, type: String, MappingExpression)] = [
        ("rank", "Integer 16", .constant(.integer(3))), ("isNew", "Boolean", .constant(.integer(1))),
        ("nothing", "String", .constant(nil)), ("title", "String", .source("department.title")),
        ("twice", "Double", .call("multiply:by:", [.source("salary"), .constant(.integer(2))])),
        ("whole", "Integer 32", .call("floor:", [.source("salary")])),
        ("half", "Integer 64", .call("divide:by:", [.constant(.integer(7)), .constant(.integer(2))])),
        ("loud", "String", .function(.source("name"), "uppercaseString", [])),
        ("both", "String", .function(.source("name"), "stringByAppendingString:", [.source("department.title")])),
        ("length", "Integer 32", .source("name.length")),
        ("peers", "Integer 32", .source("department.employees.@count")),
        ("sum", "Double", .source("department.employees.@sum.salary")),
        ("least", "Double", .source("department.employees.@min.salary")),
        ("most", "Double", .source("department.employees.@max.salary")),
        ("mean", "Double", .source("department.employees.@avg.salary")),
        ("total", "Double", .call("sum:", [.source("department.employees.salary")])),
        ("cast", "String", .call("castObject:toType:", [.source("salary"), .text("NSString")])),
        ("code", "String", .function(.variable("entityPolicy"), "codeOf:", [.source("name"), .constant(.integer(7))])),
        ("made", "String", .keyPath(.variable("entityMapping"), "name")),
        ("day", "Date", .constant(.date(Date(timeIntervalSinceReferenceDate: 5)))),
    ]

    private static func attributes() -> String {
        computed.map { ModelText.attribute($0.name, $0.type) }.joined()
    }

    private static func expected(_ number: Int) -> [String: AnyHashable?] {
        let peers = (0..<30).filter { $0 % 3 == number % 3 }.map { Double($0) + 0.5 }
        return [
            "rank": Int16(3), "isNew": true, "nothing": nil, "title": "department \(number % 3)",
            "twice": Double(number) * 2 + 1, "whole": Int32(number), "half": Int64(3), "loud": "EMPLOYEE \(number)",
            "both": "employee \(number)department \(number % 3)", "length": Int32("employee \(number)".count),
            "peers": Int32(10), "sum": peers.reduce(0, +), "least": peers.min(), "most": peers.max(),
            "mean": peers.reduce(0, +) / 10, "total": peers.reduce(0, +), "cast": "\(Double(number) + 0.5)",
            "code": "7 of employee \(number)", "made": "EmployeeToEmployee",
            "day": Date(timeIntervalSinceReferenceDate: 5),
        ]
    }

    @Test(arguments: [true, false]) func `expressions compute attributes`(isCompiled: Bool) throws {
        let company = try CompanyPackage(new: Self.attributes())
        try company.makeStore(in: place)
        var mappings = isCompiled ? CompanyPackage.compiledMappings : CompanyPackage.mappings
        mappings[0].policy = nil
        mappings[0].properties += Self.computed.map { .attribute($0.name, $0.2) }
        let file =
            isCompiled
            ? try MappingModelFile(compiled: ArchiveWriter.mappingModel(mappings), name: "M")
            : try MappingModelFile(xml: MappingText.model(mappings), name: "M")
        let functions: [String: MappingModelFile.Function] = [
            "codeOf:": { arguments, manager in
                #expect(manager.sourceModel.entitiesByName["Employee"] != nil)
                return "\(arguments[1] ?? "none") of \(arguments[0] ?? "none")"
            }
        ]
        let mapping = try file.mappingModel(from: company.old, to: company.new, functions: functions)
        // The photos are left behind: the mapping without a policy does not move them.
        try place.use(company.new, mapping: mapping, dropping: true) { _, context in
            let employees = try context.all("Employee")
            #expect(employees.count == 30)
            for employee in employees {
                let expected = Self.expected(employee.employeeNumber)
                for (name, _, expression) in Self.computed {
                    let found = employee[name] as? AnyHashable
                    let value = try #require(expected[name])
                    #expect(found == value, "\(name): \(expression)")
                }
            }
        }
    }

    // MARK: Conditions and relationships

    @Test func `conditions divide objects, and relationships lead to those of other mappings`() throws {
        let company = try CompanyPackage()
        try company.makeStore(in: place)
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        mappings[0].properties[3] = .relationship("profile", .destinations("Photos", .variable("source")))
        mappings[2] = WrittenMapping(
            name: "Photos", from: "Employee", to: "Photo",
            condition: "(salary < 10 OR name MATCHES 'employee 2[0-9]') AND photo != nil",
            properties: [.attribute("photo"), .relationship("employee")])
        let file = try MappingModelFile(xml: MappingText.model(mappings), name: "M")
        let mapping = try file.mappingModel(from: company.old, to: company.new)
        try place.use(company.new, mapping: mapping) { _, context in
            let wanted = (0..<30).filter { ($0 < 10 || $0 >= 20) && $0 % 3 != 0 }
            #expect(try context.all("Photo").count == wanted.count)
            for employee in try context.all("Employee") {
                let number = employee.employeeNumber
                let photo = wanted.contains(number) ? CompanyPackage.photo(number) : nil
                #expect(employee.value(forKeyPath: "profile.photo") as? Data == photo, "\(number)")
                #expect(employee.value(forKeyPath: "department.title") as? String == "department \(number % 3)")
            }
        }
    }

    @Test func `paths and functions lead to new objects`() throws {
        let peers =
            ModelText.relationship("peers", to: "Employee", inverse: "peersOf", "optional=\"YES\" toMany=\"YES\"")
            + ModelText.relationship("peersOf", to: "Employee", inverse: "peers", "optional=\"YES\" toMany=\"YES\"")
            + ModelText.relationship("first", to: "Employee", "optional=\"YES\" maxCount=\"1\"")
        let company = try CompanyPackage(new: peers)
        try company.makeStore(in: place, count: 9)
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        mappings[0].properties += [
            .init(
                name: "peers", isRelationship: true,
                path: "$source.department.employees.@distinctUnionOfSets.department.employees",
                mapping: "EmployeeToEmployee"), .relationship("peersOf", .constant(nil)),
            .relationship("first", .function(.variable("entityPolicy"), "SplitPolicy.firstOf:", [.variable("source")])),
        ]
        let file = try MappingModelFile(xml: MappingText.model(mappings), name: "M")
        let functions: [String: MappingModelFile.Function] = [
            "firstOf:": { arguments, manager in
                manager.destinationInstances(
                    forEntityMappingName: "EmployeeToEmployee",
                    sourceInstances: [arguments[0] as? NSManagedObject].compactMap { $0 })
            }
        ]
        #expect(throws: MappingModelError.self) {
            try file.mappingModel(from: company.old, to: company.new, functions: functions)
        }
        mappings[0].properties[6].expression = .function(
            .variable("entityPolicy"), "firstOf:", [.variable("source")])
        let right = try MappingModelFile(xml: MappingText.model(mappings), name: "M")
        let mapping = try right.mappingModel(from: company.old, to: company.new, functions: functions)
        try place.use(company.new, mapping: mapping, dropping: true) { _, context in
            for employee in try context.all("Employee") {
                let number = employee.employeeNumber
                let peers = employee.value(forKey: "peers") as? Set<NSManagedObject>
                #expect(peers.map { Set($0.map(\.employeeNumber)) } == Set((0..<9).filter { $0 % 3 == number % 3 }))
                #expect((employee.value(forKey: "first") as? NSManagedObject)?.employeeNumber == number)
            }
        }
    }

    @Test func `a property that the file does not list keeps its default`() throws {
        let company = try CompanyPackage(new: ModelText.attribute("rank", "Integer 16", "defaultValueString=\"4\""))
        try company.makeStore(in: place, count: 3)
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        mappings[0].properties.remove(at: 1)
        let mapping = try MappingModelFile(xml: MappingText.model(mappings), name: "M")
            .mappingModel(from: company.old, to: company.new)
        try place.use(company.new, mapping: mapping, dropping: true) { _, context in
            let employees = try context.all("Employee")
            #expect(employees.map { $0["salary"] as? Double } == [0, 0, 0])
            #expect(employees.map { $0["rank"] as? Int16 } == [4, 4, 4])
        }
    }

    // MARK: Stopped migrations

    private static let manyCount = 3_000

    @Test(arguments: [true, false]) func `a stopped mapping goes on with the same expressions only`(isSame: Bool) throws
    {
        let company = try CompanyPackage(new: ModelText.attribute("code", "String"))
        try company.makeStore(in: place, count: Self.manyCount)
        let calls = Guarded(0)
        func mapping(_ suffix: Int64, cancelling control: MigrationControl?) throws -> NSMappingModel {
            var mappings = CompanyPackage.mappings
            mappings[0].policy = nil
            mappings[0].properties.append(
                .attribute(
                    "code",
                    .function(
                        .variable("entityPolicy"), "codeOf:", [.source("name"), .constant(.integer(suffix))])))
            return try MappingModelFile(xml: MappingText.model(mappings), name: "M").mappingModel(
                from: company.old, to: company.new,
                functions: [
                    "codeOf:": { arguments, _ in
                        calls.withLock { $0 += 1 }
                        let name = arguments[0] as? String ?? ""
                        if name == "employee 2500" { control?.cancel() }
                        // Long, so that the stage saves several batches.
                        return "\(name)-\(arguments[1] ?? "")" + String(repeating: ".", count: 1_000)
                    }
                ])
        }
        let control = MigrationControl()
        #expect(throws: MigrationError.self) {
            try place.use(
                company.new, mapping: mapping(1, cancelling: control), dropping: true, control: control
            ) { _, _ in }
        }
        calls.withLock { $0 = 0 }
        let suffix: Int64 = isSame ? 1 : 2
        try place.use(
            company.new, mapping: mapping(suffix, cancelling: nil), dropping: true, control: MigrationControl()
        ) {
            _, context in
            let employees = try context.all("Employee")
            #expect(
                employees.allSatisfy { employee in
                    (employee["code"] as? String)?.hasPrefix("employee \(employee.employeeNumber)-\(suffix).") == true
                })
        }
        let count = calls.withLock { $0 }
        #expect(isSame ? count < Self.manyCount : count == Self.manyCount, "\(count)")
    }

    @Test func `an expression without a value stops the migration, with the property`() throws {
        let company = try CompanyPackage(new: ModelText.attribute("ratio", "Double"))
        try company.makeStore(in: place)
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        mappings[0].properties.append(
            .attribute(
                "ratio",
                .call("divide:by:", [.constant(.integer(1)), .call("floor:", [.source("salary")])])))
        let file = try MappingModelFile(xml: MappingText.model(mappings), name: "M")
        let mapping = try file.mappingModel(from: company.old, to: company.new)
        let error = #expect(throws: MigrationError.self) {
            try place.use(company.new, mapping: mapping, dropping: true) { _, _ in }
        }
        #expect(error?.code == .stageFailed && error?.propertyName == "ratio")
        let cause = String(describing: error?.cause)
        #expect(cause.contains("divide:by: has no value for 0"), "\(cause)")
    }
}
