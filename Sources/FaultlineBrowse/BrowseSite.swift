package import Dispatch
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
    /// Lists with conditions or an order, which may read all rows of an entity, and far members of relationships.
    private let lists: Searches<Markup>

    /// Makes the pages of a store.
    ///
    /// - Parameters:
    ///   - container: The store; the caller closes it.
    ///   - store: Its directory, for the pages.
    ///   - base: The path before all addresses.
    ///   - patience: The time that a page waits for a list before it shows that it is searched.
    ///   - diagnose: Says whether the store is well, for the first page.
    package init(
        _ container: ModelContainer, store: String, base: String, patience: DispatchTimeInterval = .milliseconds(50),
        diagnose: @escaping @Sendable () -> String
    ) {
        (self.container, self.store, self.base) = (container, store, base)
        lists = Searches(patience: patience)
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
        let titles = [400: "That cannot be shown", 404: "Not found", 503: "Too many searches"]
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
            return PageAnswer(200, try list(of: path[1], request, view, layout))
        case ("object"?, 3):
            return PageAnswer(200, try ObjectPage(layout: layout, view: view).markup(path[1], number(path[2])))
        case ("members"?, 4):
            return PageAnswer(200, try members(request, view, layout))
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

    /// The objects of an entity; with conditions or an order, those that are found within the time of a page.
    private func list(
        of entity: String, _ request: PageRequest, _ view: StoreView, _ layout: PageLayout
    ) throws -> Markup {
        let query = try ObjectQuery(request)
        let container = container
        let make: @Sendable () throws -> Markup = {
            try EntityPage(layout: layout, view: view, context: ModelContext(container), query: query).markup(entity)
        }
        guard query.mayReadAll else { return try make() }
        let count = view.snapshot.recordCount(of: try view.entity(entity).storage.table)
        let address = Link.entity(entity).address("/", query.items(after: query.cursor))
        return try search(entity, address, among: count, layout, make)
    }

    /// The members of a relationship; far from the first ones, those that are found within the time of a page.
    private func members(_ request: PageRequest, _ view: StoreView, _ layout: PageLayout) throws -> Markup {
        let path = request.path
        let (entity, id, property) = (path[1], try number(path[2]), path[3])
        let place = request.value("from")
        let make: @Sendable () throws -> Markup = {
            try MembersPage(layout: layout, view: view).markup(entity, id, property, from: place)
        }
        guard let first = place.flatMap({ Int($0) }), first > MembersPage.nearPlace else { return try make() }
        let address = Link.members(entity, id, property).address("/", [("from", "\(first)")])
        return try search(property, address, among: first, layout, make)
    }

    /// A page whose objects are searched on another thread: the page, or one that says so and loads itself again.
    private func search(
        _ title: String, _ address: String, among count: Int, _ layout: PageLayout,
        _ make: @escaping @Sendable () throws -> Markup
    ) throws -> Markup {
        switch lists.outcome(address, make) {
        case .done(let result): return try result.get()
        case .running(let time):
            return layout.page(
                title, trail: [("Overview", .overview)], refreshes: 1,
                """
                <p>Searching \(Quantity.count(count)) objects, for \(Int(time.components.seconds)) s now. The page \
                loads itself again. A condition or an order is fast where an index has it.</p>
                """)
        case .refused:
            throw PageFailure(503, "\(lists.runningMax) other searches are running. Load this page again in a moment.")
        }
    }

    private func number(_ text: String) throws(PageFailure) -> RecordID {
        guard let number = RecordID(text) else { throw PageFailure(400, "“\(text)” is no number of an object.") }
        return number
    }
}
