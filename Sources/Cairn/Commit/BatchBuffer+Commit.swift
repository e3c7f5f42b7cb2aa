extension BatchBuffer: Commit {
  static var lockAttempts: Int { 128 }

  func prepare(_ writer: inout Writer) throws(StoreError) -> FrameNeeds? {
    try writer.checkNewest(self)
    try writer.lookUp(self)
    let needs = try writer.needs(of: self)
    guard needs.bound > FrameHeader.size else { return nil }
    try writer.reserveMemory(self, needs.bound)
    return needs
  }

  func write(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError) {
    if definesKeyspaces { try writer.define(self, sequence) }
    try writer.assemble(self)
  }

  func apply(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError) {
    try writer.apply(self, sequence)
  }

  func finish(_ sequence: CommitSequence, _ writer: inout Writer) { writer.dropReplaced(self) }
}
