/// A step of a program. What it is about is picked among the things there are at the time, so that a step means
/// something whatever came before.
enum CrashStep: Sendable {
  case insert(isSpecial: Bool)
  case set(Int, Attribute, Int?)
  /// Gives one thing the name of another, which gets one if it has none.
  case claim(Int, Int)
  case relate(Int, Relation, Int)
  case unrelate(Int, Relation, Int)
  case move(Int, Relation, from: Int, to: Int)
  case delete(Int)
  /// Inserts so many and relates one thing to each.
  case fill(Int, Relation, Int)
  /// Gets identifiers for so many objects, which are never saved.
  case reserve(Int)
  /// Gets so many identifiers from the row store.
  case reserveMany(Int)
  /// The objects stay in the context, or are read anew.
  case save(keepsObjects: Bool)
  case rollBack
  case sync
  case checkpoint
  case compact
  case background
  case reopen(isDurable: Bool)
  /// The power fails, and the program goes on with what is left.
  case crash(seed: UInt64)
}
