/// A step of a program. Its numbers pick among the things that exist at the time, so that a step does something
/// whatever came before.
enum CrashStep: Sendable {
  case insert(isSpecial: Bool)
  case set(Int, Attribute, Int?)
  /// Gives one thing the name of another, which gets one if it has none.
  case claim(Int, Int)
  case relate(Int, Relation, Int)
  case unrelate(Int, Relation, Int)
  case move(Int, Relation, from: Int, to: Int)
  case delete(Int)
  /// Inserts this many things and relates one thing to each of them.
  case fill(Int, Relation, Int)
  /// Gets identifiers for this many objects, which are never saved.
  case reserve(Int)
  /// Gets this many identifiers from the row store.
  case reserveMany(Int)
  /// The objects stay in the context, or are read again.
  case save(keepsObjects: Bool)
  case rollBack
  case sync
  case checkpoint
  case compact
  case background
  case reopen(isDurable: Bool)
  /// The power fails, and the program continues with what is left on the disk.
  case crash(seed: UInt64)
}
