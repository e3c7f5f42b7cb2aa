import CairnInspection

/// A result of many items, printed one by one.
///
/// As jsonl, the first line is an object with the schema and the members that belong to all items; the last line is an
/// object with `"end":true` and the totals, and output without it was cut off. As json, the result is one document.
struct Listing {
  private let schema: String
  private let items: String
  private let format: OutputFormat
  private var isFirst = true

  /// - Parameters:
  ///   - schema: The name of the schema after `kvdump.`; its version is 1.
  ///   - items: The name of the array in a JSON document.
  init(_ schema: String, items: String, _ format: OutputFormat) {
    self.schema = schema
    self.items = items
    self.format = format
  }

  var isText: Bool { format == .text }

  /// Prints the members before the items; nothing as text.
  mutating func begin(_ members: KeyValuePairs<String, JSON>, to output: inout Output) throws {
    guard !isText else { return }
    output.write(format == .json ? "{\n  \"schema\": " : "{\"schema\":")
    output.bytes.append(quoted: "kvdump.\(schema)", .json)
    write("schemaVersion", .number(2 as Int), to: &output)
    for (name, value) in members { write(name, value, to: &output) }
    if format == .json {
      output.write(",\n  \"\(items)\": [")
    } else {
      output.write("}")
      try output.endLine()
    }
  }

  private func write(_ name: String, _ value: JSON, to output: inout Output) {
    output.write(format == .json ? ",\n  " : ",")
    output.bytes.append(quoted: name, .json)
    output.write(format == .json ? ": " : ":")
    value.write(to: &output.bytes, indentation: format == .json ? 2 : nil)
  }

  /// Prints one item, which `write` appends.
  mutating func item(to output: inout Output, _ write: (inout [UInt8]) throws -> Void) throws {
    if format == .json {
      if !isFirst { output.write(",") }
      isFirst = false
      try output.endLine()
      output.write("    ")
    }
    try write(&output.bytes)
    if format != .json { try output.endLine() }
  }

  mutating func item(_ members: KeyValuePairs<String, JSON>, to output: inout Output) throws {
    try item(.object(members), to: &output)
  }

  mutating func item(_ json: JSON, to output: inout Output) throws {
    try item(to: &output) { json.write(to: &$0, indentation: nil) }
  }

  /// Prints the members after the items; nothing as text.
  mutating func end(_ members: KeyValuePairs<String, JSON> = [:], to output: inout Output) throws {
    guard !isText else { return }
    output.write(format == .json ? (isFirst ? "]" : "\n  ]") : "{\"end\":true")
    for (name, value) in members { write(name, value, to: &output) }
    output.write(format == .json ? "\n}" : "}")
    try output.endLine()
  }
}
