import Faultline

/// The entity `Tag` of the model Album.
@Model
final class Tag {
    var label: String = "a \"b\""
    var photos: [Photo] = []

    init() {}
}
