public import Foundation

/// A reference to a version of a model that a stage of a migration will need, with the checksum of that version. The
/// checksum tells whether the model that is found is the one that was meant.
open class NSManagedObjectModelReference: NSObject {
  /// The ``NSManagedObjectModel/versionChecksum`` the model must have.
  public let versionChecksum: String

  private let find: () -> NSManagedObjectModel?

  /// A reference to a model at hand.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { model }
  }

  /// A reference to a model file; see ``NSManagedObjectModel/init(modelFileAt:fileID:)``.
  public init(fileURL: URL, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { NSManagedObjectModel(contentsOf: fileURL, fileID: "") }
  }

  /// A reference to the version with that name in any model in the resources of the bundle; of the main bundle for nil.
  /// The name of a version is that of its `.xcdatamodel`.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = {
      NSManagedObjectModel.versions(in: bundle.map { [$0] })
        .first { $0.deletingPathExtension().lastPathComponent == modelName }
        .flatMap { NSManagedObjectModel(contentsOf: $0, fileID: "") }
    }
  }

  /// A reference to the version whose entities have these version hashes, in any model in the resources of the bundle;
  /// of the main bundle for nil.
  public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = {
      NSManagedObjectModel.versions(in: bundle.map { [$0] }).lazy
        .compactMap { NSManagedObjectModel(contentsOf: $0, fileID: "") }
        .first {
          $0.isConfiguration(
            withName: nil, compatibleWithStoreMetadata: [NSManagedObjectModel.versionHashesKey: versionHash])
        }
    }
  }

  /// The model. Traps if it is not found or does not have the checksum.
  ///
  /// - Complexity: Reads the file, or files of the bundle, at every call, unless the reference was made with a model.
  open var resolvedModel: NSManagedObjectModel {
    guard let model = find() else { fatalError("There is no model to which the reference refers.") }
    require(
      model.hasVersionChecksum(versionChecksum),
      "The model has the checksum \(model.versionChecksum) and not \(versionChecksum).")
    return model
  }
}
