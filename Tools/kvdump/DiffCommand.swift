import ArgumentParser
import Cairn
import CairnInspection

struct DiffCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Prints the differences between two stores.",
    discussion: """
      Keyspaces are matched by name. Rows are compared by value, with --exact also by version and sequence. A line \
      that begins with - is only in the first store, a line that begins with + only in the second. Exit status 1 if \
      there is any difference.

      Example: kvdump diff yesterday.cairn today.cairn --keyspace customers
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The directory of the other store.", completion: .directory)
  var second: String

  @Option(help: ArgumentHelp("Print only differences in this keyspace.", valueName: "name"))
  var keyspace: String?

  @Flag(help: "Also compare versions and sequences.")
  var exact = false

  @Flag(help: "Print no values.")
  var keysOnly = false

  func write(to output: inout Output) throws {
    let first = try Watched.store(common.store)
    defer { try? first.close() }
    let second = try Watched.store(second)
    defer { try? second.close() }
    if let keyspace {
      _ = try first.existingKeyspace(keyspace)
      _ = try second.existingKeyspace(keyspace)
    }
    output.statusIfClosed = .closed
    var listing = Listing("diff", items: "differences", common.format)
    try listing.begin(["first": .string(common.store), "second": .string(self.second)], to: &output)
    var count = 0
    try Watched.working("comparing") { progress in
      try StoreDiff(first, second, isExact: exact).forEach(progress: progress) { difference in
        guard keyspace == nil || difference.keyspace == keyspace else { return .next }
        count += 1
        output.statusIfClosed = .finding
        if listing.isText {
          for line in text(difference) { try output.line(line) }
        } else {
          try listing.item(members(difference), to: &output)
        }
        return .next
      }
    }
    if count == 0 { output.statusIfClosed = .success }
    try listing.end(["count": .number(count)], to: &output)
    guard count == 0 else { throw ExitCode.finding }
  }

  // MARK: Text

  private func text(_ difference: StoreDiff.Difference) -> [String] {
    switch difference {
    case .keyspaceOnlyInFirst(let name): [line("-", "keyspace \(escapedForTerminal(name))")]
    case .keyspaceOnlyInSecond(let name): [line("+", "keyspace \(escapedForTerminal(name))")]
    case .settings(let name, let first, let second):
      [
        line("-", "keyspace \(escapedForTerminal(name)): \(first)"),
        line("+", "keyspace \(escapedForTerminal(name)): \(second)"),
      ]
    case .onlyInFirst(let name, let row): [line("-", text(name, row))]
    case .onlyInSecond(let name, let row): [line("+", text(name, row))]
    case .changed(let name, let first, let second): [line("-", text(name, first)), line("+", text(name, second))]
    }
  }

  private func line(_ sign: String, _ text: String) -> String {
    Terminal.styled("\(sign) \(text)", sign == "-" ? .red : .green)
  }

  private func text(_ keyspace: String, _ row: Row) -> String {
    var bytes: [UInt8] = []
    if !keysOnly {
      bytes.append(UInt8(ascii: "\t"))
      unsafe row.value.withUnsafeBytes { unsafe bytes.append(valueLiteral: $0) }
    }
    let stamp = exact ? "\tversion \(row.version), sequence \(row.sequence)" : ""
    return "\(escapedForTerminal(keyspace))\t\(row.key.literal)\(String(decoding: bytes, as: UTF8.self))\(stamp)"
  }

  // MARK: JSON

  private func members(_ difference: StoreDiff.Difference) -> KeyValuePairs<String, JSON> {
    let name = JSON.string(difference.keyspace)
    return switch difference {
    case .keyspaceOnlyInFirst: ["keyspace": name, "only": .string("first")]
    case .keyspaceOnlyInSecond: ["keyspace": name, "only": .string("second")]
    case .settings(_, let first, let second):
      ["keyspace": name, "first": .string(first), "second": .string(second)]
    case .onlyInFirst(_, let row):
      ["keyspace": name, "key": .key(row.key), "first": json(row), "second": .null]
    case .onlyInSecond(_, let row):
      ["keyspace": name, "key": .key(row.key), "first": .null, "second": json(row)]
    case .changed(_, let first, let second):
      ["keyspace": name, "key": .key(first.key), "first": json(first), "second": json(second)]
    }
  }

  private func json(_ row: Row) -> JSON {
    let value: JSON = keysOnly ? .null : .value(row.value)
    return .object(["value": value, "version": .number(row.version), "sequence": .number(row.sequence)])
  }
}

extension StoreDiff.Difference {
  fileprivate var keyspace: String {
    switch self {
    case .keyspaceOnlyInFirst(let name), .keyspaceOnlyInSecond(let name), .settings(let name, _, _),
      .onlyInFirst(let name, _), .onlyInSecond(let name, _), .changed(let name, _, _):
      name
    }
  }
}
