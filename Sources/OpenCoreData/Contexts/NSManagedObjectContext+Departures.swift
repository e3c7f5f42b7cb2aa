import Foundation

/// Objects that have left a context, or that somebody else has deleted.
///
/// Objects that refer to each other keep each other in memory. No context ever turns these objects into faults, so they
/// would stay in memory for ever if they referred to each other.
extension NSManagedObjectContext {
  /// Drops the references of the departed objects to each other. Call this when nobody is told of them any more.
  func separateDeparted() {
    while !departed.isEmpty {
      let objects = departed
      departed.removeAll()
      for object in objects where object.hasDeparted { object.dropReferences(where: \.hasDeparted) }
    }
  }

  /// Whether an object counts as deleted because its row is gone, and not because it was deleted here.
  func isGone(_ object: NSManagedObject) -> Bool {
    object.state.isDeletedAlready || object.isDeleted && object.isInaccessible
  }

  /// Makes a fault of such an object again, because its row exists again.
  func revive(_ object: NSManagedObject) {
    pending.revive(object)
    pending.unlock(object)
    pending.event.noteRefresh(of: object)
    object.becomeAccessible()
    object.turnIntoFault()
  }
}

extension NSManagedObject {
  /// Whether it is in no context, or counts as deleted because somebody else has deleted it.
  fileprivate final var hasDeparted: Bool {
    managedObjectContext == nil || state.isDeletedAlready
  }

  fileprivate final func dropReferences(where isDropped: (NSManagedObject) -> Bool) {
    for place in values.indices {
      switch values[place] {
      case .object(let object): if isDropped(object) { put(.null, at: place) }
      case .members(let members): members.drop(where: isDropped)
      case .fetched(let objects): if objects.contains(where: isDropped) { put(.fault, at: place) }
      default: break
      }
    }
  }
}
