/// Cuts a catalogue into stanzas while its bytes come in, in chunks of any size. Lines end with a line feed or with
/// carriage return and line feed; blank lines stand between stanzas.
struct StanzaParser {
  static let longestStanza = 16 << 20

  private let file: String
  /// The bytes from the present stanza's first one on.
  private var pending: [UInt8] = []
  /// Where the present stanza begins in `pending`, and the first line not looked at yet.
  private var stanzaStart = 0
  private var lineStart = 0
  /// No line feed lies between `lineStart` and this.
  private var searched = 0
  private var fields: [Stanza.Field] = []
  private var line = 1
  private var stanzaLine = 1

  /// `file` is what errors call it.
  init(file: String) {
    self.file = file
  }

  /// Takes the next bytes and hands out the stanzas that end in them.
  mutating func parse(_ chunk: Span<UInt8>, _ body: (Stanza) throws -> Void) throws {
    for index in chunk.indices { pending.append(chunk[index]) }
    while let end = nextLineFeed() {
      try takeLine(lineStart..<end, next: end + 1, body)
    }
    dropFinished()
    guard pending.count <= Self.longestStanza else { throw error(.tooLong) }
  }

  /// Hands out the last stanza, which needs no blank line after it, nor a line feed.
  mutating func finish(_ body: (Stanza) throws -> Void) throws {
    if lineStart < pending.count {
      try takeLine(lineStart..<pending.count, next: pending.count, body)
    }
    try endStanza(at: lineStart, body)
    dropFinished()
  }

  private mutating func nextLineFeed() -> Int? {
    var index = searched
    while index < pending.count, pending[index] != 0x0A { index += 1 }
    searched = index
    return index < pending.count ? index : nil
  }

  /// `content` is a line without its line feed; the line after it begins at `next`.
  private mutating func takeLine(_ content: Range<Int>, next: Int, _ body: (Stanza) throws -> Void) throws {
    if pending[content].allSatisfy(\.isWhiteSpace) {
      try endStanza(at: content.lowerBound, body)
      stanzaStart = next
      stanzaLine = line + 1
    } else if pending[content.lowerBound].isWhiteSpace {
      guard let last = fields.indices.last else { throw error(.continuationWithoutField) }
      fields[last].value = fields[last].value.lowerBound..<content.upperBound - stanzaStart
    } else {
      fields.append(try field(content))
    }
    lineStart = next
    searched = next
    line += 1
  }

  private func field(_ content: Range<Int>) throws(StanzaError) -> Stanza.Field {
    guard let colon = pending[content].firstIndex(of: 0x3A) else { throw error(.noColon) }
    let name = content.lowerBound..<colon
    guard !name.isEmpty, pending[name].allSatisfy({ (0x21...0x7E).contains($0) }) else { throw error(.badFieldName) }
    return Stanza.Field(
      name: name.lowerBound - stanzaStart..<colon - stanzaStart,
      value: colon + 1 - stanzaStart..<content.upperBound - stanzaStart)
  }

  private mutating func endStanza(at end: Int, _ body: (Stanza) throws -> Void) throws {
    guard !fields.isEmpty else { return }
    let stanza = Stanza(line: stanzaLine, bytes: Array(pending[stanzaStart..<end]), fields: fields)
    fields.removeAll(keepingCapacity: true)
    try body(stanza)
  }

  private mutating func dropFinished() {
    pending.removeFirst(stanzaStart)
    lineStart -= stanzaStart
    searched -= stanzaStart
    stanzaStart = 0
  }

  private func error(_ problem: StanzaError.Problem) -> StanzaError {
    StanzaError(file: file, line: line, problem: problem)
  }
}
