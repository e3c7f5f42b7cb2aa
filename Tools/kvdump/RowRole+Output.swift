import Cairn
import CairnInspection
import RowFormat

/// Rows of a Core Data store in words.
extension ObjectNames {
  /// How many entries of a pack are printed for people.
  private static let shownEntries = 10

  /// What is in a keyspace, or else the keyspace's name.
  static func title(of keyspace: String, _ names: ObjectNames?) -> String {
    escapedForTerminal(names?.title(of: keyspace) ?? keyspace)
  }

  /// The keyspace that an option names, by itself or by the entity of its objects.
  static func keyspace(named name: String?, _ names: ObjectNames?) -> String? {
    name.map { names?.keyspace(named: $0) ?? $0 }
  }

  /// As `Person/p12`.
  func text(_ role: RowRole) -> String {
    switch role {
    case .metadata: "metadata"
    case .schema: "schema"
    case .reservedReferences: "reserved references"
    case .historyHead: "head of the history"
    case .transaction(let number): "transaction \(number)"
    case .remoteHead: "head of the service"
    case .origin(let reference): "origin of p\(escapedForTerminal(reference.description))"
    case .result(let text): "list \(escapedForTerminal(text))"
    case .resultPage(let text): "page \(escapedForTerminal(text))"
    case .outboxChange(let number): "change \(number) for the service"
    case .object(let object): escapedForTerminal(name(of: object))
    case .touches(let object): "touches of \(escapedForTerminal(name(of: object)))"
    case .entries(from: []): "the first entries"
    case .entries(from: let bound):
      "entries from \(entry(at: bound).map { owner(of: $0) } ?? Key.bytes(bound).literal)"
    }
  }

  /// As `name: "Ann", age: 36`.
  func text(_ content: RowContent) -> String {
    switch content {
    case .metadata(let uuid, let type):
      "\(escapedForTerminal(type ?? "no type")), UUID \(escapedForTerminal(uuid ?? "missing"))"
    case .schema(let schema):
      schema.entities.isEmpty
        ? "no entities" : "entities \(schema.entities.map { escapedForTerminal($0.name) }.joined(separator: ", "))"
    case .reservedReferences(let numbers): "up to p\(numbers.last)"
    case .historyHead(let head): "up to transaction \(head.last.number), expired up to \(head.expired.number)"
    case .transaction(let transaction):
      "\(transaction.origin.author.map { "author \(escapedForTerminal($0)), " } ?? "")"
        + "\(transaction.count.grouped) \(transaction.count == 1 ? "change" : "changes")"
    case .remoteHead(let head):
      "account \(escapedForTerminal(head.account)), next change \(head.nextChange)"
    case .origin(let origin): text(origin)
    case .result(let list):
      "\(escapedForTerminal(list.key)): \(list.pages.grouped) \(list.pages == 1 ? "page" : "pages")"
        + "\(list.isComplete ? "" : ", incomplete")"
    case .resultPage(let page): page.objects.map { escapedForTerminal(name(of: $0)) }.joined(separator: ", ")
    case .outboxChange(let change):
      "\(change.kind.name) of \(escapedForTerminal(name(of: change.object))), \(change.state.name)"
    case .object(let values, let isPartial):
      values.map { "\(escapedForTerminal($0.name)): \($0.value.literal(self))" }.joined(separator: ", ")
        + (isPartial ? " (not loaded in whole)" : "")
    case .touches: "a relationship has changed at its other end"
    case .entries(let entries): text(entries)
    }
  }

  private func text(_ origin: OriginRow) -> String {
    var parts = [escapedForTerminal(entityName(origin.entity))]
    parts.append(origin.identifier.map { "identifier \(Key.string($0).literal)" } ?? "no identifier")
    if let tag = origin.tag { parts.append("tag \(Key.string(tag).literal)") }
    if !origin.changes.isEmpty { parts.append(origin.changes.count.of("change")) }
    return parts.joined(separator: ", ")
  }

  // MARK: Entries

  /// As `Person.pets of p1: Dog/p5, Dog/p6; Ship with callSign "BGL": Ship/p1`.
  private func text(_ entries: [EntryContent]) -> String {
    var groups: [(owner: String, objects: [String])] = []
    for entry in entries.prefix(Self.shownEntries) {
      let owner = owner(of: entry)
      if groups.last?.owner != owner { groups.append((owner, [])) }
      groups[groups.count - 1].objects.append(escapedForTerminal(name(of: entry.object)))
    }
    var parts = groups.map { "\($0.owner): \($0.objects.joined(separator: ", "))" }
    if entries.count > Self.shownEntries { parts.append("and \((entries.count - Self.shownEntries).grouped) more") }
    return parts.joined(separator: "; ")
  }

  private func owner(of entry: EntryContent) -> String {
    switch entry {
    case .member(let relationship, let owner, _, _):
      return escapedForTerminal("\(name(of: relationship)) of p\(owner)")
    case .key(let constraint, let key, _):
      let attributes = attributes(of: constraint).map(escapedForTerminal)
      let values = UniqueKey.values(in: key, attributes.count)?.map { $0.literal(self) }
      let pairs =
        values.map { zip(attributes, $0).map { "\($0) \($1)" } } ?? ["a hash of \(attributes.joined(separator: ", "))"]
      return "\(escapedForTerminal(entityName(constraint.entity))) with \(pairs.joined(separator: ", "))"
    case .indexed(let index, _, _):
      let names = names(of: index).joined(separator: ", ")
      return escapedForTerminal("\(entityName(index.entity)) by \(names)")
    case .identified(let identifier, let object):
      return "\(escapedForTerminal(entityName(object.entity))) with the identifier \(Key.string(identifier).literal)"
    }
  }

