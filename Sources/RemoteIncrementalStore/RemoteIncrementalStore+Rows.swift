import CoreData
import IncrementalStore
import RowFormat

extension RemoteIncrementalStore {
  /// Whether an object is not loaded in whole.
  func isPartial(_ objectID: NSManagedObjectID) -> Bool { rowBytes(of: objectID).map(FieldReader.isPartial) ?? true }
}
