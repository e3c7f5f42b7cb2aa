import CoreData

/// No row is tested where its bytes lie: Foundation evaluates predicates.
struct RowTest {
  init?(_ predicate: NSPredicate?, _ map: EntityMap, _ access: RowAccess) { return nil }

  /// Not called.
  func callAsFunction(_ row: RawSpan) -> Bool? { nil }
}
