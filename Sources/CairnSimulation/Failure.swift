import Cairn

/// What an oracle has found wrong.
package struct Failure: Error, Sendable, CustomStringConvertible {
  /// Which oracle.
  package enum Oracle: String, Sendable, CaseIterable {
    case opening, prefix, durability, rows, history, order, count, indexes, space, snapshots, errors, verifier, results
    case secondCrash = "second crash"
    case readBeside = "reading beside"
    case lookingBack = "looking back"
    case damage
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

/// Names the place of what goes wrong in `body`; what isn't a failure already is one of `oracle`.
func located<R>(_ place: @autoclosure () -> String, _ oracle: Failure.Oracle, _ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let failure as Failure {
    throw failure.at(place())
  } catch {
    throw Failure(oracle, "\(error)").at(place())
  }
}

/// What the engine promises, to be asked of it or not.
package enum Promise {
  /// A store that has been closed has lost nothing when the power fails, and says so if it cannot promise it.
  package static let closingMakesDurable = true
  /// What was durable is missed where a segment that held it is cut short, zeroed, gone, or what it was before: after
  /// the store has been closed, or its process been killed.
  package static let lostEndIsNoticed = true
}
