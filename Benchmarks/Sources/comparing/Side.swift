import ArgumentParser

/// The two sides of the comparison.
package enum Side: String, CaseIterable, ExpressibleByArgument {
  case coreData
  case grdb
}
