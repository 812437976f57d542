import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineTestSupport
import Testing

/// The history describes exactly what happened: a reader that follows it knows the stored values.
@Suite struct HistoryModelTests {
    /// A reader that has only the history, and reads an object only if the history names it.
    private struct Follower {
        var token: DefaultHistoryToken?
        var known: [PersistentIdentifier: [String]] = [:]

        /// Catches up, reading only the properties that the history lists as set.
        mutating func follow(_ context: ModelContext) throws {
            var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
            if let token { descriptor.predicate = #Predicate { $0.token > token } }
            // Values belong to the newest state, so all changes are read first.
            var touched: [PersistentIdentifier: Set<String>] = [:]
            for transaction in try context.fetchHistory(descriptor) {
                for change in transaction.changes {
                    let object = change.changedPersistentIdentifier
                    switch change {
                    case .insert:
                        #expect(known[object] == nil)
                        known[object] = ["", "", ""]
                        touched[object] = ["holder", "pages", "stamps", "country", "passport"]
                    case .update(let update):
                        #expect(known[object] != nil)
                        touched[object, default: []].formUnion(update.updatedPropertyNames)
                    case .delete:
                        #expect(known[object] != nil)
                        known[object] = nil
                        touched[object] = nil
                    }
                }
                token = transaction.token
            }
            for (object, names) in touched {
                var values = try #require(known[object])
                for (place, text) in try Self.values(of: object, names, in: context) { values[place] = text }
                known[object] = values
            }
        }

        private static func values(
            of object: PersistentIdentifier, _ names: Set<String>, in context: ModelContext
        ) throws -> [(Int, String)] {
            var values: [(Int, String)] = []
            switch context.model(for: object) {
            case let passport as Passport:
                if names.contains("holder") { values.append((0, passport.holder)) }
                if names.contains("pages") { values.append((1, "\(passport.pages)")) }
                if names.contains("stamps") { values.append((2, members(passport))) }
            case let stamp as Stamp:
                if names.contains("country") { values.append((0, stamp.country)) }
                if names.contains("passport") { values.append((1, stamp.passport?.serial ?? "")) }
            default: break
            }
            return values
        }

        static func members(_ passport: Passport) -> String {
            passport.stamps.map(\.country).sorted().joined(separator: ",")
        }
    }

    private func stored(_ context: ModelContext) throws -> [PersistentIdentifier: [String]] {
        var all: [PersistentIdentifier: [String]] = [:]
        for passport in try context.all(Passport.self) {
            all[passport.persistentModelID] = [passport.holder, "\(passport.pages)", Follower.members(passport)]
        }
        for stamp in try context.all(Stamp.self) {
            all[stamp.persistentModelID] = [stamp.country, stamp.passport?.serial ?? "", ""]
        }
        return all
    }

    @Test(arguments: 1...6) func whoFollowsTheHistoryKnowsWhatIsStored(seed: UInt64) throws {
        let store = try TestStore(Passport.self, Stamp.self)
        var random = Seed(seed)
        var contexts = [store.context(), store.context()]
        var follower = Follower()
        for round in 0..<60 {
            let context = contexts[Int(random.next() % 2)]
            for _ in 0..<(1 + random.next() % 5) { try change(context, &random) }
            do { try context.save() } catch { context.rollback() }
            if round % 15 == 14 {
                try store.reopen()
                contexts = [store.context(), store.context()]
            }
            if random.next() % 4 == 0 { try follower.follow(store.context()) }
        }
        let context = store.context()
        try follower.follow(context)
        #expect(try follower.known == stored(store.context()))
        // Follows the history again from the beginning.
        var late = Follower()
        try late.follow(context)
        #expect(late.known == follower.known)
        #expect(late.token == follower.token)
    }

    private func change(_ context: ModelContext, _ random: inout Seed) throws {
        let passports = try context.all(Passport.self, sortBy: [SortDescriptor(\.serial)])
        let stamps = try context.all(Stamp.self)
        func pick<T>(_ all: [T]) -> T? { all.isEmpty ? nil : all[Int(random.next() % UInt64(all.count))] }
        switch random.next() % 8 {
        case 0, 1: context.insert(Passport("\(random.next() % 12)", "h\(random.next() % 100)"))
        case 2: context.insert(Stamp("c\(random.next())"))
        case 3: pick(passports)?.holder = "h\(random.next() % 100)"
        case 4: if let stamp = pick(stamps) { stamp.passport = pick(passports) }
        case 5: pick(stamps).map(context.delete)
        case 6: if random.next() % 3 == 0 { pick(passports).map(context.delete) }
        default: pick(passports)?.pages = Int(random.next() % 9)
        }
    }

    @Test func aPowerCutTakesASaveAndItsRecordTogether() throws {
        var options = LogOptions()
        options.maintenance = .manual
        options.seed = 1
        let disk = SimulatedDisk(directories: ["/d"])
        func open(_ disk: Disk) throws -> ModelContainer {
            try ModelContainer(
                for: [Stamp.self, Passport.self], directory: "/d/store", on: disk, clock: Clock { 1 },
                options: options, recordsHistory: true)
        }
        let container = try open(disk)
        let context = ModelContext(container)
        var imageCount = 0
        for round in 0..<6 {
            for _ in 0...round { context.insert(Stamp("\(round)")) }
            try context.save()
            for image in disk.crashImages(CrashOptions()).prefix(20) {
                imageCount += 1
                let recovered = try open(image.disk)
                let reader = ModelContext(recovered)
                let transactions = try reader.history()
                let inserted = transactions.flatMap(\.changes).map(\.changedPersistentIdentifier)
                let stored = try reader.all(Stamp.self).map(\.persistentModelID)
                #expect(Set(inserted) == Set(stored))
                #expect(transactions.map(\.changes.count) == Array(1...transactions.count))
                try recovered.close()
            }
        }
        #expect(imageCount > 6)
    }
}
