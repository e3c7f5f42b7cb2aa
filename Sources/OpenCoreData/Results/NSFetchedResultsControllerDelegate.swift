public import Foundation

/// How a result, or a section, has changed. The raw values are those of Core Data.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It is new.
  case insert = 1
  /// It is gone.
  case delete = 2
  /// It is in another place. It may also have other values.
  case move = 3
  /// It has other values, and no unchanged result has changed sides with it.
  case update = 4
}

/// Told of the changes of a results controller. All methods are optional.
///
/// The controller that the methods get is one for results of any type, with the content of the one that the application
/// has made. Compare it by `===` or `==`. A cast to the type of the other one fails.
///
/// Here "optional" means that the protocol has empty methods. So a class declares its methods where it declares that it
/// conforms; a method that only a subclass has is not called.
///
/// For each event in which the results have changed, the controller calls the first of these that the delegate
/// implements:
///
/// 1. `controller(_:didChangeContentWith:)` with a snapshot,
/// 2. `controller(_:didChangeContentWith:)` with a difference, if there is no section key path,
/// 3. the others: *will change*, for each section that is gone or new, for each object, *did change*.
///
/// The former two are also called by ``NSFetchedResultsController/performFetch()``, and, for a delegate that was set
/// later, before it is told of the first change.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
  /// The content is about to change; the controller still has the former content.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// The content has changed, and all changes have been told.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// An object has changed.
  ///
  /// - Parameters:
  ///   - controller: The controller of which this is the delegate.
  ///   - anObject: The object.
  ///   - indexPath: The place in the former content; nil for an insertion.
  ///   - type: What has happened to the object.
  ///   - newIndexPath: The place in the new content of an object that is inserted or moved; otherwise nil.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// A section is gone or new.
  ///
  /// - Parameters:
  ///   - controller: The controller of which this is the delegate.
  ///   - sectionInfo: The section.
  ///   - sectionIndex: For a section that is gone, its number in the former content; for a new one, its number in the
  ///     new content.
  ///   - type: Whether the section is gone or new.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// The content has changed. Takes time proportional to the number of results.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

  /// The content has changed. Takes time proportional to the number of results.
  ///
  /// - Parameters:
  ///   - controller: The controller of which this is the delegate.
  ///   - diff: Moved and updated objects are removals and insertions that are associated with each other.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// The title of a section for an index.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  /// Notes that the delegate does not implement the method.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { controller.results.isMethodMissing = true }

  /// Notes that the delegate does not implement the method.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { controller.results.isMethodMissing = true }

  /// Notes that the delegate does not implement the method.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    controller.results.isMethodMissing = true
    return nil
  }
}
