#if Service
public import Faultline
public import FaultlineMigration

extension StoreService {
    /// The state of a service and of its store: for the probes of a platform.
    ///
    ///     let health = store.health
    ///     return Response(status: health.statusCode, body: try JSONEncoder().encode(health))
    ///
    /// Encodes as `{"status": "migrating", "migration": {"pass": "instances", "objectsDone": 1000, …}}`, and as
    /// `{"status": "ready", "store": {"status": "healthy", "reasons": []}}`. States do not change, but messages may.
    public struct Health: Codable, Hashable, Sendable, CustomStringConvertible {
        /// The phase of the service.
        public enum Status: String, Codable, Hashable, Sendable, CaseIterable {
            /// Before `run()`, or while a store is opened that needs no migration.
            case starting
            /// The store is being migrated; `migration` says how far it is.
            case migrating
            /// The store is open; `store` has its own health.
            case ready
            /// The service shuts down: calls under way end, later ones are refused.
            case closing
            /// The store is closed.
            case closed
            /// The store could not be opened, or not be closed; `failure` says why.
            case failed
        }

        /// The newest progress of a migration.
        public struct Migration: Codable, Hashable, Sendable, CustomStringConvertible {
            /// The current kind of work.
            public let pass: MigrationPass
            /// The version from which the current stage starts; nil for the switch and later passes.
            public let from: String?
            /// The version to which the current stage leads; nil for the switch and later passes.
            public let to: String?
            /// The position of the current stage, from 1; nil for the switch and later passes.
            public let stage: Int?
            /// The number of stages; nil for the switch and later passes.
            public let stageCount: Int?
            /// The entity whose objects are processed; nil if there is none.
            public let entity: String?
            /// Objects of this entity that the pass has done.
            public let objectsDone: Int
            /// All objects of this entity; nil if the number is unknown.
            public let objectCount: Int?
            /// The estimated seconds for the rest of this entity; nil if they are unknown.
            public let secondsLeft: Double?

            /// Stage, entity and objects, in one line.
            public var description: String {
                var parts = [pass.rawValue]
                if let from, let to, let stage, let stageCount {
                    parts.append("stage \(stage) of \(stageCount), \(from) to \(to)")
                }
                if let entity { parts.append("\(objectsDone) of \(objectCount.map { "\($0)" } ?? "?") \(entity)") }
                return parts.joined(separator: ", ")
            }

            init(_ progress: MigrationProgress) {
                pass = progress.pass
                from = progress.stage?.from
                to = progress.stage?.to
                stage = progress.stage?.place
                stageCount = progress.stage?.count
                entity = progress.entity.isEmpty ? nil : progress.entity
                objectsDone = progress.done
                objectCount = progress.total > 0 ? progress.total : nil
                secondsLeft = progress.timeLeft.map { left in
                    Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18
                }
            }
        }

        /// The phase of the service.
        public let status: Status
        /// The newest progress; nil unless the status is `migrating`.
        public let migration: Migration?
        /// The error of the opening or closing, with its remedy; nil unless the status is `failed`.
        public let failure: String?
        /// The health of the open store; nil while it is not open.
        public let store: StoreHealth?

        /// Whether the store takes reads and writes: for a readiness probe.
        public var isReady: Bool { status == .ready && store?.isReady == true }

        /// Whether a restart would not help: for a liveness probe.
        ///
        /// False if the service has failed, or if the open store takes no more writes until it is opened again. True
        /// during a migration, however long it takes.
        public var isLive: Bool { status != .failed && !(status == .ready && store?.isReady == false) }

        /// The status of an HTTP response to a readiness probe: 200 if the store is ready, otherwise 503.
        public var statusCode: Int { isReady ? 200 : 503 }

        /// The status and its details, in one line.
        public var description: String {
            let detail = migration?.description ?? failure ?? store?.description
            return detail.map { "\(status.rawValue): \($0)" } ?? status.rawValue
        }

        init(_ phase: StoreLife.Phase) {
            var migration: Migration?
            var failure: String?
            var store: StoreHealth?
            switch phase {
            case .new, .opening(nil): status = .starting
            case .opening(let progress?):
                status = .migrating
                migration = Migration(progress)
            case .ready(let container):
                status = .ready
                store = container.health
            case .closing(let container):
                status = .closing
                store = container.health
            case .closed: status = .closed
            case .failed(let error):
                status = .failed
                failure = "\(error)"
            }
            self.migration = migration
            self.failure = failure
            self.store = store
        }
    }
}
#endif
