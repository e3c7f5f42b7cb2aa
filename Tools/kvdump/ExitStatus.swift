import ArgumentParser
import Cairn

/// The exit statuses of commands, besides success and `validationFailure` (64).
extension ExitCode {
  /// The command has found damage, a loss or a difference, or has not found the row or the commit.
  static let finding = ExitCode(1)
  /// The store, or another file that is needed, is missing, is something else, or cannot be read.
  static let unreadable = ExitCode(2)
  /// The store is damaged where the command needs it.
  static let damaged = ExitCode(3)
  /// Another process has the store open for writing.
  static let locked = ExitCode(4)
  /// The output cannot be written, or exists already.
  static let unwritable = ExitCode(5)
  /// Input does not have the form that is needed.
  static let malformed = ExitCode(65)
  /// The reader of the output went away before the result was known; as if SIGPIPE had ended the process.
  static let closed = ExitCode(141)
}

/// An error with an exit status of its own; other errors end with `unreadable`.
protocol StatusError: Error {
  var status: ExitCode { get }
}

extension StoreError: StatusError {
  var status: ExitCode {
    switch code {
    case .damaged, .corrupted: .damaged
    case .locked: .locked
    case .alreadyExists, .noSpace: .unwritable
    case .commitNotFound: .finding
    case .invalidArgument: .validationFailure
    case .malformed, .keyTooLong, .valueTooLarge, .batchTooLarge: .malformed
    default: .unreadable
    }
  }
}
