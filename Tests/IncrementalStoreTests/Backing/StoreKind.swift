import IncrementalStore

/// The row stores that the contract is tested with.
enum StoreKind: CaseIterable {
  /// In memory, with references of one kind each.
  case integers, strings, uuids
  /// On disk.
  case cairn

  /// That of the running test.
  @TaskLocal static var current = integers

  /// Those in memory; nil for Cairn.
  var references: RowReferenceKind? {
    switch self {
    case .integers: .integer
    case .strings: .string
    case .uuids: .uuid
    case .cairn: nil
    }
  }
}
