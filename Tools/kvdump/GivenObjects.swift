#if !canImport(Darwin)
  import Cairn
  import CairnInspection
  import Foundation

  /// An object as a file describes it.
  struct GivenObject {
    let line: Int
    /// A URI or any other name; nil for an object that nothing refers to.
    let name: String?
    let entity: String?
    let values: [String: GivenValue]
    /// The CSV columns that were read as `name` and `entity`, and therefore not as properties of those names.
    var ownColumns: [String] = []
  }

  /// Reads objects from JSON lines, as `objects` prints them, or from CSV.
  enum GivenObjects {
    case lines(LineReader, isOpen: Bool)
    case table(CSVReader, columns: [String])

    init(_ input: Input) throws {
      let isJSON = try input.peek() == UInt8(ascii: "{")
      let lines = LineReader { try input.read(into: &$0, atMost: $1) }
      guard !isJSON else {
        self = .lines(lines, isOpen: false)
        return
      }
      var table = CSVReader(lines)
      guard let columns = try table.next() else { throw StoreError(.malformed, "the input is empty") }
      let names = columns.compactMap(\.self)
      guard names.count == columns.count, Set(names).count == names.count else {
        throw StoreError(.malformed, "line 1: a column has no name, or two columns have the same name")
      }
      self = .table(table, columns: names)
    }

    mutating func next() throws -> GivenObject? {
      switch self {
      case .lines(var lines, var isOpen):
        let object = try Self.next(&lines, &isOpen)
        self = .lines(lines, isOpen: isOpen)
        return object
      case .table(var table, let columns):
        guard let cells = try table.next() else { return nil }
        self = .table(table, columns: columns)
        return try Self.object(cells, columns, table.line)
      }
    }

    // MARK: JSON lines

    private static func next(_ lines: inout LineReader, _ isOpen: inout Bool) throws -> GivenObject? {
      while let line = try lines.next() {
        guard let members = try? JSONDecoder().decode([String: GivenValue].self, from: Data(line)) else {
          throw lines.problem("not a JSON object on one line, as --format jsonl prints it")
        }
        if case .string(let schema) = members["schema"] {
          guard schema == "kvdump.objects" else { throw lines.problem("the schema is \(schema), not kvdump.objects") }
          isOpen = true
        } else if members["end"] != nil {
          isOpen = false
        } else {
          return try object(members, lines)
        }
      }
      guard !isOpen else { throw lines.problem("the last line is missing: the input is truncated") }
      return nil
    }

    private static func object(_ members: [String: GivenValue], _ lines: LineReader) throws -> GivenObject {
      var (name, entity): (String?, String?)
      var values: [String: GivenValue] = [:]
      for (member, value) in members {
        switch (member, value) {
        case ("object", .string(let text)): name = text
        case ("entity", .string(let text)): entity = text
        case ("version", .integer), ("isPartial", .bool): break
        case ("attributes", .object(let properties)), ("relationships", .object(let properties)):
          values.merge(properties) { first, _ in first }
        default: throw lines.problem("an object cannot have the member \(Key.string(member).literal)")
        }
      }
      return GivenObject(line: lines.number, name: name, entity: entity, values: values)
    }

    // MARK: CSV

    private static func object(_ cells: [String?], _ columns: [String], _ line: Int) throws -> GivenObject {
      guard cells.count == columns.count else {
        throw StoreError(
          .malformed, "line \(line): \(cells.count.of("cell")) where there are \(columns.count.of("column"))")
      }
      var values = Dictionary(
        uniqueKeysWithValues: zip(columns, cells.map { $0.map { GivenValue.string($0) } ?? .null }))
      func text(_ column: String) -> String? {
        if case .string(let text) = values.removeValue(forKey: column) { text } else { nil }
      }
      return GivenObject(
        line: line, name: text(ObjectFormat.objectColumn), entity: text(ObjectFormat.entityColumn), values: values,
        ownColumns: ObjectFormat.ownColumns.filter(columns.contains))
    }
  }
#endif
