import Foundation

/// Which request a controller has executed under the name of a cache.
///
/// Nothing is cached: the results are fetched each time, and their sections are made from them. But a program that
/// changes a request without deleting the cache finds that out here, too.
struct ResultsCache {
  /// How often the caches of a name have been deleted; those of all names are under nil.
  private static let deletions = Locked<[String?: Int]>([:])

  private let request: NSFetchRequest<NSManagedObject>
  private let deletions: [Int]

  init(_ name: String, _ request: NSFetchRequest<NSManagedObject>) {
    self.request = request
    deletions = Self.deletions(of: name)
  }

  static func delete(_ name: String?) { deletions.withLock { $0[name, default: 0] += 1 } }

  private static func deletions(of name: String) -> [Int] {
    deletions.withLock { [$0[nil] ?? 0, $0[name] ?? 0] }
  }

  /// - Throws: 134060 if the request differs, and the cache was not deleted.
  func check(_ name: String, _ new: NSFetchRequest<NSManagedObject>) throws {
    guard deletions == Self.deletions(of: name), !request.asks(theSameAs: new) else { return }
    throw CoreDataError.make(
      NSCoreDataError,
      "The request of a results controller was changed. Call deleteCache(withName: \"\(name)\") first, "
        + "or give the controller no cache.")
  }
}
