import BenchmarkKit

/// What clients ask for during a measurement.
enum Endpoint: String, CaseIterable, Sendable {
    case get, list, album, post, comment, mixed, search, feed, cameras

    func request(_ data: PhotoData, _ random: inout SplitMix64) -> LoadRequest {
        switch self {
        case .get: LoadRequest(path: "/photos/\(photo(data, &random))")
        case .list: LoadRequest(path: "/photos?limit=50")
        case .album: LoadRequest(path: "/albums/\(data.albums[index(data.albums.count, &random)])/photos?limit=50")
        case .post: data.newPhoto(&random)
        case .comment:
            LoadRequest(
                method: .post, path: "/photos/\(photo(data, &random))/comments",
                body: #"{"author":"\#(data.users[index(data.users.count, &random)])","text":"A fine picture."}"#)
        case .mixed: mixed(&random).request(data, &random)
        case .search:
            LoadRequest(path: "/search?limit=20&q=\(word(&random))%20\(word(&random))%20\(word(&random))")
        case .feed: LoadRequest(path: "/feed?limit=20")
        case .cameras: LoadRequest(path: "/cameras")
        }
    }

    private func mixed(_ random: inout SplitMix64) -> Endpoint {
        switch index(100, &random) {
        case 0..<70: .get
        case 70..<80: .list
        case 80..<90: .album
        case 90..<95: .comment
        default: .post
        }
    }

    private func index(_ count: Int, _ random: inout SplitMix64) -> Int { random.draw(below: count) }
    private func photo(_ data: PhotoData, _ random: inout SplitMix64) -> String {
        data.photos[index(data.photos.count, &random)]
    }
    private func word(_ random: inout SplitMix64) -> String { PhotoData.words[index(PhotoData.words.count, &random)] }
}
