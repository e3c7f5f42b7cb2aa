#if PostgreSQL
  import CoreData
  public import Foundation
  import IncrementalStore

  /// The key of a store option: how many connections to the server a store has at most. An `NSNumber`; 8 if not set. A
  /// request uses one of them from its beginning to its end, and waits if none is free.
  public let PostgreSQLConnectionsOption = "PostgreSQLConnections"

  /// The key of a store option: for how many seconds a request waits for a connection. An `NSNumber`; 30 if not set.
  public let PostgreSQLWaitOption = "PostgreSQLWait"

  /// The key of a store option: what the references of new objects are. The string `integers`, which is the default:
  /// they come from a sequence of the server, in blocks of 4,096 for each process, so objects of one process are in the
  /// order of their insertion. Or `uuids`: of version 7, made by each process by its clock. The choice is made once for
  /// a store.
  public let PostgreSQLReferencesOption = "PostgreSQLReferences"

  /// The key of a store option: how often a store that is added with
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey` looks for what others have saved, in seconds. An
  /// `NSNumber`; 1 if not set.
  public let PostgreSQLPollOption = "PostgreSQLPoll"

  extension Notification.Name {
    /// Posted when changes of others have not been seen for a minute, because a transaction is open that long somewhere
    /// on the server. The object is the store. Posted once until the transaction has ended.
    public static let PostgreSQLChangesAreDelayed = Notification.Name("PostgreSQLChangesAreDelayed")
  }

  /// The key of a store option: what gives the password for each new connection, a ``PostgreSQLPassword``. Without it,
  /// libpq looks for one in its password file and in its environment variables.
  public let PostgreSQLPasswordOption = "PostgreSQLPassword"

  /// Gives the password for a new connection. It may be called on any thread.
  public typealias PostgreSQLPassword = @Sendable () throws -> String

  struct PostgreSQLOptions {
    var isReadOnly = false
    var connections = 8
    var patience: TimeInterval = 30
    var referenceKind = RowReferenceKind.integer
    var password: PostgreSQLPassword?
    /// In seconds; nil if nobody wants to know what others save.
    var poll: TimeInterval?

    init() {}

    /// - Throws: 134080 for values that no option has.
    init(_ options: [AnyHashable: Any]?) throws {
      isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true
      if let number = options?[PostgreSQLConnectionsOption] as? NSNumber { connections = number.intValue }
      if let number = options?[PostgreSQLWaitOption] as? NSNumber { patience = number.doubleValue }
      password = options?[PostgreSQLPasswordOption] as? PostgreSQLPassword
      if (options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue == true {
        poll = (options?[PostgreSQLPollOption] as? NSNumber)?.doubleValue ?? 1
      }
      switch options?[PostgreSQLReferencesOption] as? String {
      case nil, "integers": break
      case "uuids": referenceKind = .uuid
      case let other?:
        throw StoreFailure.make(
          NSPersistentStoreOpenError, "The option PostgreSQLReferences is integers or uuids, and not \(other).")
      }
      guard connections > 0, patience >= 0, patience < 86_400, poll.map({ $0 > 0 && $0 < 86_400 }) ?? true else {
        throw StoreFailure.make(
          NSPersistentStoreOpenError,
          "A PostgreSQL store needs at least one connection, and waits and polls for less than a day.")
      }
    }
  }
#endif
