import Faultline

/// The entity `Label` of the model Publications.
@Model
final class Label {
    var name: String = ""

    @Relationship(inverse: \Magazine.tags)
    var magazines: [Magazine] = []

    init() {}
}
