import CairnSimulation
import Testing

/// Failures that the simulator once found, as the programs to which they were shrunk.
@Suite struct FoundBySimulationModelTests {
  private func replay(_ text: String) throws {
    let program = try Program(parsing: text)
    for sampling in [Runner.Sampling.none, .every(decisions: 100, random: 2)] {
      let failure = Runner.run(program, sampling).failure
      #expect(failure == nil)
    }
  }

  @Test("A log whose first segment was lost before it was synced is empty; it does not begin with the second segment.")
  func firstSegmentLost() throws {
    try replay(
      """
      seed 3583741274831798996 segment 65536 compression off checkpoints off keys sequential count 20 ordered on
      24 write buffered 0/0=35395:225
      26 write buffered 1/14=40542:80
      27 background 9
      """)
  }

  @Test("D13: The next opening rewrites the data that a failed sync left, instead of only syncing it again.")
  func tailOfAFailedSync() throws {
    try replay(
      """
      seed 5 segment 65536 compression off checkpoints off keys sequential count 20 ordered on
      1 write durable 0/0=20:3
      2 fail sync 0
      3 write durable 0/1=20:3
      4 reopen
      5 write durable 0/2=20:5
      6 crash
      """)
  }

  @Test("D13: The data that a failed sync left is rewritten also before a sync without a write.")
  func syncOfARecoveredTail() throws {
    try replay(
      """
      seed 5843586290352571517 segment 65536 compression off checkpoints off keys sequential count 2 ordered on
      6 fail sync 2
      8 write durable 1/1=1:1
      9 kill
      12 sync
      13 write buffered 0/1=1:445
      """)
  }

  @Test("A deleted row leaves the indexes even if its older record cannot be read.")
  func deleteBesideDamage() throws {
    try replay(
      """
      seed 9025932830974967805 segment 65536 compression off checkpoints off keys tuples count 2 ordered on
      9 write buffered 0/0=1:1
      10 write buffered 1/1=1:1
      13 write buffered 0/1=1:1
      15 write buffered 2/1=100:1
      18 misdirect
      """)
  }

  @Test("The verifier ignores a segment that follows one whose header was lost.")
  func segmentBehindALostHeader() throws {
    try replay(
      """
      seed 3000399 segment 65536 compression off checkpoints off keys sequential count 6 ordered on
      1 write buffered 1/3=40000:9
      2 write buffered 1/3=40000:9
      3 write buffered 1/3=40000:9
      """)
  }

  @Test("G8: A dropped keyspace whose rows are copied for a snapshot stays dropped.")
  func droppedUnderASnapshot() throws {
    try replay(
      """
      seed 11335133486141831238 segment 65536 compression off checkpoints off compaction off keys sequential count 6 ordered on
      16 write buffered 0/2=1:1
      24 snapshot
      26 drop 0
      29 compact everything
      31 compact everything
      """)
  }

  @Test("A manifest that could not be published may list segments that compaction has written.")
  func publicationFailed() throws {
    try replay(
      """
      seed 5924618304230183854 segment 65536 compression off checkpoints off compaction off keys sequential count 6 ordered on
      1 write buffered 0/5=1:1
      13 background 9
      16 fail directory-sync 1
      20 compact everything
      """)
  }

  @Test("D7: Files that a manifest does not list are removed only after the manifest is durable.")
  func unlistedFiles() throws {
    try replay(
      """
      seed 13899193965321616552 segment 65536 compression off checkpoints off compaction off keys sequential count 60 ordered on
      18 write buffered 2/56=1:1
      21 background 4
      25 fail directory-sync 1
      27 reopen
      29 write buffered 1/19=1:1
      30 reopen
      31 write buffered 1/24=1:1
      """)
  }

  @Test("A log whose commits have all been compacted is not reported as lost.") func everythingDead() throws {
    try replay(
      """
      seed 10589089376199602669 segment 65536 compression off checkpoints off compaction off keys sequential count 6 ordered on
      15 write buffered 2/1=1000:1
      23 drop 2
      25 compact worthwhile
      26 write buffered 0/5=1:1
      28 compact worthwhile
      """)
  }

  @Test("D19: A checkpoint that could not be read once is not used later, when the moves since it are unknown.")
  func checkpointOfNoUseOnce() throws {
    try replay(
      """
      seed 4328261076766246915 segment 65536 compression off checkpoints on compaction on keys random count 20 ordered off
      3 fail open 5
      4 write buffered 0/1=21:362
      5 release 0
      6 checkpoint
      7 compact everything
      8 write buffered 1/11?
      9 background 1
      10 reopen
      11 write buffered 0/10=36:461
      12 compact worthwhile
      19 write buffered 1/12=18:111
      20 crash
      21 sync
      22 write buffered 1/15=27:478
      23 write buffered 1/12-!stale
      24 write buffered 0/13=8:181!stale
      """)
  }

  @Test("The identifier of a keyspace that was defined and dropped before a crash is not used again.")
  func idUsedTwice() throws {
    try replay(
      """
      seed 1852672765282334972 segment 65536 compression off checkpoints off compaction off keys sequential count 20 ordered on
      2 write buffered 1/1=1:1 2/8=1:1
      3 drop 2
      13 crash
      14 checkpoint
      """)
  }

  @Test("G17: A lost header after a compacted segment is detected by what that segment says was durable.")
  func headerLostBehindCompaction() throws {
    try replay(
      """
      seed 5951601183266097092 segment 65536 compression off checkpoints off compaction off dictionaries off keys sequential count 20 ordered on
      2 write buffered 2/0=1:1
      5 reopen
      9 write durable 0/13=1:1
      10 crash
      14 write buffered 2/14=1:1
      16 space 38119
      18 compact worthwhile
      21 flip 2
      """)
  }

  @Test("G8: A version that compaction copies only for a snapshot does not return under a later retention.")
  func tombstoneOfASnapshotsVersion() throws {
    try replay(
      """
      seed 14371541556835100804 segment 65536 compression off checkpoints off compaction off dictionaries off keys sequential count 2 ordered on
      5 write buffered 1/1=1:1
      7 crash
      9 snapshot
      12 write buffered 1/1-
      16 retain 1 8
      20 write buffered 1/1=1:1
      24 compact worthwhile
      """)
  }

  @Test("G7: A deletion stays in the history of a snapshot that sees versions before it.")
  func deletionOfASnapshotsHistory() throws {
    try replay(
      """
      seed 13220789290469434492 segment 65536 compression off checkpoints off compaction off dictionaries off keys sequential count 20 ordered on
      1 retain 0 2
      17 write buffered 0/14=1:1
      20 write buffered 0/14-
      26 snapshot
      28 retain 0 1
      29 write buffered 0/14=1:1!current
      """)
  }

  @Test("A deletion is dead if its versions were removed with their segment after the checkpoint that has them.")
  func deletionWithoutItsVersions() throws {
    try replay(
      """
      seed 10427215770226653452 segment 65536 compression off checkpoints off compaction on dictionaries off keys sequential count 2 ordered on
      5 write buffered 0/1=1:1
      7 crash
      8 retain 2 3
      10 write buffered 2/1=1:1!current
      17 write buffered 2/1-
      19 crash
      24 write buffered 1/1=1:1!current
      26 checkpoint
      27 crash
      29 retain 2 1
      31 kill
      32 write buffered 1/0=1:1
      """)
  }
}
