import Faultline
package import PhotoAPI

extension StoreLibrary {
    package func addUser(_ user: NewUser) async throws -> UserBody {
        guard user.email.contains("@") else { throw LibraryError.invalid("\(user.email) is no e-mail address.") }
        return try await change { context in
            guard try context.first(\User.email, equals: user.email) == nil else {
                throw LibraryError.conflict("\(user.email) is taken.")
            }
            // Another request may add the same user before the save, which then throws.
            context.uniquenessConflicts = .error
            let added = User(email: user.email, givenName: user.givenName, familyName: user.familyName)
            context.insert(added)
            do { try await context.save() } catch let error as SwiftDataError where !error.findings.isEmpty {
                throw LibraryError.conflict("\(user.email) is taken.")
            }
            return UserBody(added)
        }
    }

    package func user(_ id: String) async throws -> UserBody? {
        try await perform { context in try context.object(id, as: User.self).map(UserBody.init) }
    }

    package func user(email: String) async throws -> UserBody? {
        try await perform { context in try context.first(\User.email, equals: email).map(UserBody.init) }
    }

    package func addAlbum(_ album: NewAlbum) async throws -> AlbumBody {
        try await change { context in
            let added = Album(title: album.title)
            added.owner = try context.required(album.owner, as: User.self)
            context.insert(added)
            try await context.save()
            return AlbumBody(added)
        }
    }

    package func album(_ id: String) async throws -> AlbumBody? {
        try await perform { context in try context.object(id, as: Album.self).map(AlbumBody.init) }
    }

    package func deleteAlbum(_ id: String) async throws -> Bool {
        try await change { context in
            guard let album = try context.object(id, as: Album.self) else { return false }
            context.delete(album)
            try await context.save()
            return true
        }
    }
}

extension UserBody {
    init(_ user: User) {
        self.init(
            id: user.key, email: user.email, givenName: user.givenName,
            familyName: user.familyName)
    }
}

extension AlbumBody {
    init(_ album: Album) {
        self.init(
            id: album.key, owner: album.owner?.key,
            title: album.title)
    }
}
