import Cairn

/// Imports catalogues into a store, a thousand stanzas to a batch. Nothing is synced until the end, when everything is
/// made durable at once; an interrupted import leaves a store with the batches before the interruption.
struct Importer {
  /// Counts of an import.
  struct Tally {
    var stanzas = 0
    /// Rows put: one for each stanza, and two for each of its dependencies.
    var rows = 0
    var batches = 0
  }

  /// A line to add to the stanzas of the packages whose names begin with a prefix. An amending import updates the rows
  /// of these packages and no others.
  struct Amendment {
    let prefix: String
    let line: String
  }

  static let stanzasPerBatch = 1000

  let catalogue: CatalogueStore
  var amendment: Amendment?

  /// `progress` is called repeatedly with the number of input bytes and stanzas read so far.
  func run(_ files: [PackageFile], progress: (_ bytes: Int, _ stanzas: Int) -> Void) throws -> Tally {
    var tally = Tally()
    var pending: [(package: DebianPackage, stanza: [UInt8])] = []

    func take(_ stanza: Stanza, of file: String) throws {
      let package = try DebianPackage(stanza, file: file)
      tally.stanzas += 1
      if let amendment {
        guard package.name.hasPrefix(amendment.prefix) else { return }
        pending.append((package, amendment.applied(to: stanza.bytes)))
      } else {
        pending.append((package, stanza.bytes))
      }
      if pending.count == Self.stanzasPerBatch { try flush() }
    }

    func flush() throws {
      guard !pending.isEmpty else { return }
      tally.rows += try write(pending)
      tally.batches += 1
      pending.removeAll(keepingCapacity: true)
    }

    try files.forEachStanza(progress: { bytes in progress(bytes, tally.stanzas) }, take)
    try flush()
    try catalogue.store.sync()
    return tally
  }

  /// Commits one batch and returns the number of its rows.
  private func write(_ stanzas: [(package: DebianPackage, stanza: [UInt8])]) throws -> Int {
    var rows = 0
    try catalogue.store.write(durability: .buffered) { batch in
      for (package, stanza) in stanzas {
        try catalogue.packages.put(stanza, at: package.key, in: &batch)
        rows += 1
        guard amendment == nil else { continue }
        for dependency in package.dependencies {
          let relation = Array(dependency.relation.utf8)
          let (from, to) = (Key.string(package.name), Key.string(dependency.target))
          try catalogue.depends.put(relation, at: Key.tuple([from, to]), in: &batch)
          try catalogue.dependents.put(relation, at: Key.tuple([to, from]), in: &batch)
          rows += 2
        }
      }
    }
    return rows
  }
}

extension DebianPackage {
  /// The key of the package's row in the keyspace of packages.
  var key: Key { .tuple([.string(name), .string(architecture), .string(version)]) }
}

extension Importer.Amendment {
  fileprivate func applied(to stanza: [UInt8]) -> [UInt8] {
    var bytes = stanza
    if bytes.last != 0x0A { bytes.append(0x0A) }
    bytes.append(contentsOf: line.utf8)
    bytes.append(0x0A)
    return bytes
  }
}
