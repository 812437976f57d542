import BenchmarkKit
import Faultline

/// The employees with their photos among their own attributes.
enum KeptPhotos: VersionedSchema {
    static let models: [any PersistentModel.Type] = [KeptPhotos.Employee.self, KeptPhotos.Department.self]
    static let versionIdentifier = Schema.Version(1, 0, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \KeptPhotos.Employee.department)
        var employees: [KeptPhotos.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee {
        var name: String
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        var photo: Data
        var department: KeptPhotos.Department?

        init(_ values: EmployeeRecord, photo: Data, department: KeptPhotos.Department?) {
            name = values.name
            email = values.email
            salary = values.salary
            hireDate = values.hireDate
            active = values.active
            level = values.level
            notes = values.notes
            self.photo = photo
            self.department = department
        }
    }

    /// The hundred departments and some employees.
    static let full = StartingStore("kept-photos-1") { folder, count in
        let container = try ModelContainer(
            for: Schema(versionedSchema: KeptPhotos.self), configurations: EmployeeStore.configuration(folder))
        let context = ModelContext(container)
        try EmployeeStore.makeDepartments(in: context) { Department(name: $0) }
        try Photographed.fill(
            context, count,
            making: { Employee($0, photo: $1, department: $2 as Department) }
        ) { _, transaction in try transaction() }
        try container.checkpoint()
        try container.close()
    }
}

/// The photos in a separate entity, one to one with the employees.
enum PhotoEntities: VersionedSchema {
    static let models: [any PersistentModel.Type] = [
        PhotoEntities.Employee.self, PhotoEntities.Photo.self, PhotoEntities.Department.self,
    ]
    static let versionIdentifier = Schema.Version(2, 0, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \PhotoEntities.Employee.department)
        var employees: [PhotoEntities.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Photo {
        @Attribute(.externalStorage) var bytes: Data
        var employee: PhotoEntities.Employee?

        init(bytes: Data) {
            self.bytes = bytes
        }
    }

    @Model
    final class Employee {
        var name: String
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        @Relationship(deleteRule: .cascade, inverse: \PhotoEntities.Photo.employee) var photo: PhotoEntities.Photo?
        var department: PhotoEntities.Department?

        init(of old: KeptPhotos.Employee, department: PhotoEntities.Department?) {
            name = old.name
            email = old.email
            salary = old.salary
            hireDate = old.hireDate
            active = old.active
            level = old.level
            notes = old.notes
            self.department = department
        }
    }
}

/// Moves photos out of the employees, without reading them.
enum PhotoSplittingPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [KeptPhotos.self, PhotoEntities.self]
    static let stages: [MigrationStage] = [
        .splittingPhotos { old, output in
            guard let blob = old.blob(\.photo) else { return nil }
            let photo = PhotoEntities.Photo(bytes: Data())
            try output.insert(photo)
            photo.setBlob(blob, for: \.bytes)
            return photo
        }
    ]
}

/// Moves photos out of the employees as `Data`, which reads each of them.
enum PhotoDataPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [KeptPhotos.self, PhotoEntities.self]
    static let stages: [MigrationStage] = [
        .splittingPhotos { old, output in
            let photo = PhotoEntities.Photo(bytes: old.photo)
            try output.insert(photo)
            return photo
        }
    ]
}

extension MigrationStage {
    /// Makes each employee again, and its photo by a closure.
    fileprivate static func splittingPhotos(
        _ photo: @escaping @Sendable (KeptPhotos.Employee, MigrationOutput) throws -> PhotoEntities.Photo?
    ) -> MigrationStage {
        .streamed(
            fromVersion: KeptPhotos.self,
            toVersion: PhotoEntities.self,
            StreamedEntity(KeptPhotos.Employee.self) { old, output in
                let department = try output.object(migratedFrom: old.department, as: PhotoEntities.Department.self)
                let employee = PhotoEntities.Employee(of: old, department: department)
                try output.insert(employee)
                employee.photo = try photo(old, output)
            })
    }
}
