import Faultline

/// Two versions of notes that no code has to convert.
enum Notes1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self, Folder.self] }

    @Model final class Note {
        var text: String
        var words: Int32
        var mood: String?
        var draft: String?
        var folder: Folder?
        init(text: String, words: Int32, mood: String? = nil, folder: Folder? = nil) {
            self.text = text
            self.words = words
            self.mood = mood
            self.folder = folder
        }
    }

    @Model final class Folder {
        var name: String
        init(name: String) { self.name = name }
    }
}

enum Notes2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self, Folder.self] }

    @Model final class Note {
        // snippet
        #Index<Note>([\.words])
        // end
        // snippet
        @Attribute(originalName: "text") var title: String
        // end
        // snippet
        var words: Int  // was Int32
        // end
        // snippet
        var mood: String = "calm"  // was optional: nil becomes "calm"
        // end
        // snippet
        var isPinned: Bool = false
        // end
        // snippet
        var editor: String?
        // end
        // snippet
        @Relationship(originalName: "folder") var folders: [Folder] = []  // was one folder
        // end
        init(title: String, words: Int) {
            self.title = title
            self.words = words
        }
    }

    @Model final class Folder {
        var name: String
        init(name: String) { self.name = name }
    }
}

// snippet
enum NotesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Notes1.self, Notes2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: Notes1.self, toVersion: Notes2.self)]
    }
}
// end

/// Contacts whose objects are rewritten.
enum Contacts1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Person.self] }

    @Model final class Person {
        var name: String
        var townName: String
        var height: String
        var photo: Data?
        init(name: String, townName: String, height: String, photo: Data? = nil) {
            self.name = name
            self.townName = townName
            self.height = height
            self.photo = photo
        }
    }
}

enum Contacts2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Person.self, Town.self, Portrait.self] }

    @Model final class Person {
        var first: String
        var last: String
        var height: Double
        var town: Town?
        @Relationship(inverse: \Portrait.person) var portrait: Portrait?
        init(first: String, last: String, height: Double) {
            self.first = first
            self.last = last
            self.height = height
        }
    }

    @Model final class Town {
        @Attribute(.unique) var name: String
        init(name: String) { self.name = name }
    }

    @Model final class Portrait {
        var pixels: Data?
        var person: Person?
        init() {}
    }
}

enum ContactsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Contacts1.self, Contacts2.self] }
    static var stages: [MigrationStage] {
        // snippet
        [
            .streamed(
                fromVersion: Contacts1.self, toVersion: Contacts2.self,
                StreamedEntity(Contacts1.Person.self) { old, output in
                    // snippet
                    if old.name.isEmpty { return }  // no new object: the old one is dropped
                    // end
                    // snippet
                    guard let height = Double(old.height) else { throw UnknownHeight(text: old.height) }
                    // end
                    // snippet
                    let parts = old.name.split(separator: " ", maxSplits: 1).map(String.init)
                    let new = Contacts2.Person(
                        first: parts.first ?? "", last: parts.dropFirst().first ?? "", height: height)
                    // end
                    // snippet
                    new.town = try output.upsert(Contacts2.Town(name: old.townName))
                    // end
                    // snippet
                    if let photo = old.blob(\.photo) {
                        let portrait = Contacts2.Portrait()
                        portrait.setBlob(photo, for: \.pixels)  // moved: no byte is read
                        new.portrait = portrait
                    }
                    // end
                    try output.insert(new)  // keeps the identity of the old person
                })
        ]
        // end
    }
}

struct UnknownHeight: Error {
    var text: String
}

/// Tags whose names become unique.
enum Tags1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Tag.self] }

    @Model final class Tag {
        var name: String
        init(name: String) { self.name = name }
    }
}

enum Tags2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Tag.self] }

    @Model final class Tag {
        @Attribute(.unique) var name: String
        var length: Int = 0
        init(name: String) { self.name = name }
    }
}

enum TagsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tags1.self, Tags2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Tags1.self, toVersion: Tags2.self,
                // snippet
                willMigrate: { context in  // knows the classes of Tags1
                    var seen: Set<String> = []
                    for tag in try context.fetch(FetchDescriptor<Tags1.Tag>())
                    where !seen.insert(tag.name).inserted {
                        context.delete(tag)
                    }
                    try context.save()
                },
                // end
                // snippet
                didMigrate: { context in  // knows the classes of Tags2
                    var count = 0
                    try context.enumerate(
                        FetchDescriptor<Tags2.Tag>(), allowEscapingMutations: true
                    ) { tag in
                        tag.length = tag.name.count
                        count += 1
                        if count % 1_000 == 0 { try context.save() }  // releases the saved ones
                    }
                    try context.save()
                }
                // end
            )
        ]
    }
}

/// Students and courses: a relationship becomes a class with properties of its own.
enum School1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Student.self, Course.self] }

    @Model final class Student {
        var name: String
        @Relationship(inverse: \Course.students) var courses: [Course] = []
        init(name: String) { self.name = name }
    }

    @Model final class Course {
        var title: String
        var students: [Student] = []
        init(title: String) { self.title = title }
    }
}

enum School2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Student.self, Course.self, Enrolment.self] }

    @Model final class Student {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Enrolment.student) var enrolments: [Enrolment] = []
        init(name: String) { self.name = name }
    }

    @Model final class Course {
        var title: String
        @Relationship(deleteRule: .cascade, inverse: \Enrolment.course) var enrolments: [Enrolment] = []
        init(title: String) { self.title = title }
    }

    @Model final class Enrolment {
        var grade: Int?
        var student: Student?
        var course: Course?
        init() {}
    }
}

enum SchoolPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [School1.self, School2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: School1.self, toVersion: School2.self,
                // snippet
                StreamedEntity(School1.Student.self) { old, output in
                    let student = School2.Student(name: old.name)
                    for course in old.courses {
                        let enrolment = School2.Enrolment()
                        enrolment.student = student
                        enrolment.course = try output.object(migratedFrom: course)
                        try output.insert(enrolment)
                    }
                    try output.insert(student)
                }
                // end
            )
        ]
    }
}
