public import Foundation

/// A version of a model that a stage of a migration names before it is needed, and its checksum, which tells whether what
/// is found is what was meant.
open class NSManagedObjectModelReference: NSObject {
  /// The ``NSManagedObjectModel/versionChecksum`` the model must have.
  public let versionChecksum: String

  private let find: () -> NSManagedObjectModel?

  /// A reference to a model at hand.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { model }
  }

  /// A reference to a model in Xcode's format; see ``NSManagedObjectModel/init(modelFileAt:fileID:)``.
  public init(fileURL: URL, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { NSManagedObjectModel(contentsOf: fileURL, fileID: "") }
  }

  /// A reference to the version of that name, which is the name of its `.xcdatamodel`, of any model among the resources
  /// of the bundle, the main bundle for nil.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = {
      NSManagedObjectModel.versions(in: bundle.map { [$0] })
        .first { $0.deletingPathExtension().lastPathComponent == modelName }
        .flatMap { NSManagedObjectModel(contentsOf: $0, fileID: "") }
    }
  }

  /// A reference to the version with these hashes of entities, of any model among the resources of the bundle, the main
  /// bundle for nil.
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

  /// The model. It must be found, and have the checksum.
  ///
  /// - Complexity: reads the file or the files of the bundle at every call, unless the model was at hand.
  open var resolvedModel: NSManagedObjectModel {
    guard let model = find() else { preconditionFailure("There is no model to which the reference refers.") }
    precondition(
      model.hasVersionChecksum(versionChecksum),
      "The model has the checksum \(model.versionChecksum) and not \(versionChecksum).")
    return model
  }
}
