import Cairn
import CairnSimulation
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A simulated machine with a store on it. The same seed gives the same machine.
final class Machine: Sendable {
  static let path = "/store"

  let files: MemoryFileLayer
  private let random: Lock<SplitMix64>
  private let time = Atomic<UInt64>(1_700_000_000_000_000_000)
  /// What the clock adds each time it is read, in nanoseconds, wrapping around.
  private let tick: UInt64
  /// The time, in nanoseconds, for which commits have been asked to wait; here the wait itself takes no time.
  let paused = Atomic<Int>(0)
  private let present = Lock<ManualScheduler?>(nil)

  init(_ files: MemoryFileLayer = MemoryFileLayer(), seed: UInt64 = 1, tick: UInt64 = 1000) {
    self.files = files
    self.tick = tick
    random = Lock(SplitMix64(seed: seed))
  }

  /// Small segments, so that the store begins new ones often.
  static var options: StoreOptions {
    var options = StoreOptions()
    options.segmentSize = 1 << 16
    return options
  }

  func environment(_ scheduler: any Scheduler) -> Environment {
    Environment(
      files: files, clock: { [self] in time.wrappingAdd(tick, ordering: .relaxed).newValue },
      random: { [self] in random.withLock { $0.next() } }, scheduler: scheduler,
      pause: { [self] in paused.add($0, ordering: .relaxed) })
  }

  /// Opens the store; its background work waits until the test runs it.
  func open(_ options: StoreOptions = Machine.options, at path: String = Machine.path) throws -> Store {
    let scheduler = ManualScheduler()
    present.withLock { $0 = scheduler }
    return try Store.open(at: path, options: options, environment: environment(scheduler))
  }

  /// Opens the store with a thread for its background work.
  func openThreaded(_ options: StoreOptions = Machine.options) throws -> Store {
    try Store.open(at: Self.path, options: options, environment: environment(ThreadScheduler()))
  }

  func runBackground() { present.withLock { $0 }?.drain() }

  @discardableResult func runOneInBackground() -> Bool { present.withLock { $0 }?.runOne() ?? false }

  /// The machine after a loss of power: files contain only what was synced.
  func crash() -> Machine { Machine(files.crash(), seed: random.withLock { $0.next() }) }

  /// The machine after a loss of power, where some unsynced writes, chosen at random, are kept.
  func crash(using random: inout SplitMix64) -> Machine {
    Machine(files.crash(using: &random), seed: random.next())
  }

  /// The machine after the end of the process alone: files contain everything that was written.
  func kill() throws -> Machine {
    let next = MemoryFileLayer()
    try next.createDirectory(Self.path)
    for (path, bytes) in contents {
      let file = try next.open(path, .create)
      try file.write(bytes, at: 0)
      try file.sync()
    }
    try next.syncDirectory(Self.path)
    try next.syncDirectory("/")
    return Machine(next, seed: random.withLock { $0.next() })
  }

  /// The bytes of every file but the lock, by path.
  var contents: [String: [UInt8]] { files.contents.filter { $0.key != "\(Self.path)/LOCK" } }

  func rewrite(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
    var bytes = try #require(files.contents[path])
    change(&bytes)
    try files.remove(path)
    let file = try files.open(path, .create)
    try file.write(bytes, at: 0)
    try file.sync()
    try files.syncDirectory(Self.path)
    file.close()
  }

  static func segment(_ id: Int) -> String {
    "\(path)/\(String(repeating: "0", count: 10 - "\(id)".count))\(id).segment"
  }
}

/// The error a call throws; nil if it throws none.
func failure(_ body: () throws -> Void) -> StoreError? {
  do {
    try body()
    return nil
  } catch let error as StoreError {
    return error
  } catch {
    Issue.record("not a store error: \(error)")
    return nil
  }
}

/// The seed of a random test: the value of `CAIRN_SEED`, or a new one.
func chooseSeed(_ test: String = #function) -> UInt64 {
  let given = unsafe getenv("CAIRN_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
  let seed = given ?? UInt64.random(in: 0...UInt64.max)
  print("\(test): CAIRN_SEED=\(seed)")
  return seed
}

/// The number of rounds of a random test: the value of `CAIRN_ROUNDS`, or `standard`, or `debug` in a debug build.
func chooseRounds(_ standard: Int, debug: Int) -> Int {
  if let given = unsafe getenv("CAIRN_ROUNDS").flatMap({ unsafe Int(String(cString: $0)) }) { return given }
  #if DEBUG
    return debug
  #else
    return standard
  #endif
}

extension RawSpan {
  var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}

extension [UInt8] {
  init(_ text: String) { self.init(text.utf8) }

  static func noise(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var words = [UInt64](repeating: 0, count: (count + 7) / 8)
    for index in words.indices { words[index] = random.next() }
    return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
  }
}

extension Store {
  /// All rows of a keyspace as text, in its order.
  func texts(_ keyspace: Keyspace) throws -> [String] {
    try read { try $0.rows(in: keyspace).map { "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))" } }
  }
}

/// Ends a process that was started for a test, if a condition is false.
func demand(_ isTrue: Bool, _ words: @autoclosure () -> String = "", _ line: Int = #line) {
  if !isTrue { fatalError("line \(line): \(words())") }
}
