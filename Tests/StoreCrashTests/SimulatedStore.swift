import Cairn
import CairnSimulation
import OpenCoreData

@testable import CairnIncrementalStore

/// A Core Data store that Cairn keeps on a simulated machine, which is passed in the options.
final class SimulatedStore: RowIncrementalStore {
  static let machineOption = "SimulatedMachine"

  override class var storeType: String { "SimulatedStore" }

  override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    guard let machine = options?[machineOption] as? SimulatedMachine else { throw CrashFailure("there is no machine") }
    var cairn = try CairnOptions(options)
    cairn.engineOptions.segmentSize = 1 << 16
    cairn.engineOptions.compactionSize = 1 << 9
    cairn.engineOptions.firstTraining = 1 << 12
    cairn.environment = machine.environment
    return try CairnRowStore(at: url, cairn)
  }

  /// The engine's store.
  var engine: Store {
    get throws {
      guard let rows = rowStore as? CairnRowStore else { throw CrashFailure("the store is not open") }
      return rows.engine.store
    }
  }
}
