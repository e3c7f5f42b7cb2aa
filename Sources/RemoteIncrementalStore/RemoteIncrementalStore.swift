import CairnIncrementalStore
public import IncrementalStore
public import OpenCoreData
import RowFormat

/// The key of a store option: the ``RemoteService``. Required.
public let RemoteServiceOption = "RemoteService"

/// The key of a store option: the account, a `String`; empty if not set. A store belongs to one account.
public let RemoteAccountOption = "RemoteAccount"

/// The key of a store option: a ``RemoteConflictPolicy``; ``RemoteConflictPolicy/serviceWins`` if not set.
public let RemoteConflictsOption = "RemoteConflicts"

/// The key of a store option: whether changes are sent only by ``RemoteIncrementalStore/sendChanges()``. An `NSNumber`;
/// false if not set.
public let RemoteSendsByHandOption = "RemoteSendsByHand"

/// The key of a store option: an open `RowStore` to use instead of one that Cairn keeps at the store's URL.
package let RemoteRowStoreOption = "RemoteRowStore"

extension NSPersistentStore.StoreType {
  /// The type of the stores that Cairn keeps, over a remote service.
  public static let remote = NSPersistentStore.StoreType(rawValue: "CairnRemote")
}

extension NSPersistentStoreDescription {
  /// Describes a store over a remote service, with what is known of the service in the directory at `url`:
  ///
  ///     container.persistentStoreDescriptions = [.remote(at: url, BugService())]
  ///
  /// The history is kept for seven days, unless `HistoryMaximumAgeOption` is set to something else. Registers
  /// ``RemoteIncrementalStore``.
  public static func remote(
    at url: URL, _ service: any RemoteService, account: String = ""
  ) -> NSPersistentStoreDescription {
    RemoteIncrementalStore.register()
    let description = NSPersistentStoreDescription(url: url)
    description.type = NSPersistentStore.StoreType.remote.rawValue
    description.setOption(Boxed(service), forKey: RemoteServiceOption)
    description.setOption(account as NSString, forKey: RemoteAccountOption)
    description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    description.setOption(NSNumber(value: 7 * 86_400), forKey: HistoryMaximumAgeOption)
    return description
  }

  /// What happens if an object was changed here and at the service; ``RemoteConflictPolicy/serviceWins`` if not set.
  public func setRemoteConflicts(_ policy: RemoteConflictPolicy) {
    setOption(Boxed(policy), forKey: RemoteConflictsOption)
  }
}

/// A value of an option that is no object.
final class Boxed: NSObject, Sendable {
  let value: any Sendable
  init(_ value: any Sendable) { self.value = value }
}

/// A Core Data store over a remote service, with a cache on disk.
///
/// A fetch reads what the cache has, and has it refreshed behind itself; a save is written to the cache and sent when
/// the service can be reached. Objects that are known by their identifiers alone are faults, which are loaded when they
/// fire. What the service changes is a transaction in the persistent history with the author ``transactionAuthor``, and
/// is announced by `NSPersistentStoreRemoteChange`; contexts merge it as they do the saves of another process. The
/// store itself never changes a context.
///
/// As with `CairnIncrementalStore`, one process at a time may open it for writing.
public final class RemoteIncrementalStore: RowIncrementalStore {
  /// The author of the transactions that have what the service has changed.
  public static let transactionAuthor = "RemoteService"

  /// How long a fault waits for its object off the main thread, in seconds.
  static let faultTimeLimit = 30.0

  /// `CairnRemote`.
  public override class var storeType: String { NSPersistentStore.StoreType.remote.rawValue }

  public override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    if let rows = options?[RemoteRowStoreOption] as? any RowStore { return rows }
    return try CairnIncrementalStore.rowStore(at: url, options: options)
  }

  /// Removes the store at `url`, if there is one: its directory with everything in it, also what was not sent.
  ///
  /// - Throws: 134080 if something other than a store is at `url`, or if the store is in use. With
  ///   `NSPersistentStoreForceDestroyOption`, a store that is too damaged to be opened is removed as well.
  public override class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
    try CairnIncrementalStore.destroyPersistentStore(at: url, options: options)
  }

  /// Registers the store type with Core Data. `NSPersistentStoreDescription.remote(at:_:account:)` calls this.
  public static func register() { NSPersistentStoreCoordinator.registerStoreClass(self, type: .remote) }

  private(set) var link: RemoteLink!

  public override func loadMetadata() throws {
    guard let service = option(RemoteServiceOption) as? any RemoteService else {
      throw StoreFailure.make(
        NSPersistentStoreOpenError, "A store of the type \(Self.storeType) needs the option \(RemoteServiceOption).")
    }
    guard !isReadOnly else {
      throw StoreFailure.make(NSPersistentStoreOpenError, "A store over a remote service cannot be opened read-only.")
    }
    let policy = option(RemoteConflictsOption) as? RemoteConflictPolicy ?? .serviceWins
    let sendsByHand = (option(RemoteSendsByHandOption) as? NSNumber)?.boolValue ?? false
    let account = option(RemoteAccountOption) as? String ?? ""
    link = RemoteLink(service, account: account, policy, sendsByHand: sendsByHand)
    companion = link
    try super.loadMetadata()
    access.hasPartialRows = true
    do {
      try claim(account)
    } catch {
      try? rowStore?.close()
      throw error
    }
  }

  private func option(_ key: String) -> Any? {
    let value = options?[key]
    return (value as? Boxed)?.value ?? value
  }

  /// - Throws: ``RemoteError/otherAccount`` if the store belongs to another account.
  private func claim(_ account: String) throws {
    let snapshot = try rows.snapshot()
    if let head = try RemoteRows(snapshot: snapshot, access: access).head() {
      guard head.account == account else {
        throw RemoteError.make(
          "The store at \(url?.path ?? "?") belongs to the account \(head.account), not to \(account).",
          code: RemoteError.otherAccount)
      }
      return
    }
    try edit(author: Self.transactionAuthor, recordsHistory: false) { _ in
      var edits = RowEdits()
      edits.additions.put(RemoteHead(account: account).bytes, at: StoreHead.remoteReference, in: StoreHead.table)
      return edits
    }
  }

  public override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
    super.didAdd(to: coordinator)
    link.attach(self)
    link.begin { await $0.resume() }
  }

  public override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    let answer = try super.execute(request, with: context)
    if request is NSFetchRequest<NSManagedObject>, let found = answer as? [Any] { note(found) }
    return answer
  }

  public override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let answer = try super.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
    if let members = answer as? [NSManagedObjectID] { note(members) }
    return answer
  }

  public override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    link.end()
    super.willRemove(from: coordinator)
  }
}

extension RemoteLink {
  /// Settles what an earlier process has sent and not been answered, and goes on sending.
  fileprivate func resume() async {
    if service.repeating == .nothing { try? setUnansweredAside() }
    if !sendsByHand { await sendChanges() }
  }
}
