import ArgumentParser
import Cairn
import CairnInspection

/// The arguments of commands that make a new store from an existing one.
struct NewStoreArguments: ParsableArguments {
  @OptionGroup var common: CommonArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The directory of the new store; it must be missing or empty.", valueName: "new store"),
    completion: .directory)
  var output: String
}

extension NewStoreArguments {
  /// Copies the records that the store still needs into the new one.
  func copy(_ store: Store, recompressing: Bool = false) throws -> NewStore.Contents {
    let segmentSize = try StoreInfo(at: common.store).segmentBytes
    return try Watched.working("copying") { progress in
      try StoreCopy.copy(
        store, to: output, segmentSize: segmentSize, recompressing: recompressing, progress: progress)
    }
  }
}
