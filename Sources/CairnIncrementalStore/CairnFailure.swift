import Cairn
import CoreData
import IncrementalStore

/// Converts errors of the engine to errors of Cocoa's domain, with the engine's error as the underlying error.
enum CairnFailure {
  static func translating<R>(_ url: URL?, _ body: () throws(StoreError) -> R) throws -> R {
    do throws(StoreError) {
      return try body()
    } catch {
      throw make(error, url)
    }
  }

  /// Runs a closure that may throw errors of the engine, which are converted, and other errors, which are not.
  static func translatingAny<R>(_ url: URL?, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw make(error, url)
    }
  }

  static func make(_ error: StoreError, _ url: URL?) -> NSError {
    StoreFailure.make(
      code(error.code), "The store at \(url?.path ?? "?"): \(error.message)",
      [NSUnderlyingErrorKey: error, NSFilePathErrorKey: url?.path ?? ""])
  }

  private static func code(_ code: StoreError.Code) -> Int {
    switch code {
    case .noSpace: CocoaError.fileWriteOutOfSpace.rawValue
    case .noPermission: CocoaError.fileReadNoPermission.rawValue
    case .alreadyExists: CocoaError.fileWriteFileExists.rawValue
    case .notFound: CocoaError.fileReadNoSuchFile.rawValue
    case .damaged, .corrupted: CocoaError.fileReadCorruptFile.rawValue
    case .locked, .notAStore, .backup, .newerFormat, .optionsMismatch, .noDescriptors: NSPersistentStoreOpenError
    case .poisoned, .readOnly, .batchTooLarge, .valueTooLarge, .keyTooLong, .noMemory, .numbersUsedUp:
      NSPersistentStoreSaveError
    default: NSPersistentStoreOperationError
    }
  }
}
