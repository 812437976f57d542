import Faultline

/// The entity `Monograph` of the model Publications.
@Model
final class Monograph: Publication {
    #Unique<Monograph>([\.isbn, \.title])

    var isbn: String?
    var pages: Int16 = 1
    var volume: String?

    @Relationship(inverse: nil)
    var sequel: Publication?

    @Relationship(inverse: nil)
    var reviews: [Review] = []

    override init(title: String) {
        super.init(title: title)
    }
}
