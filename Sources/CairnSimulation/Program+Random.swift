import Cairn

/// A hash of all these numbers.
func mix(_ numbers: UInt64...) -> UInt64 {
  var result: UInt64 = 0x243F_6A88_85A3_08D3
  for number in numbers {
    var generator = SplitMix64(seed: result ^ number)
    result = generator.next()
  }
  return result
}

extension Program {
  /// A long program. The emphasis differs from seed to seed: one program crashes often, another fills its disk.
  package static func random(seed: UInt64) -> Program {
    var generator = ProgramGenerator(seed: seed)
    return generator.program(seed)
  }
}

struct ProgramGenerator {
  private var random: SplitMix64
  var options = Program.Options()
  var largest = 900
  /// The number of different contents that values have; with few of them, a dictionary pays.
  var fills = 512
  /// How many keyspaces the program uses.
  var keyspaces = Keys.keyspaces

  init(seed: UInt64) { random = SplitMix64(seed: mix(seed, 1)) }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func program(_ seed: UInt64) -> Program {
    if number(0..<2) == 0 { return upkeepProgram(seed) }
    options = Program.Options(
      segmentSize: 1 << 16, compression: number(0..<3) > 0, checkpoints: number(0..<4) > 0,
      compaction: number(0..<4) > 0, isTight: number(0..<2) == 0, dictionaries: number(0..<4) > 0,
      keys: KeyShape.allCases[number(0..<KeyShape.allCases.count)],
      keyCount: [2, 6, 20, 60][number(0..<4)],
      isOrdered: number(0..<4) > 0)
    fills = number(0..<2) == 0 ? 8 : 512
    largest = [60, 900, 9000, 40_000][number(0..<4)]
    let faults = number(0..<3)
    let damages = number(0..<3)
    let queues = number(0..<3) == 0
    if number(0..<3) == 0 { keyspaces = Keys.names.count }
    var operations: [Operation] = []
    for keyspace in 0..<Keys.keyspaces where number(0..<3) == 0 { operations.append(retain(keyspace)) }
    let count = number(6..<36)
    while operations.count < count {
      operations.append(operation(faults: faults, damages: damages))
      operations += more(damages: damages)
      // Rows that are deleted soon after.
      if queues, case .write(let changes, let durability, _) = operations[operations.count - 1], number(0..<3) > 0 {
        let deletes = changes.map { Change($0.keyspace, $0.key, .delete) }
        if number(0..<3) == 0 { operations.append(number(0..<2) == 0 ? .reopen : .compact(.worthwhile)) }
        operations.append(.write(deletes, durability))
      }
      // A sync that fails, and then a sync by the next process, which does not report the failure.
      if case .fail(.sync, _) = operations[operations.count - 1], number(0..<2) == 0 {
        operations += [write(.durable), write(.durable), number(0..<2) == 0 ? .reopen : .kill, write(.durable)]
      }
    }
    return Program(seed: seed, options: options, operations: operations)
  }

  private mutating func operation(faults: Int, damages: Int) -> Operation {
    switch number(0..<100) {
    case 0..<38: return write()
    case 38..<44: return .compact(number(0..<3) == 0 ? .everything : .worthwhile)
    case 44..<46: return .sync
    case 46..<48: return retain(number(0..<keyspaces))
    case 48..<57: return .background(number(1..<5))
    case 57..<61: return .checkpoint
    case 61: return .drop(number(0..<keyspaces))
    case 62..<66: return .snapshot
    case 66..<69: return .release(number(0..<6))
    case 69..<73: return .check
    case 73..<75: return .readBeside
    case 75..<79: return .reopen
    case 79..<82: return .kill
    case 82..<87: return .crash
    case 87..<95:
      guard faults > 0 else { return write() }
      // Syncs fail more often than other calls: the rarest fault, a sync that wrongly reports success, can only follow
      // one that fails.
      let fault = number(0..<6) == 0 ? .sync : Fault.armed[number(0..<Fault.armed.count)]
      return .fail(fault, after: number(0..<6))
    case 95:
      guard faults > 1 else { return .background(9) }
      return .space(number(0..<2) == 0 ? nil : number(0..<100_000))
    case 96..<98: return damages > 0 ? .flip(number(1..<5)) : write()
    default: return damages > 1 ? .misdirect : write()
    }
  }

