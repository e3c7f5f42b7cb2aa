import Foundation

extension NSManagedObjectModel {
  /// What is probably a mistake in the model, although it can be used: ``fileWarnings``, and for each relationship
  /// without an inverse that it has none.
  ///
  /// Without an inverse, setting one end of a relationship does not change the other end. When a store is added, the
  /// warnings are written to standard error, each once in a process, unless ``logsWarnings`` is false.
  ///
  /// - Complexity: O(size of the model).
  public var warnings: [String] {
    fileWarnings.map(\.description)
      + entities.flatMap(\.ownProperties).compactMap { property in
        guard let relationship = property as? NSRelationshipDescription, relationship.inverseRelationship == nil
        else { return nil }
        return "warning: \(relationship.owner?.name ?? "").\(relationship.name) has no inverse relationship"
      }
  }

  /// Writes the warnings that the process has not written yet to standard error.
  func logWarnings() {
    guard logsWarnings else { return }
    for warning in warnings where logged.withLock({ $0.insert(warning).inserted }) {
      try? FileHandle.standardError.write(contentsOf: Data("CoreData: \(warning)\n".utf8))
    }
  }
}

/// The warnings that the process has written.
private let logged = Locked<Set<String>>([])
