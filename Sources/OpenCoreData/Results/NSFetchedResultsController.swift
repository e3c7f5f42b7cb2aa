public import Foundation

/// The results of a fetch in sections, kept up to date with the changes of a context.
///
/// The controller fetches when ``performFetch()`` is called. From then on, if it has a ``delegate`` or somebody reads
/// ``snapshots``, it applies the changes of each event of the context: after the event it has what a new fetch would
/// return, and its delegate is told of the difference. Without both, the content stays as it was fetched.
///
/// Only managed objects are tracked. Identifiers and dictionaries stay as they were fetched.
///
/// A controller belongs to the queue of its context, as managed objects do.
///
/// `ResultType` is not constrained to ``NSFetchRequestResult``, as that of ``NSFetchRequest`` is not.
open class NSFetchedResultsController<ResultType>: ResultsController {
  private let request: NSFetchRequest<ResultType>
  private var cached: (version: Int, objects: [ResultType])?

  /// A controller without content, until ``performFetch()`` is called.
  ///
  /// - Parameters:
  ///   - fetchRequest: The request, with at least one sort descriptor. Changes of it take effect when
  ///     ``performFetch()`` is called.
  ///   - context: The context that fetches, and whose changes the controller follows.
  ///   - sectionNameKeyPath: A key path without to-many relationships, by whose value the results are divided into
  ///     sections; nil for one section. The sort descriptors have to order the results so that each section is in one
  ///     piece.
  ///   - name: The name of a cache; nil for none. See ``cacheName``.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    request = fetchRequest
    super.init(FetchedResults(fetchRequest, context, sectionNameKeyPath, cacheName: name))
    results.controller = self
  }

  /// Another controller with the same content.
  init(sharing results: FetchedResults) {
    request = NSFetchRequest<ResultType>(copying: results.request)
    super.init(results)
  }

  /// The request. That of the controller which a delegate gets is a copy, whose changes have no effect.
  open var fetchRequest: NSFetchRequest<ResultType> { request }

  /// The context whose objects are fetched.
  open var managedObjectContext: NSManagedObjectContext { results.context }

  /// The key path by whose value the results are divided into sections; nil for one section.
  open var sectionNameKeyPath: String? { results.sectionNameKeyPath }

  /// The name of the cache. Nothing is cached here, but ``performFetch()`` refuses a request that was changed without
  /// ``deleteCache(withName:)``, as Core Data does.
  open var cacheName: String? { results.cacheName }

  /// The object that is told of changes; the controller does not retain it.
  open var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { results.delegate }
    set { results.setDelegate(newValue) }
  }

  /// Forgets which request was executed with a cache of that name; nil for all names. May be called from any thread.
  open class func deleteCache(withName name: String?) { ResultsCache.delete(name) }

  /// Fetches.
  ///
  /// With a delegate, the sort keys of all results are read, so their faults fire.
  ///
  /// - Complexity: That of the fetch, and O(number of results).
  /// - Throws: 134060 if the request has no sort descriptors or asks for a count, if the sections are not each in one
  ///   piece, or if the request was changed under a cache name; any error of the fetch. The content stays as it was.
  open func performFetch() throws { try results.performFetch() }

  // MARK: Content

  /// The results in their order; nil before the first fetch.
  ///
  /// - Complexity: O(number of results) for the first call after a change.
  open var fetchedObjects: [ResultType]? {
    guard let list = results.list else { return nil }
    if let cached, cached.version == results.version { return cached.objects }
    let objects = list.objects.map(result)
    cached = (results.version, objects)
    return objects
  }

  /// The result at an index path with a section and a row. Ends the program if there is none.
  ///
  /// - Complexity: O(log n).
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let object = results.content.object(at: ResultPosition(indexPath)) else {
      fatalError("The results of \(results.label) have nothing at \(Array(indexPath)).")
    }
    return result(object)
  }

  /// The place of a result; nil if it is not one. Of equal dictionaries, the place of the last one.
  ///
  /// - Complexity: O(log n).
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    (object as? NSObject).flatMap { results.content.position(of: $0)?.indexPath }
  }

  private func result(_ object: NSObject) -> ResultType {
    guard let result = object as? ResultType else {
      fatalError("A results controller for \(ResultType.self) has fetched \(type(of: object)): they do not fit.")
    }
    return result
  }

  // MARK: Sections

  /// The sections in their order; nil before the first fetch. Without ``sectionNameKeyPath`` there is one, even if
  /// nothing was found. Each shows the content of the controller at the time at which it is read.
  ///
  /// - Complexity: O(number of sections).
  open var sections: [any NSFetchedResultsSectionInfo]? { results.list?.orderedSections }

  /// The titles of the sections for an index, in their order, without those that are nil.
  open var sectionIndexTitles: [String] { titledSections.map(\.title) }

  /// The number of the section that the title at an index of ``sectionIndexTitles`` stands for. Ends the program if
  /// there is no such title.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    let titled = titledSections
    guard titled.indices.contains(sectionIndex), titled[sectionIndex].title == title else {
      fatalError("The section index of \(results.label) does not have \"\(title)\" at \(sectionIndex).")
    }
    return titled[sectionIndex].section
  }

  /// The title of a section for an index: that of the delegate if it implements the method, or else the first letter of
  /// the name, capitalised; nil for an empty name.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    if let title = results.delegateTitle(ofSection: sectionName) { return title }
    return sectionName.first.map { $0.uppercased() }
  }

  private var titledSections: [(title: String, section: Int)] {
    (sections ?? []).enumerated().compactMap { place, section in
      sectionIndexTitle(forSectionName: section.name).map { ($0, place) }
    }
  }

  // MARK: Without a delegate

  /// The identifiers of the results now, and then after each event that has changed the results. A slow reader misses
  /// all but the newest. Ends when the controller is gone.
  ///
  /// Call this on the queue of the context; the values may be read anywhere. The controller tracks changes until the
  /// loop over the values ends.
  ///
  /// - Complexity: O(number of results) for each event.
  public var snapshots: AsyncStream<NSDiffableDataSourceSnapshotReference> { results.makeSnapshots() }
}

extension NSFetchedResultsController: SectionIndexing {}
