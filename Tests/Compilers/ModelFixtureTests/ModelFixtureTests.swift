import Faultline
import Foundation
import Testing

/// Tests models as apps declare and compile them: in Swift 5 mode, without upcoming features, and with `import
/// Faultline` only.
@Suite struct ModelFixtureTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "faultline-models-\(UUID())")

    private func configuration() -> ModelConfiguration { ModelConfiguration(url: folder.appending(path: "a.store")) }

    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    @Test func attributesOfEveryKindComeBack() throws {
        defer { cleanUp() }
        let picture = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let serial = UUID()
        let planted = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        do {
            let context = ModelContext(try ModelContainer(for: Bed.self, configurations: configuration()))
            let rose = Plant(label: "rose", plantedOn: planted, heightInCentimetres: 160)
            rose.commonName = "Höhenrose"
            rose.light = .halfShade
            rose.hardiness = .hardy
            rose.watering = Watering(everyDays: 2, litres: 1.25, hours: [6, 21])
            rose.leafCount = -7
            rose.price = Decimal(string: "12.34") ?? 0
            rose.tags = ["red", "climbing"]
            rose.catalogPage = URL(string: "https://example.org/rose?page=3")
            rose.serial = serial
            rose.picture = picture
            rose.isSelected = true
            context.insert(
                Bed(name: "south", squareMetres: 4.5, plants: [rose, Plant(label: "fern", heightInCentimetres: 40)]))
            try context.save()
        }
        let context = ModelContext(try ModelContainer(for: Bed.self, configurations: configuration()))
        let tall = try context.fetch(FetchDescriptor<Plant>(predicate: #Predicate { $0.heightInCentimetres > 150 }))
        let rose = try #require(tall.first)
        #expect(tall.count == 1)
        #expect(context.counters.blobBytesRead == 0)
        #expect(rose.label == "rose" && rose.commonName == "Höhenrose" && rose.plantedOn == planted)
        #expect(rose.light == .halfShade && rose.hardiness == .hardy && rose.isPerennial && rose.isTall)
        #expect(rose.watering == Watering(everyDays: 2, litres: 1.25, hours: [6, 21]))
        #expect(rose.leafCount == -7 && rose.price == Decimal(string: "12.34") && rose.tags == ["red", "climbing"])
        #expect(rose.catalogPage?.absoluteString == "https://example.org/rose?page=3" && rose.serial == serial)
        #expect(rose.picture == picture)
        #expect(!rose.isSelected)
        let bed = try #require(rose.bed)
        #expect(bed.squareMetres == 4.5 && bed.plants.map(\.label) == ["rose", "fern"])
        context.delete(bed)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Plant>()) == 0)
    }

    @Test func relationshipsKeepTheirInverses() throws {
        defer { cleanUp() }
        let context = ModelContext(try ModelContainer(for: Author.self, Topic.self, configurations: configuration()))
        let ada = Author("Ada")
        let bea = Author("Bea")
        context.insert(ada)
        context.insert(bea)
        bea.editor = ada
        ada.profile = Profile(about: "writes")
        let topics = ["sea", "sky"].map { Topic(title: $0) }
        for number in 0..<4 {
            let article = Article(headline: "h\(number)", year: 2_000 + number)
            article.author = number < 3 ? ada : bea
            article.topics = number % 2 == 0 ? topics : [topics[1]]
            context.insert(article)
        }
        try context.save()
        #expect(ada.edited.map(\.name) == ["Bea"])
        #expect(ada.articles.map(\.headline) == ["h0", "h1", "h2"])
        #expect(ada.profile?.author === ada)
        #expect(topics[0].articles.map(\.headline) == ["h0", "h2"])
        #expect(topics[1].articles.count == 4)

        context.insert(Article(headline: "h0", year: 2_000, body: "again"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 4)
        #expect(ada.articles.first?.body == "again")

        context.delete(ada)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        for article in ada.articles { article.author = nil }
        context.delete(ada)
        try context.save()
        #expect(bea.editor == nil)
        #expect(try context.fetchCount(FetchDescriptor<Profile>()) == 0)
    }

    @Test func versionsComeOneAfterAnotherOrAllAtOnce() throws {
        for versions in [["2", "3"], ["3"]] {
            defer { cleanUp() }
            let start = Date(timeIntervalSinceReferenceDate: 0)
            do {
                let context = ModelContext(
                    try ModelContainer(
                        for: Schema(versionedSchema: TravelSchemaV1.self), migrationPlan: TravelMigrationPlan.self,
                        configurations: configuration()))
                for number in 0..<20 {
                    context.insert(
                        TravelSchemaV1.Trip(
                            name: "trip \(number)", destination: "d\(number % 3)", startDate: start,
                            endDate: start.addingTimeInterval(Double(number))))
                }
                try context.save()
            }
            if versions.contains("2") {
                let context = ModelContext(
                    try ModelContainer(
                        for: Schema(versionedSchema: TravelSchemaV2.self), migrationPlan: TravelMigrationPlan.self,
                        configurations: configuration()))
                let trips = try context.fetch(FetchDescriptor<TravelSchemaV2.Trip>(sortBy: [SortDescriptor(\.endDate)]))
                #expect(trips.allSatisfy { !$0.isFavourite && $0.notes == nil })
                trips[3].isFavourite = true
                try context.save()
            }
            let context = ModelContext(
                try ModelContainer(
                    for: Trip.self, migrationPlan: TravelMigrationPlan.self, configurations: configuration()))
            let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.endDate)]))
            #expect(trips.map(\.title) == (0..<20).map { "trip \($0)" })
            #expect(trips.filter(\.isFavourite).map(\.title) == (versions.count == 2 ? ["trip 3"] : []))
            trips[0].stops.append(Stop(place: "halt"))
            try context.save()
            #expect(try context.fetch(FetchDescriptor<Stop>()).first?.trip === trips[0])
        }
    }
}
