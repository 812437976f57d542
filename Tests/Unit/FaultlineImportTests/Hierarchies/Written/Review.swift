import Faultline

/// The entity `Review` of the model Publications.
@Model
final class Review {
    var text: String?

    init() {}
}
