import Cairn

/// The text form of a program, one step per line, for people and for replaying:
///
///     seed 12 segment 65536 compression on checkpoints on keys sequential count 12 ordered on
///     1 write durable 0/3=120:7 1/5- 2/2? 0/4=10:3!current | 1/1=4:4
///     2 crash
extension Program: CustomStringConvertible {
  package var description: String {
    ([header] + steps.map(\.description)).joined(separator: "\n")
  }

  private var header: String {
    func word(_ flag: Bool) -> String { flag ? "on" : "off" }
    return "seed \(seed) segment \(options.segmentSize) compression \(word(options.compression)) "
      + "checkpoints \(word(options.checkpoints)) compaction \(word(options.compaction)) tight \(word(options.isTight)) "
      + "dictionaries \(word(options.dictionaries)) keys \(options.keys.rawValue) count \(options.keyCount) ordered \(word(options.isOrdered))"
  }

  /// The text that cannot be parsed.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  /// Parses what `description` returns. Ignores empty lines and lines that begin with `#`.
  package init(parsing text: String) throws(Malformed) {
    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }.filter {
      $0.first.map { $0.first != "#" } ?? false
    }
    guard let header = lines.first else { throw Malformed(description: "there is no program") }
    var options = Options()
    options.dictionaries = false
    var seed: UInt64?
    for index in stride(from: 0, to: header.count - 1, by: 2) {
      let value = String(header[index + 1])
      switch header[index] {
      case "seed": seed = UInt64(value)
      case "segment": options.segmentSize = Int(value) ?? options.segmentSize
      case "compression": options.compression = value == "on"
      case "checkpoints": options.checkpoints = value == "on"
      case "compaction": options.compaction = value == "on"
      case "tight": options.isTight = value == "on"
      case "dictionaries": options.dictionaries = value == "on"
      case "keys": options.keys = KeyShape(rawValue: value) ?? options.keys
      case "count": options.keyCount = Int(value) ?? options.keyCount
      case "ordered": options.isOrdered = value == "on"
      default: throw Malformed(description: "\(header[index])")
      }
    }
    guard let seed else { throw Malformed(description: "the first line has no seed") }
    var steps: [Step] = []
    for words in lines.dropFirst() {
      guard let id = Int(words[0]), words.count > 1, let operation = Operation(words.dropFirst().map(String.init))
      else {
        throw Malformed(description: words.joined(separator: " "))
      }
      steps.append(Step(id: id, operation: operation))
    }
    self.init(seed: seed, options: options, steps: steps)
  }
}

extension Step: CustomStringConvertible {
  package var description: String { "\(id) \(operation)" }
}

extension Operation: CustomStringConvertible {
  package var description: String {
    switch self {
    case .write(let changes, let durability, let beside):
      "write \(durability == .durable ? "durable" : "buffered") \(Self.words(changes))"
        + (beside.isEmpty ? "" : " | \(Self.words(beside))")
    case .sync: "sync"
    case .background(let count): "background \(count)"
    case .checkpoint: "checkpoint"
    case .compact(let extent): "compact \(extent == .everything ? "everything" : "worthwhile")"
    case .drop(let keyspace): "drop \(keyspace)"
    case .retain(let keyspace, let count): "retain \(keyspace) \(count)"
    case .snapshot: "snapshot"
    case .release(let number): "release \(number)"
    case .check: "check"
    case .readBeside: "read-beside"
    case .amid(let deed, let count): "amid \(count) \(deed)"
    case .lookBack(let number): "look-back \(number)"
    case .goBack(let number): "go-back \(number)"
    case .close: "close"
    case .reopen: "reopen"
    case .kill: "kill"
    case .crash: "crash"
    case .fail(let fault, let count): "fail \(fault.rawValue) \(count)"
    case .space(let bytes): "space \(bytes.map { "\($0)" } ?? "any")"
    case .flip(let count): "flip \(count)"
    case .misdirect: "misdirect"
    case .copyFiles: "copy-files"
    case .spoil(let spoiling): "spoil \(spoiling.rawValue)"
    }
  }

  fileprivate static func words(_ changes: [Change]) -> String { changes.map(\.description).joined(separator: " ") }

