/// A generated source file.
struct SourceFile {
  /// The beginning of every generated file, which marks it as replaceable.
  static let mark = "// Written by modelgen"

  let name: String
  private(set) var text: String

  init(name: String, entity: String) {
    self.name = name
    let entity = SwiftName.escaped(entity)
    text = "\(Self.mark) for the entity \(entity). Changes will be lost.\n// swift-format-ignore-file\n\n"
  }

  mutating func write(_ lines: String, indentation: Int = 0) {
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += (line.isEmpty ? "" : String(repeating: " ", count: indentation)) + line + "\n"
    }
  }
}
