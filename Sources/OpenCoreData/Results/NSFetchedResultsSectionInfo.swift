/// A section of the results of a controller.
public protocol NSFetchedResultsSectionInfo {
  /// The name: the value of the section key path as a text, empty for nil.
  var name: String { get }

  /// The title for an index.
  var indexTitle: String? { get }

  /// The number of results in the section.
  var numberOfObjects: Int { get }

  /// The results in the section, in their order.
  ///
  /// - Complexity: O(number of results in the section) for the first call after a change of the section.
  var objects: [Any]? { get }
}

/// Gives sections their titles; applications override it.
protocol SectionIndexing: AnyObject {
  func sectionIndexTitle(forSectionName sectionName: String) -> String?
}

/// A section and its results. Without a section key path there is one, whose name is empty.
final class ResultSection: NSFetchedResultsSectionInfo {
  let name: String
  /// The node in the tree of sections.
  var node = 0
  private(set) var entries: RankedTree<ResultEntry>
  private weak var results: FetchedResults?
  private var cached: [Any]?

  init(_ name: String, _ sorted: some Collection<ResultEntry>, of results: FetchedResults) {
    self.name = name
    self.results = results
    entries = RankedTree(sorted)
  }

  var indexTitle: String? { results?.title(ofSection: name) }
  var numberOfObjects: Int { entries.count }

  var objects: [Any]? {
    if let cached { return cached }
    var objects: [Any] = []
    objects.reserveCapacity(entries.count)
    entries.forEach { objects.append($0.object) }
    cached = objects
    return objects
  }

  /// Changes the entries.
  func change<Result>(_ body: (inout RankedTree<ResultEntry>) -> Result) -> Result {
    cached = nil
    return body(&entries)
  }
}
