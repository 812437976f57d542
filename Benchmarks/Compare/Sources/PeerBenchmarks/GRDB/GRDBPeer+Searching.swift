import BenchmarkKit
import GRDB

/// Documents with an index of FTS5, as GRDB's guide has it: external content, kept by triggers.
extension GRDBPeer: SearchingPeer {
    func createDocuments() throws {
        try pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL);
                    CREATE VIRTUAL TABLE document_ft USING fts5(title, body, content='document', content_rowid='id',
                        tokenize='unicode61 remove_diacritics 2', prefix='2 3', detail=full);
                    CREATE TRIGGER document_ai AFTER INSERT ON document BEGIN
                        INSERT INTO document_ft(rowid, title, body) VALUES (new.id, new.title, new.body);
                    END;
                    CREATE TRIGGER document_ad AFTER DELETE ON document BEGIN
                        INSERT INTO document_ft(document_ft, rowid, title, body)
                            VALUES ('delete', old.id, old.title, old.body);
                    END;
                    CREATE TRIGGER document_au AFTER UPDATE ON document BEGIN
                        INSERT INTO document_ft(document_ft, rowid, title, body)
                            VALUES ('delete', old.id, old.title, old.body);
                        INSERT INTO document_ft(rowid, title, body) VALUES (new.id, new.title, new.body);
                    END;
                    """)
        }
    }

    func insert(_ documents: [DocumentMaker.Document]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: "INSERT INTO document (title, body) VALUES (?, ?)")
            for document in documents { try statement.execute(arguments: [document.title, document.body]) }
        }
    }

    func optimizeIndex() throws {
        try pool.write { try $0.execute(sql: "INSERT INTO document_ft(document_ft) VALUES ('optimize')") }
        try settle()
    }

    func indexByteCount() throws -> Int {
        try pool.read { database in
            let sql = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'document\\_ft\\_%' ESCAPE '\\'"
            return try Int.fetchOne(database, sql: sql) ?? 0
        }
    }

    func titles(of query: String) throws -> [String] {
        try pool.read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT document.title FROM document_ft JOIN document ON document.id = document_ft.rowid
                    WHERE document_ft MATCH ? ORDER BY rank LIMIT 20
                    """)
            return try String.fetchAll(statement, arguments: [query])
        }
    }
}
