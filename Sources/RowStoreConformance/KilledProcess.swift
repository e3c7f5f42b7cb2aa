public import IncrementalStore

extension RowStoreConformance {
  /// Saves in a process that is going to be killed, for ``checkAfterKill(_:acknowledged:processes:)``. Never returns.
  ///
  /// A test starts another process that calls this, and kills it at any moment. It reads the acknowledged numbers from
  /// a pipe, and then opens the database itself:
  ///
  /// ```swift
  /// // In the process that is going to be killed:
  /// try RowStoreConformance.saveUntilKilled(MyRowStore(at: url)) { number in
  ///   try FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
  /// }
  ///
  /// // Afterwards, in the process of the test:
  /// try RowStoreConformance.checkAfterKill(MyRowStore(at: url), acknowledged: lastNumber)
  /// ```
  ///
  /// Saves can go on in the same database after the check, in a process that is killed in its turn. Several processes
  /// may call this at the same time if the database allows it: the last number that any of them has acknowledged
  /// counts.
  ///
  /// - Parameters:
  ///   - store: A store whose database is empty, or has only what this function has saved.
  ///   - acknowledge: Called with the number of each save, counted from 1, once it is complete.
  /// - Throws: What the store or `acknowledge` throws, and a description of what is wrong if a snapshot has only a part
  ///   of a save.
  public static func saveUntilKilled(_ store: any RowStore, acknowledge: (Int) throws -> Void) throws -> Never {
    let pattern = SavePattern(store.referenceKind)
    while true { try acknowledge(pattern.save(to: store)) }
  }

  /// Checks a database after the process that saved in it was killed: all acknowledged saves are there, at most one
  /// more for each process, and each as a whole.
  ///
  /// - Parameters:
  ///   - store: A store that was opened after the process had ended.
  ///   - acknowledged: The last number that was acknowledged; 0 if there was none.
  ///   - processes: How many processes were saving.
  public static func checkAfterKill(
    _ store: any RowStore, acknowledged: Int, processes: Int = 1
  ) throws(Failure) {
    do {
      let pattern = SavePattern(store.referenceKind)
      let snapshot = try store.snapshot()
      let number = try pattern.number(in: snapshot)
      try expect(
        (acknowledged...acknowledged + processes).contains(number),
        """
        The last save should be number \(acknowledged), which was acknowledged, or one of the next \(processes), \
        but is number \(number).
        """)
      try pattern.checkLog(snapshot)
    } catch {
      throw Failure(
        check: "A process that is killed leaves all acknowledged saves, and each as a whole.", error, seed: nil)
    }
  }
}
