/// One step of a random program, as a value. Objects are represented by the numbers under which they are inserted.
struct GraphStep: Hashable, Sendable {
  /// The context that the step is for, 0 or 1.
  var context: Int
  var operation: Operation
  /// Whether pending changes are processed after the step.
  var endsEvent = true

  enum Operation: Hashable, Sendable {
    case insert(Int)
    case set(Int, GraphProperty, GraphValue)
    /// Adds an object to a to-many relationship, at the end if it is ordered.
    case add(Int, GraphProperty, Int)
    case remove(Int, GraphProperty, Int)
    /// Puts an object at a position in an ordered relationship, whether it was in the relationship before or not.
    case place(Int, GraphProperty, Int, at: Int)
    case delete(Int)
    case read(Int, GraphProperty)
    case fetch(GraphQuery)
    case object(Int)
    case existingObject(Int)
    case obtainPermanentIDs
    case save
    /// A save that the store refuses; not run with stores that cannot refuse.
    case refusedSave
    case rollback
    case reset
    case refresh(Int, mergeChanges: Bool)
    case refreshAll
    /// The program releases every object that has no changes.
    case forget
    /// Merges the saves of the other context since the last merge.
    case merge
    case policy(GraphPolicy)
    /// Compares every value of every object.
    case inspect
  }
}

enum GraphPolicy: CaseIterable, Hashable, Sendable {
  case error, storeTrump, objectTrump, overwrite, rollback
}

/// A fetch: its entity, condition, order, range, and kind of result.
struct GraphQuery: Hashable, Sendable {
  enum Condition: Hashable, Sendable {
    case all, numberAtLeast(Int), numberIsNil, textIs(String), hasParent(Bool)
  }

  enum Result: Hashable, Sendable {
    case objects, realisedObjects, identifiers, count
  }

  var onlyLeaves = false
  var condition = Condition.all
  var isDescending = false
  var offset = 0
  var limit = 0
  var includesPendingChanges = true
  var result = Result.objects
}

extension GraphStep: CustomStringConvertible {
  var description: String {
    "\(context == 0 ? "a" : "b").\(operation)\(endsEvent ? "" : " (event goes on)")"
  }
}
