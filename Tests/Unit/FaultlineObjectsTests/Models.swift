import Faultline

/// An object whose only storage is its core.
@Model
final class Plain {
    @Attribute(.unique) var number: Int
    var text: String

    init(number: Int, text: String) {
        self.number = number
        self.text = text
    }
}

/// An object with storage of its own.
@Model
final class Laden {
    var number: Int
    @Transient var note = "fresh"

    init(number: Int) {
        self.number = number
    }
}

func makeContainer() throws -> ModelContainer {
    try ModelContainer(for: Plain.self, Laden.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}
