/// How a commit that has found no space gets some.
extension Maintenance {
  /// Compacts for a commit that has found no space, until the log is shorter. False if compaction cannot shorten it.
  func makeSpace() -> Bool {
    change { state in
      guard compacts, !state.isClosed, !state.isPaused else { return false }
      log.keepReserve()
      state.policy.largestOutput = .max
      // The space may be in segments that the background work has not sealed yet; last of all in the active one.
      var isActiveSealed = false
      var fruitlessJobs = 0
      while fruitlessJobs < 2 {
        do throws(StoreError) {
          if state.job == nil {
            committer.sealFull()
            if try !beginJob(&state, thoroughly: true) {
              guard !isActiveSealed, isActiveWorthwhile(state.policy) else { return false }
              isActiveSealed = true
              try committer.sealActive()
              log.keepReserve()
              continue
            }
          }
          guard let job = state.job else { return false }
          try doPiece(&state)
          if state.job != nil { continue }
          if job.gainedBytes > 0 { return true }
          fruitlessJobs += 1
        } catch {
          guard let job = state.job else { return false }
          guard error.code == .noSpace, giveUp(job, &state) else {
            state.work = rest
            return false
          }
          // A little less may fit, such as the first segment without the others.
          state.policy.largestOutput += state.policy.largestOutput * 3 / 4
        }
      }
      return false
    }
  }

  /// Whether compacting the active segment would make the log shorter.
  private func isActiveWorthwhile(_ policy: CompactionPolicy) -> Bool {
    guard let active = committer.betweenCommits({ $0.log.active }) else { return false }
    return CompactionChoice(policy, log, index).isWorthwhile(active)
  }
}
