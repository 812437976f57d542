import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Conditions with patterns and decimals, and conditions that would stop a migration.
struct MappingConditionTests {
    private func filter(_ condition: String, _ company: CompanyPackage) throws -> Filter? {
        let file = try MappedValues.file { $0[0].condition = condition }
        return try file.mappingModel(from: company.old, to: company.new).entityMappings[0].sourceFilter
    }

    @Test func `patterns distinguish the conditions of stopped migrations`() throws {
        let company = try CompanyPackage()
        for (first, second) in [
            ("name MATCHES 'a+'", "name MATCHES 'b+'"), ("name LIKE 'a?'", "name LIKE 'b?'"),
            ("name LIKE 'a?'", "name LIKE[c] 'a?'"),
        ] {
            let marks = try [first, second, first].map { try filter($0, company)?.mark }
            #expect(marks[0] != nil && marks[0] == marks[2] && marks[0] != marks[1], "\(marks)")
        }
    }

    @Test(arguments: [
        ("name LIKE 'x?z'", ["x?z", "xyz"]), ("name LIKE 'x\\\\?z'", ["x?z"]),
        ("name LIKE '*y*z*'", ["xyz", "xyz\n!"]),
        ("name LIKE[cd] '*É?'", ["cafés"]), ("name MATCHES 'xyz|x\\\\?z'", ["x?z", "xyz"]),
        ("name MATCHES 'xy'", []), ("name MATCHES[d] 'cafes'", ["cafés"]),
        ("name LIKE '*a*a*a*a*a*a*a*a*b'", []),
    ]) func `patterns match whole texts`(condition: String, wanted: [String]) throws {
        let company = try CompanyPackage()
        let filter = try #require(try filter(condition, company))
        try StorePlace().use(company.old) { _, context in
            for name in ["xyz", "x?z", "xyz\n!", "cafés", String(repeating: "a", count: 2_000)] {
                context.make("Employee", ["name": name])
            }
            try context.save()
            var request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.filter = filter
            #expect(try context.fetch(request).compactMap { $0["name"] as? String }.sorted() == wanted)
        }
    }

    @Test func `a pattern that needs too much memory is an error`() throws {
        let company = try CompanyPackage()
        let filter = try #require(try filter("name MATCHES '(?:a|b)*c'", company))
        try StorePlace().use(company.old) { _, context in
            context.make("Employee", ["name": String(repeating: "ab", count: 1_000_000)])
            try context.save()
            var request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.filter = filter
            #expect(throws: (any Error).self) { try context.fetch(request) }
        }
    }

    @Test(arguments: [
        "name.uppercaseString == 'A'", "salary.intValue == 3", "name.lowercaseString MATCHES 'a.*'",
        "department.title.length > 1", "department > nil", "name MATCHES 'a)|(?:b'", "name LIKE[l] 'a'",
    ]) func `a condition that rows cannot answer is refused`(condition: String) throws {
        let company = try CompanyPackage()
        let file = try MappedValues.file { $0[0].condition = condition }
        #expect(file.unexpressed(from: company.old, to: company.new).map(\.place) == ["EmployeeToEmployee"])
    }

    @Test func `a to-many relationship is not compared with nil`() throws {
        let company = try CompanyPackage()
        let file = try MappedValues.file { $0[1].condition = "employees == nil" }
        #expect(file.unexpressed(from: company.old, to: company.new).map(\.place) == ["DepartmentToDepartment"])
    }

    @Test func `a decimal is compared with a number by its text`() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("Shop.xcdatamodeld")
        let book = ModelText.entity("Book", "", ModelText.attribute("price", "Decimal"))
        try ModelText.write(["Shop": ModelText.model(book)], current: "Shop", to: url)
        let schema = try ModelPackage(contentsOf: url).current.schema
        let file = try MappingModelFile(
            xml: MappingText.model([
                WrittenMapping(from: "Book", to: "Book", condition: "price > 9.99", properties: [.attribute("price")])
            ]), name: "M")
        let filter = try #require(try file.mappingModel(from: schema, to: schema).entityMappings[0].sourceFilter)
        try StorePlace().use(schema) { _, context in
            for price in ["9.98", "9.99", "10"] { context.make("Book", ["price": Decimal(string: price) ?? 0]) }
            try context.save()
            var request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.filter = filter
            #expect(try context.fetch(request).map { $0["price"] as? Decimal } == [10])
        }
    }
}
