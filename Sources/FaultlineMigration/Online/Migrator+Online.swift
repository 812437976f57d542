internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// An online migration: containers of the schema in force read and save until the switch.

extension Migrator {
    /// The identity of the migration; an online one is never resumed, because rows were saved since it was stopped.
    func digest(of steps: MigrationSteps) -> String {
        (options.isOnline ? MigrationRecord.abandonedMark + "online " : "") + steps.digest
    }

    /// Migrates the store while others save.
    ///
    /// If it fails, or is cancelled, the old state stays in force, and nothing of the migration is left.
    ///
    /// - Throws: As `migrate`; `duplicate` also if others have saved two objects with the same values.
    mutating func migrateOnline(
        _ stored: StoredCatalog, _ steps: MigrationSteps, _ consent: MigrationConsent
    ) throws -> StoredCatalog {
        let turn = MigrationTurns.shared.turn(of: log)
        turn.isOnline = true
        let mirror = IndexMirror(log, notedMax: options.notedMax)
        self.mirror = mirror
        defer {
            self.mirror = nil
            turn.isOnline = false
        }
        do {
            let catalog = try migrate(stored, steps, consent)
            OnlineMirrors.remove(mirror)
            return catalog
        } catch {
            // If this fails too, saves are refused until the next opening, which removes the migration's record.
            try? abandonOnline()
            OnlineMirrors.remove(mirror)
            throw MigrationError.translating(error)
        }
    }

    /// Removes the record of the migration, if a failed step has not done so, and the indexes that it has built.
    private func abandonOnline() throws {
        guard let now = try StoredCatalog.read(log.snapshot()) else { return }
        try dropIndexes(notIn: try MigrationAbandonment(log: log).run(now).map)
        // Their files go with a checkpoint.
        try log.checkpoint()
    }

    /// Looks once more at the objects that have no entry in a new unique index, so that the switch finds few.
    func settleBeforeSwitch() throws {
        guard let mirror else { return }
        do {
            var hasMany = true
            for _ in 0..<Self.settlingRoundsMax where hasMany {
                var isDone = false
                while !isDone {
                    _ = try log.write(author: nil) { transaction in
                        isDone = try mirror.settleSome(in: &transaction)
                        hasMany = mirror.hasMany(in: transaction)
                    }
                }
            }
        } catch { throw MigrationError.translating(error) }
    }

    /// Saves may leave more objects without an entry while the migration looks at the others.
    private static let settlingRoundsMax = 4

    /// The same in the switch: none may be left.
    func settleInSwitch(_ transaction: inout Transaction) throws {
        do { try mirror?.settle(in: &transaction) } catch { throw MigrationError.translating(error) }
    }

    /// Opens the store under the schema in force while another thread of this process migrates it online; nil if none
    /// does, or if this schema is another one: then the caller waits.
    func openBesideMigration() throws -> Opened? {
        guard MigrationTurns.shared.turn(of: log).isOnline, let stored = try StoredCatalog.read(log.snapshot()),
            let steps = try? MigrationSteps(
                from: stored.schema, stored.map, to: schema, plan: plan, mapping: options.mapping),
            steps.all.isEmpty
        else { return nil }
        guard raised(schema, over: stored.schema) == stored.schema else { return nil }
        return (try open(stored.inForce), report)
    }
}
