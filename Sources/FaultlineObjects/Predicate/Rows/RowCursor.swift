internal import FaultlineLog
internal import FaultlineStore

/// The row that stands for an object while an expression is evaluated.
final class RowCursor {
    let home: EntityHome
    let entity: EntityStorage
    @exclusivity(unchecked) private(set) var number: RecordID = 0
    /// The layout that the row was written in.
    @exclusivity(unchecked) private(set) var layout: UInt16 = 0
    @exclusivity(unchecked) private var view: RowView?

    init(_ home: EntityHome, _ entity: EntityStorage) {
        self.home = home
        self.entity = entity
    }

    /// The row.
    ///
    /// - Throws: `RowCannotTell` if there is none.
    var row: RowView {
        @inline(__always) get throws {
            guard let view else { throw RowCannotTell() }
            return view
        }
    }

    /// Whether the row of an object is here.
    func holds(_ number: RecordID) -> Bool { self.number == number && view != nil }

    func move(to number: RecordID, _ view: RowView, _ layout: UInt16) {
        self.number = number
        self.view = view
        self.layout = layout
    }

    /// Leaves the row, whose memory is about to be used again.
    func leave() { view = nil }
}

/// A row does not have the value that the object would show: a stand-in for a value that cannot be read, say.
struct RowCannotTell: Error {}
