import Foundation

/// How a delegate is told of changes.
enum DelegateForm {
  /// It is not known yet which methods it implements.
  case unknown
  case snapshots
  case differences
  case eachChange
}

/// Telling the delegate and the readers of streams.
extension FetchedResults {
  /// Tells of a change of the content.
  ///
  /// - Parameters:
  ///   - isSilent: Whether only identifiers change.
  ///   - change: Changes the list.
  func tell(isSilent: Bool, _ change: () -> ResultChanges) {
    if delegateForm == .unknown { introduce(ids) }
    if delegateForm == .eachChange, !isSilent { delegate?.controllerWillChangeContent(delegatesController) }
    let changes = change()
    noteChange()
    guard !changes.isEmpty || changes.areRenamed else { return }
    switch delegateForm {
    case .unknown: break
    case .snapshots: delegate?.controller(delegatesController, didChangeContentWith: snapshot(changes))
    case .differences: delegate?.controller(delegatesController, didChangeContentWith: difference(changes))
    case .eachChange: if !isSilent { tellEach(changes) }
    }
    streams.send { snapshot(changes) }
  }

  private func tellEach(_ changes: ResultChanges) {
    let controller = delegatesController
    for (type, sections) in [
      (NSFetchedResultsChangeType.delete, changes.deletedSections), (.insert, changes.insertedSections),
    ] {
      for (section, number) in sections {
        delegate?.controller(controller, didChange: section, atSectionIndex: number, for: type)
      }
    }
    for change in changes.objects {
      delegate?.controller(
        controller, didChange: change.object, at: change.old?.indexPath, for: change.type,
        newIndexPath: change.new?.indexPath)
    }
    delegate?.controllerDidChangeContent(controller)
  }

  /// Tells of what a fetch of the application has found.
  func tellOfFetch(_ former: ResultList?) {
    switch delegateForm {
    case .unknown: introduce(former.map { ids(of: $0) } ?? [])
    case .snapshots: delegate?.controller(delegatesController, didChangeContentWith: snapshot())
    case .differences: delegate?.controller(delegatesController, didChangeContentWith: difference())
    case .eachChange: break
    }
    streams.send { snapshot() }
  }

  /// Finds out which methods a delegate implements: it is told of the present content.
  ///
  /// - Parameter known: The identifiers of the results that it knows of.
  private func introduce(_ known: [NSManagedObjectID]) {
    guard let delegate else { return }
    isMethodMissing = false
    delegate.controller(delegatesController, didChangeContentWith: snapshot())
    guard isMethodMissing else {
      delegateForm = .snapshots
      return
    }
    delegateForm = .eachChange
    guard sectionNameKeyPath == nil else { return }
    isMethodMissing = false
    toldIDs = known
    delegate.controller(delegatesController, didChangeContentWith: difference())
    if isMethodMissing { toldIDs = [] } else { delegateForm = .differences }
  }

  // MARK: Identifiers

  private func snapshot(_ changes: ResultChanges? = nil) -> NSDiffableDataSourceSnapshotReference {
    let sections = (list?.orderedSections ?? []).map { section in
      var items: [NSManagedObjectID] = []
      section.entries.forEach { entry in if let id = id(of: entry.object) { items.append(id) } }
      return (name: section.name, items: items)
    }
    return NSDiffableDataSourceSnapshotReference(sections, reloaded: updated(changes))
  }

  /// The difference from what the delegate was told last.
  private func difference(_ changes: ResultChanges? = nil) -> CollectionDifference<NSManagedObjectID> {
    let ids = ids
    defer { toldIDs = ids }
    return CollectionDifference(from: toldIDs, to: ids, updated: updated(changes))
  }

  private func updated(_ changes: ResultChanges?) -> [NSManagedObjectID] {
    (changes?.objects ?? []).filter { $0.type == .update }.compactMap { id(of: $0.object) }
  }

  private var ids: [NSManagedObjectID] { list.map { ids(of: $0) } ?? [] }

  private func ids(of list: ResultList) -> [NSManagedObjectID] { list.objects.compactMap(id) }

  private func id(of result: NSObject) -> NSManagedObjectID? {
    (result as? NSManagedObject)?.objectID ?? result as? NSManagedObjectID
  }

  // MARK: Streams

  func makeSnapshots() -> AsyncStream<NSDiffableDataSourceSnapshotReference> {
    context.checkQueue()
    return streams.make(startingWith: list == nil ? nil : snapshot())
  }
}
