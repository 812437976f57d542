package import Faultline

/// From the first release to the second: names are split, and pixels are moved without being read.
package enum PhotoPlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] { [PhotosV1.self, PhotosV2.self] }
    package static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: PhotosV1.self, toVersion: PhotosV2.self,
                StreamedEntity(PhotosV1.User.self) { old, output in
                    let (given, family) = parts(of: old.name)
                    try output.insert(PhotosV2.User(email: old.email, givenName: given, familyName: family))
                },
                StreamedEntity(PhotosV1.Photo.self) { old, output in
                    // Every other property is carried over.
                    let photo = PhotosV2.Photo(
                        title: old.title, caption: old.caption, camera: old.camera, takenAt: old.takenAt)
                    if let blob = old.blob(\.pixels) {
                        let pixels = PhotosV2.Pixels()
                        pixels.setBlob(blob, for: \.bytes)
                        photo.pixels = pixels
                    }
                    try output.insert(photo)
                })
        ]
    }

    /// The words of a name but the last, and the last.
    static func parts(of name: String) -> (given: String, family: String) {
        let words = name.split(separator: " ").map(String.init)
        return (words.dropLast().joined(separator: " "), words.last ?? "")
    }
}
