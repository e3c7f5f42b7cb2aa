import Cairn

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension MemoryFileLayer {
  /// The content of a simulated disk, and which of it is durable. Directories and files have inode numbers, as on a
  /// real disk.
  struct Volume: Sendable {
    typealias Cause = FileError.Cause

    struct Space: Sendable {
      var used = 0 { didSet { mostUsed = max(mostUsed, used) } }
      var mostUsed = 0
      var capacity: Int?
    }

    private struct Directory {
      var names: [String: Int] = [:]
      var durable: [String: Int] = [:]
      var isRemoved = false
    }

    /// One creation, removal or renaming; it becomes durable as a whole.
    private struct Change {
      var entries: [(directory: Int, name: String, inode: Int?)]
    }

    private static let root = 1

    private var directories: [Int: Directory] = [root: Directory()]
    private var files: [Int: Content] = [:]
    /// How often each file is open.
    private var handles: [Int: Int] = [:]
    private var locked: Set<Int> = []
    /// Changes that are not durable yet, oldest first.
    private var changes: [Change] = []
    private var lastInode = root
    private var space: Space

    var capacity: Int? {
      get { space.capacity }
      set { space.capacity = newValue }
    }

    var used: Int { space.used }

    var mostUsed: Int {
      get { space.mostUsed }
      set { space.mostUsed = newValue }
    }

    init(capacity: Int?) { space = Space(capacity: capacity) }

    // MARK: Names

    private static func split(_ path: String) -> [Substring] {
      path.split(separator: "/").filter { $0 != "." }
    }

    private func find(_ parts: some Sequence<Substring>) throws(Cause) -> Int {
      var inode = Self.root
      for part in parts {
        guard let directory = directories[inode] else { throw .system(ENOTDIR) }
        guard let next = directory.names[String(part)] else { throw .notFound }
        inode = next
      }
      return inode
    }

    func find(_ path: String) throws(Cause) -> Int { try find(Self.split(path)) }

    func findDirectory(_ path: String) throws(Cause) -> Int {
      let inode = try find(path)
      guard hasDirectory(inode) else { throw .system(ENOTDIR) }
      return inode
    }

    /// Whether it is a directory, and has not been removed.
    func hasDirectory(_ inode: Int) -> Bool { directories[inode].map { !$0.isRemoved } ?? false }

    private func names(_ directory: Int) throws(Cause) -> [String: Int] {
      guard hasDirectory(directory), let names = directories[directory]?.names else { throw .notFound }
      return names
    }

    private func inode(_ entry: Entry) throws(Cause) -> Int {
      guard let inode = try names(entry.directory)[entry.name] else { throw .notFound }
      return inode
    }

    typealias Entry = (directory: Int, name: String)

    func findParent(_ path: String) throws(Cause) -> Entry {
      let parts = Self.split(path)
      guard let name = parts.last else { throw .exists }
      let parent = try find(parts.dropLast())
      guard directories[parent] != nil else { throw .system(ENOTDIR) }
      return (parent, String(name))
    }

    private mutating func make(_ change: Change) {
      for (directory, name, inode) in change.entries { directories[directory]?.names[name] = inode }
      changes.append(change)
    }

    private mutating func harden(_ change: Change) {
      for (directory, name, inode) in change.entries { directories[directory]?.durable[name] = inode }
    }

    mutating func createDirectory(_ path: String) throws(Cause) {
      if Self.split(path).isEmpty { return }
      let (parent, name) = try findParent(path)
      if let present = directories[parent]?.names[name] {
        guard directories[present] != nil else { throw .exists }
        return
      }
      lastInode += 1
      directories[lastInode] = Directory()
      make(Change(entries: [(parent, name, lastInode)]))
    }

    func list(_ directory: Int) throws(Cause) -> [String] {
      try names(directory).keys.sorted()
    }

    mutating func open(_ entry: Entry, _ mode: FileMode) throws(Cause) -> Int {
      let names = try names(entry.directory)
      let inode: Int
      if mode == .create {
        guard names[entry.name] == nil else { throw .exists }
        lastInode += 1
        inode = lastInode
        files[inode] = try Content()
        make(Change(entries: [(entry.directory, entry.name, inode)]))
      } else {
        inode = try self.inode(entry)
        guard files[inode] != nil else { throw .notAFile }
      }
      handles[inode, default: 0] += 1
      return inode
    }

    mutating func close(_ inode: Int) {
      handles[inode, default: 0] -= 1
      collect()
    }

    mutating func rename(_ source: Entry, to target: Entry) throws(Cause) {
      let inode = try inode(source)
      if let replaced = try names(target.directory)[target.name] {
        guard replaced != inode else { return }
        guard files[replaced] != nil, files[inode] != nil else { throw .system(EISDIR) }
      }
      make(Change(entries: [(source.directory, source.name, nil), (target.directory, target.name, inode)]))
      collect()
    }

    mutating func link(_ source: Entry, as target: Entry) throws(Cause) {
      let inode = try inode(source)
      guard files[inode] != nil else { throw .notAFile }
      guard try names(target.directory)[target.name] == nil else { throw .exists }
      make(Change(entries: [(target.directory, target.name, inode)]))
    }

    mutating func remove(_ entry: Entry) throws(Cause) {
      let inode = try inode(entry)
      if let directory = directories[inode], !directory.names.isEmpty { throw .system(ENOTEMPTY) }
      make(Change(entries: [(entry.directory, entry.name, nil)]))
      directories[inode]?.isRemoved = true
      collect()
    }

    mutating func syncDirectory(_ inode: Int) throws(Cause) {
      guard hasDirectory(inode) else { throw .notFound }
      for change in changes where change.entries.contains(where: { $0.directory == inode }) { harden(change) }
      changes.removeAll { $0.entries.contains { $0.directory == inode } }
      collect()
    }

    mutating func lock(_ entry: Entry, _ owner: [UInt8]) throws(Cause) -> Int {
      let inode: Int
      do throws(Cause) {
        inode = try open(entry, .readWrite)
      } catch .notFound {
        inode = try open(entry, .create)
      }
      guard !locked.contains(entry.directory), locked.insert(inode).inserted else {
        defer { close(inode) }
        throw .locked(owner: files[inode]?.bytes ?? [])
      }
      locked.insert(entry.directory)
      do throws(Cause) {
        try withContent(inode) { (content, space) throws(Cause) in
          content.clear(&space)
          try unsafe owner.withUnsafeBufferPointer { (owner) throws(Cause) in
            try unsafe content.write(UnsafeRawBufferPointer(owner), at: 0, &space)
          }
        }
      } catch {
        if error == .noSpace { return inode }
        unlock(inode, entry.directory)
        throw error
      }
      return inode
    }

    mutating func unlock(_ inode: Int, _ directory: Int) {
      withContent(inode) { (content, space) in content.clear(&space) }
      locked.remove(inode)
      locked.remove(directory)
      close(inode)
    }

    /// Removes files that have no name, current or durable, and that are not open; counts the space of the others.
    private mutating func collect() {
      var named = Set<Int>()
      for directory in directories.values { named.formUnion(directory.names.values) }
      space.used = 0
      var kept = named
      for directory in directories.values { kept.formUnion(directory.durable.values) }
      for change in changes { kept.formUnion(change.entries.compactMap(\.inode)) }
      for (inode, content) in files {
        let isOpen = handles[inode, default: 0] > 0
        if named.contains(inode) || isOpen {
          space.used += content.size
        } else if !kept.contains(inode) {
          files[inode] = nil
          handles[inode] = nil
        }
      }
    }

    mutating func withContent<R, E>(
      _ inode: Int, _ body: (inout Content, inout Space) throws(E) -> R
    ) throws(E) -> R {
      // Called only for open files, which are never removed.
      try body(&files[inode]!, &space)
    }

    mutating func flip(_ mask: UInt8, at offset: Int, in inode: Int) { files[inode]?.flip(mask, at: offset) }

    var contents: [String: [UInt8]] {
      var result: [String: [UInt8]] = [:]
      func visit(_ inode: Int, _ path: String) {
        result[path] = files[inode]?.bytes
        for (name, child) in directories[inode]?.names ?? [:] { visit(child, "\(path)/\(name)") }
      }
      visit(Self.root, "")
      return result
    }

    // MARK: Crashes

    /// The volume after a crash, with each name and each file's bytes as `fates` decides.
    func afterCrash(_ fates: inout CrashFates) -> Volume {
      var damaged = self
      for change in changes {
        let isKept = fates.keepsName()
        if isKept && damaged.canHarden(change) { damaged.harden(change) }
      }
      return damaged.restarted(&fates)
    }

    /// The same disk without processes; changes that are not durable can still be lost.
    func withoutProcesses() -> Volume {
      var result = self
      result.handles = [:]
      result.locked = []
      result.files = files.mapValues { $0.copy() }
      result.collect()
      return result
    }

    /// A renaming cannot be durable without the change that gave the file its old name.
    private func canHarden(_ change: Change) -> Bool {
      guard let source = change.entries.first, let target = change.entries.dropFirst().first else { return true }
      return directories[source.directory]?.durable[source.name] == target.inode
    }

    private func restarted(_ fates: inout CrashFates) -> Volume {
      var result = Volume(capacity: capacity)
      result.lastInode = lastInode
      var pending = [Self.root]
      while let inode = pending.popLast() {
        if let names = directories[inode]?.durable {
          result.directories[inode] = Directory(names: names, durable: names)
          pending += names.values.sorted()
        } else if result.files[inode] == nil {
          // A file may have two names.
          result.files[inode] = files[inode]?.afterCrash(&fates)
        }
      }
      result.collect()
      return result
    }
  }
}
