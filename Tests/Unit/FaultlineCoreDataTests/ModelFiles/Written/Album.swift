import Faultline

/// The entity `Album` of the model Album.
@Model(originalName: "Folder")
final class Album {
    #Unique<Album>([\.id], [\.title, \.parent])

    @Attribute(originalName: "name", hashModifier: "2")
    var title: String

    var created: Date = Date(timeIntervalSinceReferenceDate: 697386720.0)
    var `default`: Bool = false
    var id: UUID
    var price: Decimal = Decimal(string: "9.99") ?? 0
    var ratio: Double = 1.5
    var scale: Float = 0.25
    var count: Int64 = -9223372036854775808
    var home: URL?

    @Attribute(.ephemeral)
    var draft: String?

    @Relationship(deleteRule: .cascade, maximumModelCount: 500, inverse: \Photo.album)
    var photos: [Photo] = []

    var parent: Album?

    @Relationship(deleteRule: .deny, inverse: \Album.parent)
    var children: [Album] = []

    init(title: String, id: UUID) {
        self.title = title
        self.id = id
    }
}
