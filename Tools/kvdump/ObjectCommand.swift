import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

struct ObjectCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "object",
    abstract: "Prints one Core Data object, with its relationships.",
    discussion: """
      An object is named by its URI, or by its entity and reference. Exit status 1 if there is no such object.

      Examples: kvdump object library.cairn Person/p12
                kvdump object library.cairn \\
                  x-coredata://67E55044-10B1-426F-9247-BB680E5FE0C8/Person/p12
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The object's URI, or its entity and reference, such as Person/p12.")
  var object: String

  @Option(
    help: ArgumentHelp(
      "Print at most this many members of each to-many relationship; 20 if omitted.", valueName: "number"),
    transform: Int.parse)
  var limit = 20

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let objects = try ObjectStore(snapshot, of: store)
    let reference = try objects.names.reference(object)
    guard let found = try objects.object(reference) else {
      complain("there is no object \(objects.names.name(of: reference))")
      throw ExitCode.finding
    }
    switch common.format {
    case .text: for line in try text(found, objects) { try output.line(line) }
    case .json, .jsonl: try output.write(json(found, objects), common.format)
    }
  }

  private func text(_ object: ObjectStore.Object, _ objects: ObjectStore) throws -> [String] {
    var attributes = Table(["attribute": .left, "value": .left])
    var relationships = Table(["relationship": .left, "objects": .right, "": .left])
    for property in objects.names.properties(of: object.reference.entity) {
      let name = escapedForTerminal(property.name)
      switch property.kind {
      case .attribute:
        let value = object.values[property.number] ?? .null
        let text = value == .null ? "nil" : escapedForTerminal(value.text(objects.names.name))
        attributes.append(name, object.knows(property) ? text : "not known")
      case .toOne where !object.knows(property): relationships.append(name, "", "not known")
      case .toOne, .toMany:
        let members = try objects.related(to: object, property)
        let more = members.count > limit ? ["and \((members.count - limit).grouped) more"] : []
        let names = (members.prefix(limit).map(objects.names.name) + more).joined(separator: ", ")
        relationships.append(name, members.count.grouped, escapedForTerminal(names))
      }
    }
    var lines = [
      "object    \(escapedForTerminal(objects.names.uri(of: object.reference)))", "version   \(object.version.grouped)",
      "sequence  \(object.sequence)",
    ]
    for table in [attributes, relationships] where table.lines.count > 1 { lines += [""] + table.lines }
    return lines
  }

  private func json(_ object: ObjectStore.Object, _ objects: ObjectStore) throws -> JSON {
    var relationships: [JSON.Member] = []
    for property in objects.names.properties(of: object.reference.entity) where property.kind.relationship != nil {
      if case .toOne = property.kind, !object.knows(property) { continue }
      let members = try objects.related(to: object, property)
      relationships.append(
        JSON.Member(
          property.name,
          .object([
            "count": .number(members.count),
            "objects": .array(members.prefix(limit).map { .string(objects.names.uri(of: $0)) }),
          ])))
    }
    let members: KeyValuePairs<String, JSON> = [
      "schema": .string("kvdump.object"), "schemaVersion": .number(2 as Int),
      "object": .string(objects.names.uri(of: object.reference)),
      "entity": .string(objects.names.entityName(object.reference.entity)), "version": .number(object.version),
      "sequence": .number(object.sequence), "attributes": object.attributes(objects),
      "relationships": .members(relationships),
    ]
    return .object(members, "isPartial", object.isPartial ? .bool(true) : nil)
  }
}

extension ObjectStore {
  /// The objects at the other end of a relationship.
  func related(to object: Object, _ relationship: Schema.Property) throws -> [ObjectReference] {
    if case .toMany(_, let isOrdered) = relationship.kind {
      return try members(of: object.reference, relationship.number, isOrdered: isOrdered)
    }
    guard case .object(let other) = object.values[relationship.number] else { return [] }
    return [other]
  }
}

extension ObjectStore.Object {
  /// Whether the value of an attribute or a to-one relationship is known.
  func knows(_ property: Schema.Property) -> Bool { !isPartial || values[property.number] != nil }

  /// The values of all attributes that are known, by name.
  func attributes(_ objects: ObjectStore) -> JSON {
    .members(
      objects.names.properties(of: reference.entity).filter { $0.kind.relationship == nil && knows($0) }
        .map { JSON.Member($0.name, (values[$0.number] ?? .null).json(objects.names)) })
  }
}
