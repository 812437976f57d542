import GRDB

/// The tables of users, albums, photos, tags and comments.
enum PhotoTables {
    static func make(in pool: DatabasePool) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("2.0.0") { database in
            for statement in statements { try database.execute(sql: statement) }
        }
        try migrator.migrate(pool)
    }

    private static let statements = [
        """
        CREATE TABLE user (
            id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, givenName TEXT NOT NULL, familyName TEXT NOT NULL)
        """,
        """
        CREATE TABLE album (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, ownerID INTEGER REFERENCES user(id) ON DELETE CASCADE)
        """,
        "CREATE INDEX albumByOwner ON album(ownerID)",
        """
        CREATE TABLE photo (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, caption TEXT NOT NULL, camera TEXT NOT NULL,
            takenAt REAL NOT NULL, byteCount INTEGER NOT NULL DEFAULT 0,
            albumID INTEGER REFERENCES album(id) ON DELETE CASCADE)
        """,
        "CREATE INDEX photoByDate ON photo(takenAt)",
        "CREATE INDEX photoByAlbum ON photo(albumID, takenAt)",
        "CREATE TABLE pixels (photoID INTEGER PRIMARY KEY REFERENCES photo(id) ON DELETE CASCADE, bytes BLOB NOT NULL)",
        "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        """
        CREATE TABLE photoTag (
            photoID INTEGER NOT NULL REFERENCES photo(id) ON DELETE CASCADE,
            tagID INTEGER NOT NULL REFERENCES tag(id) ON DELETE CASCADE,
            PRIMARY KEY (photoID, tagID)) WITHOUT ROWID
        """,
        "CREATE INDEX photoTagByTag ON photoTag(tagID)",
        """
        CREATE TABLE comment (
            id INTEGER PRIMARY KEY, text TEXT NOT NULL, writtenAt REAL NOT NULL,
            authorID INTEGER REFERENCES user(id) ON DELETE SET NULL,
            photoID INTEGER REFERENCES photo(id) ON DELETE CASCADE)
        """,
        "CREATE INDEX commentByPhoto ON comment(photoID, writtenAt)",
        "CREATE INDEX commentByAuthor ON comment(authorID)",
    ]
}
