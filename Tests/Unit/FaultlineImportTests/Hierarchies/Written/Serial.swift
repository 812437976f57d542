import Faultline

/// The entity `Serial` of the model Publications.
@Model
class Serial: Publication {
    #Index<Serial>([\.frequency, \.title])

    var frequency: Int32
    var volume: Int16?

    @Relationship(inverse: \Shelf.feature)
    var featuredOn: Shelf?

    @Relationship(inverse: nil)
    var reviews: [Review] = []

    init(title: String, frequency: Int32) {
        self.frequency = frequency
        super.init(title: title)
    }
}
