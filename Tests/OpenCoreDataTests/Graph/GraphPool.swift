/// The state of a context: the objects it has registered, with the values it has read and those it has changed.
struct GraphPool {
  struct Member {
    enum Status {
      case kept, inserted, deleted
    }

    var status = Status.kept
    /// The row as it was saved when it was read; nil if nothing was read, and for an inserted object.
    var base: GraphRow?
    /// The same row with the changes since then; nil if nothing was read. A fault may have to-many relationships.
    var now: GraphRow?
    /// The properties that were set since then, even if to the value they had.
    var touched: Set<GraphProperty> = []
    /// Whether the context calls the object updated, and whether it has something to save. Both are defined if a value
    /// has changed, and if no property was touched.
    var isUpdated = false
    var isToBeSaved = false

    /// To-many relationships that the context had not read when it was last observed.
    var unread = Set(GraphProperty.toMany)

    /// Whether the row may or may not have been read for the sake of a relationship since the context was last
    /// observed.
    var mayHaveBeenRead = false

    /// Whether the row has not been read.
    var isFault: Bool { now?.values[.text] == nil }

    /// The touched properties whose values differ from the ones that were read.
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
  /// The objects that the program itself deleted in this event.
  var justDeleted: [Int] = []
  /// Saves of the other context that have not been merged yet.
  var inbox: [Saved] = []
  /// Objects whose deletion elsewhere was merged. A program that holds one may go on reading it.
  var departed: Set<Int> = []
  /// Whether objects that the program does not hold any more may have left the context.
  var isForgetting = false
  /// Whether relationships were changed both here and elsewhere. Their values are then not defined, only that both ends
  /// agree once they are saved.
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
