import Foundation

extension NSPersistentStore {
  /// The type of a store, in the newer spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// The type in the older spelling.
    public let rawValue: String

    /// Makes the type with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Stores in memory; always registered.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    /// Apple's SQLite stores. No class is registered for them here.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
  }
}