  fileprivate init?(_ words: [String]) {
    let number = words.count > 1 ? Int(words[1]) : nil
    switch (words[0], number) {
    case ("write", nil):
      guard words.count > 1, words[1] == "durable" || words[1] == "buffered" else { return nil }
      let parts = words.dropFirst(2).split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
      let changes = parts.map { $0.map { Change($0) } }
      guard changes.allSatisfy({ !$0.contains(nil) }) else { return nil }
      self = .write(
        (changes.first ?? []).compactMap(\.self), words[1] == "durable" ? .durable : .buffered,
        beside: changes.count > 1 ? changes[1].compactMap(\.self) : [])
    case ("sync", _): self = .sync
    case ("background", let count?): self = .background(count)
    case ("checkpoint", _): self = .checkpoint
    case ("compact", _): self = .compact(words.last == "everything" ? .everything : .worthwhile)
    case ("drop", let keyspace?): self = .drop(keyspace)
    case ("retain", let keyspace?):
      guard words.count == 3, let count = Int(words[2]) else { return nil }
      self = .retain(keyspace, count)
    case ("snapshot", _): self = .snapshot
    case ("release", let number?): self = .release(number)
    case ("check", _): self = .check
    case ("read-beside", _): self = .readBeside
    case ("amid", let count?):
      guard let deed = Deed(Array(words.dropFirst(2))) else { return nil }
      self = .amid(deed, after: count)
    case ("look-back", let number?): self = .lookBack(number)
    case ("go-back", let number?): self = .goBack(number)
    case ("close", _): self = .close
    case ("reopen", _): self = .reopen
    case ("kill", _): self = .kill
    case ("crash", _): self = .crash
    case ("fail", _):
      guard words.count == 3, let fault = Fault(rawValue: words[1]), let count = Int(words[2]) else { return nil }
      self = .fail(fault, after: count)
    case ("space", let bytes): self = .space(bytes)
    case ("flip", let count?): self = .flip(count)
    case ("misdirect", _): self = .misdirect
    case ("copy-files", _): self = .copyFiles
    case ("spoil", _):
      guard words.count == 2, let spoiling = Spoiling(rawValue: words[1]) else { return nil }
      self = .spoil(spoiling)
    default: return nil
    }
  }
}

extension Deed: CustomStringConvertible {
  package var description: String {
    switch self {
    case .snapshot: "snapshot"
    case .release(let number): "release \(number)"
    case .ask(let keyspace): "ask \(keyspace)"
    case .write(let changes): "write \(Operation.words(changes))"
    case .drop(let keyspace): "drop \(keyspace)"
    }
  }

  fileprivate init?(_ words: [String]) {
    let number = words.count == 2 ? Int(words[1]) : nil
    switch (words.first, number) {
    case ("snapshot", _): self = .snapshot
    case ("release", let number?): self = .release(number)
    case ("ask", let keyspace?): self = .ask(keyspace)
    case ("write", nil):
      let changes = words.dropFirst().map { Change($0) }
      guard !changes.contains(nil) else { return nil }
      self = .write(changes.compactMap(\.self))
    case ("drop", let keyspace?): self = .drop(keyspace)
    default: return nil
    }
  }
}

extension Change: CustomStringConvertible {
  /// `keyspace/key`, then `=length:fill`, `-` or `?`, then `!` and what is expected.
  package var description: String {
    let effect =
      switch kind {
      case .put(let length, let fill): "=\(length):\(fill)"
      case .delete: "-"
      case .check: "?"
      }
    return "\(keyspace)/\(key)\(effect)\(wish == .anything ? "" : "!\(wish.rawValue)")"
  }

  fileprivate init?(_ text: String) {
    let halves = text.split(separator: "!", maxSplits: 1)
    guard let effect = halves.first?.firstIndex(where: { "=-?".contains($0) }) else { return nil }
    let place = halves[0][..<effect].split(separator: "/").compactMap { Int($0) }
    let numbers = halves[0][effect...].dropFirst().split(separator: ":").compactMap { Int($0) }
    guard place.count == 2, let wish = halves.count > 1 ? Wish(rawValue: String(halves[1])) : .anything else {
      return nil
    }
    switch halves[0][effect] {
    case "=":
      guard numbers.count == 2 else { return nil }
      self.init(place[0], place[1], .put(length: numbers[0], fill: numbers[1]), wish)
    case "-": self.init(place[0], place[1], .delete, wish)
    default: self.init(place[0], place[1], .check, wish)
    }
  }
}
