internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The members that a model class gets which inherits from another one: its part of the object is the way to the core,
/// which the root class has.
struct HeirMembers {
    private let members: ModelMembers
    private let parent: String

    init(_ members: ModelMembers, _ parent: String) {
        self.members = members
        self.parent = parent
    }

    private var prefix: String { members.prefix }
    private var core: String { members.core }
    private var coreAddress: String { RuntimeNames.coreAddress }

    var all: [DeclSyntax] {
        ["nonisolated struct \(raw: RuntimeNames.marker) {\n}"] + modelType + storage + [
            faultInitializer, backingDataInitializer,
        ] + schemaMetadata
    }

    private var modelType: [DeclSyntax] {
        [
            """
            nonisolated \(raw: members.overridable)override class var \(raw: RuntimeNames.modelType): \
            \(raw: prefix)ModelType {
                \(raw: RuntimeNames.ownType)
            }
            """,
            """
            private static let \(raw: RuntimeNames.ownType) = \
            \(raw: prefix)ModelType(\(raw: members.name).self, superclass: \(raw: parent).self\(raw: members.originalName))
            """,
        ]
    }

    private var storage: [DeclSyntax] {
        [
            """
            @\(raw: prefix)Transient @exclusivity(unchecked) private var \(raw: core) = \
            \(raw: prefix)HeirStage(\(raw: members.name).\(raw: RuntimeNames.ownType))
            """,
            """
            \(raw: members.overridable)override func \(raw: coreAddress)() -> UnsafeMutablePointer<\(raw: prefix)ModelCore> {
                let address = super.\(raw: coreAddress)()
                \(raw: core).settle(address)
                return address
            }
            """,
            """
            private final var \(raw: RuntimeNames.values): \(raw: prefix)ModelCore {
                _read {
                    yield \(raw: coreAddress)().pointee
                }
                _modify {
                    yield &\(raw: coreAddress)().pointee
                }
            }
            """,
            """
            private final func \(raw: RuntimeNames.slot)(_ slot: Int) -> Int {
                _ = \(raw: coreAddress)()
                return \(raw: core).slot(slot)
            }
            """,
        ]
    }

    private var faultInitializer: DeclSyntax {
        """
        \(raw: members.access)required init(\(raw: RuntimeNames.faultLabel) token: \(raw: prefix)FaultToken) {
            \(raw: lines("super.init(\(RuntimeNames.faultLabel): token)"))
        }
        """
    }

    /// The root class would take the values before this class has its own.
    private var backingDataInitializer: DeclSyntax {
        """
        @inline(never)
        \(raw: members.access)required init(\
        backingData: any \(raw: prefix)BackingData<\(raw: parent).\(raw: RuntimeNames.root)>) {
            \(raw: lines(
                "super.init(\(RuntimeNames.faultLabel): \(prefix)FaultToken.ofNoObject)",
                "\(coreAddress)().pointee.adopt(backingData)"))
        }
        """
    }

    private func lines(_ calls: String...) -> String {
        ([members.markerAssignments] + calls).filter { !$0.isEmpty }.joined(separator: "\n    ")
    }

    private var schemaMetadata: [DeclSyntax] {
        let groups = members.groupEntries
        return [
            """
            \(raw: members.overridable)override class var schemaMetadata: [\(raw: prefix)Schema.PropertyMetadata] {
                \(raw: RuntimeNames.fields)(of: \(raw: members.name).self)\(raw: groups.isEmpty ? "" : " + \(members.list(groups))")
            }
            """,
            members.fields(adding: "\(parent).\(RuntimeNames.fields)(of: _$Heir.self) + "),
        ]
    }
}
