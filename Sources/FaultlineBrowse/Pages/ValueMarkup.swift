import FaultlineCommands
import FaultlineLog

/// Values of objects as HTML.
struct ValueMarkup {
    /// The longest text of a cell in a list, in characters.
    private static let listTextMax = 120
    /// The longest text of a value on an object's page.
    private static let textMax = 20_000
    /// The largest picture that a list shows.
    private static let thumbnailByteCountMax: UInt64 = 4 << 20

    let layout: PageLayout

    /// A value of a list's row.
    func cell(_ value: ShownValue, _ entity: EntityView, _ id: RecordID, _ property: String) -> Markup {
        switch value {
        case .text(let text, _): "\(Self.cut(text.prefix { !$0.isNewline }, Self.listTextMax))"
        case .bytes(let count, let type) where type.isPicture && count <= Self.thumbnailByteCountMax:
            "<a href=\"\(address(entity, id, property))\"><img class=\"thumb\" loading=\"lazy\" src=\"\(address(entity, id, property))\" alt=\"\(property)\"/></a>"
        default: common(value, entity, id, property)
        }
    }

    /// A value of an object's page.
    func full(_ value: ShownValue, _ entity: EntityView, _ id: RecordID, _ property: String) -> Markup {
        switch value {
        case .text(let text, let isNumber):
            isNumber || !text.contains("\n") && text.count < 200
                ? "\(text)" : "<pre>\(Self.cut(text, Self.textMax))</pre>"
        case .bytes(_, let type) where type.isPicture:
            "<a href=\"\(address(entity, id, property))\"><img class=\"picture\" src=\"\(address(entity, id, property))\" alt=\"\(property)\"/></a>\(common(value, entity, id, property))"
        default: common(value, entity, id, property)
        }
    }

    private func common(_ value: ShownValue, _ entity: EntityView, _ id: RecordID, _ property: String) -> Markup {
        switch value {
        case .none: "<span class=\"none\">nil</span>"
        case .text(let text, _): "\(text)"
        case .members: layout.link("members", .members(entity.name, id, property))
        case .reference(let entity, let id, let title):
            layout.link(title.map { "\($0)" } ?? "\(entity) \(id)", .object(entity, id))
        case .bytes(let count, let type):
            "<a href=\"\(address(entity, id, property))\">\(Quantity.bytes(Int(clamping: count)))</a> <span class=\"kind\">\(type == .other ? "bytes" : type.rawValue)</span>"
        case .longText(let count):
            "<a href=\"\(address(entity, id, property))\">\(Quantity.bytes(Int(clamping: count)))</a> <span class=\"kind\">text</span>"
        case .unreadable(let sentence): "<span class=\"warn\">\(sentence)</span>"
        }
    }

    private func address(_ entity: EntityView, _ id: RecordID, _ property: String) -> String {
        Link.value(entity.name, id, property).address(layout.base)
    }

    private static func cut(_ text: some StringProtocol, _ countMax: Int) -> String {
        text.count > countMax ? text.prefix(countMax) + "…" : String(text)
    }
}
