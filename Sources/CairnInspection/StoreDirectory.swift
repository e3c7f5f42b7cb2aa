package import Cairn

/// Read-only access to the directory of a store.
package struct StoreDirectory: Sendable {
  package let files: any FileLayer
  package let path: String

  /// The longest file that is read as a whole: a manifest, or the list of moves of the longest segment.
  private static let longestFile = max(Manifest.maximumLength, MoveList.maximumLength(segment: 1 << 32))

  package init(_ path: String, files: any FileLayer) {
    self.files = files
    self.path = path
  }

  /// The names in the directory, sorted.
  package func names() throws(StoreError) -> [String] {
    do throws(FileError) {
      return try files.list(path)
    } catch {
      throw StoreError(error)
    }
  }

  /// The manifest's bytes; nil if the manifest is missing.
  package func manifestBytes() throws(StoreError) -> [UInt8]? {
    do throws(StoreError) {
      return try bytes(of: ManifestFile.name)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  /// The manifest as it is now; nil if it cannot be read.
  var manifest: Manifest? {
    guard let bytes = try? manifestBytes() else { return nil }
    return try? unsafe bytes.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
  }

  /// Whether a process that is known to run has the store open for writing.
  var isBeingWritten: Bool {
    guard let owner = try? bytes(of: "LOCK") else { return false }
    return LockOwner.isRunning(String(decoding: owner, as: UTF8.self))
  }

  /// All bytes of a file.
  package func bytes(of name: String) throws(StoreError) -> [UInt8] {
    do throws(FileError) {
      let file = try files.open("\(path)/\(name)", .read)
      defer { file.close() }
      return try file.readAll(atMost: Self.longestFile)
    } catch {
      throw StoreError(error)
    }
  }

  /// The newest watermark that is recorded outside of the log; nil if the file is missing or has no valid record.
  func watermarkRecord() throws(StoreError) -> WatermarkRecord? {
    do throws(StoreError) {
      return try unsafe bytes(of: WatermarkRecord.fileName).withUnsafeBytes {
        unsafe WatermarkRecord.newest(in: $0)?.record
      }
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  /// A segment's file; nil if there is none.
  package func segment(_ entry: Manifest.Segment) throws(StoreError) -> SegmentFile? {
    do throws(FileError) {
      let file = try files.open("\(path)/\(Segment.fileName(entry.id))", .read)
      guard let end = entry.end, case let size = try file.size(), size > 0 else { return .growing(file) }
      defer { file.close() }
      return .sealed(try file.map(min(size, end)), fileBytes: size)
    } catch {
      guard error.cause == .notFound else { throw StoreError(error) }
      return nil
    }
  }

  /// A checkpoint's bytes, which never change; nil if there is no such file.
  package func checkpoint(_ id: CheckpointID) throws(StoreError) -> (any Mapping)? {
    do throws(FileError) {
      let file = try files.open("\(path)/\(CheckpointTables.fileName(id))", .read)
      defer { file.close() }
      let size = try file.size()
      return size > 0 ? try file.map(size) : try CopiedFile(file, size)
    } catch {
      guard error.cause == .notFound else { throw StoreError(error) }
      return nil
    }
  }

  /// The id in the name of a segment's file; nil for other names.
  package static func segment(named name: String) -> SegmentID? {
    let id = UInt32(name.prefix(10)).map { SegmentID($0) }
    return id.map(Segment.fileName) == name ? id : nil
  }
}

/// The open file of a segment. It can still be read after compaction has removed its name.
package enum SegmentFile: Sendable {
  /// Mapped up to its end, which does not change.
  case sealed(any Mapping, fileBytes: Int)
  /// A writer may append to the file and truncate it after its end.
  case growing(any File)

  /// The bytes as they are now.
  package func contents() throws(StoreError) -> (mapping: any Mapping, fileBytes: Int) {
    switch self {
    case .sealed(let mapping, let fileBytes): return (mapping, fileBytes)
    case .growing(let file):
      do throws(FileError) {
        return (try CopiedFile(file, try file.contentEnd()), try file.size())
      } catch {
        throw StoreError(error)
      }
    }
  }
}

extension Mapping {
  package var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: length) }

  /// The offset of the trailing zeros, at least `start`.
  package func endOfContent(from start: Int) -> Int {
    var end = length
    while end >= start + 8, end.isMultiple(of: 8), unsafe base.load(fromByteOffset: end - 8, as: UInt64.self) == 0 {
      end -= 8
    }
    while end > start, unsafe base.load(fromByteOffset: end - 1, as: UInt8.self) == 0 { end -= 1 }
    return end
  }
}
