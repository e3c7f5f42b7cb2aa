import Cairn
import CairnInspection
import RowFormat

/// What is known of a remote service in words.
extension ObjectNames {
  private static func date(_ seconds: Double) -> String { seconds == 0 ? "" : ISODate.text(seconds) }

  private static func json(date seconds: Double) -> JSON { seconds == 0 ? .null : .string(ISODate.text(seconds)) }

  private static func json(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

  // MARK: Origins

  /// - Parameter isPartial: Nil if there is no such object.
  func cells(_ object: ObjectReference, _ origin: OriginRow, _ isPartial: Bool?) -> [String] {
    [
      escapedForTerminal(name(of: object)), isPartial.map { $0 ? "in part" : "in whole" } ?? "deleted",
      escapedForTerminal(origin.identifier ?? ""), escapedForTerminal(origin.tag ?? ""), Self.date(origin.readAt),
      origin.isPinned ? "yes" : "", origin.changes.map { "\($0)" }.joined(separator: ", "),
    ]
  }

  func json(_ object: ObjectReference, _ origin: OriginRow, _ isPartial: Bool?) -> JSON {
    .members(
      [
        JSON.Member("object", .string(uri(of: object))), JSON.Member("entity", .string(entityName(object.entity))),
        JSON.Member("isPartial", isPartial.map { .bool($0) } ?? .null),
      ] + members(of: origin))
  }

  func members(of origin: OriginRow) -> [JSON.Member] {
    [
      JSON.Member("identifier", Self.json(origin.identifier)), JSON.Member("tag", Self.json(origin.tag)),
      JSON.Member("readAt", Self.json(date: origin.readAt)), JSON.Member("isPinned", .bool(origin.isPinned)),
      JSON.Member(
        "knownSets", .array(origin.knownSets.map { .string(propertyName(UInt32(clamping: $0))) })),
      JSON.Member("changes", .array(origin.changes.map { .number($0) })),
    ]
  }

  // MARK: Outbox

  func cells(_ number: Int64, _ change: OutboxRow) throws -> [String] {
    [
      "\(number)", escapedForTerminal(name(of: change.object)), change.kind.name, change.state.name,
      "\(change.attempts)", Self.date(change.earliest),
      try changedProperties(in: change).map(escapedForTerminal).joined(separator: ", "),
      escapedForTerminal(change.refusal),
    ]
  }

  /// The names of the properties that an insertion or an update changes, sorted.
  private func changedProperties(in change: OutboxRow) throws -> [String] {
    guard change.kind != .delete else { return [] }
    let fields = try values(ofFields: change.base) + values(ofFields: change.values)
    return Set(fields.map(\.name) + change.members.map { propertyName($0.relationship) }).sorted()
  }

  func json(_ number: Int64, _ change: OutboxRow) -> JSON {
    .members([JSON.Member("change", .integer(number))] + members(of: change))
  }

  func members(of change: OutboxRow) -> [JSON.Member] {
    [
      JSON.Member("object", .string(uri(of: change.object))),
      JSON.Member("entity", .string(entityName(change.object.entity))),
      JSON.Member("kind", .string(change.kind.name)), JSON.Member("state", .string(change.state.name)),
      JSON.Member("key", .string("\(Key.uuid(change.uuid))")), JSON.Member("attempts", .number(change.attempts)),
      JSON.Member("notBefore", Self.json(date: change.earliest)),
      JSON.Member("before", json(fields: change.base)), JSON.Member("after", json(fields: change.values)),
      JSON.Member(
        "members",
        .members(
          change.members.map { members in
            JSON.Member(
              propertyName(members.relationship),
              .object([
                "added": .array(members.added.map { .string(uri(of: $0)) }),
                "removed": .array(members.removed.map { .string(uri(of: $0)) }),
              ]))
          })),
      JSON.Member("refusal", change.state == .refused ? .string(change.refusal) : .null),
    ]
  }

  /// Null for fields that cannot be read.
  private func json(fields row: [UInt8]) -> JSON {
    guard let values = try? values(ofFields: row) else { return .null }
    return .members(values.map { JSON.Member($0.name, $0.value.json(self)) })
  }

  // MARK: Lists

  func cells(_ list: ResultRow, _ objects: Int) -> [String] {
    [
      escapedForTerminal(list.key), escapedForTerminal(entityName(list.entity)), list.pages.grouped,
      objects.grouped, list.isComplete ? "yes" : "no", Self.date(list.readAt),
    ]
  }

  func json(_ list: ResultRow, _ objects: Int) -> JSON {
    .members(members(of: list) + [JSON.Member("objects", .number(objects))])
  }

  func members(of list: ResultRow) -> [JSON.Member] {
    [
      JSON.Member("list", .string(list.key)), JSON.Member("entity", .string(entityName(list.entity))),
      JSON.Member("generation", .number(list.generation)), JSON.Member("pages", .number(list.pages)),
      JSON.Member("formerPages", .number(list.formerPages)), JSON.Member("isComplete", .bool(list.isComplete)),
      JSON.Member("begunAt", Self.json(date: list.begunAt)), JSON.Member("readAt", Self.json(date: list.readAt)),
      JSON.Member("tag", Self.json(list.tag)), JSON.Member("cursor", Self.json(list.cursor)),
      JSON.Member("freshFor", list.freshFor.map { .double($0) } ?? .null),
    ]
  }
}

extension OutboxRow.Kind {
  var name: String {
    switch self {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }
}

extension OutboxRow.State {
  var name: String {
    switch self {
    case .waiting: "waiting"
    case .sent: "sent"
    case .refused: "refused"
    case .unknown: "unknown"
    }
  }
}
