import IncrementalStore

/// The kinds of row store with which the contract is tested.
enum StoreKind: CaseIterable {
  /// In memory, each with references of one kind.
  case integers, strings, uuids
  /// On disk.
  case cairn
  #if PostgreSQL
    /// In a database, each with a namespace of its own.
    case postgreSQL
  #endif

  /// The kind of the running test.
  @TaskLocal static var current = integers

  /// Whether the database searches.
  var searches: Bool {
    #if PostgreSQL
      self == .postgreSQL
    #else
      false
    #endif
  }

  /// The kind of references of a store in memory; nil for others.
  var references: RowReferenceKind? {
    switch self {
    case .integers: .integer
    case .strings: .string
    case .uuids: .uuid
    case .cairn: nil
    #if PostgreSQL
      case .postgreSQL: nil
    #endif
    }
  }
}
