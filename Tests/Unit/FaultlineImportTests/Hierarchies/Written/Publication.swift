import Faultline

/// The entity `Publication` of the model Publications.
// isAbstract: The entity is abstract: the schema does not forbid objects of it.
@Model
class Publication {
    #Unique<Publication>([\.code])
    #Index<Publication>([\.title])

    var title: String
    var code: Int64?
    var added: Date = Date(timeIntervalSinceReferenceDate: 0.0)
    var shelf: Shelf?

    init(title: String) {
        self.title = title
    }
}
