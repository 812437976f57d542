import BenchmarkKit
import Foundation
import Synchronization

/// The identifiers of the users, albums and photos of a service, by number.
struct PhotoData: Sendable {
    var users: [String] = []
    var albums: [String] = []
    var photos: [String] = []

    static let cameras = ["Contax T2", "Leica M6", "Nikon FM2", "Olympus XA", "Pentax K1000", "Rollei 35"]
    static let words = [
        "amber", "beach", "cloud", "dune", "evening", "forest", "garden", "harbour", "island", "jetty", "kite", "lake",
        "morning", "north", "orchard", "pier", "quiet", "river", "shore", "tide", "under",
        "valley", "winter", "yellow",
    ]
    private static let dates = (0..<4_096).map { number in
        Date(timeIntervalSince1970: 1.6e9 + Double(number) * 9_973).ISO8601Format()
    }

    /// Adds users, albums and photos by requests.
    static func make(photoCount: Int, port: Int, _ clients: LoadClients) async throws -> PhotoData {
        var data = PhotoData()
        data.users = try await added(max(1, photoCount / 250), port, clients) { number, _ in
            LoadRequest(
                method: .post, path: "/users",
                body: #"{"email":"user\#(number)@example.org","givenName":"Ada","familyName":"No\#(number)"}"#)
        }
        let users = data.users
        data.albums = try await added(max(1, photoCount / 50), port, clients) { number, _ in
            LoadRequest(
                method: .post, path: "/albums",
                body: #"{"owner":"\#(users[number % users.count])","title":"Album \#(number)"}"#)
        }
        let made = data
        data.photos = try await added(photoCount, port, clients) { number, random in made.newPhoto(&random) }
        return data
    }

    private static func added(
        _ count: Int, _ port: Int, _ clients: LoadClients,
        _ request: @escaping @Sendable (Int, inout SplitMix64) -> LoadRequest
    ) async throws -> [String] {
        let counter = LoadCounter()
        let result = try await clients.run(port: port, seed: 1) { random in
            let number = counter.next()
            guard number < count else { return nil }
            var made = request(number, &random)
            made.number = number
            return made
        }
        return try (0..<count).map { number in
            guard let identifier = result.identifiers[number] else {
                throw BenchmarkError(.wrongResult, "the service refused \(result.refusals) of the data")
            }
            return identifier
        }
    }

    /// A photo with two tags in a random album.
    func newPhoto(_ random: inout SplitMix64) -> LoadRequest {
        let (words, cameras, dates) = (Self.words, Self.cameras, Self.dates)
        func word() -> String { words[random.draw(below: words.count)] }
        let caption = (0..<8).map { _ in word() }.joined(separator: " ")
        let album = albums[random.draw(below: albums.count)]
        let camera = cameras[random.draw(below: cameras.count)]
        let date = dates[random.draw(below: dates.count)]
        return LoadRequest(
            method: .post, path: "/photos",
            body: """
                {"album":"\(album)","title":"\(word()) \(word())","caption":"\(caption)","camera":"\(camera)",\
                "takenAt":"\(date)","tags":["\(word())","\(word())"]}
                """)
    }
}

/// Numbers from 0 that several connections share.
final class LoadCounter: Sendable {
    private let value = Atomic(0)
    func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
}
