/// What a context knows: the objects it has registered, with the values it read and those it changed.
struct GraphPool {
  struct Member {
    enum Status {
      case kept, inserted, deleted
    }

    var status = Status.kept
    /// As it was saved when it was read; nil if nothing was, and of an inserted object.
    var base: GraphRow?
    /// The same with what was changed since; nil if nothing was read. A fault may have to-many relationships.
    var now: GraphRow?
    /// What was set since then, also to what it was before.
    var touched: Set<GraphProperty> = []
    /// Whether the context calls it updated, and whether it has something to save. Both are defined for what was
    /// changed, and for what was not even touched.
    var isUpdated = false
    var isToBeSaved = false

    /// To-many relationships that the context has not read when it was last looked at.
    var unread = Set(GraphProperty.toMany)

    /// Whether its row may have been read, or not, for the sake of a relationship since the context was last looked at.
    var mayHaveBeenRead = false

    /// Whether its row was not read.
    var isFault: Bool { now?.values[.text] == nil }

    /// What differs from what was read.
    var changed: Set<GraphProperty> { touched.filter { now?.values[$0] != base?.values[$0] } }

    var touchedLinks: Set<GraphProperty> { touched.filter { $0.inverse != nil } }
  }

  /// The objects of a save.
  struct Saved: Equatable {
    var inserted: Set<Int> = []
    var updated: Set<Int> = []
    var deleted: Set<Int> = []
  }

  var members: [Int: Member] = [:]
  var policy = GraphPolicy.error
  /// What was deleted in this event, by the program itself.
  var justDeleted: [Int] = []
  /// Saves of the other context that were not merged yet.
  var inbox: [Saved] = []
  /// Objects that were deleted elsewhere, which was merged. Whoever has one may go on reading it.
  var departed: Set<Int> = []
  /// Whether objects that the program does not hold any more may have left the context.
  var isForgetting = false
  /// Whether relationships were changed both here and elsewhere: what becomes of them is not defined then, only that
  /// they fit together once they are saved.
  var isTangled = false

  func all(_ status: Member.Status) -> Set<Int> { Set(members.filter { $0.value.status == status }.keys) }

  mutating func reset() {
    members = [:]
    justDeleted = []
    inbox = []
    departed = []
    isTangled = false
  }
}
