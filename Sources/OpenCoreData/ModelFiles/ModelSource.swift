import Foundation

/// A model together with the XML it was read from, for tools that also read the settings that have no meaning to Core
/// Data.
package struct ModelSource {
  /// The root of the XML.
  package let root: ModelElement
  /// The model in the XML.
  package let model: NSManagedObjectModel

  /// The assumptions made when the model was read, and those of tools that have added warnings since.
  package var warnings: [ModelFileWarning] { root.warnings.sorted }

  /// Reads the model at `url`, as ``NSManagedObjectModel/init(modelFileAt:fileID:)`` does.
  package init(at url: URL) throws(ModelFileError) {
    root = try ModelFolder(url: url).root()
    model = try ModelReader(root).model()
    model.fileWarnings = warnings
  }
}
