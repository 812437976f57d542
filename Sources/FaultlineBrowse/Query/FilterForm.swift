import FaultlineModel

/// The form by which the objects of an entity are filtered and sorted.
struct FilterForm {
    let layout: PageLayout
    let entity: Schema.Entity
    let schema: Schema
    let query: ObjectQuery

    /// The form, with one empty condition more than the query has.
    var markup: Markup {
        let count = min(query.conditions.count + 1, ObjectQuery.conditionCountMax)
        let conditions = (0..<count).map { place in
            fieldset(place, place < query.conditions.count ? query.conditions[place] : nil)
        }
        let sortKeys = entity.properties.compactMap(\.asAttribute).filter(\.kind.isOrdered).map(\.name)
        let down: Markup =
            query.isDescending
            ? "<option value=\"down\" selected=\"\">descending</option>" : "<option value=\"down\">descending</option>"
        return """
            <form method="get" action="\(Link.entity(entity.name).address(layout.base))">\(Markup(conditions))
            <fieldset><legend>Order</legend><select name="sort" aria-label="Sort by">
            <option value="">of creation</option>\(options(sortKeys, query.sortKey))</select>
            <select name="order" aria-label="Direction"><option value="">ascending</option>\(down)</select></fieldset>
            <button type="submit">Show</button>
            </form>

            """
    }

    private func fieldset(_ place: Int, _ condition: Condition?) -> Markup {
        let key: Markup = place == 0 ? " accesskey=\"f\"" : ""
        let signs = Condition.Comparison.allCases.map { comparison -> Markup in
            comparison == condition?.comparison
                ? "<option value=\"\(comparison.rawValue)\" selected=\"\">\(comparison.sign)</option>"
                : "<option value=\"\(comparison.rawValue)\">\(comparison.sign)</option>"
        }
        return """
            <fieldset><legend>\(place == 0 ? "Where" : "and")</legend>
            <select name="p\(place)" aria-label="Property"\(key)><option value="">any</option>\
            \(options(paths, condition?.path))</select>
            <select name="o\(place)" aria-label="Operator">\(Markup(signs))</select>
            <input name="v\(place)" aria-label="Value" value="\(condition?.text ?? "")"/></fieldset>

            """
    }

    private func options(_ names: [String], _ chosen: String?) -> Markup {
        Markup(
            names.map { name -> Markup in
                name == chosen
                    ? "<option selected=\"\">\(name)</option>" : "<option>\(name)</option>"
            })
    }

    /// The properties that a condition can name, and those of related objects.
    private var paths: [String] {
        var paths: [String] = []
        for property in entity.properties {
            if let attribute = property.asAttribute {
                if attribute.kind.isOrdered { paths.append(attribute.name) }
            } else if let relationship = property.asRelationship {
                if relationship.isToOneRelationship { paths.append(relationship.name) }
                let attributes = schema.entitiesByName[relationship.destination]?.properties ?? []
                paths += attributes.compactMap(\.asAttribute).filter(\.kind.isOrdered).map {
                    "\(relationship.name).\($0.name)"
                }
            }
        }
        return paths
    }
}
