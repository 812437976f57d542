import FaultlineLog

/// The value of a property, as a page shows it.
enum ShownValue {
    case none
    /// A short value: its text, and whether it is a number.
    case text(String, isNumber: Bool)
    /// The members of a to-many relationship are not read with the row.
    case members
    /// Another object, with its title.
    case reference(entity: String, id: RecordID, title: String?)
    /// A value out of the row, or bytes: their number and their first ones.
    case bytes(UInt64, MediaType)
    /// Text out of the row.
    case longText(UInt64)
    /// The value cannot be read.
    case unreadable(String)
}
