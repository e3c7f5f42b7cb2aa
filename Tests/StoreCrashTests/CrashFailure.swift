/// What a program found to be wrong.
struct CrashFailure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
  guard condition else { throw CrashFailure(description()) }
}
