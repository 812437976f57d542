/// Takes back changes of contexts, in the reverse order, and makes them again.
///
///     context.undoManager = UndoManager()
///     album.title = "Rome"
///     try context.save()
///     context.undoManager?.undo()   // The title is the old one again: an unsaved change.
///     context.undoManager?.redo()
///
/// It has the names and the rules of Foundation's class, which Linux lacks. The changes of a context are one group until
/// its next `save()` or `processPendingChanges()`, or until the next undo; `beginUndoGrouping` and `endUndoGrouping`
/// make smaller ones. An undo of saved changes makes unsaved ones: save them. A deleted object whose deletion was saved
/// returns with its identifier.
///
/// Used by one thread, task or actor at a time, like the contexts that have it. It keeps changed objects, and old values
/// but large ones, in memory: bound it by `levelsOfUndo`.
public final class UndoManager {
    private struct WeakSource { weak var source: (any UndoSource)? }

    private var sources: [WeakSource] = []
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The groups that are open, the outermost first.
    private var open: [UndoGroup] = []
    /// Whether the outermost open group was opened by a change, and ends with the event.
    private var isEventOpen = false
    private var disabledCount = 0

    /// Whether an undo is running.
    public private(set) var isUndoing = false
    /// Whether a redo is running.
    public private(set) var isRedoing = false
    /// Whether a change outside of any group opens one, which ends with the next save, undo or
    /// `processPendingChanges()`; without it such a change is a group of its own.
    public var groupsByEvent = true
    /// The greatest number of groups that can be undone; 0 for no limit.
    ///
    /// Older ones are dropped.
    public var levelsOfUndo = 0 {
        didSet { drop() }
    }

    /// Makes a manager without changes.
    public init() {}

    // MARK: Groups

    /// The number of open groups.
    public var groupingLevel: Int { open.count }

    /// Begins a group; groups can be nested.
    public func beginUndoGrouping() {
        collect()
        if open.isEmpty { isEventOpen = false }
        open.append(UndoGroup())
    }

    /// Ends the group that was begun last; does nothing without one.
    public func endUndoGrouping() {
        collect()
        endGroup()
    }

    private func endGroup() {
        guard let group = open.popLast() else { return }
        if open.isEmpty { isEventOpen = false }
        guard !group.isEmpty else { return }
        if let outer = open.last { return outer.append(group) }
        if isUndoing {
            redoStack.append(group)
        } else {
            undoStack.append(group)
        }
        drop()
    }

    /// Ends the group that a change has opened: the event of that change is over.
    func endEvent() {
        collect()
        if isEventOpen, open.count == 1 { endGroup() }
    }

    private func drop() {
        guard levelsOfUndo > 0 else { return }
        if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
        if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
    }

    // MARK: Registration

    /// Whether changes are registered.
    public var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    /// Stops the registration of changes, until `enableUndoRegistration` was called as often.
    public func disableUndoRegistration() {
        collect()
        disabledCount += 1
    }

    /// Takes back one `disableUndoRegistration`; changes made meanwhile are not registered.
    public func enableUndoRegistration() {
        collect()
        disabledCount = max(0, disabledCount - 1)
    }

    /// Registers a call that takes back a change which contexts do not see.
    ///
    /// A change that the call makes is registered for the redo.
    ///
    /// - Parameters:
    ///   - target: Passed to the call, and not retained: the call is left out once it is gone.
    ///   - handler: The call.
    public func registerUndo<Target: AnyObject>(
        withTarget target: Target, handler: @escaping (Target) -> Void
    ) {
        collect()
        register(for: target) { [weak target] in
            if let target { handler(target) }
        }
    }

    /// Adds a call to the open group, in the order of the changes.
    func register(for target: AnyObject, _ call: @escaping () -> Void) {
        guard isUndoRegistrationEnabled else { return }
        if !isUndoing, !isRedoing { redoStack.removeAll() }
        let isAlone = open.isEmpty
        if isAlone {
            open.append(UndoGroup())
            isEventOpen = groupsByEvent
        }
        open.last?.append(ObjectIdentifier(target), call)
        if isAlone, !groupsByEvent { endGroup() }
    }

