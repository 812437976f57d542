import Faultline

/// The entity `Shelf` of the model Publications.
@Model
final class Shelf {
    var place: String

    @Relationship(deleteRule: .cascade, inverse: \Publication.shelf)
    var publications: [Publication] = []

    var feature: Serial?

    init(place: String) {
        self.place = place
    }
}
