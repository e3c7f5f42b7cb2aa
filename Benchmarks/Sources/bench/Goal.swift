/// A ratio that the project has set as its goal.
struct Goal {
  let workload: String
  let against: String
  let target: Double
  let ratio: Spread?

  /// Every goal that this program measures, with the ratio that was reached, if there is one. Against an engine with
  /// two setups, and against "best peer", the faster of them in each round counts.
  static func all(_ summary: Summary) -> [Goal] {
    let lmdb: [EngineKind] = [.lmdb, .lmdbWritemap]
    let peers = EngineKind.allCases.filter { $0.name != EngineKind.subject }
    return [
      Goal(.fillrandom, [.lmdbWritemap], "LMDB (WRITEMAP)", 3, summary),
      Goal(.fillbatch, peers, "best peer", 5, summary),
      Goal(.overwrite, [.lmdbWritemap], "LMDB (WRITEMAP)", 3, summary),
      Goal(.readrandom, lmdb, "LMDB (best)", 4, summary),
      Goal(
        workload: "readrandom, 2 threads", against: "own 1 thread", target: 1.95,
        ratio: summary.scaling(from: .readrandom, to: .readrandom2)),
      Goal(.readmissing, [.rocksdb], "RocksDB", 4, summary),
      Goal(.readseq, lmdb, "LMDB (best)", 1, summary),
      Goal(.seekrandom, lmdb, "LMDB (best)", 2, summary),
      Goal(.readwhilewriting, lmdb, "LMDB (best)", 3, summary),
      Goal(.fillsync, peers, "best peer", 1.3, summary),
      Goal(.fillsync8, peers, "best peer", 2, summary),
      Goal(.fillsync16, peers, "best peer", 2, summary),
      Goal(
        workload: "bytes on disk (less is better)", against: "RocksDB", target: 1.1,
        ratio: summary.sizeRatio(to: .rocksdb)),
    ]
  }

  private init(workload: String, against: String, target: Double, ratio: Spread?) {
    self.workload = workload
    self.against = against
    self.target = target
    self.ratio = ratio
  }

  private init(_ workload: Workload, _ peers: [EngineKind], _ against: String, _ target: Double, _ summary: Summary) {
    let threads = workload.threads > 1 ? ", \(workload.threads) threads" : ""
    self.init(
      workload: workload.name + threads, against: against, target: target,
      ratio: summary.ratio(in: workload, to: peers))
  }
}
