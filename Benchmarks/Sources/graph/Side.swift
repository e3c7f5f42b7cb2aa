import ArgumentParser
import Foundation

/// The two that are compared.
enum Side: String, CaseIterable, ExpressibleByArgument {
  case coreData
  case grdb

  func contender(at url: URL) -> any Contender {
    switch self {
    case .coreData: CoreDataContender(at: url)
    case .grdb: GRDBContender(at: url)
    }
  }
}
