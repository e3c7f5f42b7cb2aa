public import Foundation

/// The identifiers of the results of a controller after an event, in sections. It never changes, and may be used on any
/// thread.
///
/// On Apple's platforms, a class of UIKit and AppKit has this name, and data sources of views apply it.
public final class NSDiffableDataSourceSnapshotReference: NSObject, Sendable {
  /// The names of the sections.
  public let sectionIdentifiers: [String]
  /// The identifiers of the results that have been updated since the snapshot before, but not moved.
  public let reloadedItemIdentifiers: [NSManagedObjectID]
  /// The identifiers of all results.
  public let itemIdentifiers: [NSManagedObjectID]
  /// Where the sections begin among the identifiers, and where the last one ends.
  private let bounds: [Int]

  init(_ sections: [(name: String, items: [NSManagedObjectID])], reloaded: [NSManagedObjectID]) {
    sectionIdentifiers = sections.map(\.name)
    itemIdentifiers = sections.flatMap(\.items)
    bounds = sections.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.items.count) }
    reloadedItemIdentifiers = reloaded
  }

  /// The number of results.
  public var numberOfItems: Int { itemIdentifiers.count }

  /// The number of sections.
  public var numberOfSections: Int { sectionIdentifiers.count }

  /// The number of results in a section, which must exist.
  public func numberOfItems(inSection sectionIdentifier: String) -> Int { items(of: sectionIdentifier).count }

  /// The identifiers in a section, which must exist.
  public func itemIdentifiersInSection(withIdentifier sectionIdentifier: String) -> [NSManagedObjectID] {
    Array(itemIdentifiers[items(of: sectionIdentifier)])
  }

  /// The name of the section in which an identifier is; nil if it is in none.
  ///
  /// - Complexity: O(number of results).
  public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: NSManagedObjectID) -> String? {
    itemIdentifiers.firstIndex(of: itemIdentifier).flatMap { index in
      sectionIdentifiers.indices.first { bounds[$0 + 1] > index }.map { sectionIdentifiers[$0] }
    }
  }

  /// The number of identifiers before one; `NSNotFound` if it is not there.
  ///
  /// - Complexity: O(number of results).
  public func index(ofItemIdentifier itemIdentifier: NSManagedObjectID) -> Int {
    itemIdentifiers.firstIndex(of: itemIdentifier) ?? NSNotFound
  }

  /// The number of sections before one; `NSNotFound` if it is not there.
  public func index(ofSectionIdentifier sectionIdentifier: String) -> Int {
    sectionIdentifiers.firstIndex(of: sectionIdentifier) ?? NSNotFound
  }

  private func items(of name: String) -> Range<Int> {
    guard let section = sectionIdentifiers.firstIndex(of: name) else {
      fatalError("The snapshot has no section named \"\(name)\".")
    }
    return bounds[section]..<bounds[section + 1]
  }
}
