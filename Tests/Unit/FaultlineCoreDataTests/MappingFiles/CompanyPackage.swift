import FaultlineCoreData
import FaultlineTestSupport

/// A package with two versions of a company in the XML of Xcode: photos of employees become objects of their own.
struct CompanyPackage {
    let folder = TemporaryDirectory()
    let package: ModelPackage

    private static let department = ModelText.entity(
        "Department", "",
        ModelText.attribute("title", "String", "defaultValueString=\"\"")
            + ModelText.relationship(
                "employees", to: "Employee", inverse: "department", "optional=\"YES\" toMany=\"YES\""))

    private static func employee(_ inside: String) -> String {
        ModelText.entity(
            "Employee", "",
            ModelText.attribute("name", "String", "defaultValueString=\"\"")
                + ModelText.attribute("salary", "Double", "defaultValueString=\"0\"")
                + ModelText.relationship(
                    "department", to: "Department", inverse: "employees", "optional=\"YES\" maxCount=\"1\"") + inside)
    }

    /// Writes and reads the package, with further properties of employees after.
    init(new: String = "") throws {
        let url = URL(filePath: folder.path).appendingPathComponent("Company.xcdatamodeld")
        let photo = ModelText.entity(
            "Photo", "",
            ModelText.attribute("photo", "Binary", "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\"")
                + ModelText.relationship(
                    "employee", to: "Employee", inverse: "profile", "optional=\"YES\" maxCount=\"1\""))
        let profile = ModelText.relationship(
            "profile", to: "Photo", inverse: "employee", "optional=\"YES\" maxCount=\"1\" deletionRule=\"Cascade\"")
        try ModelText.write(
            [
                "Company": ModelText.model(
                    Self.employee(ModelText.attribute("photo", "Binary")) + "\n" + Self.department),
                "Company 2": ModelText.model(
                    [Self.employee(profile + new), photo, Self.department].joined(separator: "\n")),
            ], current: "Company 2", to: url)
        package = try ModelPackage(contentsOf: url)
    }

    var old: Schema { package.versions[0].schema }
    var new: Schema { package.current.schema }

    /// A place for a mapping model beside the package.
    func url(_ name: String) -> URL { URL(filePath: folder.path).appendingPathComponent(name) }

    // MARK: Mappings

    /// The mappings that Xcode writes for the two versions, with a policy for employees.
    static let mappings: [WrittenMapping] = [
        WrittenMapping(
            from: "Employee", to: "Employee", policy: "Company.SplitPhotoPolicy",
            properties: [
                .attribute("name"), .attribute("salary"), .relationship("department"), .relationship("profile"),
            ]),
        WrittenMapping(
            from: "Department", to: "Department",
            properties: [.attribute("title"), .relationship("employees")]),
        WrittenMapping(to: "Photo", properties: [.attribute("photo"), .relationship("employee")]),
    ]

    /// The same mappings as Core Data compiles them.
    static let compiledMappings: [WrittenMapping] = {
        var all = mappings
        all[0].name = "EmployeeToEmployee"
        all[0].properties = [
            .attribute("name", .source("name")), .attribute("salary", .source("salary")),
            .relationship("department", .destinations("DepartmentToDepartment", .source("department"))),
            .relationship("profile"),
        ]
        all[1].name = "DepartmentToDepartment"
        all[1].properties = [
            .attribute("title", .source("title")),
            .relationship("employees", .destinations("EmployeeToEmployee", .source("employees"))),
        ]
        all[2].name = "Photo"
        return all
    }()

    // MARK: Stores

    static func photo(_ number: Int) -> Data? {
        number % 3 == 0
            ? nil : Data((0..<(number % 2 == 0 ? 10_000 : 100)).map { UInt8(truncatingIfNeeded: $0 + number) })
    }

    /// Makes a store of the old version.
    func makeStore(in place: StorePlace, count: Int = 30) throws {
        try place.use(old) { _, context in
            let departments = (0..<3).map { context.make("Department", ["title": "department \($0)"]) }
            for number in 0..<count {
                context.make(
                    "Employee",
                    [
                        "name": "employee \(number)", "salary": Double(number) + 0.5,
                        "photo": Self.photo(number) as Any? ?? NSNull(), "department": departments[number % 3],
                    ])
            }
            try context.save()
        }
    }
}

extension NSManagedObject {
    /// The number of an employee.
    var employeeNumber: Int { (value(forKey: "name") as? String).flatMap { Int($0.dropFirst(9)) } ?? -1 }
}
