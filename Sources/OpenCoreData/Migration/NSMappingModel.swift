public import Foundation

/// How a migration makes the objects of one model from those of another: a mapping for each entity.
///
/// A mapping model is made in code, read from the source of an Xcode mapping model, or inferred from two models. Used by
/// one thread at a time.
open class NSMappingModel: NSObject {
  /// The mappings, in the order in which a migration makes objects.
  open var entityMappings: [NSEntityMapping]! = []

  /// A mapping model without mappings.
  public override init() {}

  /// Reads the source of a mapping model that Xcode has made: a folder `*.xcmappingmodel`, or the file `xcmapping.xml` in
  /// it. The two versions of the model that the file names are looked for in the folders around it, by the ends of their
  /// paths.
  ///
  /// Expressions that somebody has written in Xcode's editor are archived there in a form that cannot be read here. The
  /// expressions that the editor makes itself, key paths, mappings of relationships, filters and policies can.
  ///
  /// - Throws: ``ModelFileError`` if the file or a model cannot be read, or if the file has such an archived expression.
  public convenience init(mappingModelFileAt url: URL) throws {
    self.init()
    let file = try MappingModelFile(at: url)
    let models = try file.models()
    entityMappings = try file.mappings(from: models.source, to: models.destination)
  }

  /// As ``init(mappingModelFileAt:)``; nil where that initialiser throws.
  public convenience init?(contentsOf url: URL?) {
    guard let url else { return nil }
    try? self.init(mappingModelFileAt: url)
  }

  /// The mapping model from one version of a model to another, among the resources of the bundles; of the main bundle
  /// for nil. Nil if there is none that can be read.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel else { return nil }
    self.init(in: (bundles ?? [.main]).compactMap(\.resourceURL), sourceModel, destinationModel)
  }

  /// The mapping model from one version of a model to another, among the files of folders.
  convenience init?(
    in folders: some Sequence<URL>, _ sourceModel: NSManagedObjectModel, _ destinationModel: NSManagedObjectModel
  ) {
    let found = folders.lazy.flatMap(Self.files).compactMap { url -> [NSEntityMapping]? in
      guard let file = try? MappingModelFile(at: url), let models = try? file.models(),
        models.source.hasSameVersions(as: sourceModel), models.destination.hasSameVersions(as: destinationModel)
      else { return nil }
      return try? file.mappings(from: models.source, to: models.destination)
    }.first
    guard let found else { return nil }
    self.init()
    entityMappings = found
  }

  /// Whether there is a mapping model in a folder.
  static func hasFiles(in folder: URL) -> Bool { !files(in: folder).isEmpty }

  private static func files(in folder: URL) -> [URL] {
    let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.pathExtension == "xcmappingmodel" }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// The mapping model by which objects of one model become objects of another without anything said about them:
  /// attributes and relationships that stay are copied, which is found by renaming identifiers, then by names.
  ///
  /// Stores on Cairn migrate themselves without such a mapping model when they are added; CORE-DATA.md, "Another model",
  /// says what they can do. It is the beginning of a mapping model that somebody changes.
  ///
  /// - Throws: ``NSInferredMappingModelError`` if a required attribute without default value is added, if the type of an
  ///   attribute changes other than to a wider integer, or if a to-many relationship becomes to-one.
  public class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = try InferredMapping.mappings(from: sourceModel, to: destinationModel)
    return model
  }

  /// The mappings by their names. Of several with the same name, the last one.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }) { _, last in last }
  }
}
