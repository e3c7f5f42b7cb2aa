public import Cairn
public import Foundation

/// Texts for logs and alerts: `localizedDescription` is what the error says.
extension StoreError: LocalizedError {
  /// What happened.
  public var errorDescription: String? { description }

  /// What the user or the operator can do; nil if nothing in particular.
  public var recoverySuggestion: String? {
    switch code {
    case .locked: "Close the other process that has the store open, or open the store for reading."
    case .newerFormat: "Open the store with the version of the program that wrote it, or a newer one."
    case .noSpace: "Free space on the disk; then try again."
    case .noDescriptors: "Raise the limit of open files of the process."
    case .noPermission: "Give the process the permission to read and write the directory of the store."
    case .poisoned: "Check the disk, then open the store again. What was acknowledged is there."
    case .damaged, .corrupted: "Let kvdump verify the store, and kvdump salvage copy what can be read."
    case .backup: "Restore the backup and open the store that this makes, or open the backup for reading."
    case .replaced, .closed: "Open the store again."
    case .positionExpired: "Let the reader of changes start again from a snapshot."
    default: nil
    }
  }
}
