import Comparing

/// A library that stores the graph. Each method returns the same for all contenders, and leaves the same graph.
protocol GraphContender: Contender {
  /// Converts the identifiers that are known to identifiers of the store that was opened last.
  func resolveIdentifiers()

  /// Inserts the graph, a thousand versions per save, each with the nodes that no earlier version refers to.
  func insert(_ graph: PackageGraph) throws
  func content() throws -> GraphContent

  // Nodes are identified by their positions in the graph that was inserted.

  /// Finds versions by their identifiers, and checks that they exist.
  func find(_ versions: [Int]) throws -> Int
  /// Fetches versions with one request each.
  func fetch(_ versions: [Int]) throws -> Int
  /// Reads objects that are not in memory, one by one, by their identifiers.
  func realise(_ versions: [Int]) throws -> Int
  /// Reads objects that are not in memory in one request.
  func realiseTogether(_ versions: [Int]) throws -> Int
  /// Counts the dependents of each package by reading all their identifiers.
  func dependentIDs(_ packages: [Int]) throws -> Int
  /// Counts the dependents of each package by reading them as objects, as faults where the library has them.
  func dependents(_ packages: [Int]) throws -> Int
  /// Reads the versions with an installed size above this one.
  func scan(installedSizeAbove size: Int) throws -> Int
  func count(installedSizeAbove size: Int) throws -> Int
  /// Sets a new summary and installed size for each version, a thousand per save.
  func change(_ versions: [Int]) throws -> Int
  /// Deletes packages with their versions and all dependencies on them, a thousand packages per save.
  func delete(packages: [Int]) throws -> Int

  /// Runs `body` while this many versions are in memory with their values.
  func holding<Result>(_ versions: Int, _ body: () -> Result) throws -> Result
}
