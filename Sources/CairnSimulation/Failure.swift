import Cairn

/// A problem that an oracle has found.
package struct Failure: Error, Sendable, CustomStringConvertible {
  /// Which oracle.
  package enum Oracle: String, Sendable, CaseIterable {
    case opening, prefix, durability, rows, history, order, count, indexes, space, snapshots, errors, verifier, results
    case secondCrash = "second crash"
    case readBeside = "reading beside"
    case lookingBack = "looking back"
    case damage, changes
    case metamorphic
  }

  package let oracle: Oracle
  package let words: String
  /// Where in the program, innermost last.
  package var places: [String] = []

  init(_ oracle: Oracle, _ words: String) {
    self.oracle = oracle
    self.words = words
  }

  func at(_ place: String) -> Failure {
    var result = self
    result.places.insert(place, at: 0)
    return result
  }

  package var description: String { "\(oracle.rawValue): \(words)\(places.map { "; \($0)" }.joined())" }
}

func require(
  _ condition: Bool, _ oracle: Failure.Oracle, _ words: @autoclosure () -> String
) throws(Failure) {
  guard condition else { throw Failure(oracle, words()) }
}

/// Adds a place to the failures that `body` throws; turns any other error into a failure of `oracle`.
func located<R>(_ place: @autoclosure () -> String, _ oracle: Failure.Oracle, _ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let failure as Failure {
    throw failure.at(place())
  } catch {
    throw Failure(oracle, "\(error)").at(place())
  }
}

/// Promises of the engine. The oracles check those that are true here.
package enum Promise {
  /// After a store has been closed, a loss of power loses nothing; closing throws an error if it cannot guarantee that.
  package static let closingMakesDurable = true
  /// The store notices that durable commits are missing if a segment that contained them has been truncated, zeroed,
  /// removed, or replaced by an older version of itself, after the store was closed or its process was killed.
  package static let lostEndIsNoticed = true
}
