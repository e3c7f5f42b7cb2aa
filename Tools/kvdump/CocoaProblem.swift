#if !canImport(Darwin)
  import ArgumentParser
  import Cairn
  import Foundation
  import OpenCoreData

  /// An error of Core Data, described by its localized description.
  struct CocoaProblem: StatusError, CustomStringConvertible {
    let description: String
    let status: ExitCode

    /// - Parameter place: What was concerned, to begin the description with.
    init(_ error: NSError, at place: String = "") {
      description = place + error.localizedDescription
      status = Self.status(of: error) ?? .unreadable
    }

    /// The status for the engine's error beneath; nil if there is none.
    static func status(of error: NSError) -> ExitCode? {
      if error.code == CocoaError.fileReadCorruptFile.rawValue { return .damaged }
      let cause = error.userInfo[NSUnderlyingErrorKey]
      return (cause as? StoreError)?.status ?? (cause as? NSError).flatMap(status)
    }

    static func translating<R>(_ body: () throws -> R) throws -> R {
      do {
        return try body()
      } catch let error where type(of: error) is NSError.Type {
        throw CocoaProblem(error as NSError)
      }
    }
  }
#endif
