/// Ends the program with a reason if a condition does not hold. A release build prints the reason, too, which
/// `precondition` does not do.
func require(
  _ condition: Bool, _ reason: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) {
  guard condition else { fatalError(reason(), file: file, line: line) }
}
