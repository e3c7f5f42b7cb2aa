import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

struct SchemaCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the entities of a Core Data store, as the store describes them.",
    discussion: """
      For each entity: the number of its objects, the properties that the entity itself declares, with their numbers \
      in the store, its uniqueness constraints and its indexes. No model is needed. The schema also has the entities and \
      properties that the model no longer has.

      With --history, prints instead what each version of the schema in the log has changed, oldest first. Superseded \
      versions stay there until compaction removes them.

      Examples: kvdump schema library.cairn
                kvdump schema library.cairn --history
      """)

  @OptionGroup var common: CommonArguments

  @Flag(help: "Print what has changed when, as far as the log has it.")
  var history = false

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    if history { return try SchemaHistory(store, common).write(to: &output) }
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let objects = try ObjectStore(snapshot, of: store)
    var listing = Listing("schema", items: "entities", common.format)
    try listing.begin(["store": .string(common.store), "uuid": .string(objects.names.uuid)], to: &output)
    if listing.isText { try output.line("uuid  \(escapedForTerminal(objects.names.uuid))") }
    for entity in objects.names.schema.entities.sorted(by: { $0.name < $1.name }) {
      if listing.isText {
        for line in try text(entity, objects) { try output.line(line) }
      } else {
        try listing.item(members(entity, objects), to: &output)
      }
    }
    try listing.end(["count": .number(objects.names.schema.entities.count)], to: &output)
  }

  // MARK: Text

  private func text(_ entity: Schema.Entity, _ objects: ObjectStore) throws -> [String] {
    var title = "\(escapedForTerminal(entity.name)): \(try objects.count(of: entity.number).of("object"))"
    if entity.isAbstract { title += ", abstract" }
    if entity.superentity > 0 {
      title += ", inherits from \(escapedForTerminal(objects.names.entityName(entity.superentity)))"
    }
    var lines = ["", Terminal.styled(title, .bold)]
    var table = Table(["number": .right, "property": .left, "type": .left, "inverse": .left, "delete rule": .left])
    for property in entity.properties.sorted(by: { $0.name < $1.name }) {
      let relationship = property.kind.relationship
      table.append(
        "\(property.number)", escapedForTerminal(property.name), type(of: property, objects),
        escapedForTerminal(relationship.flatMap { objects.names.schema.property($0.inverse)?.name } ?? ""),
        relationship?.deleteRuleName ?? "")
    }
    if !entity.properties.isEmpty { lines += table.lines }
    for constraint in entity.constraints {
      lines.append("  unique: \(escapedForTerminal(names(of: constraint, objects).joined(separator: ", ")))")
    }
    for index in indexes(of: entity, objects) {
      let names = objects.names.names(of: index).joined(separator: ", ")
      let conditions = index.conditions.map { objects.names.words(for: $0) }.joined(separator: " and ")
      let words = escapedForTerminal(conditions.isEmpty ? names : "\(names) where \(conditions)")
      lines.append("  index: \(words)\(index.state == .ready ? "" : ", \(index.stateName)")")
    }
    return lines
  }

  private func type(of property: Schema.Property, _ objects: ObjectStore) -> String {
    switch property.kind {
    case .attribute(let type): Schema.attributeTypeName(type)
    case .toOne(let end): "to one \(escapedForTerminal(objects.names.entityName(end.destination)))"
    case .toMany(let end, let isOrdered):
      "to many \(escapedForTerminal(objects.names.entityName(end.destination)))\(isOrdered ? ", ordered" : "")"
    }
  }

  private func names(of constraint: Schema.Constraint, _ objects: ObjectStore) -> [String] {
    constraint.attributes.map { objects.names.schema.property($0)?.name ?? "\($0)" }
  }

  private func indexes(of entity: Schema.Entity, _ objects: ObjectStore) -> [Schema.Index] {
    objects.names.schema.indexes.filter { $0.entity == entity.number }
  }

  // MARK: JSON

  private func members(_ entity: Schema.Entity, _ objects: ObjectStore) throws -> KeyValuePairs<String, JSON> {
    [
      "name": .string(entity.name), "number": .number(UInt64(entity.number)),
      "superentity": entity.superentity > 0 ? .string(objects.names.entityName(entity.superentity)) : .null,
      "isAbstract": .bool(entity.isAbstract), "objects": .number(try objects.count(of: entity.number)),
      "properties": .array(entity.properties.sorted { $0.name < $1.name }.map { json($0, objects) }),
      "constraints": .array(entity.constraints.map { .array(names(of: $0, objects).map { .string($0) }) }),
      "indexes": .array(
        indexes(of: entity, objects).map { index in
          .object([
            "properties": .array(objects.names.names(of: index).map { .string($0) }),
            "conditions": .array(index.conditions.map { .string(objects.names.words(for: $0)) }),
            "state": .string(index.stateName),
          ])
        }),
    ]
  }

  private func json(_ property: Schema.Property, _ objects: ObjectStore) -> JSON {
    let head: [JSON.Member] = [
      JSON.Member("name", .string(property.name)), JSON.Member("number", .number(UInt64(property.number))),
    ]
    switch property.kind {
    case .attribute(let type):
      return .members(head + [JSON.Member("type", .string(Schema.attributeTypeName(type)))])
    case .toOne(let end): return .members(head + json(end, isToMany: false, isOrdered: false, objects))
    case .toMany(let end, let isOrdered):
      return .members(head + json(end, isToMany: true, isOrdered: isOrdered, objects))
    }
  }

  private func json(
    _ end: Schema.Relationship, isToMany: Bool, isOrdered: Bool, _ objects: ObjectStore
  ) -> [JSON.Member] {
    [
      JSON.Member("destination", .string(objects.names.entityName(end.destination))),
      JSON.Member("isToMany", .bool(isToMany)), JSON.Member("isOrdered", .bool(isOrdered)),
      JSON.Member("inverse", objects.names.schema.property(end.inverse).map { .string($0.name) } ?? .null),
      JSON.Member("deleteRule", .string(end.deleteRuleName)),
    ]
  }
}

extension Schema {
  fileprivate func property(_ number: UInt32) -> Property? {
    for entity in entities {
      if let property = entity.properties.first(where: { $0.number == number }) { return property }
    }
    return nil
  }
}

extension Schema.Index {
  fileprivate var stateName: String {
    switch state {
    case .building: "being built"
    case .ready: "ready"
    case .dropping: "being dropped"
    }
  }
}

extension Schema.Relationship {
  /// The name that Xcode uses for the delete rule.
  fileprivate var deleteRuleName: String {
    switch deleteRule {
    case 0: "No Action"
    case 1: "Nullify"
    case 2: "Cascade"
    case 3: "Deny"
    default: "\(deleteRule)"
    }
  }
}
