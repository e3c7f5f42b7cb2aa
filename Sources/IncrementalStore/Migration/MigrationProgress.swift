import CoreData

/// Reports the progress of a migration, if its thread has a current progress, and ends it if that is cancelled.
final class MigrationProgress {
  private let url: URL
  private let progress = Progress(totalUnitCount: 0)

  init(_ url: URL) { self.url = url }

  func begin(_ count: Int) { progress.totalUnitCount = Int64(max(count, 1)) }

  func advance(by count: Int) {
    progress.completedUnitCount = min(progress.completedUnitCount + Int64(count), progress.totalUnitCount)
  }

  func finish() { progress.completedUnitCount = progress.totalUnitCount }

  func checkCancelled() throws {
    guard progress.isCancelled else { return }
    throw StoreFailure.make(NSMigrationCancelledError, "The migration of \(url.absoluteString) was cancelled.")
  }
}
