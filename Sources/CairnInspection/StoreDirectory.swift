package import Cairn

/// The directory of a store, for looking only.
package struct StoreDirectory: Sendable {
  package let files: any FileLayer
  package let path: String

  /// What is read as a whole: a manifest, or a list of moves of the longest segment.
  private static let longestFile = max(Manifest.maximumLength, MoveList.maximumLength(segment: 1 << 32))

  package init(_ path: String, files: any FileLayer) {
    self.files = files
    self.path = path
  }

  /// The names in it, sorted.
  package func names() throws(StoreError) -> [String] {
    do throws(FileError) {
      return try files.list(path)
    } catch {
      throw StoreError(error)
    }
  }

  /// The manifest's bytes; nil if it isn't there.
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

  /// What is recorded outside the log of how far it is durable; nil if nothing is, or what cannot be read.
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
  package func checkpoint(_ id: UInt32) throws(StoreError) -> (any Mapping)? {
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

  /// The number in a segment's name.
  package static func segment(named name: String) -> UInt32? {
    let id = UInt32(name.prefix(10))
    return id.map(Segment.fileName) == name ? id : nil
  }
}

/// The file of a segment. What is read through it stays there when compaction removes its name.
package enum SegmentFile: Sendable {
  /// Mapped up to its end, which stays where it is.
  case sealed(any Mapping, fileBytes: Int)
  /// A writer may append to it and cut what lies behind its end.
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

  /// Where the zeros begin that the bytes end with; at least `start`.
  package func endOfContent(from start: Int) -> Int {
    var end = length
    while end >= start + 8, end.isMultiple(of: 8), unsafe base.load(fromByteOffset: end - 8, as: UInt64.self) == 0 {
      end -= 8
    }
    while end > start, unsafe base.load(fromByteOffset: end - 1, as: UInt8.self) == 0 { end -= 1 }
    return end
  }
}
