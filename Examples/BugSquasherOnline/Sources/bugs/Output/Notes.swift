import Foundation

/// Why a command has failed, as a sentence.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// Tells the user something that is not what a command was asked for.
func note(_ text: String) {
  FileHandle.standardError.write(Data("bugs: \(text)\n".utf8))
}
