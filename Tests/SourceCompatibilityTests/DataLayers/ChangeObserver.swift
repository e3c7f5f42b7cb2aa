import CoreData
import Foundation

/// Logs what contexts report about their changes.
final class ChangeObserver {
  private(set) var log: [String] = []
  private var tokens: [NSObjectProtocol] = []
  private let center: NotificationCenter

  init(context: NSManagedObjectContext, center: NotificationCenter = .default) {
    self.center = center
    tokens.append(
      center.addObserver(
        forName: NSNotification.Name.NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [weak self] notification in
        self?.objectsDidChange(notification)
      })
    tokens.append(
      center.addObserver(forName: .NSManagedObjectContextWillSave, object: context, queue: nil) { [weak self] _ in
        self?.log.append("will save")
      })
    tokens.append(
      center.addObserver(
        forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { [weak self] notification in
        self?.contextDidSave(notification)
      })
  }

  deinit {
    tokens.forEach(center.removeObserver)
  }

  private func objectsDidChange(_ notification: Notification) {
    guard let userInfo = notification.userInfo else { return }
    if let inserts = userInfo[NSInsertedObjectsKey] as? Set<NSManagedObject>, inserts.count > 0 {
      log.append("inserted \(inserts.count)")
    }
    if let updates = userInfo[NSUpdatedObjectsKey] as? Set<NSManagedObject>, updates.count > 0 {
      for update in updates { log.append("updated \(update.changedValues().keys.sorted())") }
    }
    if let deletes = userInfo[NSManagedObjectContext.NotificationKey.deletedObjects.rawValue] as? Set<NSManagedObject>,
      deletes.count > 0
    {
      log.append("deleted \(deletes.count)")
    }
  }

  private func contextDidSave(_ notification: Notification) {
    let names = notification.insertedObjects(of: Recipe.self).map(\.name)
    log.append("saved \(names.sorted())")
  }
}

extension Notification {
  func objects(forKey key: String) -> Set<NSManagedObject> {
    (userInfo?[key] as? Set<NSManagedObject>) ?? Set()
  }

  func insertedObjects<T: NSManagedObject>(of type: T.Type) -> [T] {
    objects(forKey: NSInsertedObjectsKey).compactMap { $0 as? T }
  }
}
