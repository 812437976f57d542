import BenchmarkKit
import Foundation
import GRDB

/// Migrations by `DatabaseMigrator`, with rows and statements, as its guide advises: records change later.
extension GRDBPeer: MigratingPeer {
    private typealias Texts = SQLiteMigrationSchema

    func createWithPhotoColumn() throws {
        try pool.write { database in
            for text in Texts.keptPhotos { try database.execute(sql: text) }
            for number in 1...100 {
                try DepartmentRow(id: Int64(number), name: EmployeeMaker.departmentName(number)).insert(database)
            }
        }
    }

    func insertWithPhotoColumn(_ employees: [PhotographedRow]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: Texts.insertKept)
            for row in employees {
                let employee = row.employee
                try statement.execute(arguments: [
                    employee.name, employee.email, employee.salary, employee.hireDate.timeIntervalSinceReferenceDate,
                    employee.active, employee.level, employee.notes, employee.departmentId, row.photo,
                ])
            }
        }
    }

    func splitNames() throws {
        try migrate { database in
            try database.execute(sql: Texts.splitTable)
            let statement = try database.makeStatement(sql: Texts.insertSplit)
            let rows = try Row.fetchCursor(database, sql: Texts.allEmployees)
            while let row = try rows.next() {
                let name: String = row[1]
                let parts = name.split(separator: " ", maxSplits: 1)
                try statement.execute(arguments: [
                    row[0] as Int64, parts.first.map(String.init) ?? "", parts.count > 1 ? String(parts[1]) : "",
                    row[2] as String, row[3] as Double, row[4] as Double, row[5] as Bool, row[6] as Int,
                    row[7] as String, row[8] as Int64,
                ])
            }
            for text in Texts.exchange { try database.execute(sql: text) }
        }
    }

    func renameLevel() throws {
        try migrate { database in
            for text in [Texts.gradedTable, Texts.copyGraded] + Texts.exchange { try database.execute(sql: text) }
        }
    }

    func mergeLevels() throws {
        try migrate { database in
            var teams: [Int: (salaries: Double, count: Int)] = [:]
            let rows = try Row.fetchCursor(database, sql: Texts.levels)
            while let row = try rows.next() {
                let (level, salary) = (row[0] as Int, row[1] as Double)
                teams[level, default: (0, 0)].salaries += salary
                teams[level, default: (0, 0)].count += 1
            }
            try database.execute(sql: Texts.teamTable)
            for (level, team) in teams {
                try database.execute(sql: Texts.insertTeam, arguments: [level, team.salaries, team.count])
            }
            for text in Texts.dropForTeams { try database.execute(sql: text) }
        }
    }

    func splitPhotos(isByCode: Bool) throws {
        try migrate { database in
            try database.execute(sql: Texts.photoTable)
            if isByCode {
                let statement = try database.makeStatement(sql: Texts.insertPhoto)
                let rows = try Row.fetchCursor(database, sql: Texts.keptBytes)
                while let row = try rows.next() {
                    try statement.execute(arguments: [row[0] as Int64, row[1] as Data])
                }
            } else {
                try database.execute(sql: Texts.copyPhotos)
            }
            for text in [Texts.plainTable, Texts.copyPlain] + Texts.exchange { try database.execute(sql: text) }
        }
    }

    private func migrate(_ body: @escaping @Sendable (Database) throws -> Void) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("version 2", migrate: body)
        try migrator.migrate(pool)
    }

    func texts(_ query: String) throws -> [String] {
        try pool.read { database in try String.fetchAll(database, sql: query) }
    }
}
