import CairnSimulation

/// The results of a run, as a table.
struct Summary {
  let tally: Tally
  let seconds: Double

  var text: String {
    let rate = seconds > 0 ? Int(Double(tally.crashStates) / seconds) : 0
    return table([
      ("seconds", Int(seconds.rounded())), ("programs", tally.programs),
      ("  of few operations, crashed at every call", tally.exhaustivePrograms),
      ("  also run with other options", tally.metamorphicPrograms), ("operations", tally.steps),
      ("commits", tally.commits), ("  dictionaries", tally.dictionaries), ("crash states", tally.crashStates),
      ("  per second", rate),
      ("  of a crash during the recovery from another crash", tally.secondCrashes), ("stores opened", tally.recoveries),
      ("readers beside a writer", tally.readersBeside), ("stores closed by a step of their own", tally.closings),
      ("opened for reading at an earlier commit", tally.lookedBack),
      ("opened for writing at an earlier commit", tally.wentBack),
      ("  refused because of a compaction", tally.refusedToGoBack),
      ("actions in the middle of other work", tally.deeds), ("  snapshots ended", tally.endedAmid),
      ("comparisons", tally.checks),
      ("damage answered with an error", tally.refused),
    ]) + "\n\nafter a crash, of what was not synced before\n"
      + table([
        ("names kept", tally.namesKept), ("names lost", tally.namesLost), ("lengths kept", tally.lengthsKept),
        ("lengths lost", tally.lengthsLost), ("blocks kept", tally.blocksKept), ("blocks lost", tally.blocksLost),
        ("blocks zeroed", tally.blocksZeroed), ("blocks torn", tally.blocksTorn),
      ]) + "\n\nfaults\n" + table(Fault.allCases.map { ($0.rawValue, tally.faults[$0, default: 0]) })
  }

  private func table(_ rows: [(String, Int)]) -> String {
    rows.map { name, number in
      let text = grouped(number)
      return "  " + name + String(repeating: " ", count: max(1, 62 - name.count - text.count)) + text
    }.joined(separator: "\n")
  }

  private func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
