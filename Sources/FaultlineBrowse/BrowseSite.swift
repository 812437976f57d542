package import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineObjects
import FaultlineStore

/// The pages of one store, which it only reads.
///
///     let site = BrowseSite(container, store: path, base: "/", diagnose: { "well" })
///     let answer = site.answer(request)
package final class BrowseSite: Sendable {
    /// The store, open for reading: it follows the process that writes.
    private let container: ModelContainer
    private let store: String
    /// The path before all addresses: it begins and ends with a slash.
    private let base: String
    private let health: HealthText
    private let space = SpaceCount()

    /// Makes the pages of a store.
    ///
    /// - Parameters:
    ///   - container: The store; the caller closes it.
    ///   - store: Its directory, for the pages.
    ///   - base: The path before all addresses.
    ///   - diagnose: Says whether the store is well, for the first page.
    package init(
        _ container: ModelContainer, store: String, base: String, diagnose: @escaping @Sendable () -> String
    ) {
        (self.container, self.store, self.base) = (container, store, base)
        health = HealthText(diagnose)
    }

    /// Answers a request; an error is a page too.
    ///
    /// Blocks while it reads the store.
    package func answer(_ request: PageRequest) -> PageAnswer {
        do { return try page(request) } catch let failure as PageFailure {
            return error(failure.status, failure.message)
        } catch {
            return self.error(500, CommandFailure.sentence(for: error))
        }
    }

    /// The page of an error.
    private func error(_ status: Int, _ message: String) -> PageAnswer {
        let titles = [400: "That cannot be shown", 404: "Not found"]
        let layout = PageLayout(base: base, store: store, sequence: container.rowStore.log.snapshot().sequence)
        return PageAnswer(
            status,
            layout.page(
                titles[status] ?? "The store cannot be read", trail: [("Overview", .overview)],
                "<p class=\"panel\">\(message)</p>"))
    }

    private func page(_ request: PageRequest) throws -> PageAnswer {
        if request.path == ["style.css"] {
            return PageAnswer(200, "text/css; charset=utf-8", .bytes(Array(StyleSheet.text.utf8)))
        }
        try container.refresh()
        let view = StoreView(container)
        let layout = PageLayout(base: base, store: store, sequence: view.snapshot.sequence)
        let path = request.path
        switch (path.first, path.count) {
        case (nil, _):
            let migration = try UnderWay.sentence(view)
            return PageAnswer(
                200,
                try OverviewPage(layout: layout, view: view, diagnosis: health.current(), migration: migration).markup()
            )
        case ("entity"?, 2):
            let context = ModelContext(container)
            let query = try ObjectQuery(request)
            return PageAnswer(
                200, try EntityPage(layout: layout, view: view, context: context, query: query).markup(path[1]))
        case ("object"?, 3):
            return PageAnswer(200, try ObjectPage(layout: layout, view: view).markup(path[1], number(path[2])))
        case ("members"?, 4):
            return PageAnswer(
                200,
                try MembersPage(layout: layout, view: view).markup(
                    path[1], number(path[2]), path[3], from: request.value("from")))
        case ("value"?, 4):
            return try ValueAnswer(view: view).answer(path[1], number(path[2]), path[3], range: request.range)
        case ("history"?, 1):
            return PageAnswer(
                200, try HistoryPage(layout: layout, view: view).markup(before: request.value("before")))
        case ("transaction"?, 2):
            return PageAnswer(200, try TransactionPage(layout: layout, view: view).markup(number(path[1])))
        case ("space"?, 1):
            return PageAnswer(200, try SpacePage(layout: layout, view: view, count: space).markup())
        default: throw PageFailure(404, "There is no such page.")
        }
    }

    private func number(_ text: String) throws(PageFailure) -> RecordID {
        guard let number = RecordID(text) else { throw PageFailure(400, "“\(text)” is no number of an object.") }
        return number
    }
}
