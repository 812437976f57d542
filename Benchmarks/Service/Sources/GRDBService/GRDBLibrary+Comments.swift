import Foundation
import GRDB
import Hummingbird
import PhotoAPI

extension GRDBLibrary {
    func setPixels(_ parts: PixelParts, of photo: String) async throws -> Bool {
        guard let id = Int64(photo) else { return false }
        let pixels = Data(try await parts.collect().readableBytesView)
        return try await pool.write { database in
            try database.cachedStatement(sql: "UPDATE photo SET byteCount = ? WHERE id = ?")
                .execute(arguments: [pixels.count, id])
            guard database.changesCount > 0 else { return false }
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO pixels (photoID, bytes) VALUES (?, ?)")
                .execute(arguments: [id, pixels])
            return true
        }
    }

    func pixels(of photo: String) async throws -> PixelBody? {
        guard let id = Int64(photo) else { return nil }
        let count = try await pool.read { database in
            try Int.fetchOne(
                database.cachedStatement(sql: "SELECT byteCount FROM photo WHERE id = ?"), arguments: [id])
        }
        return count.map { byteCount in
            PixelBody(byteCount: byteCount) { write in
                for start in stride(from: 0, to: byteCount, by: PixelBody.partByteCount) {
                    let count = min(PixelBody.partByteCount, byteCount - start)
                    guard let part = try await part(of: id, start, count), part.count == count else {
                        throw LibraryError.missing("The pixels of \(id) were replaced.")
                    }
                    try await write(ByteBuffer(bytes: part))
                }
            }
        }
    }

    private func part(of id: Int64, _ start: Int, _ count: Int) async throws -> Data? {
        try await pool.read { database in
            let select = try database.cachedStatement(sql: "SELECT substr(bytes, ?, ?) FROM pixels WHERE photoID = ?")
            return try Data.fetchOne(select, arguments: [start + 1, count, id])
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
