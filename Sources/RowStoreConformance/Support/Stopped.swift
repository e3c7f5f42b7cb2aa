/// An error that a store must pass on unchanged.
final class Stopped: Error {}

/// Runs a closure that must throw this very error.
func expectThrown(_ expected: Stopped, _ subject: String, _ body: () throws -> Void) throws {
  do {
    try body()
  } catch {
    return try expect(error as? Stopped === expected, "\(subject) should come through unchanged, but is \(error).")
  }
  throw Finding("\(subject) should come through, but nothing was thrown.")
}
