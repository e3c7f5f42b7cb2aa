/// One step of a random program, as a value. Objects are the numbers they are inserted under.
struct GraphStep: Hashable, Sendable {
  /// Which of the contexts it is for.
  var context: Int
  var operation: Operation
  /// Whether pending changes are processed behind it.
  var endsEvent = true

  enum Operation: Hashable, Sendable {
    case insert(Int)
    case set(Int, GraphProperty, GraphValue)
    /// One more object of a to-many relationship, the last if it has an order.
    case add(Int, GraphProperty, Int)
    case remove(Int, GraphProperty, Int)
    /// An object of an ordered relationship gets to a place, whether it was among them or not.
    case place(Int, GraphProperty, Int, at: Int)
    case delete(Int)
    case read(Int, GraphProperty)
    case fetch(GraphQuery)
    case object(Int)
    case existingObject(Int)
    case obtainPermanentIDs
    case save
    /// The store refuses, if it is one that can.
    case refusedSave
    case rollback
    case reset
    case refresh(Int, mergeChanges: Bool)
    case refreshAll
    /// The program lets go of everything that was not changed.
    case forget
    /// The saves of the other context since the last merge.
    case merge
    case policy(GraphPolicy)
    /// Compares every value of every object.
    case inspect
  }
}

enum GraphPolicy: CaseIterable, Hashable, Sendable {
  case error, storeTrump, objectTrump, overwrite, rollback
}

/// A fetch: what of, which, in what order, how many.
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
