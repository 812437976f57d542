import Faultline

/// The entity `Photo` of the model Album.
@Model
final class Photo {
    #Index<Photo>([\.taken], [\.stars, \.taken])

    @Attribute(.externalStorage)
    var pixels: Data?

    @Attribute(.preserveValueOnDeletion)
    var taken: Date?

    var stars: Int16 = 0
    var width: Int32 = 0
    var album: Album

    @Relationship(minimumModelCount: 1, inverse: \Tag.photos)
    var tags: [Tag] = []

    @Relationship(deleteRule: .noAction, inverse: nil)
    var cover: Photo?

    init(album: Album) {
        self.album = album
    }
}
