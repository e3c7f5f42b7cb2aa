import RowFormat

/// The properties, constraints and indexes of an entity's rows, including inherited ones.
struct EntityLayout {
  let entity: UInt32
  let name: String
  private(set) var properties: [UInt32: Schema.Property] = [:]
  private(set) var constraints: [Schema.Constraint] = []
  let indexes: [Schema.Index]

  init(_ number: UInt32, _ schema: SchemaIndex) {
    entity = number
    let lineage = schema.lineage(of: number)
    name = lineage.first?.name ?? "\(number)"
    let declaring = Set(lineage.map(\.number))
    indexes = schema.indexes.values.filter { declaring.contains($0.entity) }.sorted { $0.number < $1.number }
    for ancestor in lineage {
      for property in ancestor.properties { properties[property.number] = property }
      constraints += ancestor.constraints
    }
  }
}
