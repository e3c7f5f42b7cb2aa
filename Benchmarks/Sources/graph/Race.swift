import Comparing
import Foundation

extension Round<GraphFigure, any GraphContender> {
  /// Both sides store the same graph and do all tasks.
  mutating func run(_ graph: PackageGraph) throws {
    for side in contenders { try side.open() }
    try time(.imported) { try $0.insert(graph) }
    note(.disk, bytes: try each { try $0.closedBytes() })
    let memory = try zip(Side.allCases, contenders).map { try MemoryUse.measure($0, $1.store.url) }
    note(.memoryOpened, bytes: memory.map(\.opened))
    note(.memoryHeld, bytes: memory.map(\.held))
    try time(.opened) { try $0.open() }
    for side in contenders { side.resolveIdentifiers() }
    try compare(with: graph.content) { try $0.content() }

    var random = SplitMix()
    let versions = Array(graph.versions.indices.shuffled(using: &random).prefix(PackageGraph.sample))
    try time(.found) { try $0.find(versions) }
    try time(.fetched) { try $0.fetch(versions) }
    try time(.realised) { try $0.realise(versions) }
    try time(.realisedTogether) { try $0.realiseTogether(versions) }
    for (figure, hubs) in zip([GraphFigure.identifiers10, .identifiers1000, .identifiersMost], graph.hubs) {
      try time(figure) { try $0.dependentIDs(Array(hubs.packages)) }
    }
    for (figure, hubs) in zip([GraphFigure.dependents10, .dependents1000, .dependentsMost], graph.hubs) {
      try time(figure) { try $0.dependents(Array(hubs.packages)) }
    }
    try time(.scanned) { try $0.scan(installedSizeAbove: PackageGraph.largeInstalledSize) }
    try time(.counted) { try $0.count(installedSizeAbove: PackageGraph.largeInstalledSize) }

    for side in contenders { try side.compact() }
    note(.diskCompacted, bytes: try each { try $0.closedBytes() })
    for side in contenders {
      try side.open()
      side.resolveIdentifiers()
    }
    try time(.changed) { try $0.change(versions) }
    let packages = Array(graph.packages.indices.shuffled(using: &random).prefix(PackageGraph.sample))
    try time(.deleted) { try $0.delete(packages: packages) }
    try compare { try $0.content() }
    for side in contenders { try side.close() }
  }
}
