internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Carries values over that the closures of a streamed stage do not set: those of a property that both versions have,
/// and that no closure sets on any object of the stage.
///
/// Only the end shows that no closure sets a property, so values are carried over at once, and undone if a closure
/// does:
///
/// 1. After the closure of an old object its worker finds the properties of the new objects whose values differ from
///    their default, and copies the old values of the others to the object that keeps the old identity. A large value
///    is copied by reference.
/// 2. Batches are saved in the order of the old objects, by the worker whose turn it is. Before it saves, it marks the
///    properties that a closure has set in the batch, and undoes their carried values in the batch. So the batches
///    before the mark have carried a property over wherever they could, and no batch after it has. The mark, the first
///    number of its batch, is written with the progress, in the transaction of the batch.
/// 3. When all objects are done, one bounded pass resets the objects below the mark to the default. It is repeated if
///    it was stopped.
///
/// So the result depends neither on the number of workers nor on the place where the stage was stopped. Both sides of a
/// one-to-one relationship are marked together.
final class CarryingOver {
    private let pairs: CarriedPairs
    private let entities: [(pair: CarriedPairs.Entity, carried: CarriedEntity)]
    private let progress: StreamedProgress
    private var course: MigrationCourse { progress.course }

    init(_ pairs: CarriedPairs, from reader: ContextCore, to target: ContextCore, _ progress: StreamedProgress) {
        self.pairs = pairs
        self.progress = progress
        entities = pairs.entities.compactMap { pair in
            CarriedEntity(
                pair.name, of: target, from: pair.oldName, of: reader,
                properties: pair.properties.map { ($0.old, $0.new, $0.hasDefault) }
            ).map { (pair, $0) }
        }
    }

    /// Handles the new objects that were made of one old object.
    ///
    /// - Parameters:
    ///   - old: The old object.
    ///   - number: Its number.
    ///   - oldName: Its entity.
    ///   - start: The index of the first new object among the unsaved ones.
    /// - Throws: `StoreError` if the old row cannot be read.
    func note(_ old: AnyObject, _ number: RecordID, of oldName: String, from start: Int) throws {
        for (pair, entity) in entities {
            try entity.carryOver(old, number, isOwn: pair.oldName == oldName, from: start)
        }
    }

    /// Marks a property of the batch that must not be carried over.
    func leave(_ property: String, of entityName: String) {
        guard let (pair, entity) = entities.first(where: { $0.pair.name == entityName }),
            let place = pair.properties.firstIndex(where: { $0.new == property })
        else { return }
        entity.leave(place)
    }

    /// Settles the batch, before it is saved; called in the worker's turn.
    ///
    /// - Parameters:
    ///   - first: The first old object of the batch; nil if it has none.
    ///   - stagePlace: The index of their entity in the stage.
    func settleBatch(from first: RecordID?, of stagePlace: Int) {
        var all = course.carriedProperties
        guard !all.isEmpty else { return }
        for (pair, entity) in entities {
            for (place, tally) in entity.batch.enumerated() where tally.set > 0 || tally.isLeft {
                mark(pair.first + place, in: &all, from: first, of: stagePlace)
                guard let partner = pair.properties[place].partner,
                    let other = pairs.place(of: partner.property, in: partner.entity)
                else { continue }
                mark(other, in: &all, from: first, of: stagePlace)
            }
        }
        for (pair, entity) in entities {
            entity.takeBack { all[pair.first + $0].isSet }
            for (place, tally) in entity.batch.enumerated() {
                all[pair.first + place].had += tally.had
                all[pair.first + place].carried += tally.carried
                all[pair.first + place].set += tally.set
            }
            entity.beginBatch()
        }
        course.carriedProperties = all
    }

    private func mark(_ index: Int, in all: inout [CarriedProperty], from first: RecordID?, of stagePlace: Int) {
        guard !all[index].isSet, let entity = pairs.entities.last(where: { $0.first <= index }) else { return }
        all[index].isSet = true
        if entity.place == stagePlace {
            all[index].end = first ?? 0
        } else {
            // All objects of a finished entity, no object of a later one.
            all[index].end = entity.place < stagePlace ? Limits.recordIDMax : 0
        }
    }

    /// Clears the batch, which was dropped.
    func discardBatch() { for (_, entity) in entities { entity.beginBatch() } }

    /// When all objects are done, undoes values that were carried over before a closure set the property.
    ///
    /// - Parameters:
    ///   - writer: Saves the objects in batches.
    ///   - control: May pause or cancel the migration; nil if nothing does.
    /// - Throws: `StoreError` if the store cannot be read or written; `cancelled`.
    func takeBack(by writer: StageWriter, _ control: MigrationControl?) throws {
        for (pair, entity) in entities {
            for place in pair.properties.indices {
                let known = course.carriedProperties[pair.first + place]
                guard known.isSet, known.end > 0, known.carried > 0 else { continue }
                try entity.takeBackStored(place, below: known.end) {
                    try control?.obey()
                    if writer.isFull { try writer.flush(isOfEnd: true) }
                }
                course.carriedProperties[pair.first + place].carried = 0
                course.carriedProperties[pair.first + place].end = 0
                try writer.flush(isOfEnd: true)
            }
        }
    }
}
