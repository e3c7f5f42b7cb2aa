/// To-many relationships without an inverse, whose members do not know the objects that have them.
extension NSManagedObjectContext {
  /// Drops deleted objects from all to-many relationships without an inverse that have been read or changed. That is no
  /// change of the owners: a store drops the objects that it deletes from all owners.
  ///
  /// - Complexity: O(number of registered objects), but O(number of entities) if the model has no such relationships.
  func dropFromOwners(_ deleted: [NSManagedObject]) {
    guard !deleted.isEmpty else { return }
    let deleted = ObjectList(deleted)
    forEachOwner { owner, _, members in
      members.forgetStored()
      let gone =
        members.count < deleted.count
        ? members.elements.filter(deleted.contains) : deleted.filter(members.contains)
      guard !gone.isEmpty else { return }
      undoRecorder?.note(owner)
      for object in gone { members.drop(object) }
      if !owner.isInserted { pending.event.noteRefresh(of: owner) }
    }
  }

  /// Has the members of all to-many relationships without an inverse read again, because deleted objects are no longer
  /// deleted. The relationships keep their changes.
  func readMembersOfOwnersAgain() {
    forEachOwner { owner, place, members in
      guard !owner.isInserted else { return }
      owner.forget(members, at: place)
    }
  }

  /// The objects with the identifiers that a store has given for a relationship. If it has no inverse, they may include
  /// objects whose deletion has not been saved yet; these are left out.
  func members(of relationship: NSRelationshipDescription, with ids: [NSManagedObjectID]) -> [NSManagedObject] {
    let members = objects(with: ids)
    return relationship.inverseRelationship == nil ? members.filter { !$0.isDeleted } : members
  }

  private func forEachOwner(_ body: (_ owner: NSManagedObject, _ place: Int, RelatedObjects) -> Void) {
    guard let entities = persistentStoreCoordinator?.managedObjectModel.entities,
      entities.contains(where: { !$0.layout.toManysWithoutInverse.isEmpty })
    else { return }
    for owner in registry.objects where owner.hasOwnValues {
      for place in owner.layout.toManysWithoutInverse {
        if case .members(let members) = owner.values[place] { body(owner, place, members) }
      }
    }
  }
}
