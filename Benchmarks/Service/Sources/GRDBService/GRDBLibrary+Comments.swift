import Foundation
import GRDB
import PhotoAPI

extension GRDBLibrary {
    func setPixels(_ pixels: Data, of photo: String) async throws -> Bool {
        guard let id = Int64(photo) else { return false }
        return try await pool.write { database in
            try database.cachedStatement(sql: "UPDATE photo SET byteCount = ? WHERE id = ?")
                .execute(arguments: [pixels.count, id])
            guard database.changesCount > 0 else { return false }
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO pixels (photoID, bytes) VALUES (?, ?)")
                .execute(arguments: [id, pixels])
            return true
        }
    }

    func pixels(of photo: String, in range: Range<Int>) async throws -> Data? {
        guard let id = Int64(photo) else { return nil }
        return try await pool.read { database in
            let select = try database.cachedStatement(
                sql: "SELECT substr(bytes, ?, ?) FROM photo LEFT JOIN pixels ON photoID = id WHERE id = ?")
            let row = try Row.fetchOne(select, arguments: [range.lowerBound + 1, range.count, id])
            return row.map { $0[0] ?? Data() }
        }
    }

    func addComment(_ comment: NewComment, to photo: String) async throws -> CommentBody {
        let writtenAt = Date()
        return try await pool.write { database in
            guard let id = Int64(photo), try Self.exists(id, in: "photo", database) else {
                throw LibraryError.missing("There is no Photo \(photo).")
            }
            guard let author = Int64(comment.author), try Self.exists(author, in: "user", database) else {
                throw LibraryError.missing("There is no User \(comment.author).")
            }
            let insert = try database.cachedStatement(
                sql: "INSERT INTO comment (text, writtenAt, authorID, photoID) VALUES (?, ?, ?, ?)")
            try insert.execute(arguments: [comment.text, writtenAt.timeIntervalSince1970, author, id])
            return CommentBody(
                id: String(database.lastInsertedRowID), author: comment.author, text: comment.text,
                writtenAt: writtenAt)
        }
    }

    func comments(of photo: String, limit: Int) async throws -> [CommentBody] {
        try await pool.read { database in
            guard let id = Int64(photo), try Self.exists(id, in: "photo", database) else {
                throw LibraryError.missing("There is no Photo \(photo).")
            }
            let select = try database.cachedStatement(
                sql: """
                    SELECT id, authorID, text, writtenAt FROM comment WHERE photoID = ?
                    ORDER BY writtenAt DESC LIMIT ?
                    """)
            return try Row.fetchAll(select, arguments: [id, limit]).map { row in
                CommentBody(
                    id: String(row[0] as Int64), author: (row[1] as Int64?).map { String($0) }, text: row[2],
                    writtenAt: Date(timeIntervalSince1970: row[3]))
            }
        }
    }
}