  /// Rare operations: a deed in the middle of other work, opening at an earlier commit, a store that stays closed, a
  /// file that has been changed.
  private mutating func more(damages: Int) -> [Operation] {
    switch number(0..<24) {
    case 0..<3: amid()
    case 8: snapshots()
    case 3: [.lookBack(number(0..<1000))]
    case 4: number(0..<3) == 0 ? [.goBack(number(0..<1000)), write()] : [.lookBack(number(0..<1000))]
    case 5: [.close, [.crash, .kill, .reopen][number(0..<3)]]
    case 6 where damages > 0:
      number(0..<2) == 0
        ? [.spoil(Spoiling.allCases[number(0..<Spoiling.allCases.count)])]
        : [.close, .spoil(Spoiling.allCases[number(0..<Spoiling.allCases.count)]), .reopen]
    case 7 where damages > 0: [.copyFiles, write(), write(), .spoil(.older)]
    default: []
    }
  }

  /// Takes several snapshots and ends them one after the other: the oldest first, the newest first, or in any order.
  private mutating func snapshots() -> [Operation] {
    var operations: [Operation] = []
    let count = number(2..<6)
    for _ in 0..<count { operations += [.snapshot, write()] }
    let order = number(0..<3)
    for _ in 0..<count {
      let next = [0, -1, number(0..<6)][order]
      if number(0..<2) == 0 {
        operations += [.release(next), .check]
      } else {
        operations.append(.amid(.release(next), after: number(0..<8)))
        operations.append(number(0..<2) == 0 ? .compact(.everything) : write())
      }
    }
    return operations
  }

  /// A piece of work, with one or two deeds in the middle of it.
  mutating func amid() -> [Operation] {
    let work: Operation =
      switch number(0..<6) {
      case 0: .checkpoint
      case 1, 2: .compact(.everything)
      case 3: .compact(.worthwhile)
      case 4: write()
      default: .background(number(2..<7))
      }
    return (0..<number(1..<3)).map { _ in .amid(anyDeed(), after: number(0..<8)) } + [work]
  }

  private mutating func anyDeed() -> Deed {
    switch number(0..<12) {
    case 0..<4: .release(number(0..<6))
    case 4: .snapshot
    case 5: .ask(number(0..<Keys.names.count))
    case 6: .drop(number(0..<keyspaces))
    default: .write((0..<[1, 1, 3][number(0..<3)]).map { _ in anyChange() })
    }
  }

  mutating func retain(_ keyspace: Int) -> Operation { .retain(keyspace, [1, 2, 3, 8][number(0..<4)]) }

  mutating func write(_ given: Durability? = nil) -> Operation {
    let durability = given ?? (number(0..<3) == 0 ? .durable : .buffered)
    let count = [1, 1, 2, 5, 14][number(0..<5)]
    let beside = durability == .durable && number(0..<6) == 0 ? (0..<2).map { _ in anyChange() } : []
    return .write((0..<count).map { _ in anyChange() }, durability, beside: beside)
  }

  private mutating func anyChange() -> Change {
    let kind: Change.Kind =
      switch number(0..<12) {
      case 0..<3: .delete
      case 3: .check
      default: .put(length: number(0..<4) == 0 ? number(0..<largest) : number(0..<70), fill: number(0..<fills))
      }
    let wish: Change.Wish =
      switch number(0..<24) {
      case 0: .present
      case 1: .absent
      case 2: .stale
      case 3..<6: .current
      default: .anything
      }
    return Change(number(0..<keyspaces), number(0..<options.keyCount), kind, wish)
  }
}