    /// Drops all groups, also open ones.
    public func removeAllActions() {
        collect()
        undoStack.removeAll()
        redoStack.removeAll()
        open.removeAll()
        isEventOpen = false
        disabledCount = 0
    }

    /// Drops the registered calls of one target; for a context, its changes.
    public func removeAllActions(withTarget target: Any) {
        collect()
        // A context over several stores has a source for each.
        let ofContext = sources.compactMap(\.source).filter { $0.isOf(target as AnyObject) }
        for source in ofContext { removeActions(of: ObjectIdentifier(source)) }
        if ofContext.isEmpty { removeActions(of: ObjectIdentifier(target as AnyObject)) }
    }

    func removeActions(of target: ObjectIdentifier) {
        for group in undoStack + redoStack + open { group.remove(target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: Undo and redo

    /// Whether there is a group to undo.
    public var canUndo: Bool {
        collect()
        return !undoStack.isEmpty || open.contains { !$0.isEmpty }
    }

    /// Whether there is a group to redo.
    public var canRedo: Bool {
        collect()
        return !redoStack.isEmpty
    }

    /// The number of groups that can be undone, the open one included.
    public var undoCount: Int {
        collect()
        return undoStack.count + (open.first.map { $0.isEmpty ? 0 : 1 } ?? 0)
    }

    /// The number of groups that can be redone.
    public var redoCount: Int {
        collect()
        return redoStack.count
    }

    /// Takes back the last group; open groups are ended first.
    ///
    /// Does nothing without a group, and during an undo.
    public func undo() {
        guard !isUndoing, !isRedoing else { return }
        collect()
        while !open.isEmpty { endGroup() }
        undoNestedGroup()
    }

    /// Takes back the group that was ended last, which may be one within an open group.
    public func undoNestedGroup() {
        guard !isUndoing, !isRedoing else { return }
        collect()
        guard let group = open.last?.popGroup() ?? (open.isEmpty ? undoStack.popLast() : nil) else { return }
        let kept = open
        open = []
        isUndoing = true
        run(group)
        isUndoing = false
        open = kept
    }

    /// Makes the changes of the last undo again.
    ///
    /// Does nothing without one, and during an undo.
    public func redo() {
        guard !isUndoing, !isRedoing else { return }
        collect()
        while !open.isEmpty { endGroup() }
        guard let group = redoStack.popLast() else { return }
        isRedoing = true
        run(group)
        isRedoing = false
    }

    /// Makes the calls of a group, last first; its changes are a group for the other direction.
    private func run(_ group: UndoGroup) {
        let opposite = UndoGroup()
        opposite.name = group.name
        open = [opposite]
        isEventOpen = false
        group.run()
        collect()
        while !open.isEmpty { endGroup() }
    }

    // MARK: Names

    /// The name of the last group, for a menu; empty without one.
    public var undoActionName: String { (open.last ?? undoStack.last)?.name ?? "" }
    /// The name of the group that a redo makes again.
    public var redoActionName: String { redoStack.last?.name ?? "" }
    /// The title of a menu item that undoes, "Undo" and the name.
    public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The title of a menu item that redoes, "Redo" and the name.
    public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// Names the open group, or the last one if none is open.
    public func setActionName(_ name: String) {
        collect()
        (open.last ?? (isUndoing ? redoStack : undoStack).last)?.name = name
    }

    /// The title of a menu item that undoes a change of a name, in English.
    public func undoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Undo" : "Undo \(name)" }

    /// The title of a menu item that redoes a change of a name, in English.
    public func redoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Redo" : "Redo \(name)" }

    // MARK: Sources

    func add(_ source: any UndoSource) {
        sources.removeAll { $0.source == nil }
        sources.append(WeakSource(source: source))
    }

    func remove(_ source: any UndoSource) { sources.removeAll { $0.source == nil || $0.source === source } }

    /// Registers the changes that contexts have made since the last call.
    private func collect() {
        for source in sources { source.source?.collectChanges() }
    }
}
