import Faultline
import FaultlineService
import Hummingbird
package import PhotoAPI

extension StoreLibrary {
    package func setPixels(_ parts: PixelParts, of photo: String) async throws -> Bool {
        let isStored = try await perform("find photo") { context in try context.object(photo, as: Photo.self) != nil }
        guard isStored else { return false }
        // Written beside all saves, before the photo has it: a slow client holds no thread and no context.
        let received = try await store.container.makeBlob(from: parts.map(\.readableBytesView))
        return try await change { context in
            guard let photo = try context.object(photo, as: Photo.self) else { return false }
            let pixels = photo.pixels ?? Pixels()
            pixels.setBlob(received, for: \.bytes)
            photo.pixels = pixels
            photo.byteCount = received.byteCount
            try await context.save()
            return true
        }
    }

    package func pixels(of photo: String) async throws -> PixelBody? {
        let found = try await perform { context in
            try context.object(photo, as: Photo.self).map { photo in photo.pixels?.blob(\.bytes) }
        }
        guard let blob = found else { return nil }
        guard let blob else { return PixelBody(byteCount: 0) { _ in } }
        // The value stays the same while it is sent, also if the photo gets another one. Each part is read on a thread of
        // the store, for which a slow client waits only when it asks for the part.
        return PixelBody(byteCount: blob.byteCount) { write in
            for start in stride(from: 0, to: blob.byteCount, by: PixelBody.partByteCount) {
                let range = start..<min(start + PixelBody.partByteCount, blob.byteCount)
                let part = try await perform("part of pixels") { _ in try blob.data(in: range) }
                try await write(ByteBuffer(bytes: part))
            }
        }
    }
}
