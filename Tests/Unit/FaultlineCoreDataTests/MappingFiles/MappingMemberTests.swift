import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// The values that functions return for relationships.
struct MappingMemberTests {
    /// Migrates six employees by a function for a relationship, and gives the numbers of the new members.
    private func members(_ form: String, isToOne: Bool = false) throws -> [Set<Int>] {
        let peers =
            ModelText.relationship("peers", to: "Employee", inverse: "peersOf", "optional=\"YES\" toMany=\"YES\"")
            + ModelText.relationship("peersOf", to: "Employee", inverse: "peers", "optional=\"YES\" toMany=\"YES\"")
            + ModelText.relationship("first", to: "Employee", "optional=\"YES\" maxCount=\"1\"")
        let company = try CompanyPackage(new: peers)
        let place = StorePlace()
        try company.makeStore(in: place, count: 6)
        let call = MappingExpression.function(
            .variable("entityPolicy"), "members:", [.source("department.employees"), .variable("manager")])
        let name = isToOne ? "first" : "peers"
        let file = try MappedValues.file { mappings in
            for property in ["peers", "peersOf", "first"] {
                mappings[0].properties.append(.relationship(property, property == name ? call : .constant(nil)))
            }
        }
        let functions: [String: MappingModelFile.Function] = [
            "members:": { arguments, manager in
                #expect(arguments[1] as? NSMigrationManager === manager)
                let objects = manager.destinationInstances(
                    forEntityMappingName: "EmployeeToEmployee",
                    sourceInstances: arguments[0] as? [NSManagedObject] ?? [])
                switch form {
                case "set": return Set(objects)
                case "NSSet": return NSSet(array: objects)
                case "NSOrderedSet": return NSOrderedSet(array: objects)
                case "null": return NSNull()
                case "mixed": return objects as [Any] + ["x"]
                case "text": return "x"
                default: return objects
                }
            }
        ]
        let mapping = try file.mappingModel(from: company.old, to: company.new, functions: functions)
        return try place.use(company.new, mapping: mapping, dropping: true) { _, context in
            try context.all("Employee").sorted { $0.employeeNumber < $1.employeeNumber }.map { employee in
                Set((employee["peers"] as? [NSManagedObject] ?? []).map(\.employeeNumber))
            }
        }
    }

    @Test(arguments: ["set", "NSSet", "NSOrderedSet", "list", "null"])
    func `a function returns members as a list or a set`(form: String) throws {
        let wanted = (0..<6).map { number in form == "null" ? [] : Set((0..<6).filter { $0 % 3 == number % 3 }) }
        #expect(try members(form) == wanted)
    }

    @Test(arguments: [
        ("text", false, "A value of the type String is no object"),
        ("mixed", false, "A member of the type String is no object"), ("list", true, "gives 2 objects"),
    ]) func `a function that returns no objects stops the migration`(form: String, isToOne: Bool, reason: String) throws
    {
        let error = #expect(throws: MigrationError.self) { try members(form, isToOne: isToOne) }
        let cause = error?.cause.map { "\($0)" } ?? ""
        #expect(error?.code == .stageFailed && cause.contains(reason), "\(cause)")
    }
}
