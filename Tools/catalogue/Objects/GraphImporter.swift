/// Imports catalogues into a store of objects, a thousand stanzas to a context and a save. The next stanzas are read
/// meanwhile. Only identifiers stay in memory between saves; an interrupted import leaves a store with the saves before
/// the interruption.
struct GraphImporter {
  static let stanzasPerSave = 1000

  private(set) var saves = 0

  /// `progress` is called repeatedly with the number of input bytes and stanzas read so far.
  mutating func run(
    _ files: [PackageFile], into store: ObjectStore, progress: (_ bytes: Int, _ stanzas: Int) -> Void
  ) throws {
    let writer = GraphWriter(store)
    // Nothing is saved any more once an error of reading has been thrown.
    defer { writer.wait() }
    var pending: [VersionRecord] = []
    var stanzas = 0
    func flush() throws {
      guard !pending.isEmpty else { return }
      try writer.save(pending)
      saves += 1
      pending.removeAll(keepingCapacity: true)
    }
    try files.forEachStanza(progress: { bytes in progress(bytes, stanzas) }) { stanza, file in
      pending.append(try VersionRecord(stanza, file: file))
      stanzas += 1
      if pending.count == Self.stanzasPerSave { try flush() }
    }
    try flush()
    try writer.finish()
  }
}
