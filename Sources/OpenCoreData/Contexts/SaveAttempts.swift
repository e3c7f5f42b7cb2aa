/// Counts the attempts of one save whose conflicts a merge policy resolves.
///
/// An attempt that meets a newer version of an object than all attempts before is not counted: others have saved
/// meanwhile, so the save has only to be repeated. The other attempts are counted, because a policy or a store that
/// leaves conflicts as they are would keep a save busy for ever.
struct SaveAttempts {
  private static let most = 10
  private var counted = 0
  private var newestVersions: [NSManagedObjectID: Int] = [:]

  /// Notes the conflicts of an attempt that has failed. Returns whether another attempt may be made.
  mutating func mayRepeat(after conflicts: [Any]) -> Bool {
    var meetsNewerVersion = false
    for case let conflict as NSMergeConflict in conflicts {
      let id = conflict.sourceObject.objectID
      guard conflict.newVersionNumber > newestVersions[id] ?? 0 else { continue }
      newestVersions[id] = conflict.newVersionNumber
      meetsNewerVersion = true
    }
    counted = meetsNewerVersion ? 1 : counted + 1
    return counted < Self.most
  }
}
