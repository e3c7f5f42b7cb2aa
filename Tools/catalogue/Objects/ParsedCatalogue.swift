/// The contents of the files in plain collections, with which the store of objects is compared.
struct ParsedCatalogue {
  private(set) var stanzas = 0
  private(set) var stanzaBytes = 0
  /// The packages that have versions, and those that only occur as dependencies.
  private(set) var packages: Set<String> = []
  /// If several stanzas describe the same version, the last one.
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

  /// For each package, the number of wanted versions that depend on it.
  func dependents(among isWanted: (VersionRecord) -> Bool = { _ in true }) -> [String: Int] {
    var counts: [String: Int] = [:]
    for version in versions.values where isWanted(version) {
      for target in version.dependencies { counts[target, default: 0] += 1 }
    }
    return counts
  }

  /// Removes packages, their versions, and the dependencies on them.
  mutating func remove(_ names: Set<String>) {
    packages.subtract(names)
    versions = versions.filter { !names.contains($0.key.package) }
    for id in versions.keys { versions[id]?.dependencies.removeAll(where: names.contains) }
  }
}
