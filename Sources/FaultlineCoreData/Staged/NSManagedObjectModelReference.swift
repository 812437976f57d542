internal import FaultlineMigration
public import FaultlineModel
internal import FaultlineObjects
public import Foundation

extension Schema {
    /// The identity of a model: its fingerprint, as lock files and `faultline info` show it.
    ///
    /// - Complexity: O(n log n) for n properties.
    public var versionChecksum: String { "\(fingerprint)" }
}

/// A model of a staged migration, and the checksum that it must have.
///
///     let notes2 = NSManagedObjectModelReference(model: notes, versionChecksum: "5a0c9f4d1be6c3a7d0b1f0e2c4a69788")
///
/// The checksum protects a released model from accidental changes: a model with another one is refused when the store
/// is opened.
public final class NSManagedObjectModelReference: Sendable {
    private enum Source: Sendable {
        case model(NSManagedObjectModel)
        case file(URL)
    }

    /// The checksum that the model must have: `NSManagedObjectModel.versionChecksum`.
    public let versionChecksum: String
    private let source: Source

    /// Refers to a model.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        source = .model(model)
        self.versionChecksum = versionChecksum
    }

    /// Refers to a model in a file, as `faultline schema STORE --json` writes it; it is read when it is needed.
    public init(fileURL: URL, versionChecksum: String) {
        source = .file(fileURL)
        self.versionChecksum = versionChecksum
    }

    /// The model.
    ///
    /// - Throws: `MigrationError` of code `unknownVersion` for a model with another checksum, with the model's;
    ///   `SchemaError` for a file that is no model; the system's error if it cannot be read.
    /// - Complexity: O(n log n) for n properties; a model in a file is read at each call.
    public var resolvedModel: NSManagedObjectModel {
        get throws {
            let model =
                switch source {
                case .model(let model): model
                case .file(let url): try Schema.load(from: url)
                }
            guard model.versionChecksum == versionChecksum else {
                throw MigrationError(
                    .unknownVersion,
                    "The model of version \(model.version) has the checksum \(model.versionChecksum), and its reference the checksum \(versionChecksum): the model has changed since. Restore it, and put the change into a model of its own."
                )
            }
            return model
        }
    }
}
