package import Cairn

/// Reads Berkeley DB's text format as `db_dump`, `mdb_dump` and others write it.
package struct BerkeleyReader {
  /// The header of a section.
  package struct Section: Sendable {
    /// Nil if the header has no name.
    package var name: String?
    /// The settings that have no meaning here, in words.
    package var remarks: [String] = []
  }

  /// Keywords that only describe how the other store is laid out on disk.
  private static let storage: Set<String> = [
    "bt_minkey", "db_lorder", "db_pagesize", "extentsize", "chksum", "h_ffactor", "h_nelem", "re_len", "re_pad",
    "mapsize", "mapaddr", "maxreaders", "keys", "subdatabase", "geometry", "canary", "txnid", "sequence",
  ]
  private static let flags: Set<String> = [
    "duplicates", "dupsort", "recnum", "renumber", "reversekey", "integerkey", "dupfixed", "integerdup", "reversedup",
  ]

  private var lines: LineReader
  private var version = 3
  private var isPrintable = false
  private var isInData = false

  package init(_ lines: LineReader) { self.lines = lines }

  /// An error about the line that was read last.
  package func problem(_ words: String) -> StoreError { lines.problem(words) }

  // MARK: Headers

  /// The header of the next section; nil at the end of the input.
  package mutating func nextSection() throws -> Section? {
    guard let first = try lines.next() else {
      guard lines.number > 0 else { throw StoreError(.malformed, "the input is empty") }
      return nil
    }
    guard let (keyword, value) = Self.split(first), keyword == "VERSION", let number = Int(Self.text(value)) else {
      throw lines.problem("a header must begin with VERSION=")
    }
    guard (1...3).contains(number) else { throw lines.problem("VERSION=\(number) is not known") }
    version = number
    isPrintable = false
    var section = Section()
    var name: ArraySlice<UInt8>?
    var isFromLMDB = false
    while let line = try lines.next() {
      if line.elementsEqual("HEADER=END".utf8) {
        isInData = true
        if let name { section.name = try decode(name: name, isEscaped: !isFromLMDB) }
        return section
      }
      guard let (keyword, value) = Self.split(line) else { throw lines.problem("a line of the header has no =") }
      if keyword == "database" {
        name = value
      } else {
        if keyword == "mapsize" { isFromLMDB = true }
        try take(keyword, Self.text(value), &section)
      }
    }
    throw lines.problem("the header has no HEADER=END")
  }

  private mutating func take(_ keyword: String, _ value: String, _ section: inout Section) throws(StoreError) {
    switch keyword {
    case "format":
      guard value == "bytevalue" || value == "print" else {
        throw lines.problem("format=\(value) is not known")
      }
      isPrintable = value == "print"
    case "type":
      guard value == "btree" || value == "hash" else {
        throw lines.problem("type=\(value): only databases of type btree or hash have keys that identify rows")
      }
    case _ where Self.flags.contains(keyword):
      if value != "0" {
        section.remarks.append("\(keyword)=\(value) has no effect: keys are compared byte by byte")
      }
    case _ where Self.storage.contains(keyword): break
    default: section.remarks.append("\(keyword)=\(value) is not known, and is ignored")
    }
  }

  private static func split(_ line: ArraySlice<UInt8>) -> (keyword: String, value: ArraySlice<UInt8>)? {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (text(line[..<equals]), line[(equals + 1)...])
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  private func decode(name: ArraySlice<UInt8>, isEscaped: Bool) throws(StoreError) -> String {
    var bytes = Array(name)
    if isEscaped {
      bytes = []
      try append(printable: name, to: &bytes)
    }
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty, bytes.count <= Int(UInt16.max) else {
      throw lines.problem("the name of the database is not UTF-8 of 1 to 65,535 bytes")
    }
    return text
  }

  // MARK: Data

  /// Reads the next key and value of the section; false at its end.
  package mutating func nextRow(_ key: inout [UInt8], _ value: inout [UInt8]) throws -> Bool {
    guard isInData else { return false }
    guard try nextItem(&key) else { return false }
    guard try nextItem(&value) else { throw lines.problem("the last key has no value") }
    return true
  }

  private mutating func nextItem(_ item: inout [UInt8]) throws -> Bool {
    item.removeAll(keepingCapacity: true)
    guard let line = try lines.next() else {
      throw StoreError(.malformed, "the input ends after line \(lines.number), before DATA=END: it is truncated")
    }
    if line.elementsEqual("DATA=END".utf8) {
      isInData = false
      return false
    }
    var content = line
    if version > 1 {
      guard line.first == 0x20 else { throw lines.problem("a line of data must begin with a space") }
      content = line.dropFirst()
    }
    if isPrintable {
      try append(printable: content, to: &item)
    } else {
      try append(hex: content, to: &item)
    }
    return true
  }

  private func append(hex digits: ArraySlice<UInt8>, to bytes: inout [UInt8]) throws(StoreError) {
    guard digits.count.isMultiple(of: 2) else { throw lines.problem("an odd number of hexadecimal digits") }
    bytes.reserveCapacity(digits.count / 2)
    var position = digits.startIndex
    while position < digits.endIndex {
      guard let high = digits[position].hexadecimalValue, let low = digits[position + 1].hexadecimalValue else {
        throw lines.problem("a character is not a hexadecimal digit")
      }
      bytes.append(high << 4 | low)
      position += 2
    }
  }

  private func append(printable text: ArraySlice<UInt8>, to bytes: inout [UInt8]) throws(StoreError) {
    var position = text.startIndex
    while position < text.endIndex {
      let byte = text[position]
      position += 1
      guard byte == 0x5C else {
        bytes.append(byte)
        continue
      }
      if position < text.endIndex, text[position] == 0x5C {
        bytes.append(0x5C)
        position += 1
      } else if position + 1 < text.endIndex, let high = text[position].hexadecimalValue,
        let low = text[position + 1].hexadecimalValue
      {
        bytes.append(high << 4 | low)
        position += 2
      } else {
        throw lines.problem("a backslash must be followed by another backslash or by two hexadecimal digits")
      }
    }
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit in either case; nil for any other character.
  var hexadecimalValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
