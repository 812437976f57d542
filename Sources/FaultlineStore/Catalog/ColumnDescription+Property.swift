package import FaultlineModel

extension ColumnDescription {
    /// The way in which the rows of an entity store one of its properties.
    ///
    /// The same property always gives the same description. So the layout that a model class derives for its unsaved
    /// objects has the same offsets as the layout that the store registers.
    package init(property: any SchemaProperty, number: UInt32) {
        if let attribute = property.asAttribute {
            self.init(
                number: number, kind: .attribute(attribute.kind), isOptional: attribute.isOptional,
                externalThreshold: attribute.options.contains(.externalStorage) ? 0 : Column.defaultExternalThreshold)
        } else if let relationship = property.asRelationship, relationship.isToOneRelationship {
            self.init(number: number, kind: .toOne, isOptional: relationship.isOptional)
        } else {
            self.init(number: number, kind: .toMany)
        }
    }
}
