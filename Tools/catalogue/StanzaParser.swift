/// Splits a catalogue into stanzas as its bytes arrive, in chunks of any size. Lines end with a line feed or with
/// carriage return and line feed; blank lines separate stanzas.
struct StanzaParser {
  static let longestStanza = 16 << 20

  private let file: String
  /// The bytes from the beginning of the current stanza on.
  private var pending: [UInt8] = []
  /// The places in `pending` where the current stanza and the first unparsed line begin.
  private var stanzaStart = 0
  private var lineStart = 0
  /// There is no line feed between `lineStart` and this place.
  private var searched = 0
  private var fields: [Stanza.Field] = []
  private var line = 1
  private var stanzaLine = 1

  /// Errors name `file`.
  init(file: String) {
    self.file = file
  }

  /// Takes the next bytes, and calls `body` with the stanzas that end in them.
  mutating func parse(_ chunk: Span<UInt8>, _ body: (Stanza) throws -> Void) throws {
    for index in chunk.indices { pending.append(chunk[index]) }
    while let end = nextLineFeed() {
      try takeLine(lineStart..<end, next: end + 1, body)
    }
    dropFinished()
    guard pending.count <= Self.longestStanza else { throw error(.tooLong) }
  }

  /// Calls `body` with the last stanza, which may end without a blank line or a line feed.
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
