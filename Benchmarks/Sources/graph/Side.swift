import ArgumentParser
import Foundation

/// The two sides of the comparison.
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
