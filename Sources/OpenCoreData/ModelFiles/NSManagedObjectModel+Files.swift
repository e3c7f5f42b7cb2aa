public import Foundation

extension NSManagedObjectModel {
  /// Reads a model as Xcode keeps it: an `.xcdatamodeld` folder, of which the current version counts, an `.xcdatamodel`
  /// folder, or the XML file in one. Nothing needs to be compiled, and what was compiled cannot be read.
  ///
  /// What has no meaning in the file although the rest has one without it, such as a default value of another type, is no
  /// error: ``fileWarnings`` says what was assumed.
  ///
  /// - Parameters:
  ///   - url: Where the model is.
  ///   - fileID: In what file the caller is. The classes of the entities are looked for in its module, unless their names say
  ///     theirs, as `Module.Class`; `"Module/"` names another one.
  /// - Throws: ``ModelFileError``, with the line, if the file is missing or the model has no meaning.
  /// - Complexity: O(size of the file).
  public convenience init(modelFileAt url: URL, fileID: String = #fileID) throws {
    self.init()
    adopt([try ModelSource(at: url).model])
    ManagedObjectClass.record(module: fileID, for: entities)
  }

  /// As ``init(modelFileAt:fileID:)``; nil where that says what is wrong.
  public convenience init?(contentsOf url: URL, fileID: String = #fileID) {
    try? self.init(modelFileAt: url, fileID: fileID)
  }

  /// The merger of the current versions of all models among the resources of the bundles, those of the main bundle for
  /// nil. Nil if one of them cannot be read or two contradict each other.
  ///
  /// - Parameters:
  ///   - bundles: Whose resources to look at.
  ///   - fileID: Says in which module classes are; see ``init(modelFileAt:fileID:)``.
  public class func mergedModel(from bundles: [Bundle]?, fileID: String = #fileID) -> NSManagedObjectModel? {
    (try? models(in: bundles).map { try NSManagedObjectModel(modelFileAt: $0, fileID: fileID) })
      .flatMap { NSManagedObjectModel(byMerging: $0) }
  }

  /// A model for the store with these metadata, of all versions of all models among the resources of the bundles, those
  /// of the main bundle for nil; see ``init(byMerging:forStoreMetadata:)``. Versions that cannot be read, such as old ones
  /// in the format of Xcode 3, are passed over.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any], fileID: String = #fileID
  ) -> NSManagedObjectModel? {
    let versions = versions(in: bundles).compactMap { NSManagedObjectModel(contentsOf: $0, fileID: fileID) }
    return NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata)
  }

  /// The versions of all models among the resources of the bundles, those of the main bundle for nil.
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
