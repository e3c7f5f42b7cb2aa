import Foundation

/// A library that keeps the graph. What a method returns is the same for all contenders, and so is what is in the
/// graph afterwards.
protocol Contender: AnyObject {
  var url: URL { get }

  /// Opens the store and reads one version.
  func open() throws
  /// Makes known identifiers those of the store that was opened last.
  func resolveIdentifiers()
  func close() throws
  /// Gives back the space that is not needed.
  func compact() throws

  /// A thousand versions a save, with the nodes that they are the first to name.
  func insert(_ graph: PackageGraph) throws
  func content() throws -> GraphContent

  // Nodes are named by their positions in the graph that was inserted.

  /// By their identifiers, whether they are there or not.
  func find(_ versions: [Int]) throws -> Int
  /// By a request for each of them.
  func fetch(_ versions: [Int]) throws -> Int
  /// Objects that are not in memory, by their identifiers.
  func realise(_ versions: [Int]) throws -> Int
  /// The same in one request.
  func realiseTogether(_ versions: [Int]) throws -> Int
  /// How many depend on each package: the identifiers of all of them.
  func dependentIDs(_ packages: [Int]) throws -> Int
  /// The same by objects that wait with their values, where the library has such.
  func dependents(_ packages: [Int]) throws -> Int
  /// Those with an installed size above this one.
  func scan(installedSizeAbove size: Int) throws -> Int
  func count(installedSizeAbove size: Int) throws -> Int
  /// A new summary and installed size for each, in saves of a thousand.
  func change(_ versions: [Int]) throws -> Int
  /// With their versions, and all dependencies on them, in saves of a thousand.
  func delete(packages: [Int]) throws -> Int

  /// Runs `body` while so many versions are in memory with their values.
  func holding<Result>(_ versions: Int, _ body: () -> Result) throws -> Result
}

extension Contender {
  /// The bytes that the files take: neither holes nor space allocated ahead of a file's end count.
  var diskBytes: Int {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
    return names.reduce(0) { total, name in
      var status = stat()
      guard lstat("\(url.path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return total }
      return total + min(Int(status.st_size), Int(status.st_blocks) * 512)
    }
  }
}

extension Array {
  /// The elements, a thousand at a time.
  var batches: [ArraySlice<Element>] {
    stride(from: 0, to: count, by: PackageGraph.versionsPerSave).map {
      self[$0..<Swift.min($0 + PackageGraph.versionsPerSave, count)]
    }
  }
}
