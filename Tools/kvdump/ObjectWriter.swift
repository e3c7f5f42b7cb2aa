import Cairn
import CairnInspection
import RowFormat

/// Prints objects one by one; those of an entity must follow each other.
struct ObjectWriter {
  /// How many rows of a table are aligned together.
  private static let tableRows = 1000
  private static let cellColumns = 40

  private let objects: ObjectStore
  private let format: ObjectFormat
  private var listing: Listing
  /// The names of all properties of the entities.
  private let columns: [String]
  private var table: Table?
  private var rows = 0
  /// The entity of the object written last, its properties, and those properties in the order of the columns.
  private var entity: UInt32 = 0
  private var properties: [Schema.Property] = []
  private var cellProperties: [Schema.Property?] = []

  /// - Throws: `malformed` for CSV if a property has the name of a column that is not a property.
  init(_ objects: ObjectStore, _ entities: [Schema.Entity], _ format: ObjectFormat) throws(StoreError) {
    self.objects = objects
    self.format = format
    listing = Listing("objects", items: "objects", format.listed)
    columns = Set(entities.flatMap { objects.names.properties(of: $0.number) }.map(\.name)).sorted()
    if format == .csv, let name = columns.first(where: ObjectFormat.ownColumns.contains) {
      throw StoreError(
        .malformed, "a property is named \(name), which has another meaning in CSV; use --format jsonl")
    }
  }

  mutating func begin(_ members: KeyValuePairs<String, JSON>, to output: inout Output) throws {
    try listing.begin(members, to: &output)
    if format == .csv { try output.writeCSV([ObjectFormat.objectColumn] + columns) }
  }

  mutating func write(_ object: ObjectStore.Object, to output: inout Output) throws {
    if object.reference.entity != entity || rows == Self.tableRows {
      try endTable(to: &output)
      begin(object.reference.entity)
    }
    switch format {
    case .text: append(object)
    case .json, .jsonl: try listing.item(json(object), to: &output)
    case .csv: try output.writeCSV(try cells(object))
    }
  }

  mutating func end(_ count: Int, to output: inout Output) throws {
    try listing.end(["count": .number(count)], to: &output)
  }

  // MARK: Text

  private mutating func begin(_ entity: UInt32) {
    self.entity = entity
    rows = 0
    properties = objects.names.properties(of: entity)
    cellProperties = columns.map { column in properties.first { $0.name == column } }
    guard format == .text else { return }
    table = Table(["object"] + shown.map { escapedForTerminal($0.name) })
  }

  /// The properties that a text table shows: all but to-many relationships.
  private var shown: [Schema.Property] {
    properties.filter { property in
      if case .toMany = property.kind { false } else { true }
    }
  }

  private mutating func append(_ object: ObjectStore.Object) {
    rows += 1
    let cells = shown.map { property in
      guard object.knows(property) else { return "?" }
      let value = object.values[property.number] ?? .null
      return value == .string("")
        ? "\"\"" : escapedForTerminal(value.text(objects.names.name).cut(to: Self.cellColumns))
    }
    let name = escapedForTerminal(objects.names.name(of: object.reference))
    table?.append([object.isPartial ? "\(name), in part" : name] + cells)
  }

  /// Prints the rows that were kept to be aligned.
  mutating func endTable(to output: inout Output) throws {
    guard let table else { return }
    for line in table.lines { try output.line(line) }
    self.table = nil
  }

  // MARK: JSON and CSV

  private func json(_ object: ObjectStore.Object) throws -> JSON {
    var relationships: [JSON.Member] = []
    for property in properties where property.kind.relationship != nil {
      if case .toOne = property.kind, !object.knows(property) { continue }
      let related = try objects.related(to: object, property).map { JSON.string(objects.names.uri(of: $0)) }
      if case .toMany = property.kind {
        relationships.append(JSON.Member(property.name, .array(related)))
      } else {
        relationships.append(JSON.Member(property.name, related.first ?? .null))
      }
    }
    let members: KeyValuePairs<String, JSON> = [
      "object": .string(objects.names.uri(of: object.reference)), "entity": .string(objects.names.entityName(entity)),
      "version": .number(object.version), "attributes": object.attributes(objects),
      "relationships": .members(relationships),
    ]
    return .object(members, "isPartial", object.isPartial ? .bool(true) : nil)
  }

  /// Nil for a property that is nil or that the object's entity does not have.
  private func cells(_ object: ObjectStore.Object) throws -> [String?] {
    [objects.names.uri(of: object.reference)] + (try cellProperties.map { try $0.flatMap { try cell(object, $0) } })
  }

  private func cell(_ object: ObjectStore.Object, _ property: Schema.Property) throws -> String? {
    if case .toMany = property.kind {
      let related = try objects.related(to: object, property)
      return related.isEmpty ? nil : related.map(objects.names.uri).joined(separator: " ")
    }
    switch object.values[property.number] ?? .null {
    case .null: return nil
    case .composite(let elements):
      var bytes: [UInt8] = []
      StoredValue.composite(elements).json(objects.names).write(to: &bytes, indentation: nil)
      return String(decoding: bytes, as: UTF8.self)
    case let value: return value.text(objects.names.uri)
    }
  }
}

extension Output {
  /// Writes a line of CSV (RFC 4180). Nil becomes an empty cell, an empty string a pair of quotes.
  fileprivate mutating func writeCSV(_ cells: [String?]) throws {
    for (place, cell) in cells.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      if let cell { append(cell: cell) }
    }
    try endLine()
  }

  private mutating func append(cell: String) {
    let mark = UInt8(ascii: "\"")
    guard cell.isEmpty || cell.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return write(cell) }
    bytes.append(mark)
    // Compares bytes, because a quotation mark followed by a combining mark is a different character but the same byte.
    for byte in cell.utf8 { bytes.append(contentsOf: repeatElement(byte, count: byte == mark ? 2 : 1)) }
    bytes.append(mark)
  }
}

extension String {
  /// The text, cut to `count` characters; an ellipsis ends a cut text.
  fileprivate func cut(to count: Int) -> String {
    self.count > count ? "\(prefix(count - 1))…" : self
  }
}
