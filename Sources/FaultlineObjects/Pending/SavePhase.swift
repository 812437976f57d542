/// The user code that a save is calling.
enum SavePhase {
    case none
    case telling
    case validating

    /// How many rounds of `willSave` calls may follow because objects change each other.
    static let roundMax = 1_000

    var name: String {
        switch self {
        case .none: "no code"
        case .telling: "an object's willSave, or an observer of it"
        case .validating: "an object's validation"
        }
    }
}
