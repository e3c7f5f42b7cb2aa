public import Foundation

extension NSManagedObjectModel {
  /// Reads a model as Xcode keeps it: the current version in an `.xcdatamodeld` folder, an `.xcdatamodel` folder, or
  /// the XML file in one. Nothing needs to be compiled; compiled models cannot be read.
  ///
  /// A setting that has no meaning although the rest of the model is meaningful without it, such as a default value of
  /// another type, is not an error: ``fileWarnings`` says what was assumed.
  ///
  /// - Parameters:
  ///   - url: The place of the model.
  ///   - fileID: The file of the caller. The classes of the entities are looked up in its module, unless their names
  ///     include a module, as in `Module.Class`; `"Module/"` names another module.
  /// - Throws: ``ModelFileError``, with the line where there is one, if the file cannot be read or the model has no
  ///   meaning.
  /// - Complexity: O(size of the file).
  public convenience init(modelFileAt url: URL, fileID: String = #fileID) throws {
    self.init(fileID: fileID)
    adopt([try ModelSource(at: url).model])
    folders.insert(ModelFolder(url: url).surroundings)
  }

  /// Reads a model like ``init(modelFileAt:fileID:)``; nil where that initialiser throws.
  public convenience init?(contentsOf url: URL, fileID: String = #fileID) {
    try? self.init(modelFileAt: url, fileID: fileID)
  }

  /// The merger of the current versions of all models in the resources of the bundles; of the main bundle for nil. Nil
  /// if a model cannot be read or two models contradict each other.
  ///
  /// - Parameters:
  ///   - bundles: The bundles in whose resources to look for models.
  ///   - fileID: Names the module of the classes; see ``init(modelFileAt:fileID:)``.
  public class func mergedModel(from bundles: [Bundle]?, fileID: String = #fileID) -> NSManagedObjectModel? {
    (try? models(in: bundles).map { try NSManagedObjectModel(modelFileAt: $0, fileID: fileID) })
      .flatMap { NSManagedObjectModel(byMerging: $0) }
  }

  /// A model for the store with these metadata, made from all versions of all models in the resources of the bundles;
  /// of the main bundle for nil. See ``init(byMerging:forStoreMetadata:)``. Versions that cannot be read, such as old
  /// ones in the format of Xcode 3, are ignored.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any], fileID: String = #fileID
  ) -> NSManagedObjectModel? {
    let versions = versions(in: bundles).compactMap { NSManagedObjectModel(contentsOf: $0, fileID: fileID) }
    return NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata)
  }

  /// The version of a model in these folders that has made a store; nil if there is none.
  static func version(
    in folders: some Sequence<URL>, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    let versions = folders.flatMap { folder in
      let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      return (files ?? []).filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
        .sorted { $0.lastPathComponent < $1.lastPathComponent }
        .flatMap { (try? ModelFolder(url: $0).versions()) ?? [] }
    }
    return NSManagedObjectModel(
      byMerging: versions.compactMap { NSManagedObjectModel(contentsOf: $0, fileID: "") }, forStoreMetadata: metadata)
  }

  /// The versions of all models in the resources of the bundles; of the main bundle for nil.
  static func versions(in bundles: [Bundle]?) -> [URL] {
    models(in: bundles).flatMap { (try? ModelFolder(url: $0).versions()) ?? [] }
  }

  private class func models(in bundles: [Bundle]?) -> [URL] {
    (bundles ?? [.main]).flatMap { bundle in
      ["xcdatamodeld", "xcdatamodel"].flatMap {
        (bundle.urls(forResourcesWithExtension: $0, subdirectory: nil) ?? []).map { $0 as URL }
      }
    }
  }
}
