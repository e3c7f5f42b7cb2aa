/// What the files say, in plain collections: what the store of objects is compared with.
struct ParsedCatalogue {
  private(set) var stanzas = 0
  private(set) var stanzaBytes = 0
  /// The packages that have versions, and those that are only depended on.
  private(set) var packages: Set<String> = []
  /// Of stanzas about the same version the last counts.
  private(set) var versions: [VersionRecord.ID: VersionRecord] = [:]
  private(set) var maintainers: Set<Mailbox> = []
  private(set) var sections: Set<String> = []

  init(_ files: [PackageFile], progress: (_ bytes: Int, _ stanzas: Int) -> Void) throws {
    try files.forEachStanza(progress: { bytes in progress(bytes, stanzas) }) { stanza, file in
      let record = try VersionRecord(stanza, file: file)
      stanzas += 1
      stanzaBytes += stanza.bytes.count
      packages.insert(record.id.package)
      packages.formUnion(record.dependencies)
      versions[record.id] = record
      if let maintainer = record.maintainer { maintainers.insert(maintainer) }
      if let section = record.section { sections.insert(section) }
    }
  }

  var edges: Int { versions.values.reduce(0) { $0 + $1.dependencies.count } }

  /// How many versions depend on each package, of those versions that are wanted.
  func dependents(among isWanted: (VersionRecord) -> Bool = { _ in true }) -> [String: Int] {
    var counts: [String: Int] = [:]
    for version in versions.values where isWanted(version) {
      for target in version.dependencies { counts[target, default: 0] += 1 }
    }
    return counts
  }

  /// Removes packages with their versions, and the dependencies on them.
  mutating func remove(_ names: Set<String>) {
    packages.subtract(names)
    versions = versions.filter { !names.contains($0.key.package) }
    for id in versions.keys { versions[id]?.dependencies.removeAll(where: names.contains) }
  }
}
