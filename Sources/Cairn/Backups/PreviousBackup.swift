import Synchronization

extension Manifest {
  /// Whether it is that of a backup, which can only be read.
  package var isBackup: Bool { compatibleFeatures & Format.backup != 0 }
}

/// The backup that is in a directory before another one is made there.
package struct PreviousBackup {
  /// nil if there is none yet.
  let manifest: Manifest?

  /// The name of an empty file that is in a directory before the first file of a backup is.
  package static let markName = "BACKUP"

  /// - Throws: `alreadyExists` if the directory has something else in it, or a backup of another store; `damaged`,
  ///   `newerFormat`, `inputOutput`.
  init(in directory: any Directory, _ names: [String], of store: UInt128) throws(StoreError) {
    let path = directory.path
    guard names.contains(ManifestFile.name) else {
      guard names.contains(Self.markName) || names.allSatisfy({ $0 == LockOwner.fileName }) else {
        throw StoreError(.alreadyExists, "the directory \(path) has files, and no backup")
      }
      manifest = nil
      return
    }
    let found = try ManifestFile(directory: directory).read()
    guard found.isBackup else { throw StoreError(.alreadyExists, "\(path) is a store, not a backup") }
    guard found.compatibleFeatures & ~Format.knownCompatibleFeatures == 0 else {
      throw StoreError(.newerFormat, "the backup \(path) has features that this version can read but not write")
    }
    guard found.store == store else {
      throw StoreError(.alreadyExists, "\(path) is a backup of another store")
    }
    manifest = found
  }

  /// - Throws: `alreadyExists` if the backup is of a state that is not part of the store's past.
  func check(isBefore store: Manifest, at path: String) throws(StoreError) {
    guard let manifest, manifest.epoch > store.epoch || manifest.timeline > store.timeline else { return }
    throw StoreError(.alreadyExists, "\(path) is a backup of a later state of this store")
  }

  /// Whether it lists a segment.
  func lists(_ id: SegmentID) -> Bool { manifest?.segments.index(of: id) != nil }

  /// How many bytes of a segment the backup in `directory` has, from its beginning on: all up to `end`, or those to
  /// which the missing ones can be added.
  func length(of segment: Segment, upTo end: Int, in directory: any Directory) throws(StoreError) -> Int {
    guard let present = manifest?.segments.element(segment.id)?.end else { return 0 }
    let (size, bytes): (Int, [UInt8])
    do throws(FileError) {
      let file = try directory.open(Segment.fileName(segment.id), .read)
      defer { file.close() }
      (size, bytes) = (try file.size(), try file.bytes(SegmentHeader.size))
    } catch {
      guard error.cause == .notFound else { throw StoreError(error) }
      return 0
    }
    // What is damaged is copied once more.
    guard size >= present, case .header(let found) = unsafe bytes.withUnsafeBytes({ unsafe SegmentHeader.read($0) })
    else { return 0 }
    guard found == segment.header else {
      throw StoreError(
        .alreadyExists, "segment \(segment.id) of the backup \(directory.path) is of another copy of the store")
    }
    if present >= end { return end }
    // A longer file is from a backup that was not finished: it may even be the store's own file.
    return size == present ? present : 0
  }
}

extension Segment {
  /// The header in its file; nil if it is damaged.
  var header: SegmentHeader? {
    let bytes = unsafe UnsafeRawBufferPointer(start: mapping.base, count: min(mapping.length, SegmentHeader.size))
    guard case .header(let header) = unsafe SegmentHeader.read(bytes) else { return nil }
    return header
  }
}
