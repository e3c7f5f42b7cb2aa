extension BatchBuffer: Commit {
  static var lockAttempts: Int { 128 }

  func prepare(_ committer: Committer) throws(StoreError) -> FrameNeeds? {
    try committer.lookUp(self)
    let needs = try committer.needs(of: self)
    guard needs.bound > FrameHeader.size else { return nil }
    try committer.reserveMemory(self, needs.bound)
    return needs
  }

  func write(_ sequence: CommitSequence, _ committer: Committer) throws(StoreError) {
    if definesKeyspaces { try committer.define(self, sequence) }
    try unsafe committer.assemble(self, into: &committer.assembly)
  }

  func apply(_ sequence: CommitSequence, _ committer: Committer) throws(StoreError) {
    try committer.apply(self, sequence)
  }

  func finish(_ sequence: CommitSequence, _ committer: Committer) { committer.dropReplaced(self) }
}
