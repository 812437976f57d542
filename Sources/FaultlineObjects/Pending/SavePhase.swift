/// The code of classes that a context is calling.
enum SavePhase {
    case none
    case telling
    case validating
    case awaking

    /// Whether the code may only read.
    var mayOnlyRead: Bool { self == .validating || self == .awaking }

    /// How many rounds of `willSave` calls may follow because objects change each other.
    static let roundMax = 1_000

    var name: String {
        switch self {
        case .none: "no code"
        case .telling: "an object's willSave, or an observer of it"
        case .validating: "an object's validation"
        case .awaking: "an object's awakeFromFetch"
        }
    }

    /// The rule for code that changes objects, and the remedy: the end of a sentence.
    var rule: String {
        switch self {
        case .none, .telling: "may do so."
        case .validating: "may only read. Do it in willSave."
        case .awaking: "may only set ephemeral attributes. Do it where the object is used."
        }
    }
}
