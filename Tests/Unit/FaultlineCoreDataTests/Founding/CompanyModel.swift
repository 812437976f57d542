import FaultlineCoreData

/// Employees with a photo each, and those whose photo is an object of its own.
enum CompanyModel {
    private static let department = Schema.Entity(
        "Department",
        properties: Schema.Attribute(name: "title", valueType: String.self),
        Schema.Relationship(name: "employees", destination: "Employee", isToOne: false, inverseName: "department"))

    static let withPhotos = NSManagedObjectModel(
        Schema.Entity(
            "Employee",
            properties: Schema.Attribute(name: "name", valueType: String.self),
            Schema.Attribute(name: "salary", valueType: Double.self),
            Schema.Attribute(name: "photo", valueType: Data?.self),
            Schema.Relationship(
                name: "department", destination: "Department", isToOne: true, inverseName: "employees")),
        department)

    static let withProfiles = NSManagedObjectModel(
        Schema.Entity(
            "Employee",
            properties: Schema.Attribute(name: "name", valueType: String.self),
            Schema.Attribute(name: "salary", valueType: Double.self),
            Schema.Relationship(
                name: "department", destination: "Department", isToOne: true, inverseName: "employees"),
            Schema.Relationship(
                name: "profile", destination: "Photo", isToOne: true, deleteRule: .cascade, inverseName: "employee")),
        Schema.Entity(
            "Photo",
            properties: Schema.Attribute(name: "photo", options: [.externalStorage], valueType: Data.self),
            Schema.Relationship(name: "employee", destination: "Employee", isToOne: true, inverseName: "profile")),
        department)
}

/// Events with a date, and with the parts of the date.
enum CalendarModel {
    static let withDates = NSManagedObjectModel(
        Schema.Entity("Event", properties: Schema.Attribute(name: "timeStamp", valueType: Date.self)))

    static let withParts = NSManagedObjectModel(
        Schema.Entity(
            "Event", properties: Schema.Attribute(name: "timeStamp", valueType: Date.self),
            Schema.Attribute(name: "day", valueType: Int16.self),
            Schema.Attribute(name: "month", valueType: Int16.self),
            Schema.Attribute(name: "memo", valueType: String.self)))
}
