import Foundation

/// The content of a results controller, and of the controllers that its delegate gets: fetched, and changed by the
/// events of the context.
///
/// Unchecked, because everything happens on the queue of the context. Only streams end on any thread.
final class FetchedResults: @unchecked Sendable {
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  private let readRequest: () -> NSFetchRequest<NSManagedObject>
  /// The controller that the application has made.
  weak var controller: (any SectionIndexing)?

  private(set) var list: ResultList?
  /// Rises with each change of the list.
  private(set) var version = 0
  var query: ResultQuery?
  private var cache: ResultsCache?
  /// Whether the list lacks changes that nobody has been listening for, or that could not be read, and the sort keys.
  var isStale = false

  private(set) weak var delegate: (any NSFetchedResultsControllerDelegate)?
  var delegateForm = DelegateForm.unknown
  /// Set by the protocol's own methods.
  var isMethodMissing = false
  private weak var facade: NSFetchedResultsController<any NSFetchRequestResult>?
  /// The identifiers of which a delegate that gets differences was told last.
  var toldIDs: [NSManagedObjectID] = []
  let streams = SnapshotStreams()

  private var observers: [any NSObjectProtocol] = []
  var waiting: [ResultEvent] = []
  var isProcessing = false

  init<ResultType>(
    _ request: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext, _ sectionNameKeyPath: String?,
    cacheName: String?
  ) {
    (self.context, self.sectionNameKeyPath, self.cacheName) = (context, sectionNameKeyPath, cacheName)
    readRequest = { NSFetchRequest<NSManagedObject>(copying: request) }
    observers = ResultEvent.sources.map { name, event in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] notification in
        guard let self, list != nil else { return }
        receive(event(notification.userInfo ?? [:], self.context))
      }
    }
  }

  deinit {
    streams.finish()
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  /// A copy of the request as it is now.
  var request: NSFetchRequest<NSManagedObject> { readRequest() }

  /// For messages.
  var label: String { "a results controller for \(request.entityName ?? "no entity") in \(context.label)" }

  /// The list, which must have been fetched.
  var content: ResultList {
    context.checkQueue()
    guard let list else { fatalError("The results of \(label) are read before performFetch().") }
    return list
  }

  // MARK: Fetching

  func performFetch() throws {
    context.checkQueue()
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError.make(NSPersistentStoreOperationError, "\(context.label) has no coordinator.")
    }
    let request = request
    if let cacheName { try cache?.check(cacheName, request) }
    let query = try ResultQuery(request, sectionNameKeyPath: sectionNameKeyPath, coordinator)
    let former = list
    let new = try fetched(query)
    if let section = new.dividedSection {
      throw CoreDataError.make(
        NSCoreDataError,
        "The results in the section \"\(section)\" are not in one piece. The first sort descriptor of a results "
          + "controller orders the results as the section key path \(sectionNameKeyPath ?? "") does.")
    }
    (self.query, isStale) = (query, query.isTracked && !isListening)
    cache = cacheName.map { ResultsCache($0, request) }
    waiting = []
    show(new)
    tellOfFetch(former)
  }

  /// What a fetch finds now.
  func fetched(_ query: ResultQuery) throws -> ResultList {
    guard query.isTracked else {
      let found = try context.fetch(query.request.forAnything()).compactMap { $0 as? NSObject }
      return makeList(found.map { ResultEntry(object: $0) }, query)
    }
    // Sort keys are only needed to find the places of changed objects without another fetch.
    let needsKeys = isListening && !query.needsFetch
    if query.dependsOnChanges(in: context) { return try evaluated(query) }
    let request = NSFetchRequest<NSManagedObject>(copying: query.request)
    if needsKeys { request.returnsObjectsAsFaults = false }
    let objects = try context.fetch(request)
    return try context.throwingErrorsOfFaults {
      let entries =
        needsKeys
        ? query.sorted(objects.map(query.entry)) : objects.map { ResultEntry(object: $0, id: $0.objectID) }
      return makeList(entries, query)
    }
  }

  /// What a fetch will find once the changes are saved. A fetch evaluates changed objects, but not those that are
  /// related to them.
  private func evaluated(_ query: ResultQuery) throws -> ResultList {
    let objects = try context.fetch(query.everything)
    return try context.throwingErrorsOfFaults {
      let entries = objects.filter { query.matches($0, in: context) }.map(query.entry)
      return makeList(FetchWindow(query.request)(entries.sorted(by: query.precedes)), query)
    }
  }

  private func makeList(_ entries: [ResultEntry], _ query: ResultQuery) -> ResultList {
    guard sectionNameKeyPath != nil else { return ResultList(entries, sectionOf: nil, of: self) }
    return ResultList(
      entries,
      sectionOf: { [context] result in
        switch result {
        case let id as NSManagedObjectID: query.section(of: context.object(with: id))
        case let object as any KeyValueCoding: query.section(of: object)
        default: ""
        }
      }, of: self)
  }

  /// Makes a list the content.
  func show(_ new: ResultList) {
    list = new
    noteChange()
  }

  func noteChange() { version += 1 }

  // MARK: Listeners

  /// Whether anybody is told of changes.
  var isListening: Bool { delegate != nil || !streams.isEmpty }

  func setDelegate(_ new: (any NSFetchedResultsControllerDelegate)?) {
    if new !== delegate { delegateForm = .unknown }
    delegate = new
  }

  /// The controller that the delegate gets.
  var delegatesController: NSFetchedResultsController<any NSFetchRequestResult> {
    if let own = controller as? NSFetchedResultsController<any NSFetchRequestResult> { return own }
    if let facade { return facade }
    let made = NSFetchedResultsController<any NSFetchRequestResult>(sharing: self)
    facade = made
    return made
  }

  func title(ofSection name: String) -> String? {
    let controller: any SectionIndexing = controller ?? delegatesController
    return controller.sectionIndexTitle(forSectionName: name)
  }

  /// What the delegate says is the title of a section; nil if it does not implement the method.
  func delegateTitle(ofSection name: String) -> String?? {
    guard let delegate else { return nil }
    isMethodMissing = false
    let title = delegate.controller(delegatesController, sectionIndexTitleForSectionName: name)
    return isMethodMissing ? nil : .some(title)
  }
}
