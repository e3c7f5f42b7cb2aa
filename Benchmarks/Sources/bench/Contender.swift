import Foundation

/// An engine with a directory of its own and the sessions that it has made, kept through a round.
final class Contender {
  let kind: EngineKind
  let directory: String
  private let durability: Durability
  private let engine: any Engine
  private var sessions: [any Session] = []
  private var isOpen = false

  init(_ kind: EngineKind, in parent: String, _ durability: Durability) {
    self.kind = kind
    self.durability = durability
    directory = "\(parent)/\(kind.rawValue)-\(durability.rawValue)"
    engine = kind.makeEngine()
  }

  /// The first `count` sessions; missing ones are made.
  func sessions(_ count: Int) throws -> [any Session] {
    while sessions.count < count { sessions.append(try engine.makeSession()) }
    return Array(sessions.prefix(count))
  }

  func session() throws -> any Session {
    try sessions(1)[0]
  }

  func open() throws {
    try engine.open(at: directory, durability)
    isOpen = true
  }

  func close() throws {
    for session in sessions { session.close() }
    sessions = []
    if isOpen { try engine.close() }
    isOpen = false
  }

  /// Closes the engine, removes its directory and opens it again, empty.
  func openEmpty() throws {
    try remove()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try open()
  }

  /// Closes the engine and removes its directory.
  func remove() throws {
    try close()
    if FileManager.default.fileExists(atPath: directory) {
      try FileManager.default.removeItem(atPath: directory)
    }
  }
}
