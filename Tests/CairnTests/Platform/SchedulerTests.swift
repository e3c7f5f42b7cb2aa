import Cairn
import CairnSimulation
import Synchronization
import Testing

@Suite struct SchedulerTests {
  final class Log: Sendable {
    private let entries = Lock<[Int]>([])
    var all: [Int] { entries.withLock { $0 } }
    func add(_ entry: Int) { entries.withLock { $0.append(entry) } }
  }

  @Test func aThreadRunsWorkInOrder() {
    let scheduler = ThreadScheduler()
    let log = Log()
    scheduler.drain()
    for entry in 0..<1000 { scheduler.schedule { log.add(entry) } }
    scheduler.drain()
    #expect(log.all == Array(0..<1000))
    scheduler.schedule {
      log.add(1000)
      scheduler.schedule { log.add(1001) }
    }
    scheduler.drain()
    scheduler.shutDown()
    #expect(log.all == Array(0..<1002))
    scheduler.schedule { log.add(-1) }
    scheduler.shutDown()
    #expect(log.all.count == 1002)
  }

  @Test func aThreadCanBeToldToEndByItsOwnWork() {
    let scheduler = ThreadScheduler()
    let log = Log()
    scheduler.schedule {
      scheduler.shutDown()
      log.add(1)
    }
    scheduler.drain()
    #expect(log.all == [1])
  }

  @Test func aManualSchedulerWaitsToBeAsked() {
    let scheduler = ManualScheduler()
    let log = Log()
    #expect(!scheduler.runOne())
    for entry in 0..<3 { scheduler.schedule { log.add(entry) } }
    #expect(log.all == [])
    #expect(scheduler.runOne())
    #expect(log.all == [0])
    scheduler.drain()
    #expect(log.all == [0, 1, 2])
    scheduler.shutDown()
    scheduler.schedule { log.add(3) }
    #expect(!scheduler.runOne())
  }

  @Test func splitMixGivesItsPublishedNumbers() {
    var random = SplitMix64(seed: 1_234_567)
    #expect(random.next() == 6_457_827_717_110_365_317)
    #expect(random.next() == 3_203_168_211_198_807_973)
    #expect(random.next() == 9_817_491_932_198_370_423)
  }

  @Test func theClockIsOfThisCentury() {
    #expect(systemClock() > 1_700_000_000_000_000_000)
  }
}
