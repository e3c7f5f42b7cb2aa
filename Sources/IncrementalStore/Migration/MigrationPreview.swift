package import CoreData

/// What a migration of a store to a model would change, without changing anything.
package struct MigrationPreview {
  /// Empty if the store was written with the model.
  package private(set) var changes: [SchemaDifference.Change] = []
  /// The objects whose rows are read before anything changes.
  package private(set) var rowsRead = 0
  /// The objects whose rows are rewritten.
  package private(set) var rowsRewritten = 0
  /// The bytes of these rows.
  package private(set) var bytesRewritten = 0
  /// The objects that are removed in the background.
  package private(set) var objectsRemoved = 0

  /// - Parameter goOn: Called with the number of rows read so far, and of all that are read; throws to end.
  /// - Throws: 134190 if the migration is refused; errors of the store.
  package init(
    of rows: any RowStore, at url: URL, to model: NSManagedObjectModel, _ goOn: (Int, Int) throws -> Void
  ) throws {
    let snapshot = try rows.snapshot()
    guard let head = try StoreHead.load(snapshot, url) else {
      throw StoreFailure.make(NSPersistentStoreOpenError, "There is no Core Data store at \(url.path).")
    }
    let evolution = try SchemaEvolution(from: head.stored, to: model, ValueCoder(coordinator: nil))
    guard !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: head.metadata) else { return }
    try StoreMigration.check(evolution, snapshot)
    let origins = evolution.formerProperties.mapValues(\.number)
    changes = SchemaDifference(from: evolution.former, to: evolution.schema, origins: origins).changes
    for case .table(let table) in evolution.schema.removals { objectsRemoved += try snapshot.count(in: table) }
    let rewriters = RowRewriting.rewriters(evolution)
    let total = try rewriters.reduce(0) { try $0 + snapshot.count(in: $1.entity) }
    let amount = try RowRewriting.amount(rewriters, snapshot) { try goOn($0, total) }
    (rowsRead, rowsRewritten, bytesRewritten) = (amount.rows, amount.rewritten, amount.bytes)
  }
}
