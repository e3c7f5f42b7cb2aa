import ArgumentParser
import Cairn
import CairnInspection

struct HexCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "hex",
    abstract: "Prints the bytes of a file of the store, with the names of the fields.",
    discussion: """
      The names are those of Documentation/FORMAT.md. For a segment, prints the header and all frames, or those in a \
      range; for a checkpoint, the header; for all other files, everything. Damaged parts are decoded as far as \
      possible, and marked with an exclamation mark. Exit status 1 if there is damage.

      Examples: kvdump hex orders.cairn MANIFEST
                kvdump hex orders.cairn 3 --offset 128 --length 1
                kvdump hex orders.cairn 0000000003.moves
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "A file of the store, or a segment's number.")
  var file: String

  @Option(
    help: ArgumentHelp(
      "Print the frame at this offset of a segment, and later frames; all if omitted.", valueName: "bytes"),
    transform: Int.parse)
  var offset = 0

  @Option(
    help: ArgumentHelp("Print only frames that overlap this many bytes from --offset.", valueName: "bytes"),
    transform: Int.parse)
  var length: Int?

  @Flag(help: "Print all bytes of long fields, not only the first 64.")
  var whole = false

  private static let shownBytes = 64

  func write(to output: inout Output) throws {
    var listing = Listing("hex", items: "fields", common.format)
    let log = try LogReader(at: common.store)
    let name = UInt32(file).map { Segment.fileName(SegmentID($0)) } ?? file
    guard log.names.contains(name) else { throw StoreError.noFile(name, log.directory.path) }
    // Reads the fields before anything is printed, so that an error leaves no partial output.
    let fields = StoreDirectory.segment(named: name) == nil ? try AnnotatedFile.fields(of: name, in: log.directory) : []
    Interruption.watch()
    output.statusIfClosed = .closed
    try listing.begin(["store": .string(common.store), "file": .string(name)], to: &output)
    var wrong = 0
    func print(_ annotations: [Annotation]) throws {
      for annotation in annotations {
        if annotation.isWrong {
          wrong += 1
          output.statusIfClosed = .finding
        }
        if listing.isText {
          for line in text(annotation) { try output.line(line) }
        } else {
          try listing.item(members(annotation), to: &output)
        }
      }
    }

    if let id = StoreDirectory.segment(named: name) {
      let entry = log.entries.first { $0.id == id } ?? Manifest.Segment(id: id)
      guard let segment = try log.segment(entry) else { throw StoreError.noFile(name, log.directory.path) }
      let end = offset.addingReportingOverflow(length ?? .max)
      let annotated = AnnotatedSegment(segment, shownBytes: whole ? .max : Self.shownBytes)
      try annotated.forEach(in: offset..<(end.overflow ? .max : end.partialValue)) { annotations in
        try print(annotations)
        return Interruption.isRequested ? .stop : .next
      }
    } else {
      try print(fields)
    }
    Interruption.endIfRequested()
    if wrong == 0 { output.statusIfClosed = .success }
    try listing.end(["isSound": .bool(wrong == 0)], to: &output)
    guard wrong == 0 else { throw ExitCode.finding }
  }

  private func text(_ annotation: Annotation) -> [String] {
    var lines: [String] = []
    let shown = whole ? annotation.bytes[...] : annotation.bytes.prefix(Self.shownBytes)
    let words = annotation.value.isEmpty ? annotation.field : "\(annotation.field): \(annotation.value)"
    for start in stride(from: 0, to: max(1, shown.count), by: 16) {
      let bytes = shown[start..<min(start + 16, shown.count)]
      let digits = bytes.map { $0.hexadecimalDigits }.joined(separator: " ")
      var line = Terminal.styled((annotation.offset + start).offsetDigits, .dim) + "  " + digits
      if start == 0 {
        line += String(repeating: " ", count: max(0, 48 - digits.count)) + " "
        line += annotation.isWrong ? Terminal.styled("! \(words)", .red) : "  \(words)"
      }
      lines.append(line)
    }
    if annotation.length > shown.count {
      lines.append("          … \((annotation.length - shown.count).grouped) more bytes")
    }
    return lines
  }

  private func members(_ annotation: Annotation) -> KeyValuePairs<String, JSON> {
    [
      "offset": .number(annotation.offset), "length": .number(annotation.length), "bytes": .bytes(annotation.bytes),
      "field": .string(annotation.field), "value": .string(annotation.value), "isWrong": .bool(annotation.isWrong),
    ]
  }
}

extension UInt8 {
  fileprivate var hexadecimalDigits: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}

extension Int {
  /// In hexadecimal, with at least eight digits.
  fileprivate var offsetDigits: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Swift.max(0, 8 - digits.count)) + digits
  }
}
