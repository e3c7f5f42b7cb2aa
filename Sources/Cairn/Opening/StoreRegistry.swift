import CCairnPlatform
import Synchronization

/// The stores that this process has open for writing, by their directories: opening one again returns the same store. A
/// thread opens a store without holding a lock of the process; other threads that want the same store wait.
enum StoreRegistry {
  private enum Entry: Sendable {
    /// Being opened by the thread with this token.
    case opening(UInt)
    case open(Reference)
  }

  private struct Reference: Sendable {
    weak let store: Store?
  }

  private enum Claim {
    case found(Store)
    case mine
    case refused
  }

  private static let stores: Monitor<[FileIdentity: Entry]> = {
    // Held during `fork`, so that the child's copy is consistent.
    cairn_at_fork({ StoreRegistry.stores.lock() }, { StoreRegistry.stores.unlock() }, { StoreRegistry.enterChild() })
    return Monitor([:])
  }()

  /// The store that is open in this directory, or the one that `make` opens.
  static func store(
    at identity: FileIdentity, _ options: StoreOptions, _ make: () throws(StoreError) -> Store
  ) throws(StoreError) -> Store {
    while true {
      switch claim(identity) {
      case .mine: return try open(identity, make)
      case .refused:
        throw StoreError(.locked, "the store is being opened in this process, and waiting for that could deadlock")
      case .found(let store):
        if store.isPoisoned {
          // The failure has been reported already, and with it that commits could not be made durable.
          do throws(StoreError) { try store.close() } catch {}
          continue
        }
        guard store.options.serves(options) else {
          throw StoreError(.optionsMismatch, "\(store.path) is open in this process with other options")
        }
        return store
      }
    }
  }

  private static func claim(_ identity: FileIdentity) -> Claim {
    let thread = cairn_thread_token()
    return stores.wait { stores in
      switch stores[identity] {
      case nil:
        stores[identity] = .opening(thread)
        return .mine
      case .open(let reference):
        // A store that is being closed, or has been freed, removes itself when it is done.
        guard let store = reference.store, !store.isClosed else { return nil }
        if store.isOfThisProcess { return .found(store) }
        // In a child whose `fork` handler was not called.
        _ = unsafe Unmanaged.passRetained(store)
        stores[identity] = .opening(thread)
        return .mine
      case .opening:
        let isOpening = stores.values.contains { if case .opening(thread) = $0 { true } else { false } }
        return isOpening ? .refused : nil
      }
    }
  }

  private static func open(
    _ identity: FileIdentity, _ make: () throws(StoreError) -> Store
  ) throws(StoreError) -> Store {
    do throws(StoreError) {
      let store = try make()
      stores.withLock { $0[identity] = .open(Reference(store: store)) }
      return store
    } catch {
      stores.withLock { $0[identity] = nil }
      throw error
    }
  }

  static func remove(_ store: Store) {
    let identity = store.log.directory.identity
    stores.withLock { stores in
      guard case .open(let reference) = stores[identity], reference.store == nil || reference.store === store else {
        return
      }
      stores[identity] = nil
    }
  }

  /// The parent's open stores do not belong to the child. They are kept from being freed, since threads that the child
  /// does not have may hold locks in them, and the child's copies of their file locks are closed.
  private static func enterChild() {
    stores.unlock()
    let entries = stores.withLock { stores in
      defer { stores = [:] }
      return stores
    }
    for case .open(let reference) in entries.values {
      guard let store = reference.store else { continue }
      _ = unsafe Unmanaged.passRetained(store)
      store.abandon()
    }
  }
}
