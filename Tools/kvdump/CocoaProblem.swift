#if !canImport(Darwin)
  import Foundation
  import OpenCoreData

  /// An error of Core Data, described by its localized description.
  struct CocoaProblem: Error, CustomStringConvertible {
    let description: String

    static func translating<R>(_ body: () throws -> R) throws -> R {
      do {
        return try body()
      } catch let error where type(of: error) is NSError.Type {
        throw CocoaProblem(description: error.localizedDescription)
      }
    }
  }
#endif
