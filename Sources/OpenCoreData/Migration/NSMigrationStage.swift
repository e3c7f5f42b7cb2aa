public import Foundation

/// A step of a staged migration: an ``NSLightweightMigrationStage`` or an ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
  /// A name by which developers recognise the stage.
  open var label: String!

  /// Stages are made by the initializers of its subclasses.
  override init() {}
}

/// Versions of a model between which a store migrates without anything said about it, in any order and over several at
/// once.
open class NSLightweightMigrationStage: NSMigrationStage {
  /// The checksums of the versions; see ``NSManagedObjectModel/versionChecksum``.
  public let versionChecksums: [String]

  /// A stage with the versions that have these checksums.
  public init(_ checksums: [String]) {
    versionChecksums = checksums
    super.init()
  }
}

/// A step from one version of a model to the next, with work before and after it.
///
/// The store migrates from one version to the other without anything said about it, so what cannot be inferred takes
/// several stages with versions between: in one, a handler fills new attributes from old ones, and in the next the old
/// ones are removed.
///
/// If the process ends during a stage, the next migration continues with the handler that has not returned. A handler
/// therefore has to tolerate what it has saved before.
open class NSCustomMigrationStage: NSMigrationStage {
  /// The version that the store has before the stage.
  public let currentModel: NSManagedObjectModelReference

  /// The version that the store has after the stage.
  public let nextModel: NSManagedObjectModelReference

  /// Called before the store migrates to the next version. The ``NSStagedMigrationManager/container`` of the manager has
  /// the store, with the current version. An error that it throws ends the migration.
  open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

  /// Called after the store has migrated. The ``NSStagedMigrationManager/container`` of the manager has the store, with
  /// the next version. An error that it throws ends the migration.
  open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

  /// A stage from one version to another.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    super.init()
  }
}
