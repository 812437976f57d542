import BenchmarkKit
import Foundation

extension SQLitePeer: MigratingPeer {
    private typealias Texts = SQLiteMigrationSchema

    func createWithPhotoColumn() throws {
        for text in Texts.keptPhotos { try run(text) }
        try insertDepartments()
    }

    func insertWithPhotoColumn(_ employees: [PhotographedRow]) throws {
        let statement = try statement(Texts.insertKept)
        try transaction {
            for row in employees {
                try row.photo.withUnsafeBytes { photo in
                    statement.bind(9, photo)
                    try Self.insert(row.employee, statement)
                }
            }
        }
    }

    func splitNames() throws {
        try migrate {
            try run(Texts.splitTable)
            let old = try statement(Texts.allEmployees)
            let new = try statement(Texts.insertSplit)
            while try old.step() {
                new.bind(1, old.integer(0))
                var name = old.text(1)
                // Bound in place: the columns stay where they are until the next step.
                for (from, to) in [(2, 3), (7, 8)] as [(Int32, Int32)] {
                    new.bind(to + 1, old.bytes(from).assumingMemoryBound(to: UInt8.self))
                }
                new.bind(5, old.double(3))
                new.bind(6, old.double(4))
                new.bind(7, old.integer(5))
                new.bind(8, old.integer(6))
                new.bind(10, old.integer(8))
                try name.withUTF8 { name in
                    let space = name.firstIndex(of: UInt8(ascii: " ")) ?? name.endIndex
                    new.bind(2, UnsafeBufferPointer(rebasing: name[..<space]))
                    new.bind(3, UnsafeBufferPointer(rebasing: name[space...].dropFirst()))
                    try new.run()
                }
            }
            for text in Texts.exchange { try run(text) }
        }
    }

    func renameLevel() throws {
        try migrate {
            for text in [Texts.gradedTable, Texts.copyGraded] + Texts.exchange { try run(text) }
        }
    }

    func mergeLevels() throws {
        try migrate {
            var teams: [Int64: (salaries: Double, count: Int64)] = [:]
            let old = try statement(Texts.levels)
            while try old.step() {
                let salary = old.double(1)
                teams[old.integer(0), default: (0, 0)].salaries += salary
                teams[old.integer(0), default: (0, 0)].count += 1
            }
            try run(Texts.teamTable)
            let new = try statement(Texts.insertTeam)
            for (level, team) in teams {
                new.bind(1, level)
                new.bind(2, team.salaries)
                new.bind(3, team.count)
                try new.run()
            }
            for text in Texts.dropForTeams { try run(text) }
        }
    }

    func splitPhotos(isByCode: Bool) throws {
        try migrate {
            try run(Texts.photoTable)
            if isByCode {
                let old = try statement(Texts.keptBytes)
                let new = try statement(Texts.insertPhoto)
                while try old.step() {
                    let photo = Data(old.bytes(1))
                    new.bind(1, old.integer(0))
                    try photo.withUnsafeBytes { photo in
                        new.bind(2, photo)
                        try new.run()
                    }
                }
            } else {
                try run(Texts.copyPhotos)
            }
            for text in [Texts.plainTable, Texts.copyPlain] + Texts.exchange { try run(text) }
        }
    }

    /// Changes tables in one transaction, and checks references at its end.
    private func migrate(_ body: () throws -> Void) throws {
        try run("PRAGMA foreign_keys = OFF")
        try transaction {
            try body()
            if try statement("PRAGMA foreign_key_check").step() {
                throw BenchmarkError(.wrongResult, "a reference leads nowhere")
            }
        }
        try run("PRAGMA foreign_keys = ON")
    }

    func texts(_ query: String) throws -> [String] {
        let statement = try statement(query)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0)) }
        return texts
    }
}
