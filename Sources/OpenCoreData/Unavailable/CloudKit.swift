public import Foundation

// What Core Data has for CloudKit and Spotlight. The compiler says what to do instead.

/// Exists on Apple's platforms only.
@available(
  *, unavailable,
  message:
    "CloudKit exists on Apple's platforms only: use NSPersistentContainer, and synchronise with a server yourself"
)
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {}

/// Exists on Apple's platforms only.
@available(
  *, unavailable, message: "CloudKit exists on Apple's platforms only: remove the options, or wrap them in #if"
)
open class NSPersistentCloudKitContainerOptions: NSObject {}

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "Spotlight exists on Apple's platforms only: search with a fetch request")
open class NSCoreDataCoreSpotlightDelegate: NSObject {}

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "Spotlight exists on Apple's platforms only: search with a fetch request")
public let NSCoreDataCoreSpotlightExporter = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "iCloud exists on Apple's platforms only: synchronise with a server yourself")
public let NSPersistentStoreUbiquitousContentNameKey = ""

/// Exists on Apple's platforms only.
@available(*, unavailable, message: "iCloud exists on Apple's platforms only: synchronise with a server yourself")
public let NSPersistentStoreUbiquitousContentURLKey = ""

extension NSPersistentStoreDescription {
  /// Exists on Apple's platforms only.
  @available(
    *, unavailable, message: "CloudKit exists on Apple's platforms only: remove the options, or wrap them in #if"
  )
  public var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions? {
    get { nil }
    set {}
  }
}

extension NSAttributeDescription {
  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "CloudKit exists on Apple's platforms only: encrypt the values yourself")
  public var allowsCloudEncryption: Bool {
    get { false }
    set {}
  }
}

extension NSPropertyDescription {
  /// False: Spotlight exists on Apple's platforms only.
  public var isIndexedBySpotlight: Bool {
    get { false }
    @available(*, unavailable, message: "Spotlight exists on Apple's platforms only: search with a fetch request")
    set {}
  }
}

extension NSEntityDescription {
  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "Spotlight exists on Apple's platforms only: search with a fetch request")
  public var coreSpotlightDisplayNameExpression: NSExpression {
    get { fatalError("Spotlight exists on Apple's platforms only.") }
    set {}
  }
}
