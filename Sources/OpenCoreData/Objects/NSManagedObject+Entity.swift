import Foundation

extension NSFetchRequestResult where Self: NSManagedObject {
  /// A request for the objects of the entity that has this class, with results of this class.
  ///
  /// Apple's Core Data has only ``NSManagedObject/fetchRequest()``, whose result the caller casts, as in
  /// `Item.fetchRequest() as! NSFetchRequest<Item>`. Off Apple's platforms the type of the results exists at run time,
  /// and such a cast succeeds because the compiler prefers this method.
  public static func fetchRequest() -> NSFetchRequest<Self> { NSFetchRequest(entityName: entity().name ?? "") }
}
