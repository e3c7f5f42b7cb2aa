/// An explanation of the sequences of commits, for the help of commands that print or take them.
enum SequenceHelp {
  static let text = """
    A commit is identified by its sequence. The first commit after a store was opened for writing again has the next \
    multiple of 1000000000, plus 1: 1000000017 is commit 17 after the second opening. No commits are missing in between.
    """
}
