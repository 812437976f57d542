package import Foundation

/// The photos of a camera.
package struct CameraBody: Codable, Sendable, Equatable {
    package var camera: String
    package var photoCount: Int
    package var newest: Date?

    package init(camera: String, photoCount: Int, newest: Date?) {
        self.camera = camera
        self.photoCount = photoCount
        self.newest = newest
    }
}