  // MARK: JSON

  /// What a row is, and what it contains, if its value can be decoded.
  func json(_ role: RowRole, _ value: [UInt8]? = nil) -> JSON {
    .members(head(role) + (value.flatMap { content(of: role, $0) }.map(members) ?? []))
  }

  private func head(_ role: RowRole) -> [JSON.Member] {
    func row(_ kind: String) -> JSON.Member { JSON.Member("row", .string(kind)) }
    switch role {
    case .metadata: return [row("metadata")]
    case .schema: return [row("schema")]
    case .reservedReferences: return [row("reserved references")]
    case .historyHead: return [row("head of the history")]
    case .transaction(let number): return [row("transaction"), JSON.Member("transaction", .integer(number))]
    case .remoteHead: return [row("head of the service")]
    case .origin(let reference): return [row("origin"), JSON.Member("reference", .string("p\(reference)"))]
    case .result: return [row("list")]
    case .resultPage: return [row("page of a list")]
    case .outboxChange(let number): return [row("change for the service"), JSON.Member("change", .integer(number))]
    case .entries: return [row("entries")]
    case .object(let object): return [row("object")] + members(object)
    case .touches(let object): return [row("touches")] + members(object)
    }
  }

  private func members(_ object: ObjectReference) -> [JSON.Member] {
    [
      JSON.Member("object", .string(uri(of: object))),
      JSON.Member("entity", .string(entityName(object.entity))),
    ]
  }

  private func members(_ content: RowContent) -> [JSON.Member] {
    switch content {
    case .metadata(let uuid, let type):
      [
        JSON.Member("uuid", uuid.map { .string($0) } ?? .null), JSON.Member("type", type.map { .string($0) } ?? .null),
      ]
    case .schema(let schema): [JSON.Member("entities", .array(schema.entities.map { .string($0.name) }))]
    case .reservedReferences(let numbers): [JSON.Member("last", .number(numbers.last))]
    case .historyHead(let head):
      [JSON.Member("last", .number(head.last.number)), JSON.Member("expired", .number(head.expired.number))]
    case .transaction(let transaction):
      [
        JSON.Member("author", transaction.origin.author.map { .string($0) } ?? .null),
        JSON.Member("changes", .number(transaction.count)),
      ]
    case .remoteHead(let head):
      [
        JSON.Member("account", .string(head.account)), JSON.Member("nextChange", .number(head.nextChange)),
        JSON.Member("cursor", head.cursor.map { .string($0) } ?? .null),
      ]
    case .origin(let origin): [JSON.Member("entity", .string(entityName(origin.entity)))] + members(of: origin)
    case .result(let list): members(of: list)
    case .resultPage(let page): [JSON.Member("objects", .array(page.objects.map { .string(uri(of: $0)) }))]
    case .outboxChange(let change): members(of: change)
    case .object(let values, let isPartial):
      [
        JSON.Member("attributes", json(values.filter { !$0.isRelationship })),
        JSON.Member("relationships", json(values.filter(\.isRelationship))),
      ] + (isPartial ? [JSON.Member("isPartial", .bool(true))] : [])
    case .touches: []
    case .entries(let entries): [JSON.Member("entries", .array(entries.map(json)))]
    }
  }

  private func json(_ values: [NamedValue]) -> JSON {
    .members(values.map { JSON.Member($0.name, $0.value.json(self)) })
  }

  private func json(_ entry: EntryContent) -> JSON {
    switch entry {
    case .member(let relationship, let owner, let member, let position):
      .object([
        "entity": .string(entityName(relationship.entity)), "relationship": .string(relationship.property.name),
        "owner": .string("p\(owner)"), "position": position.map { .integer($0) } ?? .null,
        "object": .string(uri(of: member)),
      ])
    case .key(let constraint, let key, let holder):
      .object([
        "entity": .string(entityName(constraint.entity)),
        "attributes": .array(attributes(of: constraint).map { .string($0) }),
        "values": UniqueKey.values(in: key, constraint.constraint.attributes.count)
          .map { .array($0.map { $0.json(self) }) } ?? .null,
        "object": .string(uri(of: holder)),
      ])
    case .indexed(let index, _, let object):
      .object([
        "entity": .string(entityName(index.entity)), "index": .array(names(of: index).map { .string($0) }),
        "object": .string(uri(of: object)),
      ])
    case .identified(let identifier, let object):
      .object([
        "entity": .string(entityName(object.entity)), "identifier": .string(identifier),
        "object": .string(uri(of: object)),
      ])
    }
  }
}

extension Optional<ObjectNames> {
  /// Appends a row's value in words, or else as text or hexadecimal digits.
  func append(_ value: [UInt8], of role: RowRole?, to bytes: inout [UInt8]) {
    if let names = self, let role, let content = names.content(of: role, value) {
      bytes.append(contentsOf: names.text(content).utf8)
    } else {
      unsafe value.withUnsafeBytes { unsafe bytes.append(valueLiteral: $0) }
    }
  }
}

extension EntryContent {
  /// The member, the object that has the key, or the object in the index.
  fileprivate var object: ObjectReference {
    switch self {
    case .member(_, _, let member, _): member
    case .key(_, _, let holder): holder
    case .indexed(_, _, let object): object
    case .identified(_, let object): object
    }
  }
}
