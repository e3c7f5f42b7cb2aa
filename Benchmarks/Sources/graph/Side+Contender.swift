import Comparing
import Foundation

extension Side {
  func contender(at url: URL) -> any GraphContender {
    switch self {
    case .coreData: CoreDataContender(at: url)
    case .grdb: GRDBContender(at: url)
    }
  }
}
