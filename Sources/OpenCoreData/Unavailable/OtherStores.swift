// Settings of stores that exist on Apple's platforms only. The compiler says what to do instead.

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no binary stores: use NSInMemoryStoreType, or a store on Cairn")
public let NSBinaryStoreType = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no XML stores: use NSInMemoryStoreType, or a store on Cairn")
public let NSXMLStoreType = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no XML stores: remove the option")
public let NSValidateXMLStoreOption = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no binary stores: remove the option")
public let NSBinaryStoreSecureDecodingClasses = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no binary stores: remove the option")
public let NSBinaryStoreInsecureDecodingCompatibilityOption = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no SQLite stores: remove the option")
public let NSPersistentStoreConnectionPoolMaxSizeKey = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "There are no SQLite stores, so no error has this domain")
public let NSSQLiteErrorDomain = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "Files have no protection class here: set the permissions of the folder instead")
public let NSPersistentStoreFileProtectionKey = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "Stores do not depend on the version of the system: remove the key")
public let NSPersistentStoreOSCompatibility = ""

extension NSPersistentStore.StoreType {
  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "There are no binary stores: use .inMemory, or a store on Cairn")
  public static let binary = NSPersistentStore.StoreType(rawValue: "")

  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "There are no XML stores: use .inMemory, or a store on Cairn")
  public static let xml = NSPersistentStore.StoreType(rawValue: "")
}
