/// What survives a crash of the machine once a commit has returned.
enum Durability: String, Sendable {
  /// The commit may still be in memory: nothing waits for the disk.
  case buffered
  /// The commit is on the disk.
  case synced
}

/// What a lookup must see.
enum View: Sendable {
  /// There are no writes meanwhile: one view, opened once, may serve all lookups.
  case fixed
  /// There may be writes meanwhile: each lookup sees what was committed before it.
  case latest
}

/// A store under test. An engine is opened, makes sessions, and is closed after its sessions.
protocol Engine: AnyObject, Sendable {
  func open(at directory: String, _ durability: Durability) throws
  func makeSession() throws -> any Session
  func close() throws
}

/// One thread's access to an open engine. Each engine has its own loops, so that the cost of a call through the
/// protocol arises once a run and not once an operation.
protocol Session: AnyObject, Sendable {
  /// Writes the pattern's rows, `perCommit` of them in each commit.
  func put(_ pattern: AccessPattern, perCommit: Int) throws
  /// Looks up the pattern's rows one by one.
  func get(_ pattern: AccessPattern, _ view: View) throws -> Reading
  /// Reads every row in key order.
  func scan() throws -> Reading
  /// Seeks each of the pattern's rows and reads it with the `next` rows after it, as far as there are any.
  func seek(_ pattern: AccessPattern, next: Int) throws -> Reading
  func close()
}

/// An error of an engine, which ends the benchmark.
struct EngineError: Error, CustomStringConvertible {
  let engine: String
  let description: String

  init(_ engine: String, _ message: String) {
    self.engine = engine
    description = "\(engine): \(message)"
  }

  /// Takes the text of a message that the engine allocated, and frees the message.
  init(
    _ engine: String, takingMessage message: UnsafeMutablePointer<CChar>, free: (UnsafeMutablePointer<CChar>) -> Void
  ) {
    self.init(engine, String(cString: message))
    free(message)
  }
}
