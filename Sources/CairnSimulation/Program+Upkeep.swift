import Cairn

/// Programs for what happens to records long after they have been written: a few rows come and go, some of them with
/// older versions, while their segments are compacted again and again on top of one checkpoint.
extension ProgramGenerator {
  mutating func upkeepProgram(_ seed: UInt64) -> Program {
    if number(0..<3) > 0 { return shortUpkeepProgram(seed) }
    options = Program.Options(
      compression: false, checkpoints: number(0..<4) == 0, isTight: number(0..<4) > 0, dictionaries: false,
      keys: [.sequential, .random, .tuples][number(0..<3)], keyCount: [2, 4, 6][number(0..<3)],
      isOrdered: number(0..<2) == 0)
    largest = 90
    keyspaces = [2, 3, 3, Keys.names.count][number(0..<4)]
    var operations: [Operation] = []
    for keyspace in 0..<keyspaces where number(0..<2) == 0 {
      operations.append(.retain(keyspace, [2, 2, 3, 1][number(0..<4)]))
    }
    if number(0..<3) > 0 { operations.append(ballast) }
    operations.append(fill())
    // Then rows that come and go are in other segments than rows that stay.
    if number(0..<2) == 0 { operations.append(.reopen) }
    for _ in 0..<number(0..<3) { operations.append(turn()) }
    if number(0..<3) == 0 { operations.append(.compact(.everything)) }
    if number(0..<3) > 0 { operations.append(.checkpoint) }
    for _ in 0..<number(2..<6) {
      for _ in 0..<number(1..<4) { operations += change() }
      operations += move()
      switch number(0..<8) {
      case 0, 1: operations.append(.reopen)
      case 2: operations.append(.kill)
      case 3: operations.append(.crash)
      case 4 where number(0..<3) == 0: operations.append(.checkpoint)
      default: break
      }
    }
    return Program(seed: seed, options: options, operations: operations)
  }

  /// The life of one record: it is written next to rows that stay, is deleted in another segment, perhaps while a
  /// snapshot or a retention keeps it, and is compacted twice, the second time apart from its deletion.
  private mutating func shortUpkeepProgram(_ seed: UInt64) -> Program {
    options = Program.Options(
      compression: false, checkpoints: false, compaction: number(0..<2) == 0, isTight: number(0..<3) > 0,
      dictionaries: false, keyCount: number(2..<5), isOrdered: number(0..<2) == 0)
    largest = 90
    let plot = number(0..<8)
    let (hasSnapshot, hasRetention, hasCheckpoint) = (plot < 4, 4..<6 ~= plot, plot > 5)
    keyspaces = hasCheckpoint ? 1 : number(1..<3)
    func once(in count: Int, _ operations: @autoclosure () -> [Operation]) -> [Operation] {
      number(0..<count) == 0 ? operations() : []
    }
    func ends(_ count: Int) -> [Operation] {
      hasSnapshot ? once(in: 2, [.amid(.release(0), after: number(0..<count))]) : []
    }
    func retention() -> [Operation] {
      once(in: hasRetention ? 2 : 8, [.retain(number(0..<keyspaces), [1, 1, 2, 3][number(0..<4)])])
    }

    var operations = hasCheckpoint ? (0..<keyspaces).map { .retain($0, number(2..<4)) } : retention()
    if number(0..<4) > 0 { operations.append(ballast) }
    operations += [fill(), .reopen]
    operations += once(in: 4, [turn()]) + (hasSnapshot ? [.snapshot] : [])
    operations += [turn(isDeletion: number(0..<4) > 0, isWhole: hasCheckpoint)] + retention() + once(in: 3, [turn()])
    if hasCheckpoint {
      // The checkpoint contains deletions, which the next versions of their rows make obsolete.
      operations.append(.checkpoint)
      for _ in 0..<number(1..<4) { operations.append(turn(isDeletion: false, isWhole: number(0..<3) > 0)) }
    }
    operations += ends(8) + [number(0..<6) > 0 ? .compact(.everything) : .reopen]
    operations += (hasSnapshot ? once(in: 2, [.release(0)]) : []) + retention() + (number(0..<4) > 0 ? [turn()] : [])
    operations += ends(3) + [.compact(number(0..<2) == 0 ? .worthwhile : .everything)]
    operations += once(in: 3, [turn(), .compact(.worthwhile)])
    operations.append([.reopen, .kill, .crash][number(0..<3)])
    return Program(seed: seed, options: options, operations: operations)
  }

  /// A record so large that the deletions of a few rows are no reason for a compaction to begin with a checkpoint, and
  /// that garbage in its segment is no reason to copy it.
  private var ballast: Operation {
    .write([Change(1, options.keyCount - 1, .put(length: 30_000, fill: 9))], .buffered)
  }

  /// Puts every row.
  private mutating func fill() -> Operation {
    let rows = (0..<keyspaces).flatMap { keyspace in (0..<options.keyCount).map { (keyspace, $0) } }
    let changes = rows.map { Change($0.0, $0.1, .put(length: number(1..<largest), fill: number(0..<9))) }
    // The ballast stays.
    return .write(changes.filter { $0.keyspace != 1 || $0.key != options.keyCount - 1 }, .buffered)
  }

  /// Puts or deletes one row or all rows of one keyspace.
  private mutating func turn(isDeletion: Bool? = nil, isWhole: Bool = false) -> Operation {
    let keyspace = number(0..<keyspaces)
    let isDeletion = isDeletion ?? (number(0..<2) == 0)
    let count = keyspace == 1 ? options.keyCount - 1 : options.keyCount
    let chosen = isWhole || number(0..<3) == 0 ? Array(0..<count) : [number(0..<count)]
    let changes = chosen.map { key in
      Change(keyspace, key, isDeletion ? .delete : .put(length: number(1..<largest), fill: number(0..<9)))
    }
    return .write(changes, number(0..<6) == 0 ? .durable : .buffered)
  }

  private mutating func change() -> [Operation] {
    switch number(0..<16) {
    case 0: [.drop(number(0..<keyspaces)), turn()]
    case 1..<4: [.retain(number(0..<keyspaces), [1, 1, 2, 3][number(0..<4)])]
    case 4..<7: [.snapshot, turn()]
    case 7: [.release(number(0..<6))]
    case 8: [turn(), turn(), turn()]
    default: [turn()]
    }
  }

  /// Work that moves records, perhaps with deeds in the middle of it.
  private mutating func move() -> [Operation] {
    let amid: [Operation] =
      number(0..<3) == 0 ? (0..<number(1..<4)).map { _ in .amid(deed(), after: number(0..<10)) } : []
    let work: [Operation] =
      switch number(0..<9) {
      case 0..<3: [.compact(.everything)]
      case 3..<6: [.compact(.worthwhile)]
      case 6: [.reopen, turn(), .background(number(3..<9))]
      case 7: [.background(number(1..<4)), turn(), .background(number(1..<6))]
      default: [.background(number(2..<9))]
      }
    return (work.count == 3 ? Array(work.dropLast()) : []) + amid + [work[work.count - 1]]
  }

  private mutating func deed() -> Deed {
    switch number(0..<8) {
    case 0..<5: return .release(number(0..<6))
    case 5: return .drop(number(0..<keyspaces))
    default:
      guard case .write(let changes, _, _) = turn() else { return .snapshot }
      return .write(changes)
    }
  }
}
