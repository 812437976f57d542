import Foundation
import GRDB
import PhotoAPI

extension GRDBLibrary {
    func addPhoto(_ photo: NewPhoto) async throws -> PhotoBody {
        try await pool.write { database in
            guard let album = Int64(photo.album), try Self.exists(album, in: "album", database) else {
                throw LibraryError.missing("There is no Album \(photo.album).")
            }
            let insert = try database.cachedStatement(
                sql: "INSERT INTO photo (title, caption, camera, takenAt, albumID) VALUES (?, ?, ?, ?, ?)")
            try insert.execute(
                arguments: [photo.title, photo.caption, photo.camera, photo.takenAt.timeIntervalSince1970, album])
            let id = database.lastInsertedRowID
            for name in Set(photo.tags).sorted() {
                try database.cachedStatement(sql: "INSERT OR IGNORE INTO tag (name) VALUES (?)")
                    .execute(arguments: [name])
                try database.cachedStatement(
                    sql: "INSERT INTO photoTag (photoID, tagID) SELECT ?, id FROM tag WHERE name = ?"
                ).execute(arguments: [id, name])
            }
            var body = PhotoBody(
                id: String(id), album: photo.album, title: photo.title, caption: photo.caption, camera: photo.camera,
                takenAt: photo.takenAt, byteCount: 0)
            body.tags = Set(photo.tags).sorted()
            return body
        }
    }

    func photo(_ id: String) async throws -> PhotoBody? {
        guard let id = Int64(id) else { return nil }
        return try await pool.read { database in
            let select = try database.cachedStatement(sql: Self.columns + " WHERE id = ?")
            guard var photo = try Row.fetchOne(select, arguments: [id]).map(PhotoBody.init) else { return nil }
            let tags = try database.cachedStatement(
                sql: "SELECT name FROM tag JOIN photoTag ON tagID = tag.id WHERE photoID = ? ORDER BY name")
            photo.tags = try String.fetchAll(tags, arguments: [id])
            return photo
        }
    }

    func photos(ofAlbum album: String?, after position: String?, limit: Int) async throws -> PageBody<PhotoBody> {
        let place = try position.map(Position.init)
        return try await pool.read { database in
            var conditions: [String] = []
            var arguments = StatementArguments()
            if let album {
                guard let id = Int64(album), try Self.exists(id, in: "album", database) else {
                    throw LibraryError.missing("There is no Album \(album).")
                }
                conditions.append("albumID = ?")
                arguments += [id]
            }
            if let place {
                conditions.append("(takenAt, id) < (?, ?)")
                arguments += [place.takenAt, place.id]
            }
            let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
            let select = try database.cachedStatement(
                sql: Self.columns + filter + " ORDER BY takenAt DESC, id DESC LIMIT ?")
            let rows = try Row.fetchAll(select, arguments: arguments + [limit + 1])
            let items = rows.prefix(limit).map(PhotoBody.init)
            let next = rows.count > limit ? rows[limit - 1] : nil
            return PageBody(items: items, next: next.map { Position(takenAt: $0["takenAt"], id: $0["id"]).text })
        }
    }

    func search(_ text: String, limit: Int) async throws -> [PhotoBody] {
        try await pool.read { database in
            let select = try database.cachedStatement(sql: Self.columns + " WHERE instr(caption, ?) > 0 LIMIT ?")
            return try Row.fetchAll(select, arguments: [text, limit]).map(PhotoBody.init)
        }
    }

    func feed(limit: Int) async throws -> [FeedEntry] {
        try await pool.read { database in
            let select = try database.cachedStatement(
                sql: """
                    SELECT photo.*, givenName, familyName,
                        (SELECT count(*) FROM comment WHERE photoID = photo.id) AS commentCount,
                        (SELECT text FROM comment WHERE photoID = photo.id ORDER BY writtenAt DESC LIMIT 1) AS newest
                    FROM photo LEFT JOIN album ON album.id = albumID LEFT JOIN user ON user.id = ownerID
                    ORDER BY takenAt DESC LIMIT ?
                    """)
            return try Row.fetchAll(select, arguments: [limit]).map { row in
                let given: String? = row["givenName"]
                let family: String? = row["familyName"]
                return FeedEntry(
                    photo: PhotoBody(row), owner: given.map { "\($0) \(family ?? "")" },
                    commentCount: row["commentCount"], newestComment: row["newest"])
            }
        }
    }

    func cameras() async throws -> [CameraBody] {
        try await pool.read { database in
            let select = try database.cachedStatement(
                sql: "SELECT camera, count(*), max(takenAt) FROM photo GROUP BY camera ORDER BY camera")
            return try Row.fetchAll(select).map { row in
                CameraBody(
                    camera: row[0], photoCount: row[1],
                    newest: (row[2] as Double?).map { Date(timeIntervalSince1970: $0) })
            }
        }
    }

    private static let columns = "SELECT id, title, caption, camera, takenAt, byteCount, albumID FROM photo"
}

/// A place in a list as text for a client.
private struct Position {
    let takenAt: Double
    let id: Int64

    init(takenAt: Double, id: Int64) {
        self.takenAt = takenAt
        self.id = id
    }

    init(_ text: String) throws {
        let parts = text.split(separator: "~")
        guard parts.count == 2, let takenAt = Double(parts[0]), let id = Int64(parts[1]) else {
            throw LibraryError.invalid("after is no position in this list.")
        }
        self.init(takenAt: takenAt, id: id)
    }

    var text: String { "\(takenAt)~\(id)" }
}

extension PhotoBody {
    init(_ row: Row) {
        self.init(
            id: String(row["id"] as Int64), album: (row["albumID"] as Int64?).map { String($0) }, title: row["title"],
            caption: row["caption"], camera: row["camera"],
            takenAt: Date(timeIntervalSince1970: row["takenAt"]), byteCount: row["byteCount"])
    }
}
