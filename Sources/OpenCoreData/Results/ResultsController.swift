public import Foundation

/// The part of a results controller that does not depend on the type of its results. Only
/// ``NSFetchedResultsController`` inherits from it.
///
/// On Apple's platforms a generic argument exists only for the compiler, so a delegate gets the controller itself,
/// whatever the type of its results. Here a delegate gets another controller, for results of any type, with the same
/// content. `===`, `==`, `isEqual(_:)` and `hash` take controllers with the same content for one.
open class ResultsController: NSObject {
  let results: FetchedResults

  init(_ results: FetchedResults) { self.results = results }

  /// Whether the other object is a controller with the same content.
  open override func isEqual(_ object: Any?) -> Bool { (object as? ResultsController)?.results === results }

  /// A hash that all controllers with the same content have.
  open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// Whether both are one controller: the one that the application has made, or what its delegate gets for it.
public func === (left: ResultsController?, right: ResultsController?) -> Bool { left?.results === right?.results }

/// Whether they are not one controller.
public func !== (left: ResultsController?, right: ResultsController?) -> Bool { !(left === right) }
