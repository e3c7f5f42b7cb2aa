import Cairn
import CairnSimulation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The guarantees that both file layers give.
@Suite struct FileLayerTests {
  enum Kind: CaseIterable { case system, memory }

  private static func withLayer(_ kind: Kind, _ body: (any FileLayer, _ directory: String) throws -> Void) throws {
    switch kind {
    case .memory:
      let layer = MemoryFileLayer()
      try layer.createDirectory("/cairn")
      try body(layer, "/cairn")
    case .system:
      try withTemporaryDirectory { try body(SystemFileLayer(), $0) }
    }
  }

  @Test(arguments: Kind.allCases) func readsWhatWasWritten(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      let file = try layer.open("\(directory)/a", .create)
      defer { file.close() }
      try file.write([1, 2, 3], at: 0)
      try file.write([9], at: 1)
      try file.write([7], at: 5)
      #expect(try file.size() == 6)
      #expect(try file.bytes(0, 10) == [1, 9, 3, 0, 0, 7])
      #expect(try file.bytes(4, 1) == [0])
      #expect(try file.bytes(6, 4) == [])
      try file.sync()

      let again = try layer.open("\(directory)/a", .read)
      #expect(try again.bytes(0, 10) == [1, 9, 3, 0, 0, 7])
      #expect(throws: FileError.self) { try again.write([1], at: 0) }
      again.close()
      again.close()
      #expect(throws: FileError.self) { try again.size() }
    }
  }

  @Test("Mapping a file without enough memory throws `noMemory`.", arguments: Kind.allCases)
  func mappingWithoutMemory(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      let file = try layer.open("\(directory)/a", .create)
      defer { file.close() }
      // More than a process has addresses for.
      for map in [{ _ = try file.map(1 << 60) }, { _ = try file.mapPrivately(1 << 60) }] {
        let error = #expect(throws: FileError.self) { try map() }
        #expect(error?.cause == .noMemory)
        #expect(error?.isShortage == true)
      }
    }
  }

  @Test(arguments: Kind.allCases) func reservesAndTruncates(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      let file = try layer.open("\(directory)/a", .create)
      try file.write([1, 2, 3], at: 0)
      try file.reserve(100_000)
      try file.reserve(10)
      #expect(try file.size() == 100_000)
      #expect(try file.bytes(0, 4) == [1, 2, 3, 0])
      #expect(try file.bytes(99_999, 10) == [0])
      try file.truncate(2)
      try file.reserve(4)
      #expect(try file.bytes(0, 10) == [1, 2, 0, 0])
    }
  }

  @Test(arguments: Kind.allCases) func namesAreAsInAnyFileSystem(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      try layer.createDirectory("\(directory)/d")
      try layer.createDirectory("\(directory)/d/")
      for name in ["c", "a", "b"] { try layer.open("\(directory)/d/\(name)", .create).close() }
      #expect(try layer.list("\(directory)/d") == ["a", "b", "c"])
      #expect(cause { _ = try layer.open("\(directory)/d/a", .create) } == .exists)
      #expect(cause { _ = try layer.open("\(directory)/d/x", .read) } == .notFound)
      #expect(cause { _ = try layer.open("\(directory)/x/x", .create) } == .notFound)
      #expect(cause { _ = try layer.list("\(directory)/x") } == .notFound)
      #expect(cause { try layer.remove("\(directory)/x") } == .notFound)
      #expect(cause { try layer.rename("\(directory)/x", to: "\(directory)/y") } == .notFound)
      #expect(cause { try layer.createDirectory("\(directory)/d/a") } == .exists)
      #expect(cause { try layer.syncDirectory("\(directory)/x") } == .notFound)
      #expect(cause { try layer.remove("\(directory)/d") } == .system(ENOTEMPTY))

      let file = try layer.open("\(directory)/d/a", .readWrite)
      try file.write([1], at: 0)
      try layer.rename("\(directory)/d/a", to: "\(directory)/d/b")
      try layer.remove("\(directory)/d/c")
      #expect(try layer.list("\(directory)/d") == ["b"])
      #expect(try layer.open("\(directory)/d/b", .read).bytes(0, 2) == [1])
      try layer.remove("\(directory)/d/b")
      #expect(try file.bytes(0, 2) == [1])
      try layer.syncDirectory("\(directory)/d")
      #expect(try file.bytes(0, 2) == [1])
      file.close()
      try layer.remove("\(directory)/d")
      #expect(try layer.list(directory) == [])
    }
  }

  @Test(arguments: Kind.allCases) func aMappingShowsTheFileAndOutlivesIt(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      let file = try layer.open("\(directory)/a", .create)
      try file.reserve(8192)
      let mapping = try file.map(1 << 20)
      #expect(mapping.length == 1 << 20)
      try file.write([1, 2, 3], at: 4096)
      #expect(unsafe mapping.base.load(fromByteOffset: 4098, as: UInt8.self) == 3)
      file.close()
      try layer.remove("\(directory)/a")
      try layer.syncDirectory(directory)
      #expect(unsafe mapping.base.load(fromByteOffset: 4097, as: UInt8.self) == 2)
    }
  }

  @Test(arguments: Kind.allCases) func aLockIsExclusiveAndNamesItsOwner(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      let path = "\(directory)/LOCK"
      let lock = try layer.lock(path, owner: Array("first".utf8))
      for _ in 0..<2 {
        #expect(cause { _ = try layer.lock(path, owner: []) } == .locked(owner: Array("first".utf8)))
      }
      // Opening and closing another descriptor of the file does not release the lock.
      #expect(try layer.open(path, .read).bytes(0, 10) == Array("first".utf8))
      #expect(cause { _ = try layer.lock(path, owner: []) } == .locked(owner: Array("first".utf8)))
      lock.release()
      lock.release()
      #expect(try layer.open(path, .read).size() == 0)
      let second = try layer.lock(path, owner: Array("2".utf8))
      #expect(try layer.open(path, .read).bytes(0, 10) == Array("2".utf8))
      second.release()
    }
  }

  @Test(arguments: Kind.allCases) func identityIsTheSameByWhateverPath(_ kind: Kind) throws {
    try Self.withLayer(kind) { layer, directory in
      try layer.createDirectory("\(directory)/d")
      #expect(try layer.identity(directory) == layer.identity("\(directory)/./"))
      #expect(try layer.identity(directory) != layer.identity("\(directory)/d"))
      #expect(cause { _ = try layer.identity("\(directory)/x") } == .notFound)
    }
  }
}

func cause(_ body: () throws -> Void) -> FileError.Cause? {
  do {
    try body()
    return nil
  } catch {
    return (error as? FileError)?.cause
  }
}

@Suite struct CopiedFileTests {
  @Test func aCopyThatFailsIsFreedOnce() throws {
    let files = MemoryFileLayer()
    let file = try files.open("/file", .create)
    try file.write([UInt8](repeating: 7, count: 600_000), at: 0)
    for failing in 0..<300 {
      files.strikeNext(.read, after: failing % 3, .fails(.system(5)), label: "read")
      #expect(throws: FileError.self) { try CopiedFile(file, 600_000) }
    }
    #expect(try CopiedFile(file, 600_000).length == 600_000)
  }
}
