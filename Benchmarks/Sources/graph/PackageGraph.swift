import Comparing

/// A graph with the shape of Debian's package catalogue, the same in every run: texts of the same lengths, made of
/// recurring words, and a few packages on which very many versions depend.
struct PackageGraph {
  struct Maintainer {
    let name: String
    let email: String
  }

  /// A version; it refers to other nodes by their positions.
  struct Version {
    let package: Int
    let maintainer: Int
    let section: Int
    let number: String
    let architecture: String
    let homepage: String?
    let summary: String
    let installedSize: Int
    let size: Int
    let sha256: String
    var dependencies: Set<Int>
  }

  /// How many versions or packages a task takes.
  static let sample = 10_000
  /// As in Debian, few packages are larger than this.
  static let largeInstalledSize = 20_000

  private(set) var packages: [String] = []
  private(set) var maintainers: [Maintainer] = []
  private(set) var sections: [String] = []
  private(set) var versions: [Version] = []

  init(packages count: Int) {
    var random = SplitMix()
    packages = (0..<count).map { "\(random.word())-\(random.word())\($0)" }
    maintainers = (0..<2240).map { number in
      Maintainer(
        name: "Debian \(random.word()) \(random.word()) Team",
        email: "pkg-\(random.word())-\(number)@lists.example.org")
    }
    sections = (0..<58).map { "\(random.word())\($0)" }
    let ordinary = Self.hubs(of: count).map(\.packages.count).reduce(0, +)
    for number in 0..<count + count / 50 {
      // The last ones are second versions of packages.
      let package = number < count ? number : number - count
      let needed = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        ordinary + random.small(below: count - ordinary)
      }
      versions.append(Version(number, of: package, dependencies: Set(needed), &random))
    }
    for hubs in Self.hubs(of: count) {
      for package in hubs.packages {
        var dependents: Set<Int> = []
        while dependents.count < hubs.dependents {
          dependents.insert(Int.random(in: versions.indices, using: &random))
        }
        for version in dependents { versions[version].dependencies.insert(package) }
      }
    }
  }

  /// Packages with the same number of dependents.
  struct Hubs {
    let packages: Range<Int>
    let dependents: Int
  }

  /// A thousand packages with exactly 10 dependents, ten with 1,000, and one with a third as many as there are
  /// packages.
  static func hubs(of count: Int) -> [Hubs] {
    [
      Hubs(packages: 0..<1000, dependents: 10), Hubs(packages: 1000..<1010, dependents: 1000),
      Hubs(packages: 1010..<1011, dependents: count / 3),
    ]
  }

  var hubs: [Hubs] { Self.hubs(of: packages.count) }

  var content: GraphContent {
    GraphContent(
      packages: packages.count, versions: versions.count, maintainers: Set(versions.map(\.maintainer)).count,
      sections: Set(versions.map(\.section)).count,
      dependencies: versions.reduce(0) { $0 + $1.dependencies.count },
      textBytes: versions.reduce(0) { $0 + $1.textBytes },
      sizes: versions.reduce(0) { $0 + $1.size + $1.installedSize })
  }
}

extension PackageGraph.Version {
  fileprivate init(_ seed: Int, of package: Int, dependencies: Set<Int>, _ random: inout SplitMix) {
    self.package = package
    self.dependencies = dependencies
    maintainer = random.small(below: 2240)
    section = random.small(below: 58)
    number = "\(Int.random(in: 0...9, using: &random)).\(Int.random(in: 0...99, using: &random))+dfsg-\(seed % 7)"
    architecture = Bool.random(using: &random) ? "all" : "amd64"
    homepage =
      seed.isMultiple(of: 12) ? nil : "https://\(random.word()).example.org/\(random.word())"
    summary = (0..<6).map { _ in random.word() }.joined(separator: " ")
    let isLarge = Int.random(in: 0..<23, using: &random) == 0
    installedSize = isLarge ? 20_001 + random.small(below: 500_000) : random.small(below: 20_000)
    size = installedSize * 300 + Int.random(in: 0..<300, using: &random)
    sha256 = (0..<4).map { _ in random.hexadecimal() }.joined()
  }

  fileprivate var textBytes: Int {
    [number, architecture, homepage ?? "", summary, sha256].reduce(0) { $0 + $1.utf8.count }
  }
}

/// A summary of a graph, by which two graphs are compared.
struct GraphContent: Equatable {
  var packages: Int
  var versions: Int
  var maintainers: Int
  var sections: Int
  /// Edges from versions to packages.
  var dependencies: Int
  /// The length of all texts of versions in UTF-8.
  var textBytes: Int
  /// The sum of all sizes and installed sizes of versions.
  var sizes: Int
}
