import Faultline

/// Papers without a text index.
enum Papers1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Paper.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Paper {
        var title: String
        var note: String?
        init(_ title: String, note: String?) {
            self.title = title
            self.note = note
        }
    }
}

/// The same with a text index: the meaning of the rows stays the same, so the fingerprint does too.
enum IndexedPapers1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Paper.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Paper {
        #TextIndex<Paper>([\.title])
        var title: String
        var note: String?
        init(_ title: String, note: String?) {
            self.title = title
            self.note = note
        }
    }
}

/// The same with another text index.
enum NotedPapers1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Paper.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Paper {
        #TextIndex<Paper>([\.title, \.note])
        var title: String
        var note: String?
        init(_ title: String, note: String?) {
            self.title = title
            self.note = note
        }
    }
}

/// The notes are gone, and titles have a text index.
enum Papers2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Paper.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Paper {
        #TextIndex<Paper>([\.title])
        var title: String
        init(_ title: String) { self.title = title }
    }
}
