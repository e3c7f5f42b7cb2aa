import Foundation

/// A model together with the XML it was read from, for tools that need to know what means nothing to Core Data.
package struct ModelSource {
  /// The root of the XML.
  package let root: ModelElement
  /// What it says.
  package let model: NSManagedObjectModel

  /// What was assumed, by whoever reads the XML beside the model, too.
  package var warnings: [ModelFileWarning] { root.warnings.sorted }

  /// Reads the model at `url`, as ``NSManagedObjectModel/init(modelFileAt:fileID:)`` does.
  package init(at url: URL) throws(ModelFileError) {
    root = try ModelFolder(url: url).root()
    model = try ModelReader(root).model()
    model.fileWarnings = warnings
  }
}
