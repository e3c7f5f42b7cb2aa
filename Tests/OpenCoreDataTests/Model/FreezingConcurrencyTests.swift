import Dispatch
import Foundation
import Testing

@testable import OpenCoreData

@Suite("Models that several threads begin to use")
struct FreezingConcurrencyTests {
  /// One of the entities of a model, for several threads.
  private final class Shared: @unchecked Sendable {
    let zoo = Zoo()
    let hashes: Locked<Set<[String: Data]>> = Locked([])
  }

  @Test("Threads that begin to use one model at the same time read the same version hashes.")
  func objects() {
    for _ in 0..<200 {
      let shared = Shared()
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        let entity = thread.isMultiple(of: 2) ? shared.zoo.dog : shared.zoo.keeper
        let object = NSManagedObject(entity: entity, insertInto: nil)
        object["name"] = "Rex"
        let hashes = shared.zoo.model.entityVersionHashesByName
        shared.hashes.withLock { _ = $0.insert(hashes) }
      }
      #expect(shared.hashes.withLock { $0.count } == 1)
    }
  }

  @Test("The entity of a class is found while other threads free copies of its model.")
  func freedCopies() {
    final class Shared: @unchecked Sendable {
      let model = Zoo().model
    }
    let shared = Shared()
    let keeper = shared.model.entitiesByName["Keeper"]
    keeper?.managedObjectClassName = NSStringFromClass(KeeperOfCopies.self)
    shared.model.freeze()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for _ in 0..<500 {
        if thread.isMultiple(of: 2) {
          (shared.model.copy() as? NSManagedObjectModel)?.freeze()
        } else {
          #expect(KeeperOfCopies.entity().name == "Keeper")
        }
      }
    }
  }
}

final class KeeperOfCopies: NSManagedObject {}
