import Faultline
import FaultlineTestSupport

/// A folder that the paths of an article lead to, so that its code can name paths as a service does.
struct GuidePlace {
    private let folder = TemporaryDirectory()

    /// The URL of a path, with its last component in the folder.
    func url(_ path: String) -> URL {
        URL(filePath: folder.path).appending(path: path.split(separator: "/").last.map(String.init) ?? path)
    }
}
