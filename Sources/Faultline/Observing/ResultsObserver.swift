public import FaultlineObjects
public import Foundation
public import Observation
internal import Synchronization

/// Keeps the result of a fetch up to date, and notifies observers.
///
///     let observer = try ResultsObserver(
///         fetchDescriptor: FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]), modelContext: context)
///     let names = withObservationTracking { observer.results.map(\.name) } onChange: { redraw() }
///
/// It fetches again after saves of its own context, of other contexts of the store, and, with `allowsSave: false`, of
/// another process; several saves in quick succession count as one. It also fetches again when its context gets the
/// first unsaved change of an object. Observers are notified if the objects or their order differ. Objects notify about
/// their properties by themselves.
///
/// It belongs to the actor that makes it, which is the actor of its context. Made by code of no actor, it fetches again
/// only when `update()` is called.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
    /// The context of the objects.
    public let modelContext: ModelContext
    /// An error of the last fetch; then the results are those before.
    public private(set) var error: (any Error)?
    private let registrar = ObservationRegistrar()
    private let title: ((Element) -> SectionTitle)?
    /// The property that makes the sections.
    public let sectionBy: PartialKeyPath<Element>?
    private var descriptor: FetchDescriptor<Element>
    private var found: [Element] = []
    private var foundSections: SectionedResults<Element, SectionTitle>?
    private var link: ObserverLink?

    init(
        _ descriptor: FetchDescriptor<Element>, _ sectionBy: PartialKeyPath<Element>?,
        _ title: ((Element) -> SectionTitle)?, _ context: ModelContext, _ actor: (any Actor)?
    ) throws {
        self.descriptor = descriptor
        self.sectionBy = sectionBy
        self.title = title
        modelContext = context
        try fetch()
        if let actor {
            let link = ObserverLink(actor) { [weak self] in self?.update() }
            link.listen(to: context.core(of: Element.self))
            self.link = link
        }
    }

    deinit { link?.end() }

    /// The objects, in the order of the descriptor.
    public var results: FetchResultsCollection<Element> {
        registrar.access(self, keyPath: \.results)
        return FetchResultsCollection(found)
    }

    /// The sections, of objects that follow each other with the same title; nil without `sectionBy`.
    public var sections: SectionedResults<Element, SectionTitle>? {
        registrar.access(self, keyPath: \.results)
        return foundSections
    }

    /// The fetch; setting it fetches again.
    public var fetchDescriptor: FetchDescriptor<Element> {
        get { descriptor }
        set {
            descriptor = newValue
            update()
        }
    }

    /// The predicate of the fetch; setting it fetches again.
    public var filterBy: Predicate<Element>? {
        get { descriptor.predicate }
        set {
            descriptor.predicate = newValue
            update()
        }
    }

    /// The order of the fetch; setting it fetches again.
    public var sortBy: [SortDescriptor<Element>] {
        get { descriptor.sortBy }
        set {
            descriptor.sortBy = newValue
            update()
        }
    }

    /// The object at a place: its section and its position there; without sections the position alone, or section 0.
    ///
    /// - Complexity: O(1).
    public func element(at indexPath: IndexPath) -> Element {
        guard let foundSections else { return results[indexPath[indexPath.count - 1]] }
        return foundSections[indexPath[0]][indexPath[1]]
    }

    /// The place of an object: section and position; nil if it is not in the result.
    ///
    /// Without sections it is in section 0.
    ///
    /// - Complexity: O(n) for n objects.
    public func indexPath(for element: Element) -> IndexPath? {
        registrar.access(self, keyPath: \.results)
        guard let place = found.firstIndex(where: { $0 === element }) else { return nil }
        guard let foundSections else { return IndexPath(indexes: [0, place]) }
        guard let section = foundSections.firstIndex(where: { $0.range.contains(place) }) else { return nil }
        return IndexPath(indexes: [section, place - foundSections[section].range.lowerBound])
    }

    /// Fetches again, and notifies observers if the objects or their order differ.
    ///
    /// To be called by code of the context's actor. An error is in `error`, and the context's `errorHandler` gets it.
    ///
    /// - Complexity: That of the fetch.
    public func update() {
        let old = (found, foundSections)
        do { try fetch() } catch {
            self.error = error
            modelContext.errorHandler?(error)
            return
        }
        let new = (found, foundSections)
        let isSame =
            old.0.elementsEqual(new.0, by: ===)
            && old.1?.titles.elementsEqual(new.1?.titles ?? []) != false && old.1?.count == new.1?.count
        guard !isSame else { return }
        (found, foundSections) = old
        registrar.withMutation(of: self, keyPath: \.results) { (found, foundSections) = new }
    }

    private func fetch() throws {
        found = try modelContext.fetch(descriptor)
        foundSections = title.map { SectionedResults(found, $0) }
        error = nil
    }
}

extension ResultsObserver where SectionTitle == Never {
    /// Observes a fetch, in a context of the calling actor.
    ///
    /// - Throws: The errors of `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = .init(), modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, nil, modelContext, isolation)
    }

    /// Observes a fetch, in a context of its own.
    ///
    /// - Throws: The errors of `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = .init(), modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, nil, ModelContext(modelContainer), isolation)
    }

    /// Observes the objects that satisfy a predicate, in a context of the calling actor.
    ///
    /// - Throws: The errors of `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>], modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy), nil, nil, modelContext, isolation)
    }

    /// Observes the objects that satisfy a predicate, in a context of its own.
    ///
    /// - Throws: The errors of `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>], modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy), nil, nil, ModelContext(modelContainer), isolation)
    }
}

extension ResultsObserver where SectionTitle == String {
    /// Observes a fetch in sections: sort by the property of the sections first.
    ///
    /// - Throws: The errors of `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch, and the property of each object is read.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element>, sectionBy: KeyPath<Element, String>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, sectionBy, { $0[keyPath: sectionBy] }, modelContext, isolation)
    }
}

extension ResultsObserver where SectionTitle == String? {
    /// Observes a fetch in sections: sort by the property of the sections first.
    ///
    /// - Throws: The errors of `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch, and the property of each object is read.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element>, sectionBy: KeyPath<Element, String?>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, sectionBy, { $0[keyPath: sectionBy] }, modelContext, isolation)
    }
}
