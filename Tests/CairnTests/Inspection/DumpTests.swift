import CairnInspection
import Testing

@testable import Cairn

/// Writing and reading dumps.
@Suite struct DumpTests {
  private struct Text: LineSink {
    var bytes: [UInt8] = []
    mutating func endLine() { bytes.append(0x0A) }
  }

  private func lines(_ text: [UInt8], piece: Int = 7) -> LineReader {
    var rest = text[...]
    return LineReader { bytes, _ in
      bytes += rest.prefix(piece)
      rest = rest.dropFirst(piece)
      return !rest.isEmpty
    }
  }

  private func lines(_ text: String) -> LineReader { lines(Array(text.utf8)) }

  private func load(
    _ text: String, keys: DumpKeys = .bytes, _ body: (Store, [String]) throws -> Void = { _, _ in }
  ) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/new"
      var loading = StoreLoading(
        at: path,
        text.hasPrefix("{") ? .jsonLines : .berkeley(keys, unnamed: "main", isOrdered: true))
      do {
        _ = try loading.load(lines(text))
      } catch {
        #expect(throws: StoreError.self) { try Store.openForInspection(at: path) }
        throw error
      }
      let store = try Store.openForInspection(at: path)
      defer { try? store.close() }
      try body(store, loading.remarks)
    }
  }

  private func value(_ key: Key, in keyspace: String, _ store: Store) throws -> [UInt8]? {
    try store.get(key, in: try store.existingKeyspace(keyspace))
  }

  // MARK: Berkeley DB's format

  private let header = "VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n"

  @Test func emptyItemsAndSeveralSectionsAreRead() throws {
    let text =
      "VERSION=3\nformat=print\ndatabase=a\\\\b\\20c\ntype=hash\nHEADER=END\n k\\\\\\0a\n \nDATA=END\n"
      + header + " \n 0aFF\nDATA=END\n"
    try load(text) { store, remarks in
      #expect(store.keyspaces.map(\.name) == ["a\\b c", "main"])
      let first = try value(.bytes([0x6B, 0x5C, 0x0A]), in: "a\\b c", store)
      #expect(first == [])
      let second = try value(.bytes([]), in: "main", store)
      #expect(second == [10, 255])
      #expect(remarks.isEmpty)
    }
  }

  @Test func namesFromLMDBHaveNoEscapes() throws {
    try load("VERSION=3\nformat=bytevalue\ndatabase=a\\b\ntype=btree\nmapsize=4096\nHEADER=END\nDATA=END\n") {
      store, _ in
      #expect(store.keyspaces.map(\.name) == ["a\\b"])
    }
  }

  @Test func whatIsNotKnownIsTold() throws {
    try load("VERSION=3\ntype=btree\ndupsort=1\nnewthing=5\nHEADER=END\nDATA=END\n") { _, remarks in
      #expect(remarks.count == 2)
      #expect(remarks[1].contains("newthing=5"))
    }
  }

  @Test func versionOneHasNoSpaces() throws {
    try load("VERSION=1\nformat=bytevalue\ntype=btree\nHEADER=END\n61\n62\nDATA=END\n", keys: .text) { store, _ in
      let found = try value("a", in: "main", store)
      #expect(found == [0x62])
    }
  }

  @Test(arguments: [
    ("", "the input is empty"),
    ("format=print\n", "line 1: a header must begin with VERSION="),
    ("VERSION=9\nHEADER=END\n", "line 1: VERSION=9"),
    ("VERSION=3\nHEADER\n", "line 2: a line of the header has no ="),
    ("VERSION=3\nformat=xml\nHEADER=END\n", "line 2: format=xml"),
    ("VERSION=3\ntype=recno\nHEADER=END\n", "line 2: type=recno"),
    ("VERSION=3\ntype=btree\n", "the header has no HEADER=END"),
    ("VERSION=3\nHEADER=END\n 61\n 62\n", "before DATA=END: it is truncated"),
    ("VERSION=3\nHEADER=END\n 61\nDATA=END\n", "line 4: the last key has no value"),
    ("VERSION=3\nHEADER=END\n61\n62\nDATA=END\n", "line 3: a line of data must begin with a space"),
    ("VERSION=3\nHEADER=END\n 6\n 62\nDATA=END\n", "line 3: an odd number of hexadecimal digits"),
    ("VERSION=3\nHEADER=END\n 6g\n 62\nDATA=END\n", "line 3: a character is not a hexadecimal digit"),
    ("VERSION=3\nformat=print\nHEADER=END\n a\\q\n b\nDATA=END\n", "line 4: a backslash"),
    ("VERSION=3\nHEADER=END\n 61\n 62\n 61\n 63\nDATA=END\n", "line 6: the key appears twice"),
    (
      "VERSION=3\nHEADER=END\n 61\n 62\n 63\n 64\n 61\n 63\nDATA=END\n",
      "only 2 of 3 rows in \"main\" have distinct keys"
    ),
    ("VERSION=3\nHEADER=END\nDATA=END\nVERSION=3\nHEADER=END\nDATA=END\n", "appears twice"),
  ])
  func whatIsWrongIsToldAndNothingIsLeft(_ text: String, _ words: String) throws {
    let error = #expect(throws: StoreError.self) { try load(text) }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func encodedKeysHaveToBeValid() throws {
    let error = #expect(throws: StoreError.self) { try load(header + " ff\n 00\nDATA=END\n", keys: .encoded) }
    #expect(error?.message.contains("--keys bytes") == true)
  }

  @Test func keysThatAreNotOfTheKindEndADump() throws {
    try withTemporaryDirectory { directory in
      let store = try Store.open(at: directory + "/store")
      defer { try? store.close() }
      try store.put([1], at: 42, in: try store.keyspace("numbers"))
      try store.put([1], at: .string(String(repeating: "x", count: 600)), in: try store.keyspace("long"))
      func dump(_ profile: DumpProfile, _ keys: DumpKeys, _ names: [String]) throws -> String {
        var text = Text()
        try StoreDump(store, names, .berkeley(BerkeleyDump(profile, keys), isNamed: true)).write(to: &text)
        return String(decoding: text.bytes, as: UTF8.self)
      }
      #expect(throws: StoreError.self) { try dump(.bdb, .text, ["numbers"]) }
      #expect(throws: StoreError.self) { try dump(.lmdb, .encoded, ["long"]) }
      #expect(try dump(.bdb, .text, ["long"]).hasSuffix(" 01\nDATA=END\n"))
      #expect(try dump(.lmdb, .encoded, ["numbers"]).contains("mapsize="))
    }
  }

  // MARK: JSON lines

  private let head = #"{"schema":"kvdump.dump","schemaVersion":2,"lastSequence":9}"# + "\n"
  private let keyspace = #"{"keyspace":1,"name":"a","order":"ordered","retention":2,"definedAt":1}"# + "\n"

  @Test func versionsComeBackAsTheyWere() throws {
    let text =
      head + keyspace + #"{"in":1,"key":{"tuple":[{"integer":-5},{"text":"\ud83d\ude00\u0000"}]},"value":null,"#
      + #""version":3,"sequence":9}"# + "\n"
      + #"{"in":1,"key":{"tuple":[{"integer":-5},{"text":"😀\u0000"}]},"value":{"hex":"00ff"},"#
      + #""version":3,"sequence":7,"old":true}"# + "\n" + #"{"end":true}"# + "\n"
    try load(text) { store, _ in
      let versions = try store.history(of: [-5, "\u{1F600}\0"], in: try store.existingKeyspace("a"))
      #expect(versions.map(\.sequence) == [9, 7])
      #expect(versions.map(\.value) == [nil, [0, 255]])
      #expect(store.lastSequence == 9)
    }
  }

  @Test func sequencesInADumpOfTheFirstVersionAreCalledRevisions() throws {
    let text =
      head.replacing("\"schemaVersion\":2", with: "\"schemaVersion\":1") + keyspace
      + #"{"in":1,"key":{"integer":1},"value":{"text":"x"},"version":1,"revision":7}"# + "\n" + #"{"end":true}"# + "\n"
    try load(text) { store, _ in
      let row = try store.row(1, in: try store.existingKeyspace("a"))
      #expect(row?.sequence == 7)
    }
  }

  @Test(arguments: [
    (#"{"in":1,"key":{"integer":1},"value":{"text":"x"},"version":1,"sequence":10}"#, "line 3: sequence"),
    (#"{"in":2,"key":{"integer":1},"value":{"text":"x"},"version":1,"sequence":1}"#, "line 3: keyspace 2"),
    (
      #"{"in":1,"key":{"integer":1.5},"value":{"text":"x"},"version":1,"sequence":1}"#,
      "line 3: a number is not an integer"
    ),
    (#"{"in":1,"key":{"integer":007},"value":{"text":"x"},"version":1,"sequence":1}"#, "line 3: a number begins"),
    (#"{"in":1,"key":{"integer":-01},"value":{"text":"x"},"version":1,"sequence":1}"#, "line 3: a number begins"),
    (#"{"in":1,"key":{"float":1},"value":{"text":"x"},"version":1,"sequence":1}"#, "line 3: a key must be"),
    (#"{"in":1,"key":{"integer":1},"value":5,"version":1,"sequence":1}"#, "line 3: a value must be"),
    (#"{"in":1,"key":{"integer":1},"value":{"hex":"0"},"version":1,"sequence":1}"#, "line 3: a value must be"),
    (#"{"in":1,"key":{"integer":1},"value":{"text":"x"},"version":0,"sequence":1}"#, "line 3: the version"),
    (#"{"in":1"#, "line 3: an object has no closing brace"),
    ("[", "line 3: a value is missing"),
    (#"{"keyspace":1,"name":"b","order":"ordered","retention":1,"definedAt":1}"#, "line 3"),
    (#"{"keyspace":2,"name":"b","order":"sorted","retention":1,"definedAt":1}"#, "line 3: a keyspace must be ordered"),
  ])
  func whatIsWrongInALineIsTold(_ line: String, _ words: String) throws {
    let error = #expect(throws: StoreError.self) { try load(head + keyspace + line + "\n{\"end\":true}\n") }
    #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
  }

  @Test func moreVersionsThanAreKeptAreRefused() throws {
    var text = head + keyspace
    for (version, old) in [(3, ""), (2, #","old":true"#), (1, #","old":true"#)] {
      text += #"{"in":1,"key":{"integer":1},"value":{"text":"x"},"version":\#(version),"sequence":\#(version)\#(old)}"#
      text += "\n"
    }
    let error = #expect(throws: StoreError.self) { try load(text + "{\"end\":true}\n") }
    #expect(error?.message.hasPrefix("only 1 of 2 older versions can be kept") == true)
  }

  @Test func aDumpThatIsCutOffIsRefused() throws {
    let error = #expect(throws: StoreError.self) { try load(head + keyspace) }
    #expect(error?.message.contains("truncated") == true)
  }

  @Test(arguments: ["everything", "retained", "compacted", "dictionary"])
  func everyFixtureComesBackExactly(_ name: String) throws {
    let files =
      switch name {
      case "retained": try Fixtures.retained()
      case "compacted": try Fixtures.compacted()
      case "dictionary": try Fixtures.dictionary()
      default: try Fixtures.everything()
      }
    try withTemporaryDirectory { directory in
      for (file, bytes) in files {
        let layer = SystemFileLayer()
        try layer.createDirectory(directory + "/old")
        let target = try layer.open("\(directory)/old/\(file)", .create)
        try target.writeAll(bytes, at: 0)
        target.close()
      }
      let old = try Store.openForInspection(at: directory + "/old")
      defer { try? old.close() }
      var text = Text()
      try StoreDump(old, [], .jsonLines).write(to: &text)
      var loading = StoreLoading(at: directory + "/new", .jsonLines)
      _ = try loading.load(lines(text.bytes, piece: 1 << 12))
      let new = try Store.openForInspection(at: directory + "/new")
      defer { try? new.close() }
      #expect(new.lastSequence == old.lastSequence)
      for keyspace in old.keyspaces {
        let other = try new.existingKeyspace(keyspace.name)
        #expect((other.id, other.definedAt) == (keyspace.id, keyspace.definedAt))
        #expect((other.order, other.retention) == (keyspace.order, keyspace.retention))
        #expect(try versions(new, other) == versions(old, keyspace))
      }
    }
  }

  private func versions(_ store: Store, _ keyspace: Keyspace) throws -> [Key: [RowVersion]] {
    var versions: [Key: [RowVersion]] = [:]
    try store.snapshot().forEachHistory(in: keyspace) { records in
      let key = unsafe try Key(validating: records[0].key.bytes)
      versions[key] = try store.history(of: key, in: keyspace)
      return .next
    }
    return versions
  }
}
