import Faultline
import FaultlineTesting
import Synchronization
import Testing

enum PhotoService {
    @Model final class Photo {
        #Index<Photo>([\.taken])
        @Attribute(.unique) var key: UUID
        var name: String
        var taken: Date
        var pixels: Data
        init(key: UUID, name: String, taken: Date, pixels: Data) {
            self.key = key
            self.name = name
            self.taken = taken
            self.pixels = pixels
        }
    }

    // snippet
    struct PhotoRequests: Sendable {
        let container: ModelContainer

        func add(_ key: UUID, _ name: String, _ pixels: Data) async throws {
            try await container.perform { context in
                context.insert(Photo(key: key, name: name, taken: .now, pixels: pixels))
                try await context.save()  // the thread serves others while the disk synchronizes
            }
        }

        func name(of key: UUID) async throws -> String? {
            try await container.perform { context in
                try context.first(\Photo.key, equals: key)?.name
            }
        }
    }
    // end

    // snippet
    final class PhotoStore: Sendable {
        private let opened = Mutex<ModelContainer?>(nil)

        /// The container; nil while the store is opened and migrated.
        var container: ModelContainer? { opened.withLock { $0 } }

        func open(_ configuration: ModelConfiguration) async throws {
            let container = try await ModelContainer.open(
                for: Photo.self, configuration: configuration
            ) { progress in
                print(progress)  // pass, entity, objects done, time left
            }
            opened.withLock { $0 = container }
        }
    }
    // end
}

/// The code of In a service.
@Suite struct ServiceGuide {
    private typealias Photo = PhotoService.Photo
    private typealias PhotoRequests = PhotoService.PhotoRequests
    private typealias PhotoStore = PhotoService.PhotoStore
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `In a service: requests`() async throws {
        var configuration = ModelConfiguration(url: URL(filePath: "/var/lib/photos.store"))
        // snippet
        configuration.options.performing.longestWait = .seconds(2)
        // end
        let store = PhotoStore()
        try await store.open(configuration)
        let container = try #require(store.container)
        let key = UUID()
        // snippet
        let requests = PhotoRequests(container: container)
        try await requests.add(key, "beach", Data(count: 100_000))
        let name = try await requests.name(of: key)
        // end
        #expect(name == "beach")
        #expect(container.health.isReady)
        func answer() async throws -> String {
            // snippet
            do {
                return try await requests.name(of: key) ?? "404"
            } catch let error as StorageError where error.code == .busy {
                return "503"  // nothing was done
            }
            // end
        }
        #expect(try await answer() == "beach")
    }

    @Test func `In a service: pages, parts of values, streams`() async throws {
        let container = try ModelContainer(
            for: Photo.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        for number in 0..<120 {
            context.insert(
                Photo(
                    key: UUID(), name: "\(number)", taken: Date(timeIntervalSince1970: Double(number)),
                    pixels: Data(count: 9_000)))
        }
        try context.save()
        struct BadRequest: Error {}
        let received: String? = nil
        // snippet
        let order = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.taken)])
        let cursor = try received.map { text in
            guard let cursor = FetchCursor(text) else { throw BadRequest() }
            return cursor
        }
        let page = try context.fetchPage(order, after: cursor, size: 50)
        let body = page.objects.map(\.name)
        let link = page.cursor.map { "/photos?after=\($0)" }  // for the next request
        // end
        #expect(body.count == 50 && link != nil)
        let photo = try #require(page.objects.first)
        // snippet
        let pixels = photo.blob(\.pixels)  // reads where they are
        let range = 0..<min(4_096, pixels?.byteCount ?? 0)
        let bytes = try pixels?.data(in: range)
        // end
        #expect(bytes?.count == 4_096)
        let sent = Mutex(0)
        let send: @Sendable ([ValueCopy]) -> Void = { copies in sent.withLock { $0 += copies.count } }
        // snippet
        for try await photos in container.stream(order, batchSize: 50) { send(photos) }
        // end
        #expect(sent.withLock { $0 } == 120)
        // snippet
        try context.loading(atMost: FaultBudget(faults: 5, blobBytes: 0)) {
            _ = try context.fetchPage(order, size: 50).objects.map(\.name)
        }
        // end
        try await streams(container)
    }

    private func streams(_ container: ModelContainer) async throws {
        let key = UUID()
        let requestBody = AsyncStream { continuation in
            for _ in 0..<20 { continuation.yield([UInt8](repeating: 7, count: 30_000)) }
            continuation.finish()
        }
        var sent: [Int] = []
        func send(_ piece: Data) { sent.append(piece.count) }
        // snippet
        let received = try await container.makeBlob(from: requestBody)  // any AsyncSequence of bytes
        try await container.perform { context in
            let photo = Photo(key: key, name: "large", taken: .now, pixels: Data())
            photo.setBlob(received, for: \.pixels)
            context.insert(photo)
            try await context.save()  // copies nothing
        }
        let large = try await container.perform { try $0.first(\Photo.key, equals: key)?.blob(\.pixels) }
        if let large { for try await piece in large.bytes() { send(piece) } }  // 256 KiB at a time
        // end
        #expect(sent == [262_144, 262_144, 75_712])
    }

    @Test func `In a service: options`() throws {
        // snippet
        var configuration = ModelConfiguration(url: URL(filePath: "/var/lib/photos.store"))
        configuration.options.memoryBudget = 256 << 20  // of the engine: 64 MiB by default
        configuration.options.durability = .async  // a power cut may lose the last second of saves
        let container = try ModelContainer(for: Photo.self, configurations: configuration)
        let context = ModelContext(container)
        context.insert(Photo(key: UUID(), name: "important", taken: .now, pixels: Data()))
        try context.save()
        try container.synchronize()  // this one survives a power cut
        try container.close()  // at the end of the process
        // end
        #expect(container.health.status == .failed)
    }
}
