import Foundation
import GRDB
import PhotoAPI

/// The library of photos in SQLite: a pool of readers, prepared statements, a transaction for each change.
struct GRDBLibrary: PhotoLibrary {
    let pool: DatabasePool

    func health() async -> LibraryHealth { LibraryHealth(isReady: true, status: "healthy") }

    func addUser(_ user: NewUser) async throws -> UserBody {
        guard user.email.contains("@") else { throw LibraryError.invalid("\(user.email) is no e-mail address.") }
        do {
            return try await pool.write { database in
                let insert = try database.cachedStatement(
                    sql: "INSERT INTO user (email, givenName, familyName) VALUES (?, ?, ?)")
                try insert.execute(arguments: [user.email, user.givenName, user.familyName])
                return UserBody(
                    id: String(database.lastInsertedRowID), email: user.email, givenName: user.givenName,
                    familyName: user.familyName)
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw LibraryError.conflict("\(user.email) is taken.")
        }
    }

    func user(_ id: String) async throws -> UserBody? {
        guard let id = Int64(id) else { return nil }
        return try await user(where: "id = ?", [id])
    }

    func user(email: String) async throws -> UserBody? { try await user(where: "email = ?", [email]) }

    private func user(where condition: String, _ arguments: StatementArguments) async throws -> UserBody? {
        try await pool.read { database in
            let select = try database.cachedStatement(
                sql: "SELECT id, email, givenName, familyName FROM user WHERE \(condition)")
            return try Row.fetchOne(select, arguments: arguments).map { row in
                UserBody(id: String(row[0] as Int64), email: row[1], givenName: row[2], familyName: row[3])
            }
        }
    }

    func addAlbum(_ album: NewAlbum) async throws -> AlbumBody {
        try await pool.write { database in
            guard let owner = Int64(album.owner), try Self.exists(owner, in: "user", database) else {
                throw LibraryError.missing("There is no User \(album.owner).")
            }
            let insert = try database.cachedStatement(sql: "INSERT INTO album (title, ownerID) VALUES (?, ?)")
            try insert.execute(arguments: [album.title, owner])
            return AlbumBody(id: String(database.lastInsertedRowID), owner: album.owner, title: album.title)
        }
    }

    func album(_ id: String) async throws -> AlbumBody? {
        guard let id = Int64(id) else { return nil }
        return try await pool.read { database in
            let select = try database.cachedStatement(sql: "SELECT id, ownerID, title FROM album WHERE id = ?")
            return try Row.fetchOne(select, arguments: [id]).map { row in
                AlbumBody(id: String(row[0] as Int64), owner: (row[1] as Int64?).map { String($0) }, title: row[2])
            }
        }
    }

    func deleteAlbum(_ id: String) async throws -> Bool {
        guard let id = Int64(id) else { return false }
        return try await pool.write { database in
            try database.cachedStatement(sql: "DELETE FROM album WHERE id = ?").execute(arguments: [id])
            return database.changesCount > 0
        }
    }

    static func exists(_ id: Int64, in table: String, _ database: Database) throws -> Bool {
        let select = try database.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE id = ?")
        return try Int.fetchOne(select, arguments: [id]) != nil
    }
}
